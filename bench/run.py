#!/usr/bin/env python3
# run.py - what seep costs a host, beside nothing, bare interposition, heaptrack.
# SPDX-License-Identifier: Apache-2.0
"""Measures ns per malloc+free pair and the start-up of `true`.

All variants are interleaved: each round runs every variant once, in an order
that rotates, so that a slow minute of the machine hits all of them. Minimum
and median of the rounds are shown; what a tool *adds* is its figure less the
native one of the same kind. Writes latest.md and latest.json.

heaptrack runs twice: as people run it (a second process resolves symbols
meanwhile) and with -r (raw). It gets as many pairs as the others: its helper
needs some 150 ms to start, during which the host waits on a full pipe, and in
a run of 100,000 pairs that alone would look like 1,500 ns per pair.
"""
import argparse
import json
import os
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build")
PAIR = os.path.join(BUILD, "bench", "pair")
FLOOR = os.path.join(BUILD, "bench", "floor.so")
SEEP = os.path.join(BUILD, "libseep.so")
SEEP_COMMAND = os.path.join(BUILD, "seep")
RESULTS = os.path.join(ROOT, "bench", "results")

# (depth, threads, paths)
CASES = [(10, 1, 1), (30, 1, 1), (60, 1, 1), (10, 2, 1), (30, 2, 1), (60, 2, 1), (30, 1, 8)]
RATIO_FLOOR = 80  # heaptrack's added ns over ours, depth 30, one thread
THREADS_CEILING = 1.3  # our added ns with two threads over one, depth 30
START_CEILING_MS = 1.0


class Tool:
    """One way of running a program: environment, command prefix, own litter."""

    def __init__(self, name, work, pairs):
        self.name = name
        self.pairs = pairs
        self.dir = os.path.join(work, name)
        os.mkdir(self.dir, 0o700)

    def env(self):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("SEEP_", "LD_"))}
        if self.name == "floor":
            env["LD_PRELOAD"] = FLOOR
        elif self.name == "seep":
            env["LD_PRELOAD"] = SEEP
            env["SEEP_DIR"] = self.dir
        return env

    def command(self, argv):
        if self.name.startswith("heaptrack"):
            raw = ["-r"] if self.name == "heaptrack-r" else []
            return ["heaptrack"] + raw + ["-o", os.path.join(self.dir, "out")] + argv
        return argv

    def files(self):
        return [os.path.join(self.dir, name) for name in os.listdir(self.dir)]

    def clean(self):
        for path in self.files():
            os.unlink(path)

    def run_pair(self, depth, threads, paths):
        argv = [PAIR, str(depth), str(self.pairs), str(threads), str(paths)]
        before = cpu_seconds()
        done = subprocess.run(self.command(argv), env=self.env(), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
        cpu_ns = (cpu_seconds() - before) * 1e9 / (self.pairs * threads)
        found = re.search(r"^(\d+\.\d+)$", done.stdout, re.M)
        if done.returncode != 0 or not found:
            sys.exit(f"bench: {self.name}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return float(found.group(1)), cpu_ns

    def start_once(self):
        program = shutil.which("true")
        argv = self.command([program])
        env = self.env()
        silence = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                   (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]
        begin = time.perf_counter_ns()
        pid = os.posix_spawnp(argv[0], argv, env, file_actions=silence)
        os.waitpid(pid, 0)
        return (time.perf_counter_ns() - begin) / 1e6


def cpu_seconds():
    """Of all children so far, and of theirs: helpers are part of the price."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def recorded_all(tool, pairs):
    """A collector that sleeps is fast: make sure it has seen every pair."""
    segments = [p for p in tool.files() if not p.endswith(".ctl")]
    if not segments:
        sys.exit("bench: seep left no segment: the collector did not run")
    done = subprocess.run([SEEP_COMMAND, "report", tool.dir, "--format", "json"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"bench: seep report failed: {done.stderr.strip()}")
    seen = max(p["totals"]["allocations"] for p in json.loads(done.stdout)["processes"])
    if seen < pairs:
        sys.exit(f"bench: seep saw {seen} of {pairs} allocations")


def rotated(items, by):
    by %= len(items)
    return items[by:] + items[:by]


def measure_pairs(tools, rounds, show):
    times, cpu = {}, {}
    for turn in range(rounds):
        for case in CASES:
            depth, threads, paths = case
            for tool in rotated(tools, turn):
                ns, cpu_ns = tool.run_pair(depth, threads, paths)
                times.setdefault((case, tool.name), []).append(ns)
                cpu.setdefault((case, tool.name), []).append(cpu_ns)
                if tool.name == "seep" and turn == 0:
                    recorded_all(tool, tool.pairs * threads)
                tool.clean()
        show(f"round {turn + 1} of {rounds}")
    return times, cpu


def measure_start(tools, runs):
    times = {tool.name: [] for tool in tools}
    for turn in range(runs):
        for tool in rotated(tools, turn):
            if tool.name.startswith("heaptrack") and turn >= 7:
                continue
            times[tool.name].append(tool.start_once())
            tool.clean()
    return times


def summary(values):
    return {"min": min(values), "median": statistics.median(values), "runs": len(values)}


def machine():
    model = platform.machine()
    with open("/proc/cpuinfo") as info:
        for line in info:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return {"cpu": model, "cpus": os.cpu_count(), "kernel": platform.release(),
            "libc": " ".join(platform.libc_ver()), "load": round(os.getloadavg()[0], 1)}


def collect(tools, rounds, start_runs, show):
    names = [tool.name for tool in tools]
    where = machine()
    pair_times, cpu_times = measure_pairs(tools, rounds, show)
    result = {"schema": 1, "machine": where, "tools": names, "rounds": rounds,
              "pairs": tools[0].pairs, "cases": [], "start_ms": {}}
    for case in CASES:
        row = {"depth": case[0], "threads": case[1], "paths": case[2], "ns": {}, "added": {}, "cpu_ns": {}}
        for name in names:
            row["ns"][name] = summary(pair_times[(case, name)])
            row["cpu_ns"][name] = summary(cpu_times[(case, name)])
            row["added"][name] = {k: row["ns"][name][k] - row["ns"]["native"][k]
                                  for k in ("min", "median")}
        result["cases"].append(row)
    show("start-up")
    for name, values in measure_start(tools, start_runs).items():
        result["start_ms"][name] = summary(values)
    result["verdict"] = verdict(result)
    return result


def find(result, depth, threads):
    return next(c for c in result["cases"]
                if (c["depth"], c["threads"], c["paths"]) == (depth, threads, 1))


def quotient(above, below):
    """Small differences of noisy figures: below half a ns all are the same."""
    return above / max(below, 0.5)


def verdict(result):
    """The figures that have a floor, from the minima."""
    lines = {}
    names = result["tools"]
    if "seep" not in names:
        return lines
    one, two = find(result, 30, 1), find(result, 30, 2)
    if "heaptrack" in names:
        value = quotient(one["added"]["heaptrack"]["min"], one["added"]["seep"]["min"])
        lines["heaptrack added / seep added, depth 30"] = {
            "value": value, "wanted": f">= {RATIO_FLOOR}", "holds": value >= RATIO_FLOOR}
    value = quotient(two["added"]["seep"]["min"], one["added"]["seep"]["min"])
    lines["seep added, two threads / one, depth 30"] = {
        "value": value, "wanted": f"<= {THREADS_CEILING}", "holds": value <= THREADS_CEILING}
    cpu = [c["cpu_ns"]["seep"]["min"] - c["cpu_ns"]["native"]["min"] for c in (one, two)]
    lines["the same in CPU time, which a busy machine disturbs less"] = {
        "value": quotient(cpu[1], cpu[0]), "wanted": "near 1, not checked", "holds": True}
    start = result["start_ms"]
    value = start["seep"]["median"] - start["native"]["median"]
    lines["start-up of true, added ms (median)"] = {
        "value": value, "wanted": f"<= {START_CEILING_MS}", "holds": value <= START_CEILING_MS}
    return lines


def table(head, rows):
    def line(cells):
        return "| " + " | ".join(cells) + " |"
    return [line(head), "|" + "---|" * len(head)] + [line(r) for r in rows] + [""]


def as_markdown(result):
    names = result["tools"]
    m = result["machine"]
    out = ["# Measured cost", "",
           f"{m['cpu']}, {m['cpus']} CPUs, Linux {m['kernel']}, {m['libc']}, "
           f"load average before {m['load']}{' (not idle: distrust the medians)' if m['load'] > 0.5 else ''}; "
           f"`make bench`, {result['rounds']} interleaved rounds of {result['pairs']:,} pairs per thread, "
           "minimum / median.", "",
           "ns per malloc+free pair, 16 to 512 bytes:", ""]

    def label(c):
        return [str(c["depth"]), str(c["threads"]), str(c["paths"])]

    def both(s):
        return f"{s['min']:,.1f} / {s['median']:,.1f}"

    out += table(["depth", "threads", "paths"] + names,
                 [label(c) + [both(c["ns"][n]) for n in names] for c in result["cases"]])
    others = [n for n in names if n != "native"]
    ratio = "seep" in names and "heaptrack" in names
    rows = []
    for c in result["cases"]:
        row = label(c) + [both(c["added"][n]) for n in others]
        if ratio:
            pair = [quotient(c["added"]["heaptrack"][k], c["added"]["seep"][k]) for k in ("min", "median")]
            row.append(f"{pair[0]:,.0f} / {pair[1]:,.0f}")
        rows.append(row)
    out += ["added to native:", ""]
    out += table(["depth", "threads", "paths"] + others + (["heaptrack / seep"] if ratio else []), rows)
    out += ["CPU time of the whole run, helper processes and start-up included, ns per pair:", ""]
    out += table(["depth", "threads", "paths"] + names,
                 [label(c) + [both(c["cpu_ns"][n]) for n in names] for c in result["cases"]])
    start = result["start_ms"]
    out += ["start-up of `true`, ms:", ""]
    out += table(["", "minimum", "median", "runs"],
                 [[n, f"{s['min']:.2f}", f"{s['median']:.2f}", str(s["runs"])] for n, s in start.items()])
    for name, v in result["verdict"].items():
        out.append(f"- {name}: {v['value']:.2f} (wanted {v['wanted']}{'' if v['holds'] else ': MISSED'})")
    return "\n".join(out) + "\n"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--pairs", type=int, default=1000000, help="per thread")
    parser.add_argument("--starts", type=int, default=300, help="runs of `true` per variant")
    parser.add_argument("--without", action="append", default=[], metavar="TOOL", help="floor, seep, heaptrack or heaptrack-r")
    parser.add_argument("--check", action="store_true", help="exit 1 when a floor is missed")
    parser.add_argument("-o", metavar="DIR", default=RESULTS, help="where latest.md and latest.json go")
    return parser.parse_args()


def main():
    args = arguments()
    if not args.check and "heaptrack" not in args.without and not shutil.which("heaptrack"):
        print("bench: no heaptrack here, going on without", file=sys.stderr)
        args.without += ["heaptrack", "heaptrack-r"]

    def show(text):
        print(f"bench: {text}", file=sys.stderr, flush=True)

    shm = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="seep-bench-", dir=shm) as work:
        tools = [Tool(name, work, args.pairs)
                 for name in ("native", "floor", "seep", "heaptrack", "heaptrack-r") if name not in args.without]
        result = collect(tools, args.rounds, args.starts, show)

    text = as_markdown(result)
    os.makedirs(args.o, exist_ok=True)
    with open(os.path.join(args.o, "latest.md"), "w") as out:
        out.write(text)
    with open(os.path.join(args.o, "latest.json"), "w") as out:
        json.dump(result, out, indent=1)
        out.write("\n")
    print(text, end="")
    missed = [name for name, v in result["verdict"].items() if not v["holds"]]
    return 1 if args.check and (missed or not result["verdict"]) else 0


if __name__ == "__main__":
    sys.exit(main())
