#!/usr/bin/env python3
# mmleak.py - what mmleak's three scripts make of its log, in one.
# SPDX-License-Identifier: Apache-2.0
"""
mmleak.py sorted|any < LOG: removes allocations that are freed, as mmleak.py does
with lines sorted by `sort -s -k1,1`, where a free follows its allocation directly,
or as mmleak-shrink.py does with lines in any order. Prints what is left: frees,
allocations, bytes, and then by caller, as mmleak-panda.py groups them: bytes,
blocks, caller.
"""

import collections
import re
import sys

LINE = re.compile(r"0x[0-9a-f]+ (0x[0-9a-f]+|\(nil\))( \d+)?\n")


def records():
    for line in sys.stdin:
        assert LINE.fullmatch(line), line
        yield line.split()


def left_sorted():
    last = None
    for fields in records():
        if last and len(last) == 3 and len(fields) == 2 and last[0] == fields[0]:
            last = None
            continue
        if last:
            yield last
        last = fields
    if last:
        yield last


def left_any():
    allocated, freed = {}, {}
    for fields in records():
        if len(fields) == 3:
            allocated[fields[0]] = fields
        elif not allocated.pop(fields[0], None):
            freed[fields[0]] = fields
    yield from freed.values()
    yield from allocated.values()


def main(how):
    by_caller = collections.defaultdict(lambda: [0, 0])
    frees = 0
    for fields in left_sorted() if how == "sorted" else left_any():
        if len(fields) == 2:
            frees += 1
            continue
        by_caller[fields[1]][0] += int(fields[2])
        by_caller[fields[1]][1] += 1
    print(frees, sum(n for _, n in by_caller.values()), sum(b for b, _ in by_caller.values()))
    for caller, (size, blocks) in sorted(by_caller.items(), key=lambda item: item[1], reverse=True):
        print(size, blocks, caller)


if __name__ == "__main__":
    main(*sys.argv[1:])
