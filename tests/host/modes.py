# modes.py - one run of a case: bare, preloaded, recorded.
# SPDX-License-Identifier: Apache-2.0
import hashlib
import os
import shutil
import signal
import stat
import subprocess
import tempfile

from header import BUILD, HOSTS, REPO, CaseError

MODES = ["bare", "exact", "sampled", "dormant", "record", "mappings", "log", "last", "heaptrack"]
# as exact, with more
EXACT = {"exact": {}, "mappings": {"SEEP_MAPPINGS": "1"}, "log": {"SEEP_LOG": "1", "SEEP_LOG_POOL": "4MiB"},
         "last": {"SEEP_LOG": "last:64,frees", "SEEP_LOG_POOL": "4MiB"}}
SEEP = os.path.join(BUILD, "seep")
COLLECTOR = os.path.join(BUILD, "libseep.so")
MAPPINGS = os.path.join(BUILD, "libseep-map.so")
WITNESS = os.path.join(HOSTS, "witness")
NOBODY = 65534


class Run:
    """What could be seen of one run, and where its trace is."""

    def __init__(self, mode):
        self.mode, self.timed_out, self.status = mode, False, None
        self.stdout = self.stderr = b""
        self.files, self.processes = {}, None
        self.segments = self.recording = None

    def release(self):
        if self.segments:
            shutil.rmtree(self.segments, ignore_errors=True)


def describe(path):
    """Type, mode and contents of a file, without following links."""
    st = os.lstat(path)
    what = [stat.filemode(st.st_mode)]
    if stat.S_ISLNK(st.st_mode):
        what.append(os.readlink(path))
    elif stat.S_ISREG(st.st_mode):
        what.append(str(st.st_size))
        if st.st_size <= 64 << 20 and os.access(path, os.R_OK):
            with open(path, "rb") as content:
                what.append(hashlib.sha256(content.read()).hexdigest())
    return " ".join(what)


def describe_tree(top):
    found = {}
    for folder, dirs, files in os.walk(top):
        for name in dirs + files:
            path = os.path.join(folder, name)
            found[os.path.relpath(path, top)] = describe(path)
    return found


def read_witness(path):
    """The blocks of tests/host/witness.c; see there."""
    processes, block = [], None
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            key, _, rest = line.rstrip("\n").partition(" ")
            if key == "P":
                block = {"exe": os.path.basename(rest), "fds": [], "other": []}
            elif key == "." and block:
                processes.append(block)
                block = None
            elif key == "S":
                block["end"] = rest
            elif key == "T":
                block["threads"] = int(rest)
            elif key == "C":
                block["children"] = int(rest)
            elif key == "F":
                block["fds"].append(rest)
            elif key == "X":
                block["other"].append(rest)
    return processes


def witness_works():
    if not hasattr(witness_works, "answer"):
        done = subprocess.run([WITNESS, "true"], capture_output=True,
                              check=False) if os.path.exists(WITNESS) else None
        witness_works.answer = bool(done) and done.returncode == 0
    return witness_works.answer


def environment(case, mode, run, work):
    """The same words in every run, but for our own entries."""
    cwd = os.path.join(work, "cwd")
    # what the command keeps for itself is not in the host's directory
    env = {"XDG_CACHE_HOME": os.path.join(work, "out", "cache"), "PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": cwd,
           "TMPDIR": cwd, "LANG": "C.UTF-8", "HOSTS": HOSTS, "REPO": REPO,
           "CC": os.environ.get("CC", "cc"), "SEEP_DIR": run.segments}
    if os.environ.get("SEEP_FULL"):
        env["SEEP_FULL"] = os.environ["SEEP_FULL"]
    env.update(case.env)
    if mode == "sampled":
        env["SEEP_SAMPLE"] = "4096"
    if mode == "dormant":
        env["SEEP_MODE"] = "dormant"
    for key, value in EXACT.get(mode, {}).items():
        if key != "SEEP_LOG_POOL" or key not in case.env:
            env[key] = value
    if mode == "heaptrack":
        env["DUMP_HEAPTRACK_OUTPUT"] = os.path.join(work, "out", "heaptrack.$$")
    return env


def heaptrack_library():
    """What its script preloads; it writes to a file, as that one to a pipe."""
    script = shutil.which("heaptrack")
    path = script and os.path.join(
        os.path.dirname(os.path.dirname(os.path.realpath(script))),
        "lib", "heaptrack", "libheaptrack_preload.so")
    if not path or not os.path.exists(path):
        raise CaseError("no heaptrack here")
    return path


def command_of(case, mode, run, work, seen):
    """[witness] [setpriv] [env LD_PRELOAD=...] [seep record] program"""
    words = list(case.command)
    ours = [COLLECTOR] + case.companions if mode in ("sampled", "dormant", *EXACT) else []
    if mode == "mappings":
        ours.append(MAPPINGS)
    if mode == "heaptrack":
        ours = [heaptrack_library()]
    preload = case.preload_first + ours + case.preload
    witness = [WITNESS, "-r", seen]
    if mode == "record":
        run.recording = os.path.join(work, "out", "recording.seep")
        words = [SEEP, "record", "-q", "--force", "-o", run.recording,
                 "--"] + words
        witness += ["-t", SEEP]
    if preload:
        words = ["/usr/bin/env", "LD_PRELOAD=" + " ".join(preload)] + words
    if case.as_user:
        words = ["setpriv", "--reuid=%d" % NOBODY, "--regid=%d" % NOBODY,
                 "--clear-groups"] + words
    words = case.starter + words
    if case.witness and witness_works():
        words = witness + words
    return words


def end_session(child):
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()


def wait_for(child, run, seconds):
    try:
        run.status = child.wait(seconds)
    except subprocess.TimeoutExpired:
        run.timed_out = True
        end_session(child)
        run.status = child.returncode
    if run.status < 0:
        run.status = 128 - run.status


def run_mode(case, mode, work, shm):
    """One run in a directory that has the same name every time."""
    run = Run(mode)
    cwd, seen = os.path.join(work, "cwd"), os.path.join(work, "seen")
    shutil.rmtree(cwd, ignore_errors=True)
    os.mkdir(cwd, 0o755)
    run.segments = tempfile.mkdtemp(dir=shm)
    os.makedirs(os.path.join(work, "out"), exist_ok=True)
    if case.as_user:
        for path in (cwd, run.segments, os.path.join(work, "out")):
            os.chown(path, NOBODY, NOBODY)
    if os.path.exists(seen):
        os.unlink(seen)
    words = command_of(case, mode, run, work, seen)
    env = environment(case, mode, run, work)
    paths = [os.path.join(work, name) for name in ("stdin", "stdout", "stderr")]
    with open(paths[0], "wb") as text:
        text.write(case.stdin)
    with open(paths[0], "rb") as stdin, open(paths[1], "wb") as out, \
            open(paths[2], "wb") as err:
        # in a session of its own, so that all of it can be ended
        child = subprocess.Popen(words, cwd=cwd, env=env, stdin=stdin,
                                 stdout=out, stderr=err,
                                 start_new_session=True)
        wait_for(child, run, case.seconds)
    with open(paths[1], "rb") as out, open(paths[2], "rb") as err:
        run.stdout, run.stderr = out.read(), err.read()
    run.files = describe_tree(cwd)
    if os.path.exists(seen):
        run.processes = read_witness(seen)
    if mode in ("bare", "heaptrack"):
        run.release()
    return run
