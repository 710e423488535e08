#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""look_cost.py WHAT SEEP LIBRARY HOST DIRECTORY BLOCKS SLACK: what a look costs. Prints figures, fails above the bars.

SLACK is a factor that bars of time get, for a short run on a busy machine; those of memory do not.

WHAT is one of
  reader   CPU time of a look beside that of copying the same bytes, and the memory that it takes
  writing  how much a thread that writes gets done beside looks, against beside a process that spins
  mapping  how often a thread that maps and unmaps memory is in state D beside looks
"""
import ctypes
import os
import re
import resource
import subprocess
import sys
import time

CPU_BAR = 6.0           # times a bare copy
BLOCK_BYTES, POINTER_BYTES, FIXED_BYTES, POINTERS = 48, 8, 64 << 20, 3
WRITING_BAR = 0.9       # of what is done beside a process that spins
WAITING_BAR = 0.01      # of samples in state D
WAITING_SHORT = 0.02    # the same in make check, where a run is short and others work on the machine
LOOKS = 4
PIECE = 1 << 20
PR_SET_CHILD_SUBREAPER = 36

libc = ctypes.CDLL(None, use_errno=True)


class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]


class Host:
    def __init__(self, library, path, directory, blocks, *args):
        env = dict(os.environ, LD_PRELOAD=library, SEEP_DIR=directory)
        self.run = subprocess.Popen([path, str(blocks), *args], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    text=True, bufsize=1)
        _, pid, tid = self.run.stdout.readline().split()
        self.pid, self.tid = int(pid), int(tid)

    def done(self):
        self.run.stdin.write("x")
        self.run.stdin.flush()
        return int(self.run.stdout.readline().split()[1])

    def rate(self, seconds):
        begin, before = time.monotonic(), self.done()
        time.sleep(seconds)
        after = self.done()
        return (after - before) / (time.monotonic() - begin)

    def end(self):
        self.run.stdin.close()
        self.run.wait()


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def looks(seep, pid, count, wait="1ms"):
    """CPU seconds of the command and all its helpers, and the memory of the command."""
    before = cpu_of_children()
    run = subprocess.Popen([seep, "leaks", "--looks", str(count), "--wait", wait, str(pid)], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode != 0:
        raise SystemExit(f"seep leaks: exit {run.returncode}")
    # its helpers are ours now; the host, which is our child, lives on
    end = time.monotonic() + 5
    while len(children()) > 1 and time.monotonic() < end:
        for child in children():
            if child != pid:
                os.waitpid(child, 0)
    return cpu_of_children() - before, used.ru_maxrss * 1024


def children():
    return [int(x) for x in open(f"/proc/self/task/{os.getpid()}/children").read().split()]


def copy(pid):
    """CPU seconds and bytes of a bare copy of what the process has written."""
    ranges = []
    for line in open(f"/proc/{pid}/maps"):
        m = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw-p \S+ \S+ (\d+)\s*(\S*)", line)
        if m and (m[4] == "[heap]" or m[4] == "[stack]"):
            ranges.append((int(m[1], 16), int(m[2], 16)))
    buffer = ctypes.create_string_buffer(PIECE)
    local = Vector(ctypes.addressof(buffer), PIECE)
    begin, done = time.process_time(), 0
    for start, end in ranges:
        for at in range(start, end, PIECE):
            remote = Vector(at, min(PIECE, end - at))
            n = libc.process_vm_readv(pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
            done += max(n, 0)
    return time.process_time() - begin, done


def reader(seep, library, path, directory, blocks, slack):
    host = Host(library, path, directory, blocks)
    ratios = []
    for _ in range(3):
        one, _ = looks(seep, host.pid, 1)
        copied, size = copy(host.pid)
        many, memory = looks(seep, host.pid, 1 + LOOKS)
        again, _ = copy(host.pid)
        a_look, a_copy = (many - one) / LOOKS, (copied + again) / 2
        ratios.append(a_look / a_copy)
        print(f"{size >> 20} MiB in {blocks} blocks: a look {a_look:.3f} s CPU, a copy {a_copy:.3f} s: {ratios[-1]:.2f} x")
    host.end()
    bar = blocks * (BLOCK_BYTES + POINTERS * POINTER_BYTES) + FIXED_BYTES
    print(f"best of {len(ratios)}: {min(ratios):.2f} x (at most {CPU_BAR})")
    print(f"memory {memory >> 20} MiB (at most {bar >> 20}), {memory / blocks:.0f} bytes a block")
    return min(ratios) <= CPU_BAR * slack and memory <= bar


def beside(command, work):
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        return work()
    finally:
        run.kill()
        run.wait()


def writing(seep, library, path, directory, blocks, slack):
    host = Host(library, path, directory, blocks, "write")
    spin = ["/bin/sh", "-c", "while :; do :; done"]
    look = [seep, "leaks", "--looks", "1000", "--wait", "1ms", str(host.pid)]
    ratios = []
    for _ in range(5 if slack == 1 else 3):
        spinning = beside(spin, lambda: host.rate(1))
        looking = beside(look, lambda: host.rate(1))
        ratios.append(looking / spinning)
        print(f"writes a second: {spinning:.0f} beside a process that spins, {looking:.0f} beside looks: {ratios[-1]:.3f}")
    host.end()
    median = sorted(ratios)[len(ratios) // 2]
    print(f"median {median:.3f} (at least {WRITING_BAR})")
    return median >= WRITING_BAR / slack


def waiting_share(tid, pid, seconds):
    states, end = [], time.monotonic() + seconds
    path = f"/proc/{pid}/task/{tid}/stat"
    while time.monotonic() < end:
        states.append(open(path).read().rsplit(")", 1)[1].split()[0])
        time.sleep(0.0003)
    return states.count("D") / len(states), len(states)


def mapping(seep, library, path, directory, blocks, slack):
    host = Host(library, path, directory, blocks, "map")
    look = [seep, "leaks", "--looks", "1000", "--wait", "1ms", str(host.pid)]
    alone, _ = waiting_share(host.tid, host.pid, 1)
    rate = host.rate(1)
    beside_share, samples = beside(look, lambda: waiting_share(host.tid, host.pid, 5 if slack == 1 else 2))
    beside_rate = beside(look, lambda: host.rate(1))
    host.end()
    print(f"in state D: {beside_share:.3%} of {samples} samples beside looks (at most {WAITING_BAR:.0%}), {alone:.3%} alone")
    print(f"mappings a second: {rate:.0f} alone, {beside_rate:.0f} beside looks")
    return beside_share <= (WAITING_BAR if slack == 1 else WAITING_SHORT)


def main():
    what, seep, library, path, directory, blocks, slack = sys.argv[1:]
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    ways = {"reader": reader, "writing": writing, "mapping": mapping}
    return 0 if ways[what](seep, library, path, directory, int(blocks), float(slack)) else 1


sys.exit(main())
