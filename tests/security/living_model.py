# living_model.py - children of a traced process come and go while ls --prune runs; a model says who must still be there, and with how many blocks.
# SPDX-License-Identifier: Apache-2.0
#
# usage: living_model.py SEEP LIBRARY BROOD DIRECTORY STEPS [COMMAND that drops privileges...]
# The random numbers are printed with the first line, so that a failure can be repeated (SEED=N).
import json
import os
import random
import subprocess
import sys
import threading

seep, library, brood, directory, steps = sys.argv[1:6]
drop = sys.argv[6:]
seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
random.seed(seed)
print("SEED=%d" % seed, flush=True)
environment = dict(os.environ, SEEP_DIR=directory)
as_root = os.geteuid() == 0
elsewhere = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
if not as_root:
    elsewhere += ["--user", "--map-root-user"]


class Brood:
    """One traced process, and what it must look like."""

    def __init__(self):
        self.process = subprocess.Popen(
            drop + ["env", "LD_PRELOAD=" + library, brood], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env=environment)
        self.pid = int(self.read("ready"))
        self.children = {}  # pid -> blocks, of those that live

    def read(self, word):
        line = self.process.stdout.readline().split()
        assert line and line[0] == word, (line, word)
        return line[1]

    def say(self, line, answer):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return int(self.read(answer))

    def fork(self):
        # below 64 events a child has no slot yet, but a line
        blocks = random.choice([1, 5, 30, 63, 64, 65, 100, 500, 3000])
        self.children[self.say("fork %d" % blocks, "child")] = blocks

    def kill(self):
        if self.children:
            pid = random.choice(list(self.children))
            del self.children[pid]
            self.say("kill %d" % pid, "gone")


def prune(where):
    # root's own pid namespace, with all rights, and an owner's in another one
    command = [seep, "ls", "--prune"]
    if where == "elsewhere":
        command = elsewhere + (drop if as_root else []) + command
    elif where == "here":
        command = drop + command
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def check(broods):
    report = subprocess.run(
        [seep, "report", directory, "--format", "json"],
        env=environment, capture_output=True, text=True)
    found = {}
    for p in json.loads(report.stdout)["processes"]:
        if p["end"] == "running":
            found[p["pid"]] = p["totals"]["live_blocks"]
    for b in broods:
        assert found.get(b.pid) == 100, ("the parent", b.pid, found.get(b.pid))
        for pid, blocks in b.children.items():
            assert found.get(pid) == blocks, ("a child", pid, blocks, found.get(pid), sorted(found.items()))


stop = False
pruned = {"slots": 0, "runs": 0}
failures = []


def prune_for_ever(where):
    while not stop:
        done = prune(where)
        if done.returncode != 0:
            failures.append((where, done.stderr))
        pruned["runs"] += 1
        for line in done.stdout.splitlines():
            if "given back" in line:
                pruned["slots"] += int(line.split()[0].replace(",", ""))


def run(broods):
    global stop
    forked = killed = 0
    threads = [threading.Thread(target=prune_for_ever, args=(w,)) for w in ("here", "here", "elsewhere")]
    for t in threads:
        t.start()
    try:
        for step in range(int(steps)):
            b = random.choice(broods)
            for _ in range(random.randrange(1, 6)):
                if random.random() < 0.55 and len(b.children) < 40:
                    b.fork()
                    forked += 1
                else:
                    killed += len(b.children) > 0
                    b.kill()
            if step % 5 == 4:
                check(broods)
    finally:
        stop = True
        for t in threads:
            t.join()
    check(broods)
    # once nobody forks any more, all slots of the dead come back
    prune("here")
    report = subprocess.run([seep, "ls"], env=environment, capture_output=True, text=True).stdout
    ended = [line for line in report.splitlines() if line.endswith("/brood") and " running " not in line]
    print("%d forked, %d killed, %d slots given back in %d runs"
          % (forked, killed, pruned["slots"], pruned["runs"]))
    assert not ended, ended
    assert pruned["slots"] > 0 and not failures, failures


broods = [Brood(), Brood()]
try:
    run(broods)
finally:
    for b in broods:
        while b.children:
            b.kill()
        b.process.stdin.close()
        b.process.wait()
