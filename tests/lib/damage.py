#!/usr/bin/env python3
# damage.py - a command gets cut and damaged copies of a file, and must end cleanly.
# SPDX-License-Identifier: Apache-2.0
"""damage.py FILE COUNT COMMAND... [or COMMAND...]...

The word BAD of a command stands for the copy, which is beside FILE. Of several
commands each has its turn. Every third copy is cut; the others have up to five
bits that differ. A command has to end with status 0, 2 or 3 within a minute.
"""
import itertools
import random
import subprocess
import sys


def main():
    path, count = sys.argv[1], int(sys.argv[2])
    words = sys.argv[3:]
    commands = [list(part) for is_or, part in itertools.groupby(words, lambda w: w == "or") if not is_or]
    with open(path, "rb") as f:
        data = f.read()
    random.seed(21)
    for n in range(count):
        bad = bytearray(data)
        if n % 3 == 0:
            bad = bad[:random.randrange(len(bad))]
        else:
            for _ in range(1 + n % 5):
                bad[random.randrange(len(bad))] ^= 1 << random.randrange(8)
        with open(path + ".bad", "wb") as f:
            f.write(bad)
        command = [path + ".bad" if w == "BAD" else w for w in commands[n // 3 % len(commands)]]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
        if done.returncode not in (0, 2, 3):
            sys.exit(f"damage.py: copy {n}: status {done.returncode}: {' '.join(command)}")


main()
