#!/usr/bin/env python3
# memtrail.py - reads what memtrail dump prints, and adds it up.
# SPDX-License-Identifier: Apache-2.0
"""
memtrail.py DUMP: checks every line against memtrail's grammar, and that a free
names a block that lives with the size it has. Prints allocations, peak and leaked
bytes, and for each stack that has leaked its bytes and functions.
"""

import collections
import re
import sys

EVENT = re.compile(r"(\d+): 0x([0-9a-f]{8,}) ([+-]\d+)\n")
FRAME = re.compile(r"\t(\S.*?)(?: \[([^\[\]]+):(\d+)\])?\n")


def main(path):
    live, leaked = {}, collections.Counter()
    count = size = peak = stamp = 0
    with open(path, encoding="utf-8") as file:
        lines = iter(file)
        for line in lines:
            event = EVENT.fullmatch(line)
            assert event, line
            stamp += 1
            assert int(event[1]) == stamp, line
            address, change = int(event[2], 16), int(event[3])
            assert change != 0, line
            frames = []
            for line in lines:
                if line == "\n":
                    break
                frame = FRAME.fullmatch(line)
                assert frame, line
                frames.append(frame[1])
            assert bool(frames) == (change > 0), line
            if change > 0:
                assert address not in live, line
                live[address] = (change, tuple(frames))
                count += 1
            else:
                was = live.pop(address)
                assert was[0] == -change, line
            size += change
            peak = max(peak, size)
    for change, frames in live.values():
        leaked[frames] += change
    print(count, peak, size)
    for frames, change in leaked.most_common():
        print(change, *frames, sep="\t")


if __name__ == "__main__":
    main(*sys.argv[1:])
