#!/usr/bin/python3
"""known_answer.py OUT JSON [RULE...]: compares verdicts with what the host known_answer knows.

OUT has the host's lines "CASE k_NAME TRUTH BLOCKS", JSON is of seep leaks.
Fails if a block is a LEAK that is not lost, or fewer than 99.5 % of the lost ones are found.
Rules: stopped (registers were read, so nothing in them may be a LEAK), inherited (threads and timers are gone with
the fork), doubtful (what is inherited may be held by shared memory: no LEAK need be found).
"""
# SPDX-License-Identifier: Apache-2.0
import collections
import json
import re
import sys

FOUND_PERCENT = 99.5


def cases(path):
    found = {}
    for line in open(path):
        m = re.match(r"CASE (\w+) (\w+) (\d+)", line)
        if m:
            found[m[1]] = (m[2], int(m[3]))
    return found


def verdicts(path):
    leaks, possible = collections.Counter(), collections.Counter()
    for site in json.load(open(path))["sites"]:
        names = [f["function"] or "?" for f in site["frames"]]
        own = [n for n in names if n.startswith("k_")]
        name = own[0] if own else " < ".join(names[:4])
        v = site["verdict"]
        (leaks if v["class"] == "leak" else possible)[name] += v["blocks"]
    return leaks, possible


def main():
    truth, (leaks, possible) = cases(sys.argv[1]), verdicts(sys.argv[2])
    rules = sys.argv[3:]
    bad, lost, found = [], 0, 0
    free = {"hidden"} if "stopped" in rules else {"hidden", "register"}
    if "inherited" in rules:
        free |= {"kernel", "register"}
    for name in sorted(set(truth) | set(leaks) | set(possible)):
        what, blocks = truth.get(name, ("held", 0))
        print(f"{name:24} {what:9} {blocks:5}: {leaks[name]:5} LEAK {possible[name]:5} POSSIBLE")
        if what == "lost":
            lost += blocks
            found += min(blocks, leaks[name])
            if leaks[name] + possible[name] > blocks:
                bad.append(f"{name}: more than there are")
        elif leaks[name] and what not in free:
            bad.append(f"{name}: {leaks[name]} blocks are no leak")
        if what == "weak" and possible[name] != blocks:
            bad.append(f"{name}: {possible[name]} of {blocks} are possible")
    print(f"lost {lost}, found {found}: {100 * found / lost:.2f} %")
    if found * 100 < lost * FOUND_PERCENT and "doubtful" not in rules:
        bad.append("too few were found")
    for line in bad:
        print("WRONG:", line)
    return 1 if bad else 0


sys.exit(main())
