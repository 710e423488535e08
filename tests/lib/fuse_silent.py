#!/usr/bin/env python3
# fuse_silent.py - a file system that stops to answer: FUSE, spoken by hand.
# SPDX-License-Identifier: Apache-2.0
"""usage: fuse_silent.py DIRECTORY FILE WHAT

Mounts on DIRECTORY, for all users, a directory that has FILE's contents under
every name. WHAT is not answered: `lookup`, `open`, `read`, or `rest`, which is
every read behind the first 4 KiB. Prints READY. Needs root and a mount
namespace of its own, whose end is its own: the mount goes with it. Ends after
a minute, which ends everybody who waits.
"""
import ctypes
import os
import signal
import struct
import sys

LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE, FLUSH = 1, 2, 3, 14, 15, 17, 18, 25
INIT, OPENDIR, RELEASEDIR, ACCESS, INTERRUPT, BATCH_FORGET = 26, 27, 29, 34, 36, 42
ENOSYS = 38


def attributes(node, size):
    mode, links = (0o040755, 2) if node == 1 else (0o100755, 1)
    return struct.pack("<QQQQQQIIIIIIIIII", node, 0 if node == 1 else size, 8,
                       0, 0, 0, 0, 0, 0, mode, links, 0, 0, 0, 4096, 0)


def main(where, path, silent):
    with open(path, "rb") as f:
        data = f.read()
    fd = os.open("/dev/fuse", os.O_RDWR)
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={fd},rootmode=40000,user_id=0,group_id=0,allow_other"
    if libc.mount(b"silent", where.encode(), b"fuse", 6, options.encode()) != 0:
        sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")
    signal.alarm(60)
    print("READY", flush=True)
    while True:
        try:
            request = os.read(fd, 1 << 20)
        except OSError:
            return
        _, code, unique, node = struct.unpack_from("<IIQQ", request)
        body = request[40:]
        answer, error = b"", 0
        if code in (FORGET, INTERRUPT, BATCH_FORGET):
            continue
        if code == INIT:
            answer = struct.pack("<IIIIHHIIHHIIIIIIII", 7, 31, 0, 0, 12, 9,
                                 65536, 1, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0)[:64]
        elif code == LOOKUP:
            if silent == "lookup":
                continue
            answer = struct.pack("<QQQQII", 2, 0, 60, 60, 0, 0) + attributes(2, len(data))
        elif code == GETATTR:
            answer = struct.pack("<QII", 60, 0, 0) + attributes(node, len(data))
        elif code in (OPEN, OPENDIR):
            if silent == "open" and code == OPEN:
                continue
            answer = struct.pack("<QII", 1, 0, 0)
        elif code == READ:
            offset, size = struct.unpack_from("<QI", body, 8)
            if silent == "read" or (silent == "rest" and offset >= 4096):
                continue
            answer = data[offset:offset + size]
        elif code == STATFS:
            answer = bytes(80)
        elif code not in (RELEASE, FLUSH, RELEASEDIR):
            error = -ENOSYS
        os.write(fd, struct.pack("<IiQ", 16 + len(answer), error, unique) + answer)


if __name__ == "__main__":
    main(*sys.argv[1:4])
