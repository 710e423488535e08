#!/usr/bin/env python3
# faults.py - every system call of the collector fails once; or the host dies there.
# SPDX-License-Identifier: Apache-2.0
"""
faults.py fail|exhaust|kill|slow exact|sampled|dormant [--every N] [--env A=B]... HOST [ARG...]

witness.c lists the calls that code of the collector makes in this program, and
then runs it once per call.
  fail  that call answers with an error. The program must behave as it does
        bare, and what the trace lacks must be stated: its figures equal the
        program's ledger, or a loss is counted, or it says that it is inert, or
        there is none.
  exhaust  that call and all after it fail: the same must hold.
  kill  the process dies before that call. Whatever it leaves can be opened, or
        is refused in one line.
  slow  all calls take 5 ms longer, in one run: as bare, nothing lost.
--every N looks at each N-th call only, from a place that is another every day.
Prints what went wrong and a last line that counts; exit 1 if anything did.
"""

import collections
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(1, os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                "..", "lib"))
sys.dont_write_bytecode = True

import compare  # noqa: E402
import shared  # noqa: E402
from modes import COLLECTOR, SEEP, WITNESS  # noqa: E402

SECONDS = 60
# counted, but not a loss of ours
FACTS = {"nested_events", "healed", "generations", "wasted_ids", "events_off",
         "cut_rule", "cut_no_info", "cut_bounds", "cut_switched",
         "truncated_stacks", "namespaces"}


class Room:
    """Directories of one run; gone after it."""

    def __init__(self):
        self.work = tempfile.mkdtemp(prefix="seep-fault.")
        self.segments = tempfile.mkdtemp(
            prefix="seep-test.%s." % os.environ.get("SEEP_RUN", "0"), dir="/dev/shm")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.rmtree(self.segments, ignore_errors=True)


class Host:
    def __init__(self, mode, words, more):
        self.words, self.more = words, dict(w.split("=", 1) for w in more)
        if mode == "sampled":
            self.more["SEEP_SAMPLE"] = "2048"
        if mode == "dormant":
            self.more["SEEP_MODE"] = "dormant"

    def run(self, room, witness=None):
        """Bare without witness options, else preloaded."""
        env = dict(os.environ, SEEP_DIR=room.segments, **self.more)
        words = self.words
        if witness is not None:
            words = [WITNESS, "-l", COLLECTOR, "-r",
                     os.path.join(room.work, "seen")] + witness + [
                         "/usr/bin/env", "LD_PRELOAD=" + COLLECTOR] + words
        return subprocess.run(words, env=env, cwd=room.work,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=SECONDS, check=False)

    def calls(self):
        """The numbers of the system calls, in order."""
        with Room() as room:
            self.run(room, [])
            with open(os.path.join(room.work, "seen"), encoding="ascii",
                      errors="replace") as lines:
                return [int(line.split()[2]) for line in lines
                        if line.startswith("L ")]


def plain(output):
    return [x for x in output.splitlines() if not x.startswith((b"PID ", b"#"))]


def read_report(room):
    done = subprocess.run([SEEP, "report", room.segments, "--format", "json",
                           "--frames", "shared"], capture_output=True, timeout=SECONDS, check=False)
    if done.returncode == 0:
        return shared.expand(json.loads(done.stdout))["processes"], None
    lines = done.stderr.decode(errors="replace").splitlines()
    if done.returncode != 3 or len(lines) != 1:
        return None, "seep report: status %d, %s" % (done.returncode, lines)
    return [], None  # nothing there, and it says so


def is_stated(processes):
    """Does the trace say that something is missing?"""
    for process in processes:
        if process["state"] == "inert":
            return True
        if any(value for key, value in process["lost"].items()
               if key not in FACTS):
            return True
    return not processes


def process_of(pid, processes):
    """Where getpid is what failed, the trace says 0: not known."""
    return [p for p in processes if p["pid"] == pid] or [
        p for p in processes if p["pid"] == 0]


def uncounted(books, processes):
    """Events that are neither booked nor counted as lost."""
    problems = []
    untraced = sum(p["lost"]["children_untraced"] for p in processes)
    if any(p["lost"]["no_child_room"] or p["state"] == "inert"
           for p in processes):
        untraced = len(books)
    missing = 0
    for one in books:
        truth = sum(site["allocations"] for site in one.sites.values())
        mine = process_of(one.pid, processes)
        if not mine:
            missing += 1
            if missing > untraced:
                problems.append("pid %d is missing, and not counted" % one.pid)
            continue
        if mine[-1]["state"] == "inert":
            continue
        lost = mine[-1]["lost"]
        known = (mine[-1]["totals"]["allocations"] + lost["events"] +
                 lost["crowded_events"])
        if known < truth:
            problems.append("pid %d: %d of %d allocations booked or lost" % (
                one.pid, known, truth))
    return problems


def ledger_differences(output, processes, folder):
    ledger = os.path.join(folder, "ledger")
    with open(ledger, "wb") as text:
        text.write(b"\n".join(
            x for x in output.splitlines()
            if x.split(b" ")[0] in (b"PID", b"SITE")) + b"\n")
    books, _ = compare.read_ledger(ledger)
    if is_stated(processes):
        return uncounted(books, processes) if processes else []
    compare.problems.clear()
    for one in books:
        mine = process_of(one.pid, processes)
        if mine:
            compare.compare(one, mine[-1], {})
        else:
            compare.complain("pid %d: not in the report" % one.pid)
    return list(compare.problems)


def judge(mode, bare, traced, room):
    problems = []
    if traced.returncode != bare.returncode:
        problems.append("status %d, bare %d" % (
            traced.returncode, bare.returncode))
    if plain(traced.stdout) != plain(bare.stdout):
        problems.append("stdout differs: %r" % traced.stdout[-300:])
    if traced.stderr != bare.stderr:
        problems.append("stderr differs: %r" % traced.stderr[-300:])
    processes, damage = read_report(room)
    if damage:
        return problems + [damage]
    if mode == "exact":
        for text in ledger_differences(traced.stdout, processes, room.work):
            problems.append("silent loss: " + text)
    return problems


def fail_at(host, mode, bare, number, more=()):
    with Room() as room:
        try:
            traced = host.run(room, ["-n", str(number), *more])
        except subprocess.TimeoutExpired:
            return ["did not end"]
        return judge(mode, bare, traced, room)


def kill_at(host, number):
    with Room() as room:
        try:
            host.run(room, ["-k", str(number)])
        except subprocess.TimeoutExpired:
            return ["did not end"]
        _, damage = read_report(room)
        for name in os.listdir(room.segments):  # old enough to be dead
            os.utime(os.path.join(room.segments, name), (0, 0))
        done = subprocess.run(
            [SEEP, "ls", "--prune"], capture_output=True, check=False,
            timeout=SECONDS, env=dict(os.environ, SEEP_DIR=room.segments))
        problems = [damage] if damage else []
        if done.returncode not in (0, 3):
            problems.append("seep ls --prune: %r" % done.stderr)
        left = [x for x in os.listdir(room.segments)
                if not x.endswith(".seep-snap")]  # the user's to delete
        if left:
            problems.append("not pruned: %s" % left)
        return problems


def name_of(number):
    """The name of a system call, from the C library's own header."""
    if not hasattr(name_of, "names"):
        name_of.names = {}
        text = subprocess.run(
            ["cc", "-E", "-dM", "-include", "sys/syscall.h", "-xc",
             "/dev/null"], capture_output=True, text=True, check=False).stdout
        for line in text.splitlines():
            words = line.split()
            if len(words) == 3 and words[1].startswith("__NR_"):
                name_of.names[words[2]] = words[1][5:]
    return name_of.names.get(str(number), "call %d" % number)


def clean_default_place(name, since):
    """Where its directory could not be opened, a host went to the default."""
    place = "/dev/shm/seep-%d" % os.geteuid()
    for entry in os.listdir(place) if os.path.isdir(place) else []:
        path = os.path.join(place, entry)
        if entry.startswith(name[:15] + "-") and os.lstat(
                path).st_mtime >= since:
            os.unlink(path)


def options_from(arguments):
    every, more = 1, []
    while arguments and arguments[0].startswith("--"):
        if arguments[0] == "--every":
            every = int(arguments[1])
        elif arguments[0] == "--env":
            more.append(arguments[1])
        else:
            sys.exit("faults.py: %s?" % arguments[0])
        del arguments[:2]
    return every, more


def main(arguments):
    if len(arguments) < 3:
        sys.exit(__doc__)
    what, mode = arguments[:2]
    rest = arguments[2:]
    every, more = options_from(rest)
    host = Host(mode, [os.path.abspath(rest[0])] + rest[1:], more)
    calls = host.calls()
    if len(calls) < 20:
        print("only %d calls: is the collector there at all?" % len(calls))
        return 1
    with Room() as room:
        bare = host.run(room)
    if what == "slow":
        with Room() as room:
            problems = judge(mode, bare, host.run(room, ["-d", "5"]), room)
        print("\n".join(problems) or "as bare, %d slow calls" % len(calls))
        return 1 if problems else 0
    start = int(time.time() / 86400) % every
    numbers = range(1 + start, len(calls) + 1, every)
    failed, seen = 0, collections.Counter()
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        jobs = [(n, pool.submit(kill_at, host, n) if what == "kill" else
                 pool.submit(fail_at, host, mode, bare, n,
                             ["-a"] if what == "exhaust" else []))
                for n in numbers]
        for n, job in jobs:
            problems = job.result()
            seen[name_of(calls[n - 1])] += 1
            failed += bool(problems)
            for problem in problems[:4] if failed <= 10 else []:
                print("%s %d (%s): %s" % (
                    what, n, name_of(calls[n - 1]), problem))
    print("%d of %d calls, %d wrong: %s" % (
        len(numbers), len(calls), failed,
        ", ".join("%s %d" % x for x in sorted(seen.items()))))
    return 1 if failed else 0


if __name__ == "__main__":
    started = time.time()
    try:
        sys.exit(main(sys.argv[1:]))
    finally:
        clean_default_place("faulty_world", started - 1)
