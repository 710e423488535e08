# page.py - reads the data inside a page of seep, and holds it against JSON.
# SPDX-License-Identifier: Apache-2.0
"""
A reader of its own, written after docs/PAGE.md; it shares nothing with the
page's. usage: page.py head|check|growth|csp|inert PAGE [ARGS]
"""
import base64
import gzip
import hashlib
import json
import re
import struct
import sys

import shared

AGES = 21
SIZES = 32
STEPS = 5
SLOTS = 32
FIGURES = ("allocations", "allocated_bytes", "frees", "freed_bytes", "live_blocks",
           "live_bytes", "peak_blocks", "peak_bytes", "temporary_blocks",
           "temporary_bytes", "samples")
CHANGES = ("allocations", "allocated_bytes", "frees", "freed_bytes")


def numbers(data, code):
    """LEB128, as it is, zigzag, or zigzag of differences."""
    out, value, shift, last = [], 0, 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte > 127:
            continue
        if code != "plain":
            value = (value >> 1) ^ -(value & 1)
        if code == "delta":
            value = last = last + value
        out.append(value)
        value = shift = 0
    assert shift == 0, "a number is cut"
    return out


STARTS = {"_start", "__libc_start_main", "__libc_start_main_impl",
          "__libc_start_call_main", "start_thread", "clone", "clone3", "__clone3"}


def without_start(frames):
    """A stack of the report as the page has it: what calls main is off."""
    n = len(frames)
    while n > 1 and (frames[n - 1]["function"] in STARTS or (
            frames[n - 1]["function"] is None and
            "/libc.so" in (frames[n - 1]["module"] or ""))):
        n -= 1
    return frames[:n]


class Page:
    """head, columns, and stacks as lists of frames, innermost first."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            self.html = f.read()
        found = re.findall(
            r'<script type="application/octet-stream" id="data">(.*?)</script>',
            self.html, re.S)
        assert len(found) == 1, f"{len(found)} places with data"
        raw = gzip.decompress(base64.b64decode(found[0], validate=False))
        size = struct.unpack("<I", raw[:4])[0]
        self.head = json.loads(raw[4:4 + size].decode("utf-8"))
        self.columns, at = {}, 4 + size
        for name, code, count, length in self.head["columns"]:
            self.columns[name] = numbers(raw[at:at + length], code)
            assert len(self.columns[name]) == count, name
            at += length
        assert at == len(raw), f"{len(raw) - at} bytes behind the columns"
        self.strings = self.head["strings"]
        self.read_stacks()

    def read_stacks(self):
        c, frames, at, last = self.columns, self.columns["stack.frames"], 0, []
        self.stacks = []
        for shared, added in zip(c["stack.shared"], c["stack.added"]):
            assert shared <= len(last)
            last = last[:shared] + frames[at:at + added]
            at += added
            self.stacks.append(last[::-1])
        assert at == len(frames)

    def text(self, number):
        return self.strings[number] if number else None

    def frame(self, n):
        c = self.columns
        flags = c["frame.flags"][n]
        named = c["frame.function"][n] > 0
        return {"function": self.text(c["frame.function"][n]),
                "file": self.text(c["frame.file"][n]),
                "line": c["frame.line"][n] or None,
                "module": self.text(c["frame.module"][n]),
                "offset": None if named else c["frame.offset"][n],
                "inlined": bool(flags & 1)}

    def classes(self, what, by, most):
        table = {}
        for site, n, count in zip(*(self.columns[f"{what}.{x}"]
                                    for x in ("site", by, "count"))):
            table.setdefault(site, [0] * most)[n] = count
        return table

    def rows(self):
        """For each process its rows, in the order of the page."""
        first = 0
        for p in self.head["processes"]:
            yield p, range(first, first + p["rows"])
            first += p["rows"]
        assert first == len(self.columns["site.stack"])

    def points(self):
        first = 0
        for p in self.head["processes"]:
            yield slice(first, first + p["points"])
            first += p["points"]


class Comparison:
    """How much was compared, and sentences about what differs."""

    def __init__(self):
        self.bad = []
        self.compared = 0

    def same(self, where, a, b):
        self.compared += 1
        if a != b:
            self.bad.append(f"{where}: page {a!r}, report {b!r}")

    def tell(self):
        for line in self.bad[:20]:
            print(line)
        print(f"{self.compared} compared, {len(self.bad)} differ")


def milliseconds(text):
    """Of "2026-01-02T03:04:05.678Z", since 1970."""
    from datetime import datetime, timezone
    if text is None:
        return None
    when = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ")
    return round(when.replace(tzinfo=timezone.utc).timestamp() * 1000)


def check_site(c, page, n, site, process, deaths, living, sizes, steps, births):
    where = f"pid {process['pid']} site {site['id']}"
    column = page.columns
    for name in FIGURES:
        c.same(f"{where} {name}", column[f"site.{name}"][n], site[name])
    for name in ("size_min", "size_max"):
        c.same(f"{where} {name}", column[f"site.{name}"][n], site[name])
    for name in ("kind", "api", "suppression", "pool"):
        c.same(f"{where} {name}", page.text(column[f"site.{name}"][n]), site[name])
    c.same(f"{where} stack", page.text(column["site.state"][n]), site["stack"])
    error = site["error"] or {"live_bytes": 0, "allocated_bytes": 0}
    c.same(f"{where} error", [column["site.error_live"][n],
                              column["site.error_allocated"][n]],
           [error["live_bytes"], error["allocated_bytes"]])
    c.same(f"{where} ages", deaths.get(n, [0] * AGES), site["ages"])
    known = column["site.steps_known"][n] > 0
    c.same(f"{where} ages_fine", steps.get(n, [0] * STEPS) if known else None,
           site.get("ages_fine"))
    known = column["site.ages_known"][n] > 0
    c.same(f"{where} live_ages", living.get(n, [0] * AGES) if known else None,
           site["live_ages"])
    known = column["site.sizes_known"][n] > 0
    c.same(f"{where} live_sizes", sizes.get(n, [0] * SIZES) if known else None,
           site["live_sizes"])
    theirs = site.get("live_births")
    c.same(f"{where} live_births", births.get(n, [0] * SLOTS),
           theirs if theirs else [0] * SLOTS)
    for name in ("first", "last"):
        c.same(f"{where} {name}", column[f"site.{name}_ms"][n] + process["start_ms"],
               milliseconds(site[f"{name}_time"]))
    frames = [page.frame(f) for f in page.stacks[column["site.stack"][n]]]
    for f in site["frames"]:
        if f["function"] is not None:
            f["offset"] = None  # the page keeps those of unnamed ones
    c.same(f"{where} frames", frames, without_start(site["frames"]))


def check_verdicts(c, page, report):
    """What looks found: the same sites, the same numbers, the same words."""
    ids = page.columns["site.id"]
    theirs = {(p["pid"], s["id"]): s["verdict"] for p in report["processes"]
              for s in p["sites"] if s.get("verdict")
              and s["verdict"]["class"] != "churn"}
    pid_of = {n: p["pid"] for p, rows in page.rows() for n in rows}
    ours = {(pid_of[v["row"]], ids[v["row"]]): v["verdict"]
            for v in page.head.get("verdicts", [])}
    c.same("verdicts", ours, theirs)
    for p, r in zip(page.head["processes"], report["processes"]):
        c.same(f"pid {p['pid']} leaks", p.get("leaks"), r.get("leaks"))
        c.same(f"pid {p['pid']} has a sentence", "verdict" in p, "leaks" in r)


def check_process(c, page, p, rows, points, report, tables):
    where = f"pid {p['pid']}"
    for name in ("pid", "ppid", "uuid", "exe", "command", "duration_ms", "end",
                 "exit_status", "signal", "mode", "sample_bytes", "medium",
                 "threads", "max_frames", "snapshot"):
        c.same(f"{where} {name}", p[name], report[name])
    c.same(f"{where} live_births_ms", p.get("births_ms"), report.get("live_births_ms"))
    totals = dict(report["totals"])
    error = totals.pop("error") or {"live_bytes": 0, "allocated_bytes": 0}
    own = dict(p["totals"])
    c.same(f"{where} error", [own.pop("error_live"), own.pop("error_allocated")],
           [error["live_bytes"], error["allocated_bytes"]])
    c.same(f"{where} totals", {**own, **p["counted"]}, totals)
    c.same(f"{where} lost", p["lost"], report["lost"])
    c.same(f"{where} counts", p["facts"], report["counts"])
    c.same(f"{where} cost", [p["own_bytes"], p["used_bytes"]],
           [report["tables"]["own_bytes"], report["tables"]["used_bytes"]])
    c.same(f"{where} peak", p["peak_ms"], milliseconds(report["peak_time"]))
    line = report["timeline"] or {}
    for name in ("time_us", "live_bytes", "live_blocks", "allocations",
                 "allocated_bytes"):
        theirs = line.get("times_us" if name == "time_us" else name, [])
        if p["points"] == p["points_seen"]:
            c.same(f"{where} {name}", page.columns[f"point.{name}"][points], theirs)
    check_sites(c, page, p, rows, report, tables)


def check_sites(c, page, p, rows, report, tables):
    sites = {s["id"]: s for s in report["sites"]}
    column = page.columns
    kept = [n for n in rows if column["site.merged"][n] == 0]
    c.same(f"pid {p['pid']} sites", len(kept) + p["merged"], len(sites))
    for n in kept:
        site = sites.get(column["site.id"][n])
        if site is None:
            c.same(f"pid {p['pid']} site", column["site.id"][n], None)
        else:
            check_site(c, page, n, site, p, *tables)
    # what is merged is not lost
    for name in FIGURES:
        c.same(f"pid {p['pid']} sum of {name}",
               sum(column[f"site.{name}"][n] for n in rows),
               sum(s[name] for s in sites.values()))


def check_changes(c, page):
    """All changes of a site together are what it is at the end."""
    column = page.columns
    sums = {}
    for i, site in enumerate(column["change.site"]):
        now = sums.setdefault(site, [0] * len(CHANGES))
        for k, name in enumerate(CHANGES):
            now[k] += column[f"change.{name}"][i]
    for p, rows in page.rows():
        if not page.head["inputs"][p["input"]]["recording"] or p["snapshot"]:
            continue
        for n in rows:
            c.same(f"changes of row {n}", sums.get(n, [0] * len(CHANGES)),
                   [column[f"site.{name}"][n] for name in CHANGES])


def compare(path, report_path):
    """Every number of the page with that of the JSON report."""
    page, c = Page(path), Comparison()
    report = shared.load(report_path)
    tables = (page.classes("death", "age", AGES), page.classes("living", "age", AGES),
              page.classes("size", "class", SIZES), page.classes("young", "step", STEPS),
              page.classes("birth", "slot", SLOTS))
    c.same("processes", [p["uuid"] for p in page.head["processes"]],
           [p["uuid"] for p in report["processes"]])
    for (p, rows), points, r in zip(page.rows(), page.points(), report["processes"]):
        check_process(c, page, p, rows, points, r, tables)
    check_verdicts(c, page, report)
    check_changes(c, page)
    return c


def check(path, report_path):
    c = compare(path, report_path)
    c.tell()
    return 1 if c.bad or c.compared < 20 else 0


def growth(path, first, last, report_path):
    """Live bytes between two moments, as report --growth has them."""
    page, c = Page(path), Comparison()
    column = page.columns
    first, last = int(first), int(last)
    sums = {}
    for i, moment in enumerate(column["change.moment"]):
        if first <= moment < last:
            n = column["change.site"][i]
            sums[n] = sums.get(n, 0) + column["change.allocated_bytes"][i] - \
                column["change.freed_bytes"][i]
    with open(report_path, encoding="utf-8") as f:
        report = json.load(f)
    theirs = {}
    for p in report["processes"]:
        for s in p["sites"]:
            key = json.dumps([(f["function"], f["file"], f["line"])
                              for f in without_start(s["frames"])] + [s["api"]])
            theirs[key] = theirs.get(key, 0) + s["bytes"]
    ours = {}
    for n, value in sums.items():
        frames = [page.frame(f) for f in page.stacks[column["site.stack"][n]]]
        key = json.dumps([(f["function"], f["file"], f["line"]) for f in frames] +
                         [page.text(column["site.api"][n])])
        ours[key] = ours.get(key, 0) + value
    for key in set(ours) | set(theirs):
        c.same(key, ours.get(key, 0), theirs.get(key, 0))
    c.tell()
    return 1 if c.bad or not theirs else 0


def csp(path):
    """The policy lets in what the page was built with, and nothing else."""
    html = Page(path).html
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html).group(1)
    rules = dict(r.strip().split(" ", 1) for r in policy.split(";"))
    own = lambda tag: re.search(f"<{tag}>(.*?)</{tag}>", html, re.S).group(1)
    expected = {"default-src": "'none'", "base-uri": "'none'", "form-action": "'none'"}
    for tag in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(own(tag).encode()).digest()).decode()
        expected[f"{tag}-src"] = f"'sha256-{digest}'"
    if rules != expected:
        print(f"policy {rules}\nexpected {expected}")
        return 1
    if re.search(r"(src|href|action)\s*=\s*[\"']?https?:", html):
        print("the page names an address")
        return 1
    return 0


def head(path, expression):
    page = Page(path)
    print(eval(expression, {"page": page, "head": page.head, "c": page.columns}))
    return 0


if __name__ == "__main__":
    sys.exit(globals()[sys.argv[1]](*sys.argv[2:]))
