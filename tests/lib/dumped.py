#!/usr/bin/env python3
# dumped.py - holds what seep dump lists against the counters of a report.
# SPDX-License-Identifier: Apache-2.0
"""
dumped.py [--lost N] DUMP REPORT: DUMP is of seep dump --format jsonl, REPORT of
seep report --format json. For each process: as many allocations, frees and bytes;
every free comes after its allocation and names it; what is live at the end is
what the report says. With --lost N, so many events may be missing in all.
"""

import collections
import json
import sys


def main(*args):
    lost = int(args[1]) if args[0] == "--lost" else 0
    with open(args[-1], encoding="utf-8") as file:
        report = json.load(file)["processes"]
    sums = collections.defaultdict(lambda: [0, 0, 0, 0])
    live = collections.defaultdict(dict)
    last = collections.defaultdict(int)
    gaps = 0
    with open(args[-2], encoding="utf-8") as file:
        for line in file:
            e = json.loads(line)
            pid, what = e["pid"], e["event"]
            if what == "lost":
                gaps += e["events"]
                continue
            assert e["time_ms"] >= last[pid, e["thread"]], "time went back: " + line
            last[pid, e["thread"]] = e["time_ms"]
            mine, blocks = sums[pid], live[pid]
            if what in ("free", "realloc"):
                if lost and e["block"] not in blocks:
                    mine[2] += 1
                else:
                    size, site, born = blocks.pop(e["block"])
                    mine[2] += 1
                    mine[3] += size
                    if what == "free" and not lost:
                        assert (size, site) == (e["size"], e["site"]), line
                        assert lost or e["age_ms"] == max(0, e["time_ms"] - born), line
            elif what == "free-unlogged":
                mine[2] += 1
                mine[3] += e["size"]
            if what in ("alloc", "realloc"):
                mine[0] += 1
                mine[1] += e["size"]
                kept = born if what == "realloc" and not lost else e["time_ms"]  # realloc keeps the birth
                blocks[e["block"]] = (e["size"], e["site"], kept)
    seen = missing = 0
    for p in report:
        t, pid = p["totals"], p["pid"]
        if pid not in sums:
            continue
        seen += 1
        counted = [t["allocations"], t["allocated_bytes"], t["frees"], t["freed_bytes"]]
        same = [q for q in report if q["pid"] == pid]
        if len(same) > 1:  # exec: a pid with several programs
            continue
        missing += counted[0] - sums[pid][0] + counted[2] - sums[pid][2]
        if not lost:
            assert counted == sums[pid], "pid %d: counted %r, dumped %r" % (pid, counted, sums[pid])
            assert len(live[pid]) == t["live_blocks"], pid
    assert seen, "no process of the report is in the dump"
    assert missing == lost, "%d events are missing, %d were said to be lost" % (missing, lost)
    assert gaps <= lost or not lost
    print(seen, "processes,", sum(s[0] + s[2] for s in sums.values()), "events")


main(*sys.argv[1:])
