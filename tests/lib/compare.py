#!/usr/bin/env python3
# compare.py - holds a report (JSON) against the ledger its host printed.
# SPDX-License-Identifier: Apache-2.0
"""
compare.py LEDGER REPORT [--doubt SITE=N] [--allow LOSS] [--no-clean] [--no-total]
           [--others]

LEDGER is the output of a host (lib/ledger.h), sections begin with PID N:
  SITE name key=value ...     figures of one call path
  SITE TOTAL key=value ...    figures of the whole process
  API name function           the `api` of every site of that call path
  PEAK name bytes             right within 0.5 % of PEAK TOTAL
  INHERITED n                 inherited_frees of this process
  OTHER name                  a frame of this name is nobody's in the ledger
  OPTIONAL                    this process may be missing (under 64 events)
  SKIP, BROKEN, # ...         skip / the host itself failed / comment

A site of the report belongs to the innermost of its frames that the ledger
names. Every figure must be equal, to the byte. --doubt allows a site to be
off by N events (calls that a signal handler left or forked in); --allow one
kind of loss, --no-clean all of them, --no-total leaves out SITE TOTAL and peaks (an allocator that
allocates for itself); --others says that there are calls that the ledger does
not know, so that sums of children without stacks may be higher.
Prints one line per difference; exit 0: equal, 1: not, 77: skipped.
"""

import sys

import shared

KEYS = ("allocations", "allocated_bytes", "frees", "freed_bytes",
        "live_blocks", "live_bytes")
PEAKS = ("peak_blocks", "peak_bytes")
# named in `lost`, but no loss of counts
HARMLESS = {"nested_events", "healed", "generations", "wasted_ids",
            "events_off", "cut_rule", "cut_no_info",
            "cut_bounds", "cut_switched", "truncated_stacks",
            "namespaces"}

problems = []


def complain(text):
    problems.append(text)


class Books:
    """What one process printed about itself."""

    def __init__(self, pid):
        self.pid, self.sites, self.api, self.peak = pid, {}, {}, {}
        self.others = set()
        self.inherited, self.optional = None, False


def read_ledger(path):
    books, skipped = [], False
    with open(path, encoding="utf-8") as ledger:
        for line in ledger:
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if words[0] == "PID":
                books.append(Books(int(words[1])))
            elif words[0] == "SITE":
                figures = dict(w.split("=") for w in words[2:])
                books[-1].sites[words[1]] = {
                    k: int(v) for k, v in figures.items()}
            elif words[0] == "API":
                books[-1].api[words[1]] = " ".join(words[2:])
            elif words[0] == "OTHER":
                books[-1].others.add(words[1])
            elif words[0] == "PEAK":
                books[-1].peak[words[1]] = int(words[2])
            elif words[0] == "INHERITED":
                books[-1].inherited = int(words[1])
            elif words[0] == "OPTIONAL":
                books[-1].optional = True
            elif words[0] == "SKIP":
                skipped = True
            elif words[0] == "BROKEN":
                complain("host: " + line.strip())
    return books, skipped


def base_name(function):
    """name(args), name.part.0, name@@VERSION: all are name."""
    for mark in ("(", ".", "@"):
        function = function.split(mark)[0]
    return function


def owner_of(site, books):
    for frame in site["frames"]:
        name = base_name(frame.get("function") or "")
        if name in books.sites:
            return name
        if name in books.others:
            break
    return None


def check_arithmetic(process):
    """I15: allocations - frees = live; the sites add up to the totals."""
    totals, where = process["totals"], "pid %d" % process["pid"]
    for what, row in [("totals", totals)] + [
            ("site %s" % s["id"], s) for s in process["sites"]]:
        if row["allocations"] - row["frees"] != row["live_blocks"]:
            complain("%s: %s: blocks do not add up" % (where, what))
        if row["allocated_bytes"] - row["freed_bytes"] != row["live_bytes"]:
            complain("%s: %s: bytes do not add up" % (where, what))
        if row["live_blocks"] < 0 or row["live_bytes"] < 0:
            complain("%s: %s: negative live" % (where, what))
    heap = [s for s in process["sites"] if s["kind"] in ("heap", 1)]
    for key in KEYS:
        if sum(s[key] for s in heap) != totals[key]:
            complain("%s: sites do not add up to totals: %s %d != %d" % (
                where, key, sum(s[key] for s in heap), totals[key]))


def check_clean(process):
    where = "pid %d" % process["pid"]
    if process["live_map"] == "disagrees":
        complain("%s: live map and ledger disagree" % where)
    for key in ("unknown_frees", "missed_frees"):
        if process["totals"][key] != 0:
            complain("%s: %s = %d" % (where, key, process["totals"][key]))
    for key, value in process["lost"].items():
        if key == "early_stacks" and is_early(process):
            continue
        if value and key not in HARMLESS:
            complain("%s: lost.%s = %s" % (where, key, value))


def forget_totals(books):
    books.sites.pop("TOTAL", None)
    for figures in books.sites.values():
        for key in PEAKS:
            figures.pop(key, None)


def is_early(process):
    """A forked child that ended in its first events: sums, no stacks."""
    return any(s["stack"] == "ended_early" for s in process["sites"])


def compare_early(books, process, others):
    where = "pid %d" % books.pid
    for key in KEYS:
        told = sum(f.get(key, 0) for n, f in books.sites.items()
                   if n != "TOTAL")
        found = process["totals"][key]
        if found < told or (found > told and not others):
            complain("%s: %s is %d, expected %d" % (
                where, key, process["totals"][key], told))


def compare(books, process, doubt, others=False):
    where = "pid %d" % books.pid
    if is_early(process):
        compare_early(books, process, others)
        return
    found = {name: dict.fromkeys(KEYS + PEAKS, 0) for name in books.sites}
    for site in process["sites"]:
        name = owner_of(site, books)
        if not name:
            continue
        for key in KEYS + PEAKS:
            found[name][key] += site[key]
        if name in books.api and site["api"] != books.api[name]:
            complain("%s: %s: api is %s, expected %s" % (
                where, name, site["api"], books.api[name]))
    if "TOTAL" in found:
        found["TOTAL"] = process["totals"]
        if not process["totals"]["peak_exact"]:
            complain("%s: peak_exact is false" % where)
    for name, wanted in books.sites.items():
        for key, value in wanted.items():
            got = found[name][key]
            slack = doubt.get(name, 0)
            if "bytes" in key:
                slack *= 4096
            if abs(got - value) > slack:
                complain("%s: %s: %s is %d, expected %d" % (
                    where, name, key, got, value))
    check_peak(books, process, found, where)
    if books.inherited is not None:
        got = process["totals"]["inherited_frees"]
        if abs(got - books.inherited) > doubt.get("INHERITED", 0):
            complain("%s: inherited_frees is %d, expected %d" % (
                where, got, books.inherited))


def check_peak(books, process, found, where):
    if not books.peak:
        return
    bar = books.peak["TOTAL"] * 0.005
    for name, value in books.peak.items():
        got = (process["totals"] if name == "TOTAL"
               else found[name])["peak_bytes"]
        if abs(got - value) > bar:
            complain("%s: %s: peak is %d, expected %d within %d" % (
                where, name, got, value, bar))


def main(arguments):
    doubt = {}
    while "--allow" in arguments:
        at = arguments.index("--allow")
        HARMLESS.add(arguments[at + 1])
        del arguments[at:at + 2]
    while "--doubt" in arguments:
        at = arguments.index("--doubt")
        name, allowed = arguments[at + 1].split("=")
        doubt[name] = int(allowed)
        del arguments[at:at + 2]
    options = {a for a in arguments if a.startswith("--")}
    ledger, report = [a for a in arguments if not a.startswith("--")]
    books, skipped = read_ledger(ledger)
    processes = shared.load(report)["processes"]
    if not books and not skipped:
        complain("no ledger: the host did not finish")
    untraced = sum(p["lost"].get("children_untraced", 0) for p in processes)
    missing = 0
    for process in processes:
        check_arithmetic(process)
        if "--no-clean" not in options:
            check_clean(process)
    for one in books:
        if "--no-total" in options:
            forget_totals(one)
        mine = [p for p in processes if p["pid"] == one.pid]
        # exec leaves an element behind for each former image of the pid
        mine = [p for p in mine if p["end"] != "exec"] or mine
        if mine:
            compare(one, mine[-1], doubt, "--others" in options)
        elif not one.optional:
            missing += 1
            if missing > untraced:
                complain("pid %d: not in the report" % one.pid)
    for text in problems[:40]:
        print(text)
    if len(problems) > 40:
        print("... and %d more" % (len(problems) - 40))
    if problems:
        return 1
    print("equal: %d processes, %d call paths, %d missing and counted" % (
        len(books), sum(len(b.sites) for b in books), missing))
    return 77 if skipped else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
