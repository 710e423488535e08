#!/usr/bin/env python3
# recording.py - a second reader of recordings, from docs/RECORDING.md alone.
# SPDX-License-Identifier: Apache-2.0
"""
recording.py FILE REPORT: decodes FILE as the page tells it and holds what the
time line says against REPORT (seep report --format json of FILE): points,
marks, and, of processes without an end state, every site; and the names in FILE
against those in REPORT.
"""

import json
import struct
import subprocess
import sys
import zlib

MASK = (1 << 64) - 1


def entries(data):
    """Yields (type, content) of all whole entries."""
    magic, version, head, features, _ = struct.unpack_from("<8sIIQQ", data)
    assert magic == b"SEEPREC\x01" and version == 2 and features == 0
    at = head
    while at + 24 <= len(data):
        kind, flags, length, crc, head_crc = struct.unpack_from(
            "<IIQII", data, at)
        assert zlib.crc32(data[at:at + 20]) == head_crc
        payload = data[at + 24:at + 24 + length]
        if len(payload) < length:
            return
        assert zlib.crc32(payload) == crc
        at += 24 + (length + 7) // 8 * 8
        if flags == 1:
            payload = subprocess.run(["zstd", "-dc"], input=payload,
                                     stdout=subprocess.PIPE, check=True).stdout
        yield kind, payload


class Body:
    """Bytes taken from the front."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def more(self):
        return self.at < len(self.data)

    def number(self):
        value, shift = 0, 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value & MASK

    def signed(self):
        value = self.number()
        return (value >> 1) ^ -(value & 1)

    def rest(self):
        rest, self.at = self.data[self.at:], len(self.data)
        return rest


def guess(blocks, total_bytes, total_blocks):
    if total_blocks == 0:
        return 0
    value = abs(blocks) * total_bytes // total_blocks
    return value if blocks >= 0 else -value


class Process:
    def __init__(self):
        self.header = [0] * 1024
        self.totals = [0] * 4
        self.points = []
        self.sites = {}

    def uuid(self):
        return struct.pack("<2Q", *self.header[4:6]).hex()

    def on_header(self, body):
        at = 0
        while body.more():
            at += body.number()
            self.header[at] = (self.header[at] + body.signed()) & MASK
            at += 1

    def on_totals(self, time, body):
        for i in range(4):
            self.totals[i] += body.signed()
        self.points.append((time, self.totals[1] - self.totals[3],
                            self.totals[0]))

    def on_ledger(self, body):
        flags, count = body.number(), body.number()
        ids, last = [], 0
        for _ in range(count):
            last += body.number()
            ids.append(last)
        columns = [[body.signed() for _ in range(count)]
                   for _ in range(11 if flags & 4 else 9 if flags & 2 else 6)]
        assert not body.more()
        if flags & 1:
            for s in self.sites.values():
                s[4:6] = s[1] - s[3], s[0] - s[2]
        for n, site in enumerate(ids):
            s = self.sites.setdefault(site, [0] * 6)
            c = [column[n] for column in columns]
            grown = guess(c[0], s[1], s[0])
            s[0] += c[0]
            s[1] += c[1] + grown
            shrunk = guess(c[2], s[1], s[0])
            s[2] += c[2]
            s[3] += c[3] + shrunk
            if flags & 1:
                s[4:6] = s[1] - s[3], s[0] - s[2]
            s[4] += c[4]
            s[5] += c[5]


def play(data):
    processes, marks, time = {}, [], 0
    for kind, content in entries(data):
        items = Body(content) if kind == 5 else Body(b"")
        while items.more():
            tag, length = items.number(), items.number()
            body = Body(items.data[items.at:items.at + length])
            items.at += length
            if tag == 1:
                time = body.number()
            elif tag == 2:
                processes[body.number()] = Process()
            elif tag == 7:
                marks.append((time, body.number(), body.number()))
            else:
                process = processes[body.number()]
                if tag == 3:
                    process.on_header(body)
                elif tag == 5:
                    process.on_ledger(body)
                elif tag == 6:
                    process.on_totals(time, body)
    return processes, marks


def names(data):
    """(path, address) -> [(function, file, line, inlined)], of modules."""
    found = {}
    for kind, content in entries(data):
        texts, chains, path, address = [None], [], None, 0
        items = Body(content) if kind == 7 else Body(b"")
        while items.more():
            tag, length = items.number(), items.number()
            body = Body(items.data[items.at:items.at + length])
            items.at += length
            if tag == 1:
                texts.append(body.rest().decode())
            elif tag == 2:
                chain = []
                while body.more():
                    function, _, file, line, flags = (
                        body.number() for _ in range(5))
                    chain.append((texts[function], texts[file], line or None,
                                  flags & 1 == 1))
                chains.append(chain)
            elif tag == 3:
                kind, path = body.number(), texts[body.number()]
                path = path if kind == 1 else None
                address = 0
            elif tag == 4:
                while body.more():
                    address = (address + body.signed()) & MASK
                    chain = chains[body.number()]
                    if path:
                        found[path, address] = chain
    return found


def compare_names(known, document):
    """How many frames of the report are named as the recording does."""
    same = 0
    for p in document["processes"]:
        for s in p["sites"]:
            at = 0
            while at < len(s["frames"]):
                f = s["frames"][at]
                chain = known.get((f["module"], (f["offset"] or 0) - 1))
                # a signal frame's address is as it is; operator new is cut
                if not chain or chain[0][0] is None:
                    at += 1
                    continue
                got = [(g["function"], g["file"], g["line"], g["inlined"])
                       for g in s["frames"][at:at + len(chain)]]
                if got[0][0] != chain[0][0] and at == 0:
                    at += 1
                    continue
                assert got == chain, (got, chain)
                same += 1
                at += len(chain)
    return same


def main(path, report):
    with open(path, "rb") as file:
        data = file.read()
    processes, marks = play(data)
    known = names(data)
    with open(report, encoding="utf-8") as file:
        document = json.load(file)
    assert [(m["time_us"], m["pid"]) for m in document["recording"]["marks"]
            ] == [(time, pid) for time, _, pid in marks]
    told = {p.uuid(): p for p in processes.values()}
    sites = 0
    for p in document["processes"]:
        mine = told.get(p["uuid"])
        if mine is None:
            continue
        line = p["timeline"] or {
            "times_us": [], "live_bytes": [], "allocations": []}
        assert mine.points == list(zip(
            line["times_us"], line["live_bytes"], line["allocations"]))
        for s in p["sites"] if not p["end_state"] else []:
            got = mine.sites[s["id"]]
            assert got[:4] == [s["allocations"], s["allocated_bytes"],
                               s["frees"], s["freed_bytes"]], (got, s)
            # above the peak of the header, the report takes now for it
            assert got[4] == s["peak_bytes"] or got[4] < 0 or \
                p["totals"]["peak_bytes"] == p["totals"]["live_bytes"], (got, s)
            sites += 1
    named = compare_names(known, document)
    assert named > 0 or not known
    print("%d processes, %d marks, %d sites compared, %d frames named" % (
        len(told), len(marks), sites, named))
    return 0 if told else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
