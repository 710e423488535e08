#!/usr/bin/env python3
# flown.py - holds seep dump --last against what the host flown has noted itself.
# SPDX-License-Identifier: Apache-2.0
"""
flown.py [--killed] [--events N] [--threads N] NOTED DUMP: NOTED is the file of
tests/hosts/flown, DUMP is of seep dump --last --format jsonl. For each thread: its
events in the dump are its last ones, in their order, with kind, address and size;
at least N of them, or all it made. With --killed the dump may have one event more,
which the thread had no time to note. --threads: so many threads are in the dump.
"""

import collections
import json
import struct
import sys

KEPT, THREADS = 1 << 14, 16
KINDS = {1: "alloc", 2: "free", 3: "realloc-from", 4: "realloc-to"}


def noted(path):
    """tid -> (number of events, the last of them)."""
    with open(path, "rb") as file:
        data = file.read()
    size = 16 + KEPT * 24
    for thread in range(THREADS):
        tid, count = struct.unpack_from("<QQ", data, thread * size)
        if not tid:
            continue
        last = []
        for n in range(max(0, count - KEPT), count):
            kind, address, bytes_ = struct.unpack_from("<QQQ", data, thread * size + 16 + n % KEPT * 24)
            last.append((KINDS[kind], address, bytes_))
        yield tid, count, last


def option(args, name):
    return int(args[args.index(name) + 1]) if name in args else None


def main(*args):
    killed, least, threads = "--killed" in args, option(args, "--events"), option(args, "--threads")
    dumped = collections.defaultdict(list)
    times = collections.defaultdict(int)
    with open(args[-1], encoding="utf-8") as file:
        for line in file:
            e = json.loads(line)
            ring = e["thread_name"], e["tid"], e["thread"]  # a program before exec has the same tid
            assert e["time_ms"] >= times[ring], "time went back: " + line
            times[ring] = e["time_ms"]
            dumped[e["tid"]].append((e["event"], e["address"], e["size"]))
    seen = events = 0
    for tid, count, last in noted(args[-2]):
        mine = dumped.get(tid)
        if mine is None:
            assert threads is not None or count == 0, "thread %d is missing" % tid
            continue
        seen += 1
        events += len(mine)
        # what was noted after the kill is at most the event that was under way
        for more in range(4 if killed else 1):
            there = mine[:len(mine) - more] if more else mine
            if not there or there == last[-len(there):]:
                break
        else:
            raise AssertionError("thread %d of %d events: dumped %r, noted %r" % (tid, count, mine[-4:], last[-4:]))
        # a realloc has two events, and is noted at once
        assert more <= 2, "thread %d: %d events were not noted" % (tid, more)
        if least is not None:
            assert len(mine) >= min(least, count), "thread %d: %d events" % (tid, len(mine))
    assert threads is None or seen == threads, "%d threads" % seen
    assert seen
    print(seen, "threads,", events, "events")


main(*sys.argv[1:])
