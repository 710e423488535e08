#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""held_answer.py OUT SEEP PID [OPTION...]: compares seep leaks --held with what the host `holders` knows.

OUT has the host's lines "CASE FUNCTION ROOT NAME PILE BYTES": blocks that FUNCTION allocates are held by a root of
this kind and NAME, they pile up in the block that PILE allocates (or in the root), and that retains BYTES.
"""
import json
import subprocess
import sys


def ask(seep, pid, options, *more):
    text = subprocess.run([seep, "leaks", pid, "--format", "json", *options, *more], check=True,
                          stdout=subprocess.PIPE).stdout
    return json.loads(text)


def judge(case, held):
    function, root, name, pile, size = case
    ways = held["ways"]
    if len(ways) != 1 or ways[0]["blocks"] != held["live_blocks"] or held["unheld_blocks"]:
        return f"{len(ways)} ways, {held['unheld_blocks']} blocks are not held"
    way = ways[0]["way"]
    if way[0].get("root") != root:
        return f"the root is {way[0]}"
    if name != "-" and way[0]["name"] != name:
        return f"the root is {way[0]['name']}"
    at = way[ways[0]["piles_up_at"]]
    if at.get("function", "root") != pile:
        return f"they pile up in {at}"
    if at["retained_bytes"] != int(size):
        return f"{at['retained_bytes']} bytes are retained, and not {size}"
    if name == "sessions" and way[0]["offset"] != 0x40:
        return f"the offset is {way[0]['offset']}"
    return None


def main():
    out, seep, pid, *options = sys.argv[1:]
    cases = [line.split()[1:] for line in open(out) if line.startswith("CASE ")]
    everything = ask(seep, pid, options, "--retained")
    ids = {}
    for site in everything["sites"]:
        ids.setdefault(site["function"], []).append(site)
    bad = 0
    for case in cases:
        if case[0] not in ids:
            print(f"{case[0]}: has no site")
            bad += 1
        for site in ids.get(case[0], []):
            held = ask(seep, pid, options, "--held", str(site["id"]))["held"]
            wrong = judge(case, held)
            # both answers have the same figures
            for key in ("live_blocks", "live_bytes", "retained_blocks", "retained_bytes"):
                if held[key] != site[key]:
                    wrong = f"{key} is {held[key]} and {site[key]}"
            if wrong:
                print(f"{case[0]}: {wrong}")
                bad += 1
    print(f"{len(cases)} cases, {bad} wrong")
    sys.exit(bad > 0 or len(cases) != 13)


main()
