#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""top_cost.py WHAT SEEP LIBRARY HOSTS DIRECTORY SCRATCH ROUNDS SECONDS: what seep top and seep watch cost, and how fast top is.

WHAT is one of
  throughput  what a host gets done while top looks every 100 ms, against without; and a control, without against without
  calls       the system calls of a host that does a fixed amount of work: alone, beside top, beside watch
  screen      time to the first screen of 5,000 sites whose names are not known yet, and from a key to its picture
  memory      resident memory of top with 100 processes of 500 sites, after so many SECONDS

Prints figures; fails beyond the bars. ROUNDS and SECONDS of work are those of the caller; from 9 rounds on the bars are those of
an idle machine, with fewer they leave room for others who work.
"""
import fcntl
import os
import pty
import re
import select
import signal
import statistics
import struct
import subprocess
import sys
import termios
import time

WHAT, SEEP, LIBRARY, HOSTS, DIRECTORY, SCRATCH = sys.argv[1:7]
ROUNDS, SECONDS = int(sys.argv[7]), float(sys.argv[8])
IS_FULL = ROUNDS >= 9
THROUGHPUT_BAR = 0.98 if IS_FULL else 0.9
FIRST_MS, KEY_MS = (300, 100) if IS_FULL else (3000, 1000)
MEMORY_BAR = 64 << 20
ENV = dict(os.environ, SEEP_DIR=DIRECTORY, TERM="xterm", LC_ALL="C.UTF-8")


class Screen:
    """seep top on a terminal of its own, 120 columns wide."""

    def __init__(self, *args, env=ENV):
        self.begin = time.monotonic()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
                os.execve(SEEP, [SEEP, "top", *args], env)
            finally:
                os._exit(127)
        self.text = b""

    def drain(self, seconds):
        """Takes what is drawn; True: something was."""
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return False
        try:
            piece = os.read(self.fd, 1 << 16)
        except OSError:
            piece = b""
        if not piece:
            raise SystemExit(f"top has ended: {self.text[-2000:].decode(errors='replace')}")
        self.text += piece
        return True

    def wait_for(self, pattern, seconds=60):
        """Until the text has it; returns when that was."""
        until = time.monotonic() + seconds
        while not re.search(pattern, self.text):
            if time.monotonic() > until:
                raise SystemExit(f"not shown: {pattern}: {self.text[-2000:].decode(errors='replace')}")
            self.drain(0.1)
        return time.monotonic()

    def press(self, key):
        self.text = b""
        os.write(self.fd, key)
        return time.monotonic()

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


class Load:
    """A host that works on demand."""

    def __init__(self, kind, before=()):
        env = dict(ENV) if before else dict(ENV, LD_PRELOAD=LIBRARY)
        self.run = subprocess.Popen([*before, f"{HOSTS}/steady_load", kind], env=env, text=True, bufsize=1,
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.run.stdout.readline() == "ready\n"

    def ask(self, n):
        self.run.stdin.write(f"{n}\n")

    def answer(self):
        return [float(x) for x in self.run.stdout.readline().split()]

    def work(self, n, screen=None):
        """Seconds of the wall and of the CPU; a screen is read meanwhile, or it would stop to draw."""
        self.ask(n)
        while screen and not select.select([self.run.stdout], [], [], 0)[0]:
            screen.drain(0.02)
        return self.answer()

    def end(self):
        self.run.stdin.close()
        assert self.run.wait() == 0


def amount(kind):
    """What takes about SECONDS here."""
    load = Load(kind)
    load.work(20)
    _, own = load.work(50)
    load.end()
    return max(1, int(SECONDS / own * 50))


def measure(kind, n, beside):
    load = Load(kind)
    load.work(max(1, n // 10))
    screen = Screen("--interval", "100ms", str(load.run.pid)) if beside else None
    if screen:
        screen.wait_for(rb"steady_load")
    times = load.work(n, screen)
    if screen:
        screen.close()
    load.end()
    return times


def throughput():
    bad = 0
    for kind in "pairs", "sites":
        n = amount(kind)
        runs = {"none": [], "top": [], "control": []}
        for i in range(ROUNDS):
            order = list(runs) if i % 2 == 0 else list(runs)[::-1]
            for name in order:
                runs[name].append(measure(kind, n, name == "top"))
        for at, clock in enumerate(("wall", "cpu")):
            # with few rounds the fastest, because others disturb; they never make it faster
            choose = statistics.median if IS_FULL else min
            none, top, control = (choose([r[at] for r in runs[x]]) for x in ("none", "top", "control"))
            ratio = (none + control) / 2 / top
            print(f"{kind} {clock}: {none:.3f} s alone, {top:.3f} s beside top: throughput {ratio:.4f}, "
                  f"control {none / control:.4f}")
            # the wall has the noise of others: where the control is off, nothing is said
            is_sure = abs(none / control - 1) < (1 - THROUGHPUT_BAR) / 2
            if ratio < THROUGHPUT_BAR and is_sure and (clock == "cpu" or IS_FULL):
                bad += 1
    return bad


def counts(path):
    """Calls by name, from strace -c."""
    calls = {}
    for line in open(path):
        words = line.split()
        if len(words) >= 5 and words[0][:1].isdigit() and words[-1] != "total":
            calls[words[-1]] = int(words[3])
    return calls


def calls_of(kind, n, beside):
    path = f"{SCRATCH}/calls"
    load = Load(kind, ["strace", "-f", "-c", "-o", path, "-E", f"LD_PRELOAD={LIBRARY}"])
    host = int(subprocess.run(["pgrep", "-P", str(load.run.pid)], capture_output=True, text=True, check=True).stdout)
    screen = watch = None
    if beside == "top":
        screen = Screen("--interval", "100ms", str(host))
        screen.wait_for(rb"steady_load")
    if beside == "watch":
        history = f"{SCRATCH}/history"
        watch = subprocess.Popen([SEEP, "watch", "--history", history, str(host)], env=ENV)
        until = time.monotonic() + 30
        while not any(f.endswith(".part") for _, _, files in os.walk(history) for f in files):
            assert watch.poll() is None and time.monotonic() < until, "watch does not begin"
            time.sleep(0.05)
    # Blocks that are older than 1.6 s when they are freed need another table: they are that old in every run.
    until = time.monotonic() + 1.8
    while time.monotonic() < until:
        screen.drain(0.02) if screen else time.sleep(0.02)
    seconds, _ = load.work(n, screen)
    if screen:
        screen.close()
    if watch:
        watch.terminate()
        assert watch.wait() == 0
    load.end()
    return counts(path), seconds


def calls():
    """A call whose counts beside a reader are all above, or all below, those alone, in six tries, comes from the reader.

    The collector's tables grow with the ages of blocks, so a run that others hold up has a call more or less, alone, too.
    """
    bad = 0
    for kind in "pairs", "sites":
        n = amount(kind)
        for beside in "top", "watch":
            seen = {}
            for _ in range(6):
                alone, seconds = calls_of(kind, n, None)
                assert sum(alone.values()) > 20 and "read" in alone, alone
                with_reader, with_seconds = calls_of(kind, n, beside)
                differ = {k: (alone.get(k, 0), with_reader.get(k, 0)) for k in {*alone, *with_reader}
                          if alone.get(k, 0) != with_reader.get(k, 0)}
                print(f"{kind}: {sum(alone.values())} system calls alone in {seconds:.1f} s, {sum(with_reader.values())} "
                      f"beside {beside} in {with_seconds:.1f} s; differences: {differ or 'none'}")
                for k in {*alone, *with_reader}:
                    mine, theirs = seen.setdefault(k, ([], []))
                    mine.append(alone.get(k, 0))
                    theirs.append(with_reader.get(k, 0))
                apart = [k for k, (mine, theirs) in seen.items() if max(mine) < min(theirs) or max(theirs) < min(mine)]
                if not apart:
                    break
            print(f"{kind}: calls that {beside} changes: {apart or 'none'}")
            bad += bool(apart)
    return bad


def busy(sites, rounds):
    run = subprocess.Popen([f"{HOSTS}/busy_sites", str(sites), str(rounds)], env=dict(ENV, LD_PRELOAD=LIBRARY),
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "ready\n"
    return run


def end(runs):
    for run in runs:
        run.stdin.close()
    for run in runs:
        run.wait()


def screen():
    host = busy(5000, 1000000)
    first, keys = [], []
    for i in range(ROUNDS):
        env = dict(ENV, XDG_CACHE_HOME=f"{SCRATCH}/cold.{i}")  # no name is known
        s = Screen("--interval", "1s", str(host.pid), env=env)
        first.append((s.wait_for(rb"busy_sites[\s\S]*help") - s.begin) * 1000)
        begin = s.press(b"?")  # while names are looked for
        keys.append((s.wait_for(rb"Keys of seep top") - begin) * 1000)
        s.press(b"x")
        s.wait_for(rb"busy_sites")
        begin = s.press(b"\r")
        keys.append((s.wait_for(rb"Esc back") - begin) * 1000)
        s.close()
    end([host])
    print(f"first screen of 5,000 sites: {statistics.median(first):.1f} ms, at most {max(first):.1f}; "
          f"a key: {statistics.median(keys):.1f} ms, at most {max(keys):.1f}")
    return statistics.median(first) > FIRST_MS or statistics.median(keys) > KEY_MS


def memory():
    hosts = [busy(500, 1000000) for _ in range(100)]
    s = Screen("--interval", "1s")
    s.wait_for(rb"100 processes")
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        s.drain(0.1)
    text = open(f"/proc/{s.pid}/status").read()
    peak = int(re.search(r"VmHWM:\s+(\d+)", text).group(1)) * 1024
    s.close()
    end(hosts)
    print(f"100 processes with 500 sites: {peak / (1 << 20):.1f} MiB resident at most")
    return peak > MEMORY_BAR


sys.exit(1 if {"throughput": throughput, "calls": calls, "screen": screen, "memory": memory}[WHAT]() else 0)
