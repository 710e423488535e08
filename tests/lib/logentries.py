#!/usr/bin/env python3
# logentries.py - the entries of an event log in a recording, and damage to them.
# SPDX-License-Identifier: Apache-2.0
"""
logentries.py list FILE: "log OFFSET FIRST_MS LAST_MS" or "index OFFSET WORDS BORN MOVED GONE" for each
entry. Checks that each index fits the log's entry before it, as docs/RECORDING.md says.
logentries.py damage FILE TO UNTIL_MS: copies FILE; the payload of each log's entry that has
an index and is over before UNTIL_MS is changed, but not its head. Prints how many.
logentries.py lie FILE TO: copies FILE; each index says another last tick, with new checksums.
logentries.py swap FILE TO: copies FILE; the index of each entry becomes that of the one before.
logentries.py without FILE TO: copies FILE; entries of type 12 get a type that nobody knows.
"""

import struct
import subprocess
import sys
import zlib

LOG, INDEX = 11, 12


def entries(data):
    """(offset, type, flags, length) of all entries."""
    at = struct.unpack_from("<I", data, 12)[0]
    while at + 24 <= len(data):
        kind, flags, length, _, head_crc = struct.unpack_from("<IIQII", data, at)
        assert zlib.crc32(data[at:at + 20]) == head_crc
        yield at, kind, flags, length
        at += 24 + (length + 7) // 8 * 8


def payload(data, at, flags, length):
    raw = bytes(data[at + 24:at + 24 + length])
    assert zlib.crc32(raw) == struct.unpack_from("<I", data, at + 16)[0]
    if flags & 1:
        raw = subprocess.run(["zstd", "-dc"], input=raw, stdout=subprocess.PIPE, check=True).stdout
    return raw


def pairs(data):
    """The log's entries, each with its index or None."""
    log = None
    for entry in entries(data):
        if entry[1] == LOG:
            if log:
                yield log, None
            log = entry
        elif entry[1] == INDEX:
            assert log, "an index without a log"
            yield log, entry
            log = None
    if log:
        yield log, None


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def ticks(raw):
    return struct.unpack_from("<QQ", raw, 32)


def rebuild(data, change):
    """The same file with other indexes; offsets change, so the end and type 6 go."""
    out = bytearray(data[:struct.unpack_from("<I", data, 12)[0]])
    count = 0
    for at, kind, flags, length in entries(data):
        if kind in (4, 6):
            continue
        raw = bytes(data[at + 24:at + 24 + length])
        if kind == INDEX:
            raw, flags = change(payload(data, at, flags, length)), 0
            count += 1
        head = struct.pack("<IIQI", kind, flags, len(raw), zlib.crc32(raw))
        out += head + struct.pack("<I", zlib.crc32(head)) + raw + bytes(-len(raw) % 8)
    assert count, "no index"
    end = struct.pack("<QQQ", sum(1 for _ in entries(out)), len(out), 0)
    head = struct.pack("<IIQI", 4, 0, len(end), zlib.crc32(end))
    return out + head + struct.pack("<I", zlib.crc32(head)) + end


def show(path):
    with open(path, "rb") as file:
        data = file.read()
    for log, index in pairs(data):
        raw = payload(data, log[0], *log[2:])
        first, last = ticks(raw)
        print("log", log[0], first * 10, last * 10)
        if not index:
            continue
        x = payload(data, index[0], *index[2:])
        size, version, crc = struct.unpack_from("<QII", x)
        sites, born, moved, gone = struct.unpack_from("<4I", x, 80)
        assert version == 1 and size == 24 + (log[3] + 7) // 8 * 8
        assert crc == struct.unpack_from("<I", data, log[0] + 16)[0]
        assert x[16:80] == raw[:64]
        assert len(x) == 152 + 40 * sites + 24 * (born + moved) + 4 * gone
        print("index", index[0], struct.unpack_from("<I", raw, 28)[0], born, moved, gone)


def damage(path, to, until):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    count = 0
    for log, index in pairs(bytes(data)):
        if index and ticks(payload(data, log[0], *log[2:]))[1] * 10 < int(until):
            data[log[0] + 24 + log[3] // 2] ^= 0xff
            count += 1
    write(to, data)
    print(count)


def lie(path, to):
    with open(path, "rb") as file:
        data = file.read()
    write(to, rebuild(data, lambda x: x[:56] + struct.pack("<Q", ticks(x[16:])[1] + 5) + x[64:]))


def swap(path, to):
    before = []

    def change(x):
        before.append(x)
        return before[-2] if len(before) > 1 else x
    with open(path, "rb") as file:
        data = file.read()
    write(to, rebuild(data, change))


def without(path, to):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    for at, kind, flags, length in entries(bytes(data)):
        if kind == INDEX:
            head = struct.pack("<IIQ", 9999, flags, length) + data[at + 16:at + 20]
            data[at:at + 24] = head + struct.pack("<I", zlib.crc32(head))
    write(to, data)


{"list": show, "damage": damage, "lie": lie, "swap": swap, "without": without}[sys.argv[1]](*sys.argv[2:])
