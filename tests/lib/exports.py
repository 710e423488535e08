#!/usr/bin/env python3
# exports.py - holds the figures of an exported file against the JSON report.
# SPDX-License-Identifier: Apache-2.0
#
# usage: exports.py REPORT.json FORMAT FILE [METRIC]
#
# FILE is in FORMAT, or what FORMAT's own reader printed of it (FORMAT is then
# "go-top", "ms_print", ...). Every figure that it has is compared: totals, and
# sums by stack or by function. Says what differs; prints how much it compared.
import collections
import itertools
import json
import re
import sys

import exports_read as read
import page

FIGURES = [
    "allocations", "allocated_bytes", "frees", "freed_bytes", "live_blocks",
    "live_bytes", "peak_blocks", "peak_bytes", "temporary_blocks",
    "temporary_bytes",
]
METRICS = {
    "live": ("live_bytes", "live_blocks"),
    "peak": ("peak_bytes", "peak_blocks"),
    "allocs": ("allocated_bytes", "allocations"),
    "temporary": ("temporary_bytes", "temporary_blocks"),
}


def clean(text):
    """Text as our formats have it: control bytes and bad bytes as \\xNN."""
    out = ""
    for c in text.replace("\ufffd", "\\xff"): # the only one in our hosts
        out += "\\x%02x" % ord(c) if c < " " or c == "\x7f" else c
    return out


def frame_name(frame):
    if frame["function"]:
        return clean(frame["function"])
    module = (frame["module"] or "").rsplit("/", 1)[-1]
    return (module + "+" if module else "") + hex(frame["offset"])


class Report:
    """What the JSON report says, in the ways that formats sum it up."""

    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8") as f:
            self.data = json.load(f)
        self.sites = []
        for p in self.data["processes"]:
            for s in p["sites"]:
                if s["kind"] != "heap":
                    continue
                s["pid"] = p["pid"]
                s["stack"] = tuple(frame_name(f) for f in s["frames"])
                self.sites.append(s)

    def by(self, key, figures):
        """Sums of figures by key(site); keys with zeros only are left out."""
        sums = collections.defaultdict(lambda: [0] * len(figures))
        for s in self.sites:
            for i, name in enumerate(figures):
                sums[key(s)][i] += s[name]
        return {k: tuple(v) for k, v in sums.items() if any(v)}

    def total(self, name):
        return sum(p["totals"][name] for p in self.data["processes"])

    def by_stack(self, figures):
        return self.by(lambda s: s["stack"], figures)

    def by_leaf(self, figures):
        return self.by(lambda s: s["stack"][0], figures)

    def inclusive(self, figures, name=lambda s: s):
        """Sums by function, wherever it is in the stack, once for each."""
        sums = collections.defaultdict(lambda: [0] * len(figures))
        for s in self.sites:
            for function in {name(f) for f in s["stack"]}:
                for i, figure in enumerate(figures):
                    sums[function][i] += s[figure]
        return {k: tuple(v) for k, v in sums.items() if any(v)}


class Verdict:
    def __init__(self):
        self.checked = 0
        self.bad = []

    def equal(self, what, got, expected):
        self.checked += 1
        if got != expected:
            self.bad.append(f"{what}: {got} instead of {expected}")

    def same(self, what, got, expected):
        """Dictionaries: every key of both."""
        for key in sorted(set(got) | set(expected), key=str):
            self.equal(f"{what} {key}", got.get(key), expected.get(key))


def check_pprof(report, path, verdict, _metric):
    figures = ["allocations", "allocated_bytes", "live_blocks", "live_bytes",
               "peak_blocks", "peak_bytes"]
    profile = read.pprof(path)
    verdict.equal("types", profile["types"], [
        ("alloc_objects", "count"), ("alloc_space", "bytes"),
        ("inuse_objects", "count"), ("inuse_space", "bytes"),
        ("peak_objects", "count"), ("peak_space", "bytes")])
    sums = collections.defaultdict(lambda: [0] * 6)
    for stack, values, labels in profile["samples"]:
        for i, v in enumerate(values):
            sums[(int(labels["pid"]), labels["api"], stack)][i] += v
    verdict.same("site", {k: tuple(v) for k, v in sums.items()},
                 report.by(lambda s: (s["pid"], s["api"], s["stack"]), figures))
    for i, name in enumerate(figures):
        verdict.equal(name, sum(v[i] for v in sums.values()),
                      report.total(name))
    lines = {(frame_name(f),
              f["file"] and clean(f["file"]), f["line"] or 0)
             for s in report.sites for f in s["frames"]}
    verdict.equal("lines", profile["lines"], {
        (name, file or "", line) for name, file, line in lines})
    builds = {m["path"]: m["build_id"] for p in report.data["processes"]
              for m in p["modules"]}
    verdict.equal("the program comes first", profile["mappings"][0]["file"],
                  [m["path"] for m in report.data["processes"][0]["modules"]
                   if m["main"]][0])
    for mapping in profile["mappings"]:
        verdict.equal("build-id of " + mapping["file"],
                      mapping["build_id"] or None, builds[mapping["file"]])


def check_html(report, path, verdict, _metric):
    """All columns of the page, by a reader of its own."""
    c = page.compare(path, report.path)
    verdict.checked += c.compared
    verdict.bad += c.bad


def check_gprof2dot(report, path, verdict, metric):
    """Recursion is folded: sums by who allocates, and by who is in a stack."""
    figure = [METRICS[metric][0]]
    own, below = read.gprof2dot(path)
    verdict.same("own", {(api, clean(name)): (v,) for (api, name), v in own.items()},
                 report.by(lambda s: (s["api"], s["stack"][0]), figure))
    verdict.same("inclusive", {clean(k): (v,) for k, v in below.items()},
                 report.inclusive(figure))


def check_pprof_since(report, path, verdict, old_path):
    """Differences from an older report, by stack."""
    figures = ["allocations", "allocated_bytes", "live_blocks", "live_bytes",
               "peak_blocks", "peak_bytes"]
    old = Report(old_path)
    new_sums, old_sums = report.by_stack(figures), old.by_stack(figures)
    expected = {}
    for stack in set(new_sums) | set(old_sums):
        zeros = (0,) * len(figures)
        change = tuple(a - b for a, b in zip(
            new_sums.get(stack, zeros), old_sums.get(stack, zeros)))
        if any(change):
            expected[stack] = change
    sums = collections.defaultdict(lambda: [0] * len(figures))
    for stack, values, _ in read.pprof(path)["samples"]:
        for i, v in enumerate(values):
            sums[stack][i] += v
    verdict.same("stack", {k: tuple(v) for k, v in sums.items() if any(v)},
                 expected)
    for i, name in enumerate(figures):
        verdict.equal(name, sum(v[i] for v in sums.values()),
                      report.total(name) - old.total(name))


def go_name(name):
    """Go leaves out what looks like arguments where nothing was mangled."""
    return name.replace("<f>", "").replace("(1)", "")


def check_go_top(report, path, verdict, metric):
    """Of go tool pprof -top -unit=B: sums by function."""
    figures = [METRICS[metric][0]]
    flat = {go_name(k): v for k, v in report.by_leaf(figures).items()}
    inclusive = {go_name(k): v for k, v in report.inclusive(figures).items()}
    got_flat, got_all = {}, {}
    for name, self_bytes, all_bytes in read.go_top(path):
        if self_bytes:
            got_flat[name] = (self_bytes,)
        got_all[name] = (all_bytes,)
    verdict.same("function", got_flat, flat)
    verdict.same("with callees", got_all, inclusive)


def check_go_diff(report, path, verdict, what):
    """Of go tool pprof -top -diff_base: METRIC:OLD.json, all that changed."""
    metric, old_path = what.split(":", 1)
    figures = [METRICS[metric][0]]
    old = Report(old_path)

    def changes(new_sums, old_sums):
        names = set(new_sums) | set(old_sums)
        values = {go_name(k): new_sums.get(k, (0,))[0] - old_sums.get(k, (0,))[0]
                  for k in names}
        return {k: v for k, v in values.items() if v}
    flat, below = {}, {}
    for name, self_bytes, all_bytes in read.go_top(path):
        if self_bytes:
            flat[name] = self_bytes
        if all_bytes:
            below[name] = all_bytes
    verdict.same("function", flat, changes(report.by_leaf(figures), old.by_leaf(figures)))
    verdict.same("with callees", below,
                 changes(report.inclusive(figures), old.inclusive(figures)))


def check_go_traces(report, path, verdict, metric):
    """Of go tool pprof -traces: sums by stack."""
    got = collections.Counter()
    for stack, value in read.go_traces(path):
        got[stack] += value
    expected = {tuple(go_name(f) for f in k): v[0] for k, v in
                report.by_stack([METRICS[metric][0]]).items()}
    got = {k: v for k, v in got.items() if v}
    verdict.same("stack", got, expected)


def check_collapsed(report, path, verdict, metric):
    expected = report.by(lambda s: tuple(
        f.replace(";", ":") for f in reversed(s["stack"])),
        [METRICS[metric][0]])
    got = collections.Counter()
    processes = len(report.data["processes"]) > 1
    for stack, value in read.collapsed(path):
        got[stack[1:] if processes else stack] += value
    verdict.same("stack", {k: (v,) for k, v in got.items()}, expected)


def check_csv(report, path, verdict, metric):
    """RFC 4180, a row for each site, all figures and what tells it."""
    rows = read.csv_rows(path)
    ids = {}
    for p in report.data["processes"]:
        for s in p["sites"]:
            ids[(str(p["pid"]), str(s["id"]))] = s
    verdict.equal("rows", len(rows), len(ids))
    last = None
    for row in rows:
        s = ids[(row["pid"], row["id"])]
        what = f"site {row['id']} "
        for name in FIGURES + ["samples"]:
            verdict.equal(what + name, int(row[name]), s[name])
        for name in "size_min", "size_max":
            verdict.equal(what + name, int(row[name] or 0), s[name])
        for name in "kind", "api", "fingerprint", "first_time", "last_time":
            verdict.equal(what + name, row[name], s[name])
        own = s["frames"][s.get("own", 0)] # the user's own heads it
        for name in "function", "file", "module":
            text = clean(own[name] or "")
            verdict.equal(what + name, row[name],
                          "'" + text if text[:1] in "=+-@" and text else text)
        verdict.equal(what + "line", row["line"], str(own["line"] or ""))
        verdict.equal(what + "stack", row["stack"], ";".join(
            frame_name(f).replace(";", ":") for f in reversed(s["frames"])))
        value = int(row[METRICS[metric][0]])
        verdict.equal(what + "order", last is None or last >= value, True)
        last = value


def check_dhat(report, path, verdict, _metric):
    """Fields that the viewer wants, stacks that come once, all figures."""
    d = read.dhat(path)
    fields = {"tb": "allocated_bytes", "tbk": "allocations",
              "gb": "peak_bytes", "gbk": "peak_blocks",
              "eb": "live_bytes", "ebk": "live_blocks"}
    sums = collections.defaultdict(lambda: [0] * len(fields))
    several = len(report.data["processes"]) > 1
    for point in d["pps"]:
        names = [d["names"][n] for n in point["fs"]]
        stack = tuple(names[1:-1] if several else names[1:])
        for i, key in enumerate(fields):
            sums[(names[0], stack)][i] += point[key]
        if point["mb"] < max(point["gb"], point["eb"]) or (
                point["mb"] > point["tb"]):
            verdict.equal("maximum of " + str(names), point["mb"], None)
    verdict.same("point", {k: tuple(v) for k, v in sums.items()},
                 report.by(lambda s: (s["api"], s["stack"]),
                           list(fields.values())))
    for i, name in enumerate(fields.values()):
        verdict.equal(name, sum(v[i] for v in sums.values()),
                      report.total(name))
    first = report.data["processes"][0]
    verdict.equal("pid", d["pid"], first["pid"])
    verdict.equal("end", d["te"], max(
        p["duration_ms"] for p in report.data["processes"]) * 1000)
    verdict.equal("peak before end", 0 <= d["tg"] <= d["te"], True)


def check_dhat_page(report, path, verdict, _metric):
    """What dh_view.html shows of the file, as text: the root's figures."""
    text = read.page_text(path)
    for title, what, blocks in (
            ("Total", "allocated_bytes", "allocations"),
            ("At t-gmax", "peak_bytes", "peak_blocks"),
            ("At t-end", "live_bytes", "live_blocks")):
        found = re.search(
            title + r":\s+([\d,]+) bytes \(100%.*?in\s+([\d,]+) blocks", text)
        got = tuple(int(g.replace(",", "")) for g in found.groups())
        verdict.equal(title, got, (report.total(what), report.total(blocks)))


PROFILES = {
    "live bytes": "live_bytes", "peak bytes": "peak_bytes",
    "allocated bytes": "allocated_bytes",
    "temporary bytes": "temporary_bytes", "live blocks": "live_blocks",
    "allocations": "allocations",
}


def check_speedscope(report, path, verdict, metric):
    profiles, active = read.speedscope(path)
    verdict.equal("profiles", set(profiles), set(PROFILES))
    verdict.equal("active", PROFILES[active], METRICS[metric][0])
    several = len(report.data["processes"]) > 1
    for name, (samples, total) in profiles.items():
        sums = collections.Counter()
        for stack, weight in samples:
            sums[stack[1:] if several else stack] += weight
        verdict.equal("total of " + name, sum(sums.values()), total)
        verdict.same(name, {k: (v,) for k, v in sums.items()}, report.by(
            lambda s: tuple(reversed(s["stack"])), [PROFILES[name]]))


def check_speedscope_page(report, path, verdict, _metric):
    """The list of profiles that speedscope shows, with their totals."""
    text = read.page_text(path)
    for name, figure in PROFILES.items():
        total = sum(s[figure] for s in report.sites)
        if not name.endswith("bytes"):
            shown = f"{total:,}"
        elif total < 1024:
            shown = f"{total:.2f} B"
        else:
            shown = f"{total / 1024:,.2f} KB"
        verdict.equal(name, bool(re.search(
            rf"{name}\s+{re.escape(shown)}", text)), True)


def check_speedscope_table(report, path, verdict, metric):
    """Its table of functions: own and total, where recursion counts once."""
    figure = [METRICS[metric][0]]
    own, below = {}, {}
    for total, self_bytes, name in read.speedscope_table(path):
        if self_bytes:
            own[name] = (self_bytes,)
        if total:
            below[name] = (total,)
    plain = lambda sums: {k.replace(";", ":"): v for k, v in sums.items()}
    verdict.same("own", own, plain(report.by_leaf(figure)))
    verdict.same("total", below, plain(report.inclusive(figure)))


EVENTS = {
    "curB": "live_bytes", "curBk": "live_blocks", "totB": "allocated_bytes",
    "totBk": "allocations", "totFdB": "freed_bytes", "totFdBk": "frees",
    "peakB": "peak_bytes", "peakBk": "peak_blocks",
}


def check_callgrind(report, path, verdict, _metric):
    """By function: its own costs, and those of all that it calls."""
    events, totals, own, below = read.callgrind(path)
    figures = [EVENTS[e] for e in events]
    verdict.equal("events", list(EVENTS), events)
    verdict.equal("totals", totals, tuple(report.total(f) for f in figures))
    verdict.same("own", own, report.by_leaf(figures))
    verdict.same("inclusive", below, report.inclusive(figures))


def check_callgrind_annotate(report, path, verdict, inclusive):
    """What callgrind_annotate --threshold=100 --auto=no prints."""
    events, totals, rows = read.callgrind_annotate(path)
    figures = [EVENTS[e] for e in events]
    verdict.equal("totals", totals, tuple(report.total(f) for f in figures))
    expected = (report.inclusive(figures) if inclusive == "inclusive"
                else report.by_leaf(figures))
    # recursions have names of their own; the outermost has all of them
    sums = collections.defaultdict(lambda: (0,) * len(events))
    for name, values in rows.items():
        outer = re.sub(r"'\d+$", "", name)
        if outer == name or inclusive != "inclusive":
            sums[outer] = tuple(a + b for a, b in zip(sums[outer], values))
    verdict.same("function", {k: v for k, v in sums.items() if any(v)},
                 expected)


def check_dot_full(report, path, verdict, metric):
    check_dot(report, path, verdict, metric, parts=0)


def check_dot(report, path, verdict, metric, parts=1000):
    """All functions are there with --top: their own bytes, and below."""
    figure = METRICS[metric][0]
    nodes, edges = read.dot(path)
    own = {k: (v[0],) for k, v in nodes.items() if v[0]}
    below = {k: (v[1],) for k, v in nodes.items()}
    verdict.same("own", own, report.by_leaf([figure]))
    verdict.same("inclusive", below, report.inclusive([figure]))
    pairs = collections.Counter()
    for s in report.sites:
        stack = [k for k, _ in itertools.groupby(s["stack"])]
        for callee, caller in set(zip(stack, stack[1:])):
            pairs[(caller, callee)] += s[figure]
    least = sum(s[figure] for s in report.sites) // parts if parts else 0
    verdict.same("call", edges, {
        k: v for k, v in pairs.items() if v >= least and v})


def check_dot_svg(report, path, verdict, _metric):
    """What dot made of it: a box for each function, with its name."""
    texts = read.svg_texts(path)
    for name in report.inclusive(["live_bytes"]):
        if len(name) <= 72:
            verdict.equal(f"box of {name}", name in texts, True)


def massif_label(frame):
    name = frame_name(frame)
    if frame["file"]:
        base = frame["file"].rsplit("/", 1)[-1]
        return f"{name} ({clean(base)}:{frame['line'] or 0})"
    return f"{name} (in {clean(frame['module'] or '?')})"


def check_tree(report, process, verdict, what, nodes, figure, total):
    """Nodes are (depth, bytes, label): each has what its stacks have."""
    sums = collections.Counter()
    for s in process["sites"]:
        if s["kind"] == "heap":
            path = ()
            sums[path] += s[figure]
            for f in s["frames"][:30]:
                path += (massif_label(f),)
                sums[path] += s[figure]
    path = []
    told = collections.Counter() # two modules may have lines of one name
    for depth, value, label in nodes:
        if label.startswith("(heap allocation functions)"):
            verdict.equal(what + " root", value, total)
            verdict.equal(what + " all", value, sums[()])
            continue
        if re.match(r"in \d+ place", label) or label.startswith("in places"):
            continue
        path[depth - 1:] = [re.sub(r"^0x[0-9A-F]+: ", "", label)]
        told[tuple(path)] += value
    for key, value in told.items():
        verdict.equal(f"{what} {key}", value, sums[key])
    for key, value in sums.items():
        if value * 1000 >= total * 2 and len(key) and value:
            verdict.equal(f"{what} has {key}", key in told, True)


def one_process(report):
    return max(report.data["processes"], key=lambda p: p["totals"]["peak_bytes"])


def check_massif(report, path, verdict, _metric):
    p = one_process(report)
    snapshots = read.massif(path)
    line = p["timeline"]["live_bytes"] if p["timeline"] else []
    times = [s["time"] for s in snapshots]
    verdict.equal("rising times", times, sorted(times))
    verdict.equal("first", (times[0], snapshots[0]["bytes"]), (0, 0))
    peaks = [s for s in snapshots if s["tree"] == "peak"]
    verdict.equal("peaks", len(peaks), 1)
    check_tree(report, p, verdict, "peak", peaks[0]["nodes"], "peak_bytes",
               p["totals"]["peak_bytes"])
    verdict.equal("end", snapshots[-1]["bytes"], p["totals"]["live_bytes"])
    check_tree(report, p, verdict, "end", snapshots[-1]["nodes"],
               "live_bytes", p["totals"]["live_bytes"])
    for s in snapshots[1:-1]:
        if s["tree"] != "peak":
            verdict.equal("on the time line", s["bytes"] in line, True)
        if s["nodes"]:
            verdict.equal("tree of all", s["nodes"][0][1], s["bytes"])


def check_ms_print(report, path, verdict, _metric):
    """Of ms_print --threshold=0: the trees of peak and end."""
    p = one_process(report)
    trees, peak = read.ms_print(path)
    check_tree(report, p, verdict, "peak", trees[peak], "peak_bytes",
               p["totals"]["peak_bytes"])
    check_tree(report, p, verdict, "end", trees[max(trees)], "live_bytes",
               p["totals"]["live_bytes"])


def check_heaptrack(report, path, verdict, _metric):
    """Played as its page says: calls, peak, what is left, by stack."""
    figures = ["allocations", "live_blocks", "live_bytes", "peak_bytes"]
    sums, total = read.heaptrack(path)
    expected = report.by(lambda s: s["stack"], figures)
    verdict.same("stack", {k: tuple(v[f] for f in figures)
                           for k, v in sums.items()
                           if any(v[f] for f in figures)}, expected)
    for name in figures:
        verdict.equal(name, total[name], report.total(name))
    young = report.by(lambda s: s["stack"], [
        "temporary_blocks", "peak_blocks"])
    for stack, v in sums.items():
        most, at_peak = young.get(stack, (0, 0))
        verdict.equal(f"temporary {stack}",
                      most - at_peak <= v["temporary"] <= most, True)


def check_heaptrack_print(report, path, verdict, metric):
    """The summary, and what -F with a cost type writes: FILE is for both."""
    figure = {"leaked": "live_bytes", "peak": "peak_bytes",
              "allocations": "allocations"}[metric]
    got, values = read.heaptrack_print(path)
    verdict.equal("allocations", got["calls"], report.total("allocations"))
    verdict.equal("peak", got["peak"], read.heaptrack_bytes(
        report.total("peak_bytes")))
    verdict.equal("leaked", got["leaked"], read.heaptrack_bytes(
        report.total("live_bytes")))
    traces = report.by(lambda s: tuple(
        (f["module"], f["offset"], f["function"]) for f in s["frames"]),
        [figure])
    verdict.equal("stacks", values, sorted(v[0] for v in traces.values()))


def main():
    report_path, kind, path = sys.argv[1:4]
    metric = sys.argv[4] if len(sys.argv) > 4 else "live"
    check = globals()["check_" + kind.replace("-", "_")]
    verdict = Verdict()
    check(Report(report_path), path, verdict, metric)
    for line in verdict.bad[:20]:
        print(f"{kind}: {line}")
    if verdict.checked < 3:
        print(f"{kind}: only {verdict.checked} figures compared")
        sys.exit(1)
    print(f"{kind}: {verdict.checked} compared, {len(verdict.bad)} differ")
    sys.exit(bool(verdict.bad))


if __name__ == "__main__":
    main()
