#!/usr/bin/env python3
# mapped_ranges.py - holds "mappings" of a report against what a host printed.
# SPDX-License-Identifier: Apache-2.0
"""
mapped_ranges.py OUTPUT REPORT...: lines of OUTPUT are "MAPPED function bytes ranges"
(mapper.c), or "KNOWN process function bytes ranges resident" (mapped_pages.c). A
function's figures are the sums of all callers whose innermost named frame it is.
The process `child` is the one with a parent in the reports.
"""
import json
import sys

WRAPPERS = ("map",)


def figures(process):
    found = {}
    for caller in process["mappings"]["callers"]:
        names = [f["function"] for f in caller["frames"] if f["function"] not in WRAPPERS]
        name = names[0] if names else caller["class"]
        row = found.setdefault(name, [0, 0, 0])
        for i, key in enumerate(("bytes", "ranges", "resident_bytes")):
            row[i] += caller[key] or 0
    return {name: row for name, row in found.items() if any(row)}


def main(output, reports):
    processes = {}
    for path in reports:
        with open(path, encoding="utf-8") as text:
            for process in json.load(text)["processes"]:
                if "mappings" in process:
                    processes[process["pid"]] = process
    wanted = {"parent": {}, "child": {}}
    resident = False
    with open(output, encoding="utf-8") as lines:
        for line in lines:
            words = line.split()
            if words and words[0] == "MAPPED":
                wanted["parent"][words[1]] = [int(words[2]), int(words[3])]
            elif words and words[0] == "KNOWN":
                resident = True
                wanted[words[1]][words[2]] = [int(word) for word in words[3:]]
    bad = 0
    for name, rows in wanted.items():
        if not rows:
            continue
        of_kind = [p for p in processes.values() if (p["ppid"] in processes) == (name == "child")]
        if len(of_kind) != 1:
            print("%s: %d processes" % (name, len(of_kind)))
            return 1
        found = figures(of_kind[0])
        columns = 3 if resident else 2
        for function in sorted(set(rows) | set(found)):
            one = rows.get(function, [0] * columns)
            other = found.get(function, [0] * 3)[:columns]
            if one != other:
                print("%s %s: %s, and the report says %s" % (name, function, one, other))
                bad += 1
        if of_kind[0]["lost"]["mappings"]:
            print("%s: %d lost" % (name, of_kind[0]["lost"]["mappings"]))
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
