#!/usr/bin/env python3
# hostile_segments.py - a member of a traced tree that forges segments.
# SPDX-License-Identifier: Apache-2.0
"""
hostile_segments.py FORM COUNT SIZE: takes the header of its own segment, found
where the collector put it, and leaves beside it
  files      COUNT files of SIZE bytes, holes all of it, whose tables claim it
  slots      one file with COUNT slots of SIZE bytes that do so
  dense      COUNT files that do hold what they claim: rows of one site in 8 KiB
  snapshots  COUNT snapshots of SIZE bytes, mostly holes
  stolen     COUNT files that have the uuid of its own segment
Pids are those of nobody, so they count as dead.
"""
import glob
import os
import struct
import sys
import time
import uuid

HEADER, LEDGER, NODE = 8192, 6, 3


def own_segment():
    places = [os.environ["SEEP_DIR"], "/dev/shm/seep-%d" % os.getuid()]
    for _ in range(100):
        for place in places:
            for path in glob.glob(place + "/*-%d-*.seg" % os.getpid()):
                return place, path
        time.sleep(0.05)
    sys.exit("no segment of our own in " + repr(places))


def header(own, form, number, entries):
    h = bytearray(own[:HEADER])
    if form != "stolen":
        h[32:48] = uuid.uuid4().bytes
    struct.pack_into("<I", h, 120, 4194000 + number % 300)  # pid: nobody
    struct.pack_into("<Q", h, 136, 77)                       # start_jiffies
    struct.pack_into("<QII", h, 208, HEADER, entries, entries)
    struct.pack_into("<Q", h, 224, 0)                        # no slots
    struct.pack_into("<I", h, 320, 1)                        # it exited
    if form == "snapshots":
        struct.pack_into("<II", h, 344, 1, number + 1)
    return h


def extent(kind, row, count, first, offset):
    return struct.pack("<IIIIQQ", kind, 0, row, count, first, offset)


def claims(size):
    """Tables that take all of a file of holes: half ledger, half nodes."""
    half = (size - 65536) // 2
    return (extent(LEDGER, 64, half // 64, 1, 65536) +
            extent(NODE, 32, half // 32, 1, 65536 + half))


def main():
    form, count, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    place, path = own_segment()
    own = open(path, "rb").read(HEADER)
    end = ".seep-snap" if form == "snapshots" else ".seg"
    if form == "slots":
        with open(place + "/forged-slots.seg", "wb") as f:
            h = header(own, form, 0, 0)
            struct.pack_into("<Q", h, 224, 65536)
            f.write(h)
            f.seek(65536)
            f.write(struct.pack("<8sIIQQQ", struct.pack("<Q", 0x01544C5350454553),
                                count, count, size, 0, 4096))
            f.seek(65536 + 64)
            f.write(b"\1" * count)
            for i in range(count):
                f.seek(65536 + 4096 + i * size)
                f.write(header(own, form, i, 2) + claims(size))
            f.truncate(65536 + 4096 + count * size)
    for i in range(count if form != "slots" else 0):
        with open("%s/forged-%d%s" % (place, i, end), "wb") as f:
            if form == "dense":
                n = (size - HEADER) // 8224
                f.write(header(own, form, i, n))
                f.write(b"".join(extent(LEDGER, 64, 128, 1 + 128 * k,
                                        HEADER + n * 32 + k * 8192)
                                 for k in range(n)))
                f.write((b"\1" + b"\0" * 63) * 128 * n)
            elif form == "stolen":
                f.write(header(own, form, i, 0))
            else:
                f.write(header(own, form, i, 2 if form != "snapshots" else 0))
                f.write(claims(size))
            f.truncate(max(size, f.tell()))
    if form == "stolen":
        time.sleep(1.6)  # they are written while we run
    print("forged")


main()
