#!/usr/bin/env python3
# mappings.py - mappings of a bare host, of a traced one, and what of it is ours.
# SPDX-License-Identifier: Apache-2.0
"""usage: mappings.py BARE TRACED OURS

BARE and TRACED: what tests/hosts/memory.c printed; OURS: what tests/tools/ours_of
printed of the traced one, which must still run. Says what is wrong."""
import collections
import re
import sys


def mappings(path):
    """(start, end, rights, name) of each line MAP."""
    found = []
    for line in open(path, encoding="utf-8"):
        m = re.match(r"MAP ([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \d+ *(.*)", line)
        if m:
            found.append((int(m[1], 16), int(m[2], 16), m[3], m[4]))
    return found


def word(path, name):
    return next(line.split()[1] for line in open(path, encoding="utf-8") if line.startswith(name + " "))


def without(start, end, ranges):
    """The parts of [start, end) that are in none of the ranges."""
    for a, b in ranges:
        if a < end and b > start:
            if start < a:
                yield start, a
            start = max(start, b)
    if start < end:
        yield start, end


def sums(maps):
    """Bytes by rights and name. A stack grows as it likes; the kernel's pages are not the host's."""
    total = collections.Counter()
    for start, end, rights, name in maps:
        if not name.startswith("[v") and name != "[stack]":
            total[rights, name] += end - start
    return total


def occurrences(pid, ranges, value):
    needle = value.to_bytes(8, "little")
    count = 0
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as mem:
        for start, end in ranges:
            try:
                mem.seek(start)
                data = mem.read(end - start)
            except OSError:
                continue
            at = data.find(needle)
            while at >= 0:
                count += 1
                at = data.find(needle, at + 1)
    return count


def main():
    bare, traced = mappings(sys.argv[1]), mappings(sys.argv[2])
    ours = sorted(tuple(int(x, 16) for x in line.split()) for line in open(sys.argv[3], encoding="utf-8"))
    rest = [(a, b, rights, name) for start, end, rights, name in traced for a, b in without(start, end, ours)]
    bad = False
    want, got = sums(bare), sums(rest)
    for key in sorted(set(want) | set(got)):
        if want[key] != got[key]:
            print(f"{key}: {want[key]} bytes bare, {got[key]} traced and not ours")
            bad = True
    if sum(sums(traced).values()) <= sum(got.values()):
        print("nothing was ours")
        bad = True
    pid = int(word(sys.argv[2], "PID"))
    value = int(word(sys.argv[2], "HIDDEN"), 16) ^ (1 << 64) - 1
    readable = lambda maps: [(m[0], m[1]) for m in maps if m[2].startswith("rw") or m[2].startswith("r--p")]
    held = occurrences(pid, readable([(a, b, r, n) for a, b, r, n in rest if not n.startswith("[v")]), value)
    everywhere = occurrences(pid, readable([m for m in traced if not m[3].startswith("[v")]), value)
    print(f"the hidden address: {held} times in the host, {everywhere - held} times in what is ours")
    sys.exit(bad or held != 0 or everywhere == 0)


main()
