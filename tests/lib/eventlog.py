#!/usr/bin/env python3
# eventlog.py - a second reader of event logs, from docs/FORMAT.md alone.
# SPDX-License-Identifier: Apache-2.0
"""
eventlog.py [--lost] [--killed] [--jumps] DIR: compares the log of each process in DIR with
its counters: per site as many allocations, frees and bytes in the log, every free
names its allocation, and what lives at the end of the log is what the counters
say. With --lost, events of a process may be missing: then lost + logged = counted. With
--killed one event of each thread may be in one of the two and not in the other, with
--jumps one of each hook that a handler has left.

Prints one line for each process: pid, allocations, frees, threads, lost.
"""

import bisect
import functools
import mmap
import os
import struct
import sys
from collections import defaultdict

from segment import COUNTS, Segment, decode, segments

NUMBERS = {name: number for number, name in COUNTS.items()}
LOST, HEALED = NUMBERS["log_lost"], NUMBERS["healed"]
CHUNK, HEAD, FIRST = 65536, 4096, 8
SIZE = (1 << 36) - 1
STAMP, STAMP_TICKS = 1 << 25, 10  # stamps go round: comparable within so many ticks


def words_of(data, at):
    chunk = decode("log_chunk", data, at)
    words = struct.unpack_from("<8192Q", data, at)
    end = chunk["closed"] or 8192
    several = chunk["thread"] == 0
    for i in range(FIRST, end):
        if words[i] == 0 and not several:
            break
        yield i, words[i]


def in_order(a, b):
    """Two events of one block, [site, size, tick, stamp]: the allocation, then each realloc by its stamp."""
    if a[3] is None or b[3] is None:
        return (a[3] is not None) - (b[3] is not None)
    if abs(a[2] - b[2]) > STAMP_TICKS:
        return a[2] - b[2]
    since = (a[3] - b[3]) % STAMP
    return since if since < STAMP // 2 else since - STAMP


class Log:
    """The events of one pool."""

    def __init__(self, data, at, there):
        self.head = decode("log_head", data, at)
        self.site = defaultdict(lambda: [0, 0, 0, 0])  # allocations, bytes, frees, bytes
        self.inherited = 0
        self.threads = set()
        self.allocated, self.freed = {}, []
        self.gaps = self.unnamed = 0
        self.times = []
        chunks = []
        for i in range(self.head["chunk_count"]):
            start = at + HEAD + i * CHUNK
            if not there(start):
                continue
            chunk = decode("log_chunk", data, start)
            if chunk["head"] >> 56 == 0xC9 and chunk["uuid"] == self.head["uuid"]:
                chunks.append((chunk["head"] & (1 << 56) - 1, start, chunk))
        for number, start, chunk in sorted(chunks):
            assert number >= self.head["first_number"], "a number of the parent"
            self.read(number, list(words_of(data, start)), chunk)
        self.pair()

    def read(self, number, words, chunk):
        self.threads.add(chunk["thread"])
        name_of_realloc = stamp = None
        last = None
        tick, thread = chunk["tick"], chunk["thread"]
        for index, word in words:
            tag, kind, payload = word >> 62, word >> 56 & 63, word & (1 << 56) - 1
            if tag == 1:
                site, size = word >> 36 & (1 << 26) - 1, word & SIZE
                name = name_of_realloc if name_of_realloc is not None else number << 13 | index
                last = (name, site, size)
                if name_of_realloc is not None:
                    self.freed.append(("realloc", name))
                self.allocated.setdefault(name, []).append([site, size, tick, stamp])
                name_of_realloc = stamp = None
            elif tag == 2:
                self.freed.append(("free", word & (1 << 62) - 1))
            elif tag == 3 and kind == 1:
                assert payload >= tick, "time went back"
                tick = payload
            elif tag == 3 and kind == 2:
                self.gaps += payload
            elif tag == 3 and kind == 3:
                name_of_realloc, stamp = payload & (1 << 31) - 1, payload >> 31
            elif tag == 3 and kind in (4, 5):
                last = (None, payload, kind)
            elif tag == 3 and kind == 6:
                if last[0] is None:
                    if last[2] == 4:
                        self.inherited += 1
                    else:
                        self.unnamed += 1
                        self.site[last[1]][2] += 1
                        self.site[last[1]][3] += payload
                else:
                    assert last[2] == SIZE
                    self.allocated[last[0]][-1][1] = payload
            elif tag == 3 and kind == 10:
                assert payload >> 24 > thread, "an old thread goes on"
                thread = payload >> 24
                self.threads.add(thread)
            elif word:
                assert kind in (7, 8), "unknown word %x" % word

    def pair(self):
        """The order among threads is not known, but that of a block's own events is."""
        self.wrong = 0
        gone = defaultdict(int)
        for _, name in self.freed:
            gone[name] += 1
        self.live = {}
        for name, times in self.allocated.items():
            if len(times) > 1:
                times.sort(key=functools.cmp_to_key(in_order))
            for site, size, *_ in times:
                self.site[site][0] += 1
                self.site[site][1] += size
            dead = gone.pop(name, 0)
            if dead > len(times):
                self.wrong += 1
            for site, size, *_ in times[:dead]:
                self.site[site][2] += 1
                self.site[site][3] += size
            if dead < len(times):
                assert dead == len(times) - 1
                self.live[name] = times[-1]
        self.orphans = sum(gone.values())


def ledger(seg):
    sums = defaultdict(lambda: [0, 0, 0, 0])
    for (kind, _), table in seg.tables.items():
        if kind != 6:
            continue
        for site, row in table.items():
            for i, field in enumerate(("allocations", "allocated_bytes", "frees", "freed_bytes")):
                sums[site][i] += row[field]
    heap = {site for site, row in seg.table(5).items() if row["kind"] == 1}
    return {site: row for site, row in sums.items() if any(row) and site in heap}


def compare(seg, log, lost_allowed, killed, jumps):
    counted, lost = ledger(seg), seg.header["counts"][LOST]
    logged = {site: row for site, row in log.site.items() if any(row)}
    where = "pid %d" % seg.header["pid"]
    totals = [[sum(row[i] for row in side.values()) for i in (0, 2)] for side in (counted, logged)]
    doubt = len(log.threads) if killed else seg.header["counts"][HEALED] if jumps else 0
    if lost_allowed and lost:
        missing = sum(totals[0]) - sum(totals[1]) - log.orphans
        assert abs(missing - lost) <= doubt * 2, "%s: counted %r, logged %r and %d orphans, lost %d" % (
            where, totals[0], totals[1], log.orphans, lost)
        assert log.gaps <= lost, "%s: gaps of %d, lost %d" % (where, log.gaps, lost)
    elif killed or jumps:
        assert (log.orphans == 0 and log.wrong == 0 or jumps) and lost == 0, where
        assert log.orphans + log.wrong <= doubt, "%s: %d orphans" % (where, log.orphans)
        off = [abs(a - b) for site in set(counted) | set(logged)
               for a, b in zip(counted.get(site, [0] * 4)[::2], logged.get(site, [0] * 4)[::2])]
        assert sum(off) <= doubt * 2, "%s: %d events differ" % (where, sum(off))
    else:
        assert lost == 0 and log.gaps == 0, "%s: lost %d" % (where, lost)
        assert log.orphans == 0, "%s: %d frees without their allocation" % (where, log.orphans)
        assert log.wrong == 0, "%s: %d blocks freed twice" % (where, log.wrong)
        for site in sorted(set(counted) | set(logged)):
            assert counted.get(site) == logged.get(site), "%s: site %d: counted %r, logged %r" % (
                where, site, counted.get(site), logged.get(site))
        assert len(log.live) == sum(row[0] - row[2] for row in counted.values()), where
    print(seg.header["pid"], totals[1][0], totals[1][1], len(log.threads), lost, len(log.live))


def pages(file):
    """Which pages of a sparse file exist: a function of the offset."""
    found, at, end = [], 0, os.fstat(file.fileno()).st_size
    while at < end:
        try:
            start = os.lseek(file.fileno(), at, os.SEEK_DATA)
        except OSError:
            break
        at = os.lseek(file.fileno(), start, os.SEEK_HOLE)
        found.append((start, at))
    starts = [start for start, _ in found]

    def there(offset):
        i = bisect.bisect_right(starts, offset) - 1
        return i >= 0 and offset < found[i][1]
    return there


def logs(path):
    """Every pool of a log file, by the uuid of its segment."""
    with open(path, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        there = pages(file)
    head = decode("log_head", data, 0)
    yield bytes(head["uuid"]), data, 0, there
    for i in range(head["child_count"]):
        at = head["child_offset"] + i * head["child_bytes"]
        if there(at) and data[at:at + 8] == b"SEEPLOG\x01":
            yield bytes(decode("log_head", data, at)["uuid"]), data, at, there


def main(*args):
    lost, killed, jumps = "--lost" in args, "--killed" in args, "--jumps" in args
    where = args[-1]
    found = 0
    for name in sorted(os.listdir(where)):
        if not name.endswith(".seg"):
            continue
        with open(os.path.join(where, name), "rb") as file:
            data = file.read() if os.fstat(file.fileno()).st_size < 1 << 20 else \
                mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        pools = {uuid: more for uuid, *more in logs(os.path.join(where, name + ".log"))}
        for seg in segments(data, []):
            if seg.header["log_state"] != 1:
                continue
            compare(seg, Log(*pools[bytes(seg.header["uuid"])]), lost, killed, jumps)
            found += 1
    assert found, "no log"


if __name__ == "__main__":
    main(*sys.argv[1:])
