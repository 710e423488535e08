# header.py - what a case says about itself in its first lines.
# SPDX-License-Identifier: Apache-2.0
"""
A case is one file: a program in C, C++, shell or Python. Its first line says
what must hold. Among its first 30 lines, `key: value` in a comment of its own:

  torture: T01 T02     its numbers in torture.list
  args: A B            arguments of the program
  modes: exact record  default: all four; the long form adds mappings, log, last
  also: mappings       one more, in the short form too
  without: log: WHY    not in this mode of the long form
  needs: root          else SKIP; also user, cpu:X, userns, mountns, ptrace;
                       a program or library comes from tools/deps.sh
  as: user             root becomes nobody for the program itself
  ledger: no           or options of lib/compare.py; default: as printed
  status: 3            what the bare run must end with; default 0
  ignore: fds threads  not compared: stdout stderr files status fds threads
                       children signals other, ledger (figures that depend on
                       time: held against the trace, not against the bare run)
  allow: unknown_frees figures of the trace that need not be 0
  counted: namespaces  of `lost` and `counts`: must not be 0 in modes exact, record
  cut: FUNCTION        its stacks must be marked as cut, in the same modes
  witness: no          not under ptrace (it would disturb: say why)
  trace: no            no segment is expected
  seconds: 60          time limit of one run
  env: A=B             more environment, in all runs; $HOSTS is build/hosts;
                       SEEP_LOG_POOL replaces that of the modes log and last
  preload: X.so        preloaded in the bare run too; ours comes before,
  preload-first: X.so  or behind it. A name: of build/hosts, or of the system
  companion: X.so      of build: preloaded behind ours, in no bare run; seep
                       record finds it by itself
  stdin: TEXT          one line on its standard input
"""

import os
import re
import shlex
import subprocess

HERE = os.path.dirname(os.path.realpath(__file__))
REPO = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(REPO, os.environ.get("SEEP_BUILD", "build"))
HOSTS = os.path.join(BUILD, "hosts")
if not os.path.isdir(HOSTS):
    HOSTS = os.path.join(REPO, "build", "hosts")  # never sanitized
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else "python3"

KEYS = {"torture", "args", "modes", "also", "without", "needs", "as", "ledger", "status",
        "ignore", "allow", "counted", "cut", "witness", "trace", "seconds", "env", "preload",
        "preload-first", "companion", "stdin", "flags", "cc"}
IGNORABLE = {"stdout", "stderr", "files", "status", "fds", "threads",
             "children", "signals", "other", "ledger"}
DEFAULT_MODES = ["exact", "record", "sampled", "dormant"]
COMMENT = re.compile(r"^\s*(?:/\*|\*|//|#)+\s*([a-z-]+):\s*(.*?)\s*(?:\*/)?$")


class CaseError(Exception):
    pass


def read_header(path):
    said = {}
    with open(path, encoding="utf-8", errors="replace") as text:
        for number, line in enumerate(text):
            found = COMMENT.match(line)
            if number >= 30:
                break
            if not found or found.group(1) not in KEYS:
                continue
            key, value = found.groups()
            said[key] = (said[key] + " " + value) if key in said else value
    return said


def library(name):
    """A library of build/hosts, or one that the loader would find."""
    own = os.path.join(HOSTS, name)
    if os.path.exists(own):
        return own
    listing = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True,
                             text=True, check=False).stdout
    for line in listing.splitlines():
        words = line.split()
        if words and words[0].startswith(name) and "x86-64" in line:
            return words[-1]
    return None


def lacks(need):
    """None if this machine has it, else why not."""
    kind, _, name = need.partition(":")
    if kind == "root":
        return None if os.geteuid() == 0 else "needs root"
    if kind == "user":
        return None if os.geteuid() != 0 else "not as root"
    if kind == "cpu":
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as f:
            return None if re.search(r"^flags.* %s\b" % re.escape(name),
                                     f.read(), re.M) else (
                "the CPU or kernel has no %s" % name)
    tries = {"userns": ["unshare", "-Ur", "true"],
             "mountns": ["unshare", "-m", "true"],
             "ptrace": [os.path.join(HOSTS, "witness"), "true"]}
    if kind in tries:
        done = subprocess.run(tries[kind], capture_output=True, check=False)
        return None if done.returncode == 0 else "no %s here" % kind
    raise CaseError("needs: %s?" % need)


class Case:
    def __init__(self, name, title, command, said):
        self.name, self.title, self.command, self.said = (
            name, title, command, said)
        self.modes = said.get("modes", " ".join(DEFAULT_MODES)).split()
        self.modes += said.get("also", "").split()
        if os.environ.get("SEEP_FULL"):
            without = set(re.split(r"[\s,:]+", said.get("without", "")))
            self.modes += [m for m in ("mappings", "log", "last") if m not in self.modes and m not in without]
        # words that are no key are the reason, for who reads the case
        self.ignore = set(re.split(r"[\s,]+", said.get("ignore", "")))
        self.ignore &= IGNORABLE
        self.allow = set(said.get("allow", "").split())
        self.counted = said.get("counted", "").split()
        self.cut = said.get("cut", "").split()
        self.status = int(said.get("status", "0"))
        self.seconds = float(said.get("seconds", "60"))
        self.witness = not said.get("witness", "").startswith("no")
        self.traced = not said.get("trace", "").startswith("no")
        self.ledger = said.get("ledger", "")
        self.env = dict(
            word.replace("$HOSTS", HOSTS).split("=", 1)
            for word in shlex.split(said.get("env", "")))
        self.stdin = (said["stdin"] + "\n").encode() if "stdin" in said else b""
        self.preload = self.libraries("preload")
        self.preload_first = self.libraries("preload-first")
        self.as_user = said.get("as") == "user" and os.geteuid() == 0
        self.companions = [os.path.join(BUILD, name) for name in said.get("companion", "").split()]
        self.starter = []  # words in front of what is preloaded

    def libraries(self, key):
        names = self.said.get(key, "").split()
        return [library(name) or name for name in names]

    @classmethod
    def of_command(cls, words):
        if not words:
            raise CaseError("no command")
        name = os.path.basename(words[0])
        if "/" in words[0]:
            words = [os.path.abspath(words[0])] + list(words[1:])
        return cls(name, " ".join(words), list(words), {
            "ignore": "files", "status": "-1"})

    @classmethod
    def of_file(cls, path):
        said = read_header(path)
        name, kind = os.path.splitext(os.path.basename(path))
        command = {
            ".sh": ["/bin/bash", os.path.realpath(path)],
            ".py": [PYTHON, "-B", os.path.realpath(path)],
        }.get(kind, [os.path.join(HOSTS, name)])
        if kind not in (".sh", ".py") and not os.path.exists(command[0]):
            raise CaseError("%s is not built: make check-host" % command[0])
        title = " ".join([said.get("torture", ""), name]).strip()
        return cls(name, title,
                   command + shlex.split(said.get("args", "")), said)

    def reason_to_skip(self):
        for need in self.said.get("needs", "").split():
            why = lacks(need)
            if why:
                return why
        for key in ("preload", "preload-first"):
            for name in self.said.get(key, "").split():
                if not library(name):
                    raise CaseError("no %s here: make deps-check installs what "
                                    "the tests need" % name)
        if self.as_user and subprocess.run(
                ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                 "test", "-x", os.path.join(BUILD, "seep")],
                check=False).returncode != 0:
            return "nobody cannot come here"
        return None

    def check_bare(self, run):
        if run.timed_out:
            return ["the bare run did not end within %g s" % self.seconds]
        if self.status >= 0 and run.status != self.status:
            return ["the bare run ended with %d, expected %d" % (
                run.status, self.status), run.stderr[-2000:].decode(
                    errors="replace"), run.stdout[-500:].decode(
                    errors="replace")]
        return []
