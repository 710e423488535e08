# world.py - one run of a real program, bare or traced: starts, measures, ends.
# SPDX-License-Identifier: Apache-2.0
"""A case gets a World and does the same things in it, whatever the mode is."""
import ctypes
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("SEEP_BUILD", os.path.join(ROOT, "build"))
SEEP = os.path.join(BUILD, "seep")
LIBRARY = os.path.join(BUILD, "libseep.so")
COUNTER = os.path.join(BUILD, "real", "count.so")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/games"


class Skip(Exception):
    """The case cannot run here; the text says why."""


class Failed(Exception):
    """The program did not do what it should, whoever is to blame."""


def find(command):
    path = shutil.which(command, path=PATH)
    if not path:
        raise Skip(f"no {command} here")
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


def children_of(pid):
    """The process and all its descendants, as /proc has them now."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as f:
                    parents[int(name)] = int(f.read().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                pass
    found, queue = [], [pid]
    while queue:
        at = queue.pop()
        found.append(at)
        queue += [p for p, parent in parents.items() if parent == at]
    return found


class Orphan:
    """A server whose starter has ended; ours by PR_SET_CHILD_SUBREAPER."""

    def __init__(self, pid):
        self.pid, self.args, self.returncode = pid, [f"process {pid}"], None

    def poll(self):
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
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


class World:
    """mode: bare, exact, sampled, dormant, or counted (by an own, other library)."""

    def __init__(self, mode, allocator=None):
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
        self.mode = mode
        self.work = tempfile.mkdtemp(prefix="seep-real-")
        os.chmod(self.work, 0o755)
        self.trace = tempfile.mkdtemp(prefix="seep-real-", dir="/dev/shm")
        self.preloads = [p for p in (self._library(), allocator) if p]
        self.started = []
        self.peak_kib = 0
        self.cpu = 0.0
        self.latency_ms = None
        self._watching = True
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def _library(self):
        if self.mode == "bare":
            return None
        return COUNTER if self.mode == "counted" else LIBRARY

    def environment(self, **more):
        env = {"PATH": PATH, "HOME": self.work, "LC_ALL": "C", "TZ": "UTC", "USER": "nobody", "TMPDIR": self.work}
        if self.preloads:
            env["LD_PRELOAD"] = ":".join(self.preloads)
            env["SEEP_DIR" if self.mode != "counted" else "COUNT_DIR"] = self.trace
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

    def give(self, user):
        """Makes the directories that user's, for servers that refuse root."""
        if os.geteuid() != 0:
            return []
        entry = pwd.getpwnam(user)
        for top in (self.work, self.trace):
            for where, _, files in os.walk(top):
                for name in [where] + [os.path.join(where, f) for f in files]:
                    os.chown(name, entry.pw_uid, entry.pw_gid)
        return [find("setpriv"), f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups"]

    # ---- running -----------------------------------------------------------

    def run(self, command, stdin=None, check=True, seconds=300, **env):
        """A traced command to its end: (status, stdout, stderr)."""
        p = self.start(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **env)
        timer = threading.Timer(seconds, p.kill)
        timer.start()
        out, err = p.communicate()
        timer.cancel()
        if check and p.returncode != 0:
            raise Failed(f"{command[0]}: status {p.returncode}: {err[-300:]!r}")
        return p.returncode, out, err

    def start(self, command, stdin=None, stdout=None, stderr=None, **env):
        """A traced command; the world ends it if the case does not."""
        log = None
        if stdout is None:
            log = open(self.path(f"log-{len(self.started)}"), "wb")
        p = subprocess.Popen(command, env=self.environment(**env), cwd=self.work,
                             stdin=open(stdin, "rb") if stdin else subprocess.DEVNULL,
                             stdout=stdout or log, stderr=stderr or log, start_new_session=True)
        self.started.append(p)
        return p

    def adopt(self, pid):
        """A process that something we started has left behind."""
        p = Orphan(pid)
        self.started.append(p)
        return p

    def ask(self, command, check=True, seconds=120, stdin=None):
        """A command that is not traced: clients and load."""
        p = subprocess.run(command, env={"PATH": PATH, "LC_ALL": "C", "HOME": self.work}, cwd=self.work, timeout=seconds,
                           input=stdin, stdin=None if stdin is not None else subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if check and p.returncode != 0:
            raise Failed(f"{command[0]}: status {p.returncode}: {(p.stderr or p.stdout)[-300:]!r}")
        return p.stdout

    def stop(self, p, number=signal.SIGTERM, seconds=60):
        """Ends a server and returns its status."""
        if p.poll() is None:
            self._count(p.pid)
            p.send_signal(number)
            try:
                p.wait(seconds)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
                raise Failed(f"{p.args[0]}: does not end on signal {number}") from None
        return p.returncode

    # ---- measuring -----------------------------------------------------------

    def _watch(self):
        while self._watching:
            total = 0
            for p in self.started:
                if p.poll() is not None:
                    continue
                for pid in children_of(p.pid):
                    try:
                        with open(f"/proc/{pid}/smaps_rollup") as f:
                            total += sum(int(line.split()[1]) for line in f if line.startswith("Pss:"))
                    except (OSError, ProcessLookupError):
                        pass
            self.peak_kib = max(self.peak_kib, total)
            time.sleep(0.1)

    def _count(self, pid):
        """CPU of a tree of servers, before it ends."""
        tick = os.sysconf("SC_CLK_TCK")
        for child in children_of(pid):
            try:
                with open(f"/proc/{child}/stat") as f:
                    fields = f.read().rsplit(")", 1)[1].split()
                self.cpu += sum(int(x) for x in fields[11:15]) / tick
            except OSError:
                pass

    def totals(self):
        """What the trace says: events, lost, live, processes."""
        if self.mode == "counted":
            n = {"allocations": 0, "frees": 0}
            for name in os.listdir(self.trace):
                with open(os.path.join(self.trace, name)) as f:
                    for key, value in zip(n, f.read().split()):
                        n[key] += int(value)
            return n
        p = subprocess.run([SEEP, "report", self.trace, "--format", "json", "--no-symbols"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            processes = json.loads(p.stdout)["processes"]
        except ValueError:
            raise Failed(f"seep report: {p.stderr[-300:]!r}") from None
        n = {"processes": len(processes), "lost": 0}
        for key in ("allocations", "frees", "live_blocks", "unknown_frees", "missed_frees"):
            n[key] = sum(q["totals"][key] for q in processes)
        for q in processes:
            n["lost"] += q["lost"].get("events", 0) or 0
            t = q["totals"]
            if q["mode"] == "exact" and t["allocations"] - t["frees"] != t["live_blocks"]:
                raise Failed(f"pid {q['pid']}: allocations - frees is not live")
        return n

    def end(self):
        self._watching = False
        self._watcher.join()
        for p in self.started:
            if p.poll() is None:
                try:
                    os.killpg(p.pid, signal.SIGKILL)
                except OSError:
                    p.kill()
                p.wait()
        shutil.rmtree(self.trace, ignore_errors=True)
        shutil.rmtree(self.work, ignore_errors=True)
