#!/usr/bin/env python3
# scribble.py - writes anything into the event log of a running process, and into what returns its chunks.
# SPDX-License-Identifier: Apache-2.0
"""
scribble.py DIR PID SEED: until the process PID has ended, stores random words into
every *.log and *.log.ctl file of DIR: heads, chunk heads, words, and the bytes by
which readers return chunks. Files keep their length. Prints "ready" when it has
written to one, and at the end to how many.
"""

import glob
import mmap
import os
import random
import sys

CHUNK, HEAD = 65536, 4096


def scribble(data, chance):
    size = len(data)
    for _ in range(200):
        what = chance.random()
        if what < 0.2:
            at = chance.randrange(0, min(128, size - 8))
        elif what < 0.6 and size > HEAD + CHUNK:
            at = HEAD + chance.randrange((min(size, 4 << 20) - HEAD) // CHUNK) * CHUNK + chance.randrange(64)
        else:
            at = chance.randrange(0, min(size, 4 << 20) - 8)
        word = chance.choice((0, (1 << 64) - 1, chance.getrandbits(64), 0xC9 << 56 | chance.getrandbits(18)))
        data[at:at + 8] = word.to_bytes(8, "little")


def lives(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def main(where, pid, seed):
    chance = random.Random(int(seed))
    files, is_ready = {}, False
    while lives(int(pid)):
        for path in glob.glob(os.path.join(where, "**", "*.log*"), recursive=True):
            if path in files or not path.endswith((".log", ".log.ctl")):
                continue
            try:
                os.chmod(path, 0o600)
                with open(path, "r+b") as file:
                    files[path] = mmap.mmap(file.fileno(), 0)
            except (OSError, ValueError):
                continue  # the recorder was faster, or it has no length yet
        for data in files.values():
            scribble(data, chance)
        if files and not is_ready:
            print("ready", flush=True)
        is_ready = bool(files)
    print(len(files))


if __name__ == "__main__":
    main(*sys.argv[1:])
