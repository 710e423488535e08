#!/usr/bin/env python3
# inflight.py - holds the report of a killed process against what it published.
# SPDX-License-Identifier: Apache-2.0
"""
inflight.py FILE PID REPORT: FILE is what hosts/killed.c published: for each
of four threads allocations, bytes, frees, bytes, first begun, then done.
The report must lie between done and begun, thread by thread: off by at most
the one call that was in flight. A process that died before its 64th event may
be missing: a forked child has no segment until then.
"""

import json
import struct
import sys

KEYS = ("allocations", "allocated_bytes", "frees", "freed_bytes")


def main(path, pid, report):
    with open(path, "rb") as published:
        words = struct.unpack("<32Q", published.read(256))
    with open(report, encoding="utf-8") as text:
        processes = [p for p in json.load(text)["processes"]
                     if p["pid"] == int(pid)]
    events = sum(words[t * 8] + words[t * 8 + 2] for t in range(4))
    if not processes and events < 64:
        print("%d events, not in the report" % events)
        return 0
    if len(processes) != 1:
        print("pid %s: %d times in the report, after %d events" % (
            pid, len(processes), events))
        return 1
    wrong, in_flight = 0, 0
    for key in ("unknown_frees", "missed_frees"):
        if processes[0]["totals"][key]:
            print("%s is %d" % (key, processes[0]["totals"][key]))
            wrong += 1
    for thread in range(4):
        begun, done = (words[thread * 8 + i:thread * 8 + i + 4] for i in (0, 4))
        mine = [s for s in processes[0]["sites"] if any(
            f["function"] == "thread_%d" % thread for f in s["frames"])]
        in_flight += begun[0] - done[0] + begun[2] - done[2]
        for i, key in enumerate(KEYS):
            got = sum(s[key] for s in mine)
            if not done[i] <= got <= begun[i]:
                print("thread_%d: %s is %d, not in %d..%d" % (
                    thread, key, got, done[i], begun[i]))
                wrong += 1
    print("%d events, %d in flight, %d wrong" % (events, in_flight, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
