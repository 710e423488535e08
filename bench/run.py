#!/usr/bin/env python3
# run.py - what seep costs a host, beside nothing, bare interposition, its peers.
# SPDX-License-Identifier: Apache-2.0
"""Measures what tools cost the programs they watch; see docs/BENCHMARK.md.

Groups: micro (malloc+free pairs), programs, startup, memory, log (the event
log, against exact mode), guess (stacks through code without unwind information,
against stacks that end there). All variants are interleaved: each round runs every variant once, in an order that rotates, so
that a slow minute of the machine hits all of them. Writes latest.md,
latest.json and latest.svg.
"""
import argparse
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import report
import variants as variants_module
import verdict
from variants import FULL, METER, SCALE, all_variants
from workloads import Program, Redis, make_programs

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build")
GROUPS = ("micro", "programs", "startup", "memory", "log", "guess")
BASES = {"log": "seep", "guess": "seep-no-guess"}  # what a group compares with; the others: native

PATHS_LIVE = 1000000


# case -> (program with arguments, threads, operations of a cheap variant)
def pair(depth, threads=1, paths=1, program="pair"):
    return lambda n: [program, str(depth), str(max(n // threads, 1)), str(threads), str(paths)]


def ways(k, live=16):
    """Each allocation in one of k^4 ways; `live` blocks, of which a random one is replaced."""
    return lambda n: ["ways", str(k), str(n), str(live)]


MICRO = {
    "depth 10": (pair(10), 1, 1000000),
    "depth 30": (pair(30), 1, 1000000),
    "depth 60": (pair(60), 1, 1000000),
    "depth 30, 8 paths": (pair(30, paths=8), 1, 1000000),
    "depth 30, frame pointers": (pair(30, program="pair-fp"), 1, 1000000),
    "depth 10, 2 threads": (pair(10, 2), 2, 2000000),
    "depth 30, 2 threads": (pair(30, 2), 2, 2000000),
    "depth 60, 2 threads": (pair(60, 2), 2, 2000000),
    "depth 30, 8 threads": (pair(30, 8), 8, 2000000),
    "depth 30, 16 threads": (pair(30, 16), 16, 3200000),
    "depth 30, 32 threads": (pair(30, 32), 32, 3200000),
    "depth 30, 64 threads": (pair(30, 64), 64, 3200000),
    "20 frames, 1 way": (ways(1), 1, 1000000),
    "20 frames, 16 ways": (ways(2), 1, 1000000),
    "20 frames, 256 ways": (ways(4), 1, 1000000),
    "20 frames, 4,096 ways": (ways(8), 1, 1000000),
    "20 frames, 65,536 ways": (ways(16), 1, 1000000),
    "20 frames, 531,441 ways": (ways(27), 1, 1000000),
    "1 way, 1,000 live": (ways(1, 1000), 1, 1000000),
    "1 way, 100,000 live": (ways(1, 100000), 1, 1000000),
    "1 way, 1,000,000 live": (ways(1, 1000000), 1, 1000000),
    "1,000 paths, 1 M live": (lambda n: ["paths", str(PATHS_LIVE), str(n)], 1, 500000),
    "producer / consumer": (lambda n: ["handoff", str(n)], 2, 1000000),
    "short run": (pair(30), 1, 40000),
}
# long enough that the chunks of the log go round
LOG_MICRO = {
    "depth 10": (pair(10), 4000000),
    "depth 30": (pair(30), 4000000),
    "depth 60": (pair(60), 4000000),
    "depth 30, 2 threads": (pair(30, 2), 6000000),
}
LOG_PROGRAMS = ("sqlite3", "perl", "python3", "cc1")
GUESS_MICRO = {name: LOG_MICRO[name] for name in ("depth 10", "depth 30", "depth 60")}
GUESS_PROGRAMS = LOG_PROGRAMS + ("node",)
GUESS_ROUNDS = 15  # the control says whether they are enough
# dear variants do less of the same; the figures are per operation
FEWER = {"unwind": 10, "jemalloc-all": 20, "gperftools": 50, "memcheck": 20, "massif": 20, "dhat": 20}
# heaptrack's helper starts slowly: it gets as many pairs as the cheap ones
SCALE_PROGRAMS = ("sqlite3", "python3", "cc1")  # where one run of a dear variant is shown
MICRO_ONLY_FIRST = ("memcheck", "massif", "dhat")  # short run and depth 30


class Bench:
    def __init__(self, args, variants, work, show):
        self.args = args
        self.variants = variants
        self.work = work
        self.show = show
        self.samples = {}  # group -> case -> variant -> [sample]
        self.counts = {}  # allocations that seep saw
        self.failures = {}
        self.others = []
        self.loads = []

    def meter_file(self):
        return os.path.join(self.work, "meter")

    def start(self, variant, argv, **more):
        return subprocess.Popen([METER, self.meter_file()] + variant.command(argv), env=variant.env(),
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                start_new_session=True, **more)

    def run(self, variant, program, timeout=900):
        """One sample of a program. Exits when it fails: a figure of a failed run is none."""
        env = variant.env()
        env.update(program.env)
        source = open(program.stdin) if program.stdin else subprocess.DEVNULL
        done = subprocess.run([METER, self.meter_file()] + variant.command(program.argv), env=env, stdin=source,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout)
        if program.stdin:
            source.close()
        with open(self.meter_file()) as f:
            wall, user, system, rss, faults, status = (int(w) for w in f.read().split())
        if done.returncode or status:
            raise RuntimeError(f"{program.name} under {variant.name}: status {status:#x}: {done.stderr.strip()[-300:]}")
        return {"wall_ns": wall, "cpu_ns": (user + system) * 1000, "user_ns": user * 1000, "rss_kb": rss, "faults": faults}, done.stdout

    def attempt(self, variant, program):
        """As run(), but a peer may fail: that is told, and the rest goes on."""
        if f"{variant.name}, {program.name}" in self.failures:
            return None
        try:
            return self.run(variant, program)
        except (RuntimeError, subprocess.TimeoutExpired) as failed:
            if variant.is_seep or variant.name == "native":
                raise
            self.show(f"{failed}: left out")
            self.failures[f"{variant.name}, {program.name}"] = str(failed).split(": ", 1)[1]
            variant.clean()
            return None

    def keep(self, group, case, variant, sample):
        self.samples.setdefault(group, {}).setdefault(case, {}).setdefault(variant.name, []).append(sample)

    def rounds_of(self, variant, turn, group):
        if variant.pace == FULL:
            return True
        return turn < (3 if group == "micro" else 1)

    def rotation(self, turn, group=None):
        kept = [v for v in self.variants if v.only in (None, group)]
        by = turn % len(kept)
        return kept[by:] + kept[:by]

    def round(self, name, turn, of=None):
        """Notes how busy others keep the machine while a round runs."""
        bench = self

        class Watch:
            def __enter__(self):
                self.before = busy_seconds(), children_seconds(), time.monotonic()

            def __exit__(self, *_):
                spent = time.monotonic() - self.before[2]
                ours = children_seconds() - self.before[1]
                bench.others.append(max(busy_seconds() - self.before[0] - ours, 0) / max(spent, 1e-3))
                bench.loads.append(os.getloadavg()[0])
                bench.show(f"{name}: round {turn + 1} of {of or bench.args.rounds}, {spent:.0f} s, "
                           f"others used {bench.others[-1]:.2f} CPUs")
        return Watch()

    def saw_all(self, variant, case, at_least):
        """A collector that sleeps is fast: make sure it has seen every event."""
        done = subprocess.run([variants_module.SEEP_COMMAND, "report", variant.dir, "--format", "json", "--frames", "shared"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"seep report failed after {case}: {done.stderr.strip()}")
        processes = json.loads(done.stdout)["processes"]
        biggest = max(processes, key=lambda p: p["totals"]["allocations"])
        seen = biggest["totals"]["allocations"]
        if seen < at_least:
            raise RuntimeError(f"seep saw {seen} of {at_least} allocations of {case}")
        self.counts[case] = {"allocations": seen, "sites": len(biggest["sites"]),
                             "peak_bytes": biggest["totals"]["peak_bytes"], "lost": biggest["lost"]}

    def micro(self):
        for turn in range(self.args.rounds):
            with self.round("micro", turn):
                for case, (arguments, threads, full) in MICRO.items():
                    if self.args.only and case not in self.args.only:
                        continue
                    for variant in self.rotation(turn):
                        if variant.name in MICRO_ONLY_FIRST and case not in ("depth 30", "short run"):
                            continue
                        if not self.rounds_of(variant, turn, "micro"):
                            continue
                        n = full if case == "short run" else full // self.args.divide // FEWER.get(variant.name, 1)
                        argv = arguments(n)
                        program = Program(case, [os.path.join(BUILD, "bench", argv[0])] + argv[1:])
                        done = self.attempt(variant, program)
                        if not done:
                            continue
                        sample, said = done
                        per = n // threads * threads if argv[0].startswith("pair") else n
                        per += PATHS_LIVE if argv[0] == "paths" else 0  # it fills its slots first
                        per += max(int(argv[1]) ** 4, int(argv[3])) if argv[0] == "ways" else 0  # likewise
                        sample["loop_ns"] = float(next(w for w in said.split() if w[0].isdigit() and "." in w))
                        sample["cpu_op_ns"] = sample["cpu_ns"] / per
                        sample["wall_op_ns"] = sample["wall_ns"] / per
                        sample["ops"] = per
                        self.keep("micro", case, variant, sample)
                        if variant.name == "seep" and turn == 0:
                            self.saw_all(variant, case, per)
                        variant.clean()

    def programs(self):
        made = [p for p in make_programs(self.work) if not self.args.only or p.name in self.args.only]
        for p in made:
            if p.missing:
                self.show(f"{p.name}: {p.missing}, going on without")
        redis = Redis(self.work) if not Redis.missing and (not self.args.only or "redis" in self.args.only) else None
        for turn in range(self.args.rounds):
            with self.round("programs", turn):
                for program in made:
                    if program.missing:
                        continue
                    for variant in self.rotation(turn):
                        if self.can_run(variant, program.name, turn):
                            self.one_program(variant, program, turn)
                for variant in self.rotation(turn) if redis else []:
                    if self.can_run(variant, "redis", turn):
                        self.one_redis(variant, redis)
        self.closer([p for p in made if p.name in verdict.PROGRAM_LIMITS and not p.missing])

    def closer(self, made):
        """What has a floor, many times more.

        A run of a quarter of a second spreads by a tenth, and seven of them
        tell a median to 4 %; a floor is two or three away from the truth.
        """
        variants = [v for v in self.rotation(0) if v.is_seep or v.name in ("native", "floor")]
        for turn in range(self.args.rounds, self.args.floor_rounds):
            with self.round("floors", turn, self.args.floor_rounds):
                for program in made:
                    by = turn % len(variants)
                    for variant in variants[by:] + variants[:by]:
                        self.one_program(variant, program, turn)

    def can_run(self, variant, name, turn):
        if not self.rounds_of(variant, turn, "programs") or variant.name in ("heaptrack-r", "lsan"):
            return False
        if variant.pace == SCALE and (self.args.quick or name not in SCALE_PROGRAMS):
            return False
        # gcc 12's lsan crashes programs that were not linked with it, perl and sqlite3 here;
        # redis has jemalloc linked in, and is no toy to run inside valgrind or tcmalloc
        return name != "redis" or variant.name not in ("memcheck", "massif", "dhat", "gperftools", "jemalloc", "jemalloc-all")

    def one_program(self, variant, program, turn):
        done = self.attempt(variant, program)
        if not done:
            return
        self.keep("programs", program.name, variant, done[0])
        if variant.name == "seep" and turn == 0:
            self.saw_all(variant, program.name, 100)
        variant.clean()

    def one_redis(self, variant, redis):
        try:
            for name, sample in redis.run(variant, self.start).items():
                self.keep("programs", name, variant, sample)
        except (RuntimeError, OSError, subprocess.SubprocessError) as failed:
            if variant.is_seep or variant.name == "native":
                raise
            self.show(f"redis under {variant.name}: {failed}: left out")
            self.failures[f"{variant.name}, redis"] = str(failed)
        variant.clean()

    def startup(self):
        cases = [Program("true", [shutil.which("true")]),
                 Program("python3 -c 1", [shutil.which("python3", path="/usr/bin") or "python3", "-c", "1"])]
        for program in cases:
            runs = self.args.starts if program.name == "true" else max(self.args.starts // 5, 7)
            for turn in range(runs):
                for variant in self.rotation(turn):
                    dear = variant.prefix or variant.pace != FULL
                    if (dear and turn >= self.args.rounds) or variant.name in ("heaptrack-r", "lsan"):
                        continue
                    if self.args.quick and variant.pace == SCALE:
                        continue
                    done = self.attempt(variant, program)
                    if done:
                        self.keep("startup", program.name, variant, done[0])
                    variant.clean()
            self.show(f"start-up of {program.name}: done")

    def memory(self):
        """Peak anonymous memory of the bare program, and what recordings weigh."""
        wanted = ("sqlite3", "perl", "python3", "cc1", "cc1plus", "objects")
        for program in make_programs(self.work):
            if program.missing or program.name not in wanted or (self.args.only and program.name not in self.args.only):
                continue
            for variant in self.rotation(0):
                if variant.pace != FULL or variant.name in ("heaptrack-r", "lsan"):
                    continue
                for _ in range(1 if variant.prefix else 3):
                    done = self.attempt(variant, program)
                    if not done:
                        continue
                    sample = done[0]
                    if variant.name == "native":
                        sample["anon_kb"] = self.touched(program)
                    if variant.name == "heaptrack":
                        sample["file_bytes"] = sum(os.path.getsize(p) for p in variant.files())
                    elif variant.name in ("seep", "seep-sampled"):
                        sample["segment_bytes"] = sum(os.stat(p).st_blocks * 512 for p in variant.files())
                        sample["file_bytes"] = self.recording(program, variant)
                    self.keep("memory", program.name, variant, sample)
                    variant.clean()
            self.show(f"memory of {program.name}: done")

    def log(self):
        """What the event log adds to exact mode: each run against the exact one of its round."""
        compared = [v for v in self.variants if v.name == "seep" or v.only == "log" or v.name.startswith("also:")]
        if not any(v.name == "seep" for v in compared):
            self.show("log: the variant seep is not there, so there is nothing to compare with")
            return
        drains = [subprocess.Popen([os.path.join(BUILD, "bench", "drain"), v.dir]) for v in compared if v.drained]
        try:
            self.loops_of("log", compared, LOG_MICRO)
            self.programs_of("log", compared, LOG_PROGRAMS, self.args.floor_rounds)
        finally:
            for process in drains:
                process.terminate()
                process.wait()

    def guess(self):
        """What guesses cost; the base runs twice in each round, so that the noise is seen."""
        compared = [v for v in self.variants if v.name == "seep" or v.only == "guess"]
        if not any(v.name == BASES["guess"] for v in compared):
            self.show(f"guess: the variant {BASES['guess']} is not there, so there is nothing to compare with")
            return
        self.loops_of("guess", compared, GUESS_MICRO)
        self.programs_of("guess", compared, GUESS_PROGRAMS, min(self.args.floor_rounds, GUESS_ROUNDS))

    @staticmethod
    def turned(variants, turn):
        by = turn % len(variants)
        return variants[by:] + variants[:by]

    def loops_of(self, group, compared, cases):
        rounds = 3 * self.args.rounds
        for turn in range(rounds):
            with self.round(f"{group}, micro", turn, rounds):
                for case, (arguments, full) in cases.items():
                    if self.args.only and case not in self.args.only:
                        continue
                    n = full // self.args.divide
                    argv = arguments(n)
                    for variant in self.turned(compared, turn):
                        sample, said = self.run(variant, Program(case, [os.path.join(BUILD, "bench", argv[0])] + argv[1:]))
                        sample["loop_ns"] = float(said.split()[0])
                        sample["cpu_op_ns"] = sample["cpu_ns"] / n
                        self.keep(group, case, variant, sample)
                        self.saw_log(variant, case, turn)
                        variant.clean()

    def programs_of(self, group, compared, names, rounds):
        made = [p for p in make_programs(self.work) if p.name in names and not p.missing]
        made = [p for p in made if not self.args.only or p.name in self.args.only]
        redis = None if Redis.missing or (self.args.only and "redis" not in self.args.only) else Redis(self.work)
        for turn in range(rounds if made or redis else 0):
            with self.round(f"{group}, programs", turn, rounds):
                for program in made:
                    for variant in self.turned(compared, turn):
                        self.keep(group, program.name, variant, self.run(variant, program)[0])
                        self.saw_log(variant, program.name, turn)
                        variant.clean()
                for variant in self.turned(compared, turn) if redis and turn < 2 * self.args.rounds else []:
                    for name, sample in redis.run(variant, self.start).items():
                        self.keep(group, name, variant, sample)
                    self.saw_log(variant, "redis", turn)
                    variant.clean()

    def saw_log(self, variant, case, turn):
        """A log that loses its events is fast, and one that nobody reads must lose them."""
        if turn or not variant.name.startswith("seep-log"):
            return
        done = subprocess.run([variants_module.SEEP_COMMAND, "report", variant.dir, "--format", "json", "--no-symbols"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
        largest = max(json.loads(done.stdout)["processes"], key=lambda p: p["totals"]["allocations"])
        events = largest["totals"]["allocations"] + largest["totals"]["frees"]
        lost = largest["counts"]["log_lost"] / max(events, 1)
        self.counts[f"{variant.name}, {case}"] = {"events": events, "log_lost_share": lost}
        if (lost > 0.01) if variant.drained else (lost < 0.5):
            raise RuntimeError(f"{variant.name}, {case}: {lost:.1%} of the events are not in the log")

    def recording(self, program, variant):
        path = os.path.join(self.work, "recording")
        env = variant.env()
        env.update(program.env)
        env.pop("METER_PRELOAD", None)
        sample = ["--sample", env["SEEP_SAMPLE"]] if "SEEP_SAMPLE" in env else []
        source = open(program.stdin) if program.stdin else subprocess.DEVNULL
        done = subprocess.run([variants_module.SEEP_COMMAND, "record", "-q", "--force"] + sample + ["-o", path, "--"] + program.argv,
                              env=env, stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            self.show(f"seep record {program.name}: status {done.returncode}: {done.stderr.strip()[-200:]}")
            return 0
        return os.path.getsize(path)

    def touched(self, program):
        """The largest RssAnon that looking every few ms has seen."""
        source = open(program.stdin) if program.stdin else subprocess.DEVNULL
        env = next(v for v in self.variants if v.name == "native").env()
        env.update(program.env)
        process = subprocess.Popen(program.argv, env=env, stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        most = 0
        while process.poll() is None:
            try:
                with open(f"/proc/{process.pid}/status") as f:
                    most = max([most] + [int(line.split()[1]) for line in f if line.startswith("RssAnon")])
            except OSError:
                pass
            time.sleep(0.004)
        return most


def busy_seconds():
    """Of all CPUs, steal included: what anybody on this machine has used."""
    with open("/proc/stat") as f:
        ticks = [int(w) for w in f.readline().split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def children_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def summary(values):
    values = sorted(values)
    low, high = (statistics.quantiles(values, n=4)[::2] if len(values) > 2 else (values[0], values[-1]))
    # 95 % of the median, by ranks: no distribution is assumed
    reach = 0.98 * len(values) ** 0.5
    first, last = max(int(len(values) / 2 - reach), 0), min(int(len(values) / 2 + reach), len(values) - 1)
    return {"min": values[0], "q1": low, "median": statistics.median(values), "q3": high, "max": values[-1], "runs": len(values),
            "low": values[first], "high": values[last]}


def summaries(samples):
    out = {}
    for group, cases in samples.items():
        for case, by_variant in cases.items():
            for name, runs in by_variant.items():
                keys = set().union(*(r.keys() for r in runs))
                row = {k: summary([r[k] for r in runs if k in r]) for k in sorted(keys)}
                # the ratio of one round to the run of the base in the same round
                base = BASES.get(group, "native")
                native = by_variant.get(base, [])
                for key in ("cpu_ns", "wall_ns"):
                    pairs = [r[key] / max(n[key], 1) for r, n in zip(runs, native) if key in r and key in n]
                    if pairs and name != base:
                        row[key.replace("_ns", "_x")] = summary(pairs)
                out.setdefault(group, {}).setdefault(case, {})[name] = row
    return out


def machine():
    model = platform.machine()
    with open("/proc/cpuinfo") as info:
        for line in info:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    head = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout.strip()
    return {"commit": head, "cpu": model, "cpus": os.cpu_count(), "kernel": platform.release(), "libc": " ".join(platform.libc_ver())}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog=__doc__.split("\n", 2)[2])
    parser.add_argument("group", nargs="*", help=f"of {', '.join(GROUPS)}; default: all")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--floor-rounds", type=int, default=41, help="of the programs and variants that have a floor")
    parser.add_argument("--starts", type=int, default=200, help="runs of `true` per variant")
    parser.add_argument("--quick", action="store_true", help="3 rounds, a fifth of the pairs, no valgrind: for a first look")
    parser.add_argument("--only", action="append", default=[], metavar="CASE", help="one program or micro case; may be repeated")
    parser.add_argument("--with", action="append", default=[], dest="chosen", metavar="VARIANT", help="only these variants (and native)")
    parser.add_argument("--without", action="append", default=[], metavar="VARIANT")
    parser.add_argument("--also", action="append", default=[], metavar="NAME=LIB", help="another libseep.so, beside ours")
    parser.add_argument("--check", action="store_true", help="exit 1 when a floor is missed")
    parser.add_argument("-o", metavar="DIR", help="where latest.* go; default: bench/results for a whole run, build/bench/results for a part")
    args = parser.parse_args()
    wrong = [g for g in args.group if g not in GROUPS]
    if wrong:
        parser.error(f"no such group: {wrong[0]} (there are {', '.join(GROUPS)})")
    part = args.group or args.quick or args.only or args.chosen or args.without or args.also or args.rounds < 7
    args.o = args.o or os.path.join(*((BUILD, "bench") if part else (ROOT, "bench")), "results")
    args.divide = 1
    if args.quick:
        args.rounds, args.starts, args.divide = min(args.rounds, 3), min(args.starts, 30), 5
        args.floor_rounds = args.rounds
    return args


def settle_build(work):
    """Measures a copy: a build that changes meanwhile would be two builds."""
    where = os.path.join(work, "build")
    os.mkdir(where)
    for name in ("seep", "libseep.so", "libseep-cxx.so", "libseep-jemalloc.so", "libseep-tcmalloc.so", "libseep-map.so"):
        if os.path.exists(os.path.join(BUILD, name)):
            shutil.copy2(os.path.join(BUILD, name), where)
    variants_module.COLLECTOR = os.path.join(where, "libseep.so")
    variants_module.SEEP_COMMAND = os.path.join(where, "seep")


def choose(args, show):
    kept, skipped = [], {}
    for v in all_variants(args.also):
        if v.name in args.without or (args.chosen and v.name not in args.chosen + ["native"] and not v.name.startswith("also:")):
            continue
        if v.missing:
            skipped[v.name] = v.missing
            show(f"{v.name}: {v.missing}, going on without")
        else:
            kept.append(v)
    return kept, skipped


def main():
    args = arguments()

    def show(text):
        print(f"bench: {text}", file=sys.stderr, flush=True)

    shm = "/dev/shm" if os.path.isdir("/dev/shm") else None
    began = time.time()
    with tempfile.TemporaryDirectory(prefix="seep-bench-", dir=shm) as work:
        settle_build(work)
        variants, skipped = choose(args, show)
        for v in variants:
            v.settle(work)
        bench = Bench(args, variants, work, show)
        load_before = os.getloadavg()[0]
        for group in args.group or GROUPS:
            getattr(bench, group)()
    result = {"schema": 2, "machine": machine(), "rounds": args.rounds, "quick": args.quick, "seconds": round(time.time() - began),
              "load": {"before": load_before, "during": summary(bench.loads or [load_before]),
                       "others_cpus": summary(bench.others or [0.0])},
              "variants": [{"name": v.name, "what": v.what, "pace": v.pace} for v in variants], "skipped": skipped, "failed": bench.failures,
              "seen": bench.counts, "groups": summaries(bench.samples)}
    result["verdict"] = verdict.verdict(result)
    report.write(result, args.o)
    print(report.markdown(result), end="")
    missed = [v["what"] for v in result["verdict"] if v["holds"] is False]
    if args.check and (missed or not result["verdict"]):
        show(f"missed: {'; '.join(missed) or 'nothing was measured that has a floor'}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
