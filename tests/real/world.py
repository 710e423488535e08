# world.py - one run of a real program, bare or traced: starts, measures, ends.
# SPDX-License-Identifier: Apache-2.0
"""A case gets a World and does the same things in it, whatever the mode is."""
import contextlib
import json
import os
import pwd
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "lib"))

from tree import adopt_orphans, children_of, end_all_below  # noqa: E402

BUILD = os.environ.get("SEEP_BUILD", os.path.join(ROOT, "build"))
SEEP = os.path.join(BUILD, "seep")
LIBRARY = os.path.join(BUILD, "libseep.so")
COUNTER = os.path.join(BUILD, "real", "count.so")
PATH = "/usr/sbin:/usr/bin:/sbin:/bin:/usr/games:/usr/local/sbin:/usr/local/bin"
BRIEF = 64  # a forked child with fewer events that calls exec is counted, not listed (docs/LIFE_OF_A_MALLOC.md)


class Skip(Exception):
    """The case cannot run here; the text says why."""


class Failed(Exception):
    """The program did not do what it should, whoever is to blame."""


def find(command):
    path = shutil.which(command, path=PATH)
    if not path:
        raise Failed(f"no {command} here: make deps-real installs it")
    return path


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def until(what, seconds, true):
    """Waits until true() holds; OSError counts as not yet."""
    end = time.monotonic() + seconds
    while True:
        try:
            if true():
                return
        except OSError:
            pass
        if time.monotonic() > end:
            raise Failed(f"{what}: not within {seconds} s")
        time.sleep(0.02)


def connects(port):
    with socket.create_connection(("127.0.0.1", port), timeout=5):
        return True


def become(user):
    """Arguments of Popen: as that user from its start, which needs root."""
    if not user:
        return {}
    entry = pwd.getpwnam(user)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


class Orphan:
    """A server whose starter has ended; ours by adopt_orphans()."""

    def __init__(self, pid):
        self.pid, self.args, self.returncode = pid, [f"process {pid}"], None

    def poll(self):
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:
                return self.returncode  # the other thread is at it
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def send_signal(self, number):
        os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def wait(self, seconds=60):
        try:
            until("the end", seconds, lambda: self.poll() is not None)
        except Failed:
            raise subprocess.TimeoutExpired(self.args, seconds) from None


def cpu_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class World:
    """mode: bare, exact, sampled, dormant, or counted: exact, with count.c behind us."""

    def __init__(self, mode, allocator=None):
        adopt_orphans()
        self.mode = mode
        self.work = tempfile.mkdtemp(prefix="seep-real-")
        os.chmod(self.work, 0o755)
        ours = f"seep-test.{os.environ.get('SEEP_RUN', '0')}."  # tests/run looks for what is left
        self.trace = tempfile.mkdtemp(prefix=ours, dir="/dev/shm")  # SEEP_RUN
        self.counts = tempfile.mkdtemp(prefix=ours, dir="/dev/shm")  # SEEP_RUN
        os.chmod(self.counts, 0o1777)
        self.allocator = allocator
        self.preloads = ([] if mode == "bare" else [LIBRARY]) + ([COUNTER] if mode == "counted" else []) + ([allocator] if allocator else [])
        self.started = []
        self.peak_kib = 0
        self.cpu = 0.0
        self.cpu_per_request = None
        self.latency_ms = None
        self._watching = True
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def companion(self, name):
        """A library beside libseep.so that seep record would preload for this program."""
        if self.mode != "bare":
            self.preloads.insert(1, os.path.join(BUILD, name))

    def environment(self, **more):
        env = {"PATH": PATH, "HOME": self.work, "LC_ALL": "C", "TZ": "UTC", "USER": "nobody", "TMPDIR": self.work}
        if self.preloads:
            env["LD_PRELOAD"] = ":".join(self.preloads)
            env["SEEP_DIR"] = self.trace
        if self.mode == "counted":
            env["COUNT_DIR"] = self.counts
        if self.mode == "sampled":
            env["SEEP_SAMPLE"] = "524288"
        if self.mode == "dormant":
            env["SEEP_MODE"] = "dormant"
        env.update(more)
        return env

    def path(self, *parts):
        return os.path.join(self.work, *parts)

    def write(self, name, text):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)
        return path

    def give(self, user, starts_as_root=False):
        """Makes the directories that user's, for servers that refuse root or leave it."""
        if os.geteuid() != 0:
            return
        entry = pwd.getpwnam(user)
        for top in (self.work,) if starts_as_root else (self.work, self.trace):
            for where, _, files in os.walk(top):
                for name in [where] + [os.path.join(where, f) for f in files]:
                    os.chown(name, entry.pw_uid, entry.pw_gid)

    # ---- running -----------------------------------------------------------

    def run(self, command, stdin=None, check=True, seconds=300, **env):
        """A traced command to its end: (status, stdout, stderr)."""
        with self._counting_cpu():
            p = self.start(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **env)
            timer = threading.Timer(seconds, os.killpg, (p.pid, signal.SIGKILL))
            timer.start()
            out, err = p.communicate()
            timer.cancel()
        if check and p.returncode != 0:
            raise Failed(f"{command[0]}: status {p.returncode}: {err[-300:]!r}")
        return p.returncode, out, err

    def start(self, command, stdin=None, stdout=None, stderr=None, user=None, **env):
        """A traced command; the world ends it if the case does not."""
        log = None
        if stdout is None:
            log = open(self.path(f"log-{len(self.started)}"), "wb")
        p = subprocess.Popen(command, env=self.environment(**env), cwd=self.work,
                             stdin=open(stdin, "rb") if stdin else subprocess.DEVNULL,
                             stdout=stdout or log, stderr=stderr or log, start_new_session=True, **become(user))
        self.started.append(p)
        return p

    def adopt(self, pid):
        """A process that something we started has left behind."""
        p = Orphan(pid)
        self.started.append(p)
        return p

    def ask(self, command, check=True, seconds=120, user=None):
        """A command that is not traced: clients and load."""
        p = subprocess.run(command, env={"PATH": PATH, "LC_ALL": "C", "HOME": self.work}, cwd=self.work, timeout=seconds,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **become(user))
        if check and p.returncode != 0:
            raise Failed(f"{command[0]}: status {p.returncode}: {(p.stderr or p.stdout)[-300:]!r}")
        return p.stdout

    def background(self, command):
        """A client that is not traced and goes on by itself."""
        return subprocess.Popen(command, env={"PATH": PATH, "LC_ALL": "C", "HOME": self.work}, cwd=self.work,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def finish(self, p, seconds=60):
        """Waits for a command that ends by itself; its status."""
        with self._counting_cpu():
            try:
                return p.wait(seconds)
            except subprocess.TimeoutExpired:
                raise Failed(f"{p.args[0]}: not at its end after {seconds} s") from None

    def stop(self, p, number=signal.SIGTERM, seconds=60):
        """Ends a server and returns its status."""
        if p.poll() is None:
            try:
                with self._counting_cpu():
                    p.send_signal(number)
                    p.wait(seconds)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
                raise Failed(f"{p.args[0]}: does not end on signal {number}") from None
        return p.returncode

    # ---- measuring -----------------------------------------------------------

    def _running(self):
        return {pid for p in self.started if p.poll() is None for pid in children_of(p.pid)}

    def _watch(self):
        while self._watching:
            total = 0
            for pid in self._running():
                with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup") as f:
                    total += sum(int(line.split()[1]) for line in f if line.startswith("Pss:"))
            self.peak_kib = max(self.peak_kib, total)
            time.sleep(0.1)

    @contextlib.contextmanager
    def _counting_cpu(self):
        """CPU of the trees that end meanwhile; nothing else may end."""
        before = cpu_of_children()
        yield
        self.cpu += cpu_of_children() - before

    def tree_cpu(self):
        """CPU so far of all that runs and of what it has waited for."""
        ticks = 0
        for pid in self._running():
            with contextlib.suppress(OSError, IndexError), open(f"/proc/{pid}/stat") as f:
                ticks += sum(int(x) for x in f.read().rsplit(")", 1)[1].split()[11:15])
        return ticks / os.sysconf("SC_CLK_TCK")

    # ---- what the trace says -------------------------------------------------

    def report(self):
        p = subprocess.run([SEEP, "report", self.trace, "--format", "json", "--frames", "shared", "--no-symbols"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            return json.loads(p.stdout)
        except ValueError:
            raise Failed(f"seep report: {p.stderr[-300:]!r}") from None

    def _wait_for_stragglers(self):
        """Helpers of a server may end after it: their last events are missing until then."""
        for _ in range(200):
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            if len(children_of(os.getpid())) == 1:
                return
            time.sleep(0.02)

    def totals(self):
        """Events, lost, live, of all processes; raises where they cannot be."""
        self._wait_for_stragglers()
        report = self.report()
        processes = report["processes"]
        n = {"processes": len(processes), "lost": 0}
        for key in ("allocations", "frees", "live_blocks", "unknown_frees", "missed_frees"):
            n[key] = sum(q["totals"][key] for q in processes)
        for q in processes:
            n["lost"] += sum(q["lost"].get(k, 0) for k in ("events", "early_events", "crowded_events"))
            t = q["totals"]
            if q["mode"] == "exact" and t["allocations"] - t["frees"] != t["live_blocks"]:
                raise Failed(f"pid {q['pid']}: allocations - frees is not live")
        if self.mode == "counted":
            replaced = report.get("early_exec", {}).get("allocations", 0)
            n["counted"], n["brief"] = self._held_against_the_count(processes, replaced)
        return n

    def _counted(self):
        """pid -> allocations that must be in the trace; those that may: of brief children, and of users who may not write there."""
        must, may, foreigners = {}, {}, 0
        owner = os.stat(self.trace).st_uid
        for name in os.listdir(self.counts):
            with open(os.path.join(self.counts, name), "rb") as f:
                foreign, data = os.fstat(f.fileno()).st_uid != owner, f.read()
            image = struct.unpack_from("Q", data)[0]
            for pid, allocations, frees in struct.iter_unpack("QQQ", data[8:]):
                if pid:
                    where = may if foreign or (pid != image and allocations + frees <= BRIEF) else must
                    where[pid] = where.get(pid, 0) + allocations
                    foreigners += allocations if foreign else 0
        return must, may, foreigners

    def _held_against_the_count(self, processes, replaced):
        """`replaced`: allocations of children that called exec in their first events."""
        must, may, foreigners = self._counted()
        seen = {}
        for q in processes:
            known = q["totals"]["allocations"] + sum(q["lost"].get(k, 0) for k in ("events", "early_events", "crowded_events"))
            seen[q["pid"]] = seen.get(q["pid"], 0) + known
        wrong = [(pid, must.get(pid, 0), seen.get(pid, 0)) for pid in set(must) | set(seen)
                 if not must.get(pid, 0) <= seen.get(pid, 0) <= must.get(pid, 0) + may.get(pid, 0)]
        if wrong:
            raise Failed("recorded + lost is not the count: " + ", ".join(f"pid {pid}: {c:,} counted, {s:,} recorded or lost" for pid, c, s in wrong[:5]))
        counted = sum(must.values()) + sum(may.values())
        missing = counted - sum(seen.values()) - replaced
        if not 0 <= missing <= foreigners:
            raise Failed(f"{missing:,} allocations of forked children are nowhere, {foreigners:,} are of other users")
        return counted, missing

    def end(self):
        """Nothing of this run stays."""
        self._watching = False
        self._watcher.join()
        for p in self.started:
            if p.poll() is None:
                p.kill()
                p.wait()
        end_all_below()
        for top in (self.trace, self.counts, self.work):
            shutil.rmtree(top, ignore_errors=True)
