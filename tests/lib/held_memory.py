#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""held_memory.py OUT SEEP PID: seep leaks --retained of the host `many_held`, and the memory that it takes.

OUT has the host's line "BLOCKS n POINTERS n BYTES n". The answer must have these figures; seep itself may take 48
bytes for a block, 8 for a pointer, and 64 MiB.
"""
import json
import resource
import subprocess
import sys


def main():
    out, seep, pid = sys.argv[1:]
    words = next(line for line in open(out) if line.startswith("BLOCKS")).split()
    blocks, pointers, size = (int(words[i]) for i in (1, 3, 5))
    text = subprocess.run([seep, "leaks", pid, "--retained", "--format", "json"], check=True,
                          stdout=subprocess.PIPE).stdout
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    answer = json.loads(text)
    first = answer["retained"][0]
    allowed = 48 * blocks + 8 * pointers + (64 << 20)
    print(f"{blocks} blocks, {pointers} pointers: {most >> 20} MiB of {allowed >> 20} MiB, "
          f"{answer['memory_bytes'] >> 20} MiB of them counted")
    ok = (first["retained_bytes"] == size and first["retained_blocks"] == blocks and first["way"][0]["name"] == "table"
          and most <= allowed)
    if not ok:
        print(json.dumps(first), size)
    sys.exit(not ok)


main()
