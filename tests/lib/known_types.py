#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""known_types.py OUTPUT JSON: the census of `seep leaks --types` has the blocks that tests/hosts/typed.cpp says it has.

All types that the host names have its numbers of blocks and bytes, to the last one, and nothing else of the host's own
has a type by a vtable. What the host calls "none" has no type.
"""
import json
import sys


def main():
    output, answer = sys.argv[1:]
    expected, none = {}, 0
    for line in open(output):
        words = line.split(None, 4)
        if words[0] == "type":
            expected[words[1], words[4].strip()] = int(words[2]), int(words[3])
        elif words[0] == "none":
            none = int(words[1])
    report = json.load(open(answer))
    found = {(t["basis"], t["type"]): (t["blocks"], t["bytes"]) for t in report["types"] if t["basis"] != "frames"}
    bad = [f"{key}: {found.get(key)} instead of {figures}" for key, figures in expected.items() if found.get(key) != figures]
    bad += [f"{key}: not expected" for key in found if key not in expected]
    census = report["processes"][0]["census"]
    # a few blocks of libraries, too
    if not none <= census["untyped"]["blocks"] <= none + 20:
        bad.append(f"{census['untyped']['blocks']} blocks without a type instead of {none}")
    total = sum(t["blocks"] for t in report["types"]) + census["untyped"]["blocks"]
    if total != census["blocks"]:
        bad.append(f"{total} blocks in lines, {census['blocks']} in all")
    print("\n".join(bad) or f"{len(expected)} types, {sum(b for b, _ in expected.values())} blocks: all right")
    return 1 if bad or not expected else 0


sys.exit(main())
