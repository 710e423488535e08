#!/usr/bin/env python3
# rss.py - holds the account of seep report --rss against what the host pinned counted.
# SPDX-License-Identifier: Apache-2.0
"""usage: rss.py OUT REPORT.json [advice=WORDS]

OUT is what the host printed. Holds of each site and the free parts of its pages
are within 2 percent of the host's own figures; the classes add up to RSS; the
advice is that which is named, in order, separated by commas ("" for none).
"""
import json
import sys


def near(what, got, expected, percent=2, least=8192):
    room = max(expected * percent / 100, least)
    if abs(got - expected) > room:
        sys.exit("%s: %d, expected %d" % (what, got, expected))


def main():
    known, partly = {}, 0
    for line in open(sys.argv[1]):
        words = line.split()
        if words[0] == "SITE":
            known[words[1]] = (int(words[2]), int(words[3]))
        elif words[0] == "PARTLY":
            partly = int(words[1])
    process = json.load(open(sys.argv[2]))["processes"][0]
    rss = process["rss"]
    total = sum(rss["classes"].values()) + rss["moved_bytes"]
    if total != rss["rss_bytes"]:
        sys.exit("classes: %d, RSS %d" % (total, rss["rss_bytes"]))
    near("moved", rss["moved_bytes"], 0, 0, rss["rss_bytes"] / 100)
    if not rss["split"]:
        sys.exit("not split: %s" % rss["why"])
    names = {"site_mapped": "site_note"}  # the same blocks
    found = {}
    for site in process["sites"]:
        functions = [f["function"] for f in site["frames"]]
        for name in ("site_note", "site_other", "site_mapped"):
            if name in functions:
                key = names.get(name, name)
                a = found.setdefault(key, [0, 0])
                a[0] += site["holds_bytes"] - site["pins_bytes"]
                a[1] += site["holds_bytes"]
    for name, (live, holds) in known.items():
        got = found.get(name, [0, 0])
        near("live of " + name, got[0], live)
        near("holds of " + name, got[1], holds)
    near("rounding and partly free",
         rss["classes"]["rounding"] + rss["classes"]["partly_free"], partly,
         2, 65536)
    heap = sum(rss["classes"][c] for c in ("living", "rounding", "partly_free", "free"))
    if heap != rss["heap_bytes"]:
        sys.exit("heap: %d, parts %d" % (rss["heap_bytes"], heap))
    for word in sys.argv[3:]:
        key, _, value = word.partition("=")
        if key == "advice" and ",".join(rss["advice"]) != value:
            sys.exit("advice %s, expected %s" % (rss["advice"], value))
        if key == "free":  # at least, in bytes
            near("free", rss["classes"]["free"], int(value), 2, 262144)
        if key == "arenas" and rss["arenas"] != int(value):
            sys.exit("%d arenas" % rss["arenas"])


main()
