# verdict.py - which floors hold, which goals are reached.
# SPDX-License-Identifier: Apache-2.0
"""Floors are what `--check` demands; goals are printed beside them.

Micro figures are minima (a disturbance only ever adds), programs are medians
of the CPU time of all processes, relative to the native run of the same round,
with 95 % intervals of the median.
"""

import math

PROGRAM_LIMITS = {  # program: (floor, goal), exact mode
    "sqlite3": (1.30, 1.15), "perl": (1.10, 1.08), "python3": (1.25, 1.20), "cc1": (1.15, 1.10), "cc1plus": (1.15, 1.10),
    "git": (1.15, 1.10), "node": (1.15, 1.10), "objects": (1.50, 1.30), "redis": (1.30, 1.12), "redis-pipelined": (1.30, 1.12),
}
PROGRAMS_MEAN = (1.12, 1.08)  # geometric mean of them all
SAMPLED, DORMANT = (1.08, 1.02), (1.05, 1.01)
SHORT_RATIO = (80, 100)
THREADS = (1.3, 1.0)
DEPTH_30_NS = 35
# added ns per pair; what heaptrack added in the run in which the floor was set: a slower machine has a higher floor
VARIED = {
    "20 frames, 16 ways": (120, 467), "20 frames, 256 ways": (120, 542), "20 frames, 4,096 ways": (200, 759),
    "20 frames, 65,536 ways": (500, 1369), "depth 30, 64 threads": (40, 858), "producer / consumer": (150, 449),
}
LOG_PAIR, LOG_THREADS, LOG_PROGRAM, LOG_EMPTY, LOG_ABSENT = 1.20, 1.25, 1.05, 1.05, 1.01  # x exact mode
GUESS, GUESS_NODE = 1.01, 1.05  # x stacks that are cut
START_MS = 1.0
MEMORY = ((0.35, 10 * 1024), (0.27, 6 * 1024))  # share of touched heap, KiB


def line(what, value, floor, goal, at_most=True, note=""):
    def fits(limit):
        return None if limit is None else (value <= limit if at_most else value >= limit)
    return {"what": what, "value": value, "floor": floor, "goal": goal, "at_most": at_most,
            "holds": fits(floor), "reached": fits(goal), "note": note}


def added(case, name, key):
    return case[name][key]["min"] - case["native"][key]["min"]


def varied_key(name):
    """Many threads on few CPUs: only CPU time says what a pair costs."""
    return "cpu_op_ns" if "threads" in name else "loop_ns"


def quotient(above, below):
    """Small differences of noisy figures: below half a ns all are the same."""
    return above / max(below, 0.5)


def micro(cases):
    out = []
    one, two, short = (cases.get(c, {}) for c in ("depth 30", "depth 30, 2 threads", "short run"))
    for case, label, keys, floor, goal in (
            (one, "steady state (1,000,000 pairs)", ("loop_ns", "cpu_op_ns"), None, None),
            (short, "short run (40,000 pairs, whole run)", ("wall_op_ns", "cpu_op_ns"), *SHORT_RATIO)):
        if "seep" not in case or "heaptrack" not in case:
            continue
        for key, kind in zip(keys, ("wall", "CPU")):
            theirs, ours = added(case, "heaptrack", key), added(case, "seep", key)
            out.append(line(f"heaptrack added / seep added, depth 30, {label}, {kind}", quotient(theirs, ours),
                            floor, goal, at_most=False, note=f"{theirs:,.0f} / {ours:,.1f} ns per pair"))
    if "seep" in one:
        out.append(line("seep added at depth 30, ns per pair", added(one, "seep", "loop_ns"), None, DEPTH_30_NS))
        if "seep" in two:
            wall = quotient(added(two, "seep", "loop_ns"), added(one, "seep", "loop_ns"))
            cpu = quotient(added(two, "seep", "cpu_op_ns"), added(one, "seep", "cpu_op_ns"))
            out.append(line("seep added, two threads / one, depth 30, the better of wall and CPU", min(wall, cpu), *THREADS,
                            note=f"wall {wall:.2f}, CPU {cpu:.2f}"))
    slower = {}  # by how much heaptrack is slower here than where the floors were set
    for name, (_, reference) in VARIED.items():
        if "heaptrack" in cases.get(name, {}):
            slower[name] = added(cases[name], "heaptrack", varied_key(name)) / reference
    for name, (limit, _) in VARIED.items():
        case = cases.get(name, {})
        if "seep" not in case:
            continue
        key = varied_key(name)
        middle = "median" if name == "producer / consumer" else "min"
        ours = case["seep"][key][middle] - case["native"][key][middle]
        note = ""
        if name in slower:
            limit, note = limit * max(slower[name], 1), f"heaptrack {added(case, 'heaptrack', key):,.0f}"
        elif slower:  # it failed: the least of the other loads
            limit, note = limit * max(min(slower.values()), 1), f"heaptrack failed; elsewhere x{min(slower.values()):.2f}"
        out.append(line(f"seep added, {name}, ns per pair", ours, limit, None, note=note))
    return out


def programs(cases):
    out = []
    for name, limits in PROGRAM_LIMITS.items():
        for variant, (floor, goal) in (("seep", limits), ("seep-sampled", SAMPLED), ("seep-dormant", DORMANT)):
            row = cases.get(name, {}).get(variant)
            if row and "cpu_x" in row:
                x = row["cpu_x"]
                out.append(line(f"{name}, {variant}, x native CPU", x["median"], floor, goal,
                                note=f"{x['low']:.2f} to {x['high']:.2f}, {x['runs']} runs"))
    ratios = [cases[name]["seep"]["cpu_x"]["median"] for name in PROGRAM_LIMITS if "cpu_x" in cases.get(name, {}).get("seep", {})]
    if len(ratios) == len(PROGRAM_LIMITS):  # of a part of the programs it says nothing
        out.append(line("geometric mean of the programs, seep, x native CPU", math.prod(ratios) ** (1 / len(ratios)), *PROGRAMS_MEAN,
                        note=f"{len(ratios)} programs"))
    return out


def startup(cases):
    case = cases.get("true", {})
    if "seep" not in case:
        return []
    return [line("start-up of true, added ms (median)",
                 (case["seep"]["wall_ns"]["median"] - case["native"]["wall_ns"]["median"]) / 1e6, START_MS, None)]


def memory(cases):
    out = []
    for name, case in cases.items():
        if "seep" not in case or "native" not in case:
            continue
        extra = case["seep"]["rss_kb"]["median"] - case["native"]["rss_kb"]["median"]
        heap = case["native"]["anon_kb"]["max"]
        floor, goal = ((share * heap + fixed) / 1024 for share, fixed in MEMORY)
        out.append(line(f"{name}, seep, extra peak RSS, MiB", extra / 1024, floor, goal, note=f"heap {heap / 1024:.1f} MiB"))
    return out


def log(cases):
    out = []
    for name, case in cases.items():
        pairs, threads = name.startswith("depth"), "threads" in name
        key = "cpu_op_ns" if threads else "loop_ns"
        for variant, floor in (("seep-log", LOG_THREADS if threads else LOG_PAIR if pairs else LOG_PROGRAM),
                               ("seep-log-empty", LOG_EMPTY), ("seep-last", None), ("seep-again", None)):
            if variant not in case:
                continue
            if pairs:
                ours, exact = case[variant][key]["min"], case["seep"][key]["min"]
                out.append(line(f"{name}, {variant}, x exact mode", ours / exact, floor, None,
                                note=f"{ours:.1f} / {exact:.1f} ns per pair"))
            else:
                x = case[variant]["cpu_x"]
                out.append(line(f"{name}, {variant}, x exact mode", x["median"], floor, None,
                                note=f"{x['low']:.3f} to {x['high']:.3f}, {x['runs']} runs"))
        for variant in case:  # a build without the log, see docs/BENCHMARK.md
            if variant == "also:before":
                if pairs:
                    value, note = case["seep"][key]["min"] / case[variant][key]["min"], ""
                else:
                    x = case[variant]["cpu_x"]
                    value, note = 1 / x["median"], f"{1 / x['high']:.3f} to {1 / x['low']:.3f}, {x['runs']} runs"
                out.append(line(f"{name}, without a log, x the build before it", value, LOG_ABSENT, None, note=note))
    return out


def guess(cases):
    """A floor of one percent counts only beside a control: it rises by what the control has."""
    out = []
    for name, case in cases.items():
        if not all(v in case for v in ("seep", "seep-no-guess", "seep-no-guess-again")):
            continue
        if name.startswith("depth"):
            ours, base, again = (case[v]["loop_ns"]["min"] for v in ("seep", "seep-no-guess", "seep-no-guess-again"))
            value, control, note = ours / base, again / base, f"{ours:.1f} / {base:.1f} ns per pair"
        else:
            x, control = case["seep"]["cpu_x"], case["seep-no-guess-again"]["cpu_x"]["median"]
            value, note = x["median"], f"{x['low']:.3f} to {x['high']:.3f}, {x['runs']} runs"
        out.append(line(f"{name}, seep, x SEEP_GUESS=0", value, (GUESS_NODE if name == "node" else GUESS) * max(control, 1), None,
                        note=f"{note}; control {control:.3f}"))
    return out


def verdict(result):
    groups = result["groups"]
    return [v for name, judge in (("micro", micro), ("programs", programs), ("startup", startup), ("memory", memory), ("log", log), ("guess", guess))
            if name in groups for v in judge(groups[name])]
