#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""known_spare.py OUTPUT JSON: `seep leaks --insight` has the figures that tests/hosts/spare.c says."""
import json
import sys

KINDS = "equal", "zero_tails", "never_written"


def main():
    output, answer = sys.argv[1:]
    expected, found = {}, {}
    own = {"copies", "more_copies", "different", "grown", "nearly_full", "zeros", "reserved"}
    for line in open(output):
        words = line.split()
        if len(words) == 4:
            expected[words[0], words[1]] = int(words[2]), int(words[3])
    report = json.load(open(answer))
    for site in report["insight"]:
        function = site["frames"][0]["function"]
        for kind in KINDS:
            if function in own and site[kind]["blocks"]:
                old = found.get((function, kind), (0, 0))
                found[function, kind] = old[0] + site[kind]["blocks"], old[1] + site[kind]["bytes"]
    bad = [f"{k}: {found.get(k)} instead of {expected.get(k)}" for k in sorted({*expected, *found})
           if found.get(k) != expected.get(k)]
    census = report["processes"][0]["census"]
    for kind in KINDS:
        for unit in "blocks", "bytes":
            total = sum(site[kind][unit] for site in report["insight"])
            if total != census[kind][unit]:
                bad.append(f"{kind}: {total} {unit} in places, {census[kind][unit]} in all")
    print("\n".join(bad) or f"{len(expected)} places: all right")
    return 1 if bad or not expected else 0


sys.exit(main())
