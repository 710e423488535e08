#!/usr/bin/env python3
# moments.py - holds reports of moments and lifetimes against the events that seep dump lists.
# SPDX-License-Identifier: Apache-2.0
"""
moments.py at DUMP REPORT MS|all: REPORT is of seep report --at MS --format json; the
live blocks, allocations and frees of each process and site are those of all lines
of DUMP (--format jsonl) up to this time. A process that is not in DUMP has nothing.

moments.py phases DUMP OUT SEEP RECORDING: the host `moments` wrote OUT; what each
phase held is what --at says 50 ms before the marker of the phase.

moments.py lifetimes DUMP REPORT: REPORT is of --lifetimes; the counts of each site
are those of DUMP, and so are quartiles, exactly or to a sixteenth.

moments.py within N DUMP REPORT: REPORT is of --temporary --within N.
"""

import collections
import json
import subprocess
import sys


def events(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def function(site):
    return next((f["function"] for f in site["frames"] if f["function"] not in ("malloc", "realloc")), None)


# ---- moments ----

def state_at(dump, limit):
    """By pid and site: allocations, their bytes, frees, their bytes."""
    sums = collections.defaultdict(lambda: [0, 0, 0, 0])
    live = {}
    for e in events(dump):
        key = (e["pid"], e.get("block"))
        if e["time_ms"] > limit or e["event"] not in ("alloc", "free", "realloc"):
            continue
        if e["event"] != "alloc":
            if key not in live:  # its allocation is later
                continue
            site, size = live.pop(key)
            sums[e["pid"], site][2] += 1
            sums[e["pid"], site][3] += size
        if e["event"] != "free":
            live[key] = (e["site"], e["size"])
            sums[e["pid"], e["site"]][0] += 1
            sums[e["pid"], e["site"]][1] += e["size"]
    return sums


KEYS = ("allocations", "allocated_bytes", "frees", "freed_bytes")


def at(dump, report, limit):
    limit = float("inf") if limit == "all" else int(limit)
    expected = state_at(dump, limit)
    found, pids = {}, set()
    for p in load(report)["processes"]:
        if not p.get("log"):
            continue
        pids.add(p["pid"])
        assert p["log"]["lost_events"] == 0, p["log"]
        for s in p["sites"]:
            if s["allocations"]:
                found[p["pid"], s["id"]] = [s[k] for k in KEYS]
            assert s["live_blocks"] == s["allocations"] - s["frees"]
            if s["live_ages"]:
                assert sum(s["live_ages"]) == s["live_blocks"], s
                assert sum(s["live_sizes"]) == s["live_blocks"], s
    expected = {k: v for k, v in expected.items() if v[0]}
    assert found == expected, sorted(set(map(str, found.items())) ^ set(map(str, expected.items())))[:6]
    print(len(pids), "processes,", len(found), "sites")


def phases(dump, out, seep, recording):
    wanted, markers = collections.defaultdict(dict), {}
    with open(out, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words[0] == "PHASE":
                wanted[int(words[1])][words[2]] = (int(words[3]), int(words[4]))
    for e in events(dump):
        if e["event"] == "alloc" and 7777000 <= e["size"] < 7778000:
            markers[e["size"] - 7777000] = e["time_ms"]
    assert wanted and set(wanted) == set(markers)
    for phase, time in markers.items():
        done = subprocess.run([seep, "report", recording, "--at", "%dms" % (time - 50), "--format", "json"],
                              stdout=subprocess.PIPE, check=True)
        got = collections.defaultdict(lambda: (0, 0))
        for s in json.loads(done.stdout)["processes"][0]["sites"]:
            name = function(s)
            got[name] = (got[name][0] + s["live_blocks"], got[name][1] + s["live_bytes"])
        del wanted[phase]["dummy"]  # the first 64 events behind a pause may have the time before it
        for name, figures in wanted[phase].items():
            assert got[name] == figures, (phase, name, got[name], figures)
    print(len(markers), "phases")


# ---- lifetimes ----

def lives(dump):
    """By pid and site: ages of freed blocks in ticks; and (what, allocations between or None, size)."""
    made = collections.Counter()
    live = {}
    ages, between = collections.defaultdict(list), collections.defaultdict(list)
    for e in events(dump):
        pid, what = e["pid"], e["event"]
        me, key = (pid, e["thread"]), (pid, e.get("block"))
        if what == "lost":
            made[me] += e["events"]
        if what in ("free", "realloc") and key in live:
            site, size, born, thread, number = live.pop(key)
            apart = made[me] - number if thread == me and e["thread"] else None
            between[pid, site].append((what, apart, size))
            if what == "free":
                ages[pid, site].append(max(0, e["time_ms"] - born) // 10)
        else:
            born = None
        if what in ("alloc", "realloc"):
            made[me] += 1
            live[key] = (e["site"], e["size"], e["time_ms"] if born is None else born, me, made[me])
    return ages, between


def classes(values):
    counts = collections.Counter(v.bit_length() for v in values)
    return [counts[i] for i in range(max(counts) + 1)] if counts else []


def quartiles(values):
    values = sorted(values)
    return [values[max(0, -(-len(values) * q // 100) - 1)] for q in (25, 50, 75)]


def assert_counts(got, values, unit):
    assert got["counts"] == classes(values), (got, classes(values))
    if not values:
        assert got["quartiles"] is None
        return
    for a, b in zip(got["quartiles"], quartiles(values)):
        a //= unit
        assert a <= b and (a == b or b < 16 * 2 ** 40 and b <= a + a // 16), (got, quartiles(values))
        assert b >= 16 or a == b


def lifetimes(dump, report):
    ages, between = lives(dump)
    seen = 0
    for p in load(report)["processes"]:
        if "log" not in p:
            continue
        for s in p["sites"]:
            x, key = s["lifetimes"], (p["pid"], s["id"])
            own = [n for what, n, _ in between[key] if what == "free" and n is not None]
            assert x["freed"] == len(ages[key]), (key, x, len(ages[key]))
            assert x["freed"] + x["resized"] == s["frees"], (key, x, s["frees"])
            assert x["freed_by_other_threads"] == x["freed"] - len(own)
            assert_counts(x["ms"], ages[key], 10)
            assert_counts(x["allocations_between"], own, 1)
            seen += x["freed"]
    assert seen == sum(map(len, ages.values())) > 0
    print(seen, "lives")


def within(limit, dump, report):
    _, between = lives(dump)
    seen = 0
    for p in load(report)["processes"]:
        assert p["temporary_within_ms"] is None and p["temporary_within_allocations"] == int(limit)
        for s in p["sites"]:
            sizes = [size for _, n, size in between[p["pid"], s["id"]] if n is not None and n <= int(limit)]
            assert (s["temporary_blocks"], s["temporary_bytes"]) == (len(sizes), sum(sizes)), (s["id"], len(sizes))
            seen += len(sizes)
    assert seen > 0
    print(seen, "temporary blocks")


{"at": at, "phases": phases, "lifetimes": lifetimes, "within": within}[sys.argv[1]](*sys.argv[2:])
