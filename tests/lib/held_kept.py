# held_kept.py - what a recording has kept of held_at_exit, against a look while it ran.
# SPDX-License-Identifier: Apache-2.0
"""
usage: held_kept.py DIR; its files: live.held, live.types (JSON of the running
process), held, types, report (JSON of the recording), text, types.text, page.head
"""
import json
import os
import re
import sys


def load(name):
    return json.load(open(os.path.join(sys.argv[1], name)))


def text(name):
    return open(os.path.join(sys.argv[1], name)).read()


def size(number):
    """As the command writes bytes."""
    if number < 1024:
        return f"{number} byte{'s' if number != 1 else ''}"
    return f"{number / 1024:.1f} KiB"


OWN = ("fill", "session_new")
live, stored = load("live.held"), load("held")
assert len(stored["processes"]) == 1, stored
stored = stored["processes"][0]
assert stored["at_exit"] and stored["program"] == "held_at_exit"

# sites: what the running process had, and what the program knows of itself
def sites(answer):
    return {s["id"]: (s["function"], s["live_blocks"], s["live_bytes"], s["retained_blocks"], s["retained_bytes"])
            for s in answer["sites"] if (s["function"] or "").startswith(OWN)}


assert sites(live) == sites(stored), (sites(live), sites(stored))
sums = sorted((n, b, rn, rb) for _, n, b, rn, rb in sites(stored).values())
# a table of 700 pointers with 700 sessions of 48 bytes and names of 40; a vector with 1000 doubles
assert (1, 5600, 1401, 5600 + 700 * 88) in sums, sums
assert (700, 700 * 48, 1400, 700 * 88) in sums, sums
assert (700, 28000, 700, 28000) in sums, sums

# holders: the same words and figures for those of this program
def holders(answer):
    return {(r["words"], r["retained_blocks"], r["retained_bytes"]) for r in answer["retained"]
            if "`registry`" in r["words"] or "`series`" in r["words"]}


assert holders(live) == holders(stored) and len(holders(stored)) == 2, (holders(live), holders(stored))

# text: each site of the table, each holder above one percent
table = text("text")
for s in stored["sites"]:
    line = (rf"^ *{re.escape(size(s['retained_bytes']))} +{re.escape(size(s['live_bytes']))} +"
            rf"{s['live_blocks']:,} +{s['id'] or 0}  {re.escape(s['function'])}$")
    assert re.search(line, table, re.M), (line, table)
flat = " ".join(table.split())
for r in stored["retained"]:
    if r["retained_bytes"] * 100 >= stored["bytes"]:
        assert f": {r['words']}" in flat, (r, flat)
assert f"{stored['blocks']:,} blocks {size(stored['bytes'])} of held_at_exit" in flat

# page and report: the same rows
page = load("page.head")
assert [(r["way"], r["retained_blocks"], r["retained_bytes"]) for r in page["held"]["retained"]] == \
    [(r["words"], r["retained_blocks"], r["retained_bytes"]) for r in stored["retained"]]
assert page["held"]["sites"] == stored["sites"]
report = {s["id"]: s for p in load("report")["processes"] for s in p["sites"]}
for s in stored["sites"]:
    if s["id"]:
        mine = report[s["id"]]
        assert (mine["retained_blocks"], mine["retained_bytes"], mine["held_by"]) == \
            (s["retained_blocks"], s["retained_bytes"], s["held_by"]), (mine, s)

# types
def types(rows):
    return {(t["type"], t["container"], t["basis"], t["blocks"], t["bytes"]) for t in rows}


kept = types(load("types")["types"])
assert kept == types(load("live.types")["types"]), (kept, load("live.types")["types"])
assert ("app::session", None, "vtable", 700, 700 * 48) in kept, kept
assert ("double", "std::vector", "frames", 1, 8000) in kept, kept
assert kept == types(page["census"]["types"])
for name, container, basis, blocks, size_bytes in kept:
    line = rf"^ +{blocks:,} +{re.escape(size(size_bytes))}  {basis} +{re.escape(name)}"
    assert re.search(line, text("types.text"), re.M), line
print(f"{len(stored['sites'])} sites, {len(stored['retained'])} holders, {len(kept)} types: all right")
