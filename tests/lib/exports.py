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
import json
import re
import sys

import exports_read as read

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
    lines = {(f["function"] and clean(f["function"]),
              f["file"] and clean(f["file"]), f["line"] or 0)
             for s in report.sites for f in s["frames"] if f["function"]}
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
        if not name.startswith("["): # without names it knows the file only
            got_all[name] = (all_bytes,)
    unnamed = {k for k in inclusive if "+0x" in k}
    for sums in flat, inclusive:
        for name in unnamed & set(sums):
            file = "[" + name.split("+0x")[0] + "]"
            value = sums.pop(name)
            if sums is flat:
                sums[file] = (sums.get(file, (0,))[0] + value[0],)
    verdict.same("function", got_flat, flat)
    verdict.same("with callees", got_all, inclusive)


def check_go_traces(report, path, verdict, metric):
    """Of go tool pprof -traces: sums by stack, of functions with names."""
    got = collections.Counter()
    for stack, value in read.go_traces(path):
        got[stack] += value
    expected = {tuple(go_name(f) for f in k): v[0] for k, v in
                report.by_stack([METRICS[metric][0]]).items()
                if not any("+0x" in f for f in k)}
    got = {k: v for k, v in got.items() if v and not any(
        re.match(r"\[.*\]$", f) for f in k)}
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
