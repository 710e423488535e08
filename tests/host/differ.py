# differ.py - holds a traced run against the bare one.
# SPDX-License-Identifier: Apache-2.0
import collections
import difflib
import re

# of lib/ledger.h: other in every run, or about the run itself
OWN_LINE = re.compile(rb"^(PID |# |INHERITED )")
LEDGER_LINE = re.compile(rb"^(PID |# |SITE |PEAK |INHERITED )")
VOLATILE = re.compile(r"(pipe|socket|anon_inode|memfd|/proc/\d+|/dev/pts/\d+)"
                      r".*$")


def lines_of(case, output):
    own = LEDGER_LINE if "ledger" in case.ignore else OWN_LINE
    return [line for line in output.splitlines() if not own.match(line)]


def text_problems(case, name, bare, traced):
    a, b = lines_of(case, bare), lines_of(case, traced)
    if a == b:
        return []
    said = difflib.unified_diff(
        [x.decode(errors="replace") for x in a],
        [x.decode(errors="replace") for x in b], "bare", "traced",
        n=0, lineterm="")
    return ["%s differs:" % name] + list(said)[:20]


def file_problems(bare, traced):
    problems = []
    for name in sorted(set(bare.files) | set(traced.files)):
        was, now = bare.files.get(name), traced.files.get(name)
        if was != now:
            problems.append("file %s: bare %s, traced %s" % (name, was, now))
    return problems


def descriptor(line):
    number, flags, target = (line.split(" ", 2) + [""])[:3]
    return "%s %s %s" % (number, flags, VOLATILE.sub(r"\1", target))


def is_signal_line(line):
    return line.startswith(("status Sig", "status Shd"))


def key_of(case, process):
    """All that must be equal, as lines of text."""
    key = ["exe %s" % process["exe"], "end %s" % process.get("end")]
    if "threads" not in case.ignore:
        key.append("threads started %d" % process.get("threads", -1))
    if "children" not in case.ignore:
        key.append("children started %d" % process.get("children", -1))
    if not process["other"]:
        return tuple(key)  # gone before it could be looked at
    if "fds" not in case.ignore:
        key += ["descriptor " + descriptor(x) for x in process["fds"]]
    for line in process["other"]:
        group = "signals" if is_signal_line(line) else "other"
        if group not in case.ignore:
            key.append(line)
    return tuple(key)


def was_seen(process):
    return bool(process["other"])


def blind(processes):
    """What ended too fast in one of the runs is compared by its end only."""
    return [dict(p, other=[], fds=[]) for p in processes]


def tell_processes(only_bare, only_traced):
    problems = []
    while only_bare or only_traced:
        a = only_bare.pop(0) if only_bare else ()
        b = only_traced.pop(0) if only_traced else ()
        who = (a or b)[0]
        if not a or not b:
            problems.append("process %s (%s): only %s" % (
                who, (a or b)[1], "bare" if a else "traced"))
            continue
        problems.append("process %s:" % who)
        problems += list(difflib.unified_diff(
            a, b, "bare", "traced", n=0, lineterm=""))[:12]
    return problems


def process_problems(case, bare, traced):
    if bare.processes is None or traced.processes is None:
        return []
    a, b = bare.processes, traced.processes
    if "children" in case.ignore:
        a, b = a[-1:], b[-1:]  # the first ends last, as a rule
    if sum(map(was_seen, a)) != sum(map(was_seen, b)):
        a, b = blind(a), blind(b)
    left = collections.Counter(key_of(case, p) for p in a)
    right = collections.Counter(key_of(case, p) for p in b)
    return tell_processes(sorted((left - right).elements()),
                          sorted((right - left).elements()))


def compare_runs(case, bare, traced):
    """A list of differences, in words; empty: none."""
    if traced.timed_out:
        return ["did not end within %g s" % case.seconds]
    problems = []
    if "status" not in case.ignore and bare.status != traced.status:
        problems.append("exit status: bare %d, traced %d" % (
            bare.status, traced.status))
    if "stdout" not in case.ignore:
        problems += text_problems(case, "stdout", bare.stdout, traced.stdout)
    if "stderr" not in case.ignore:
        problems += text_problems(case, "stderr", bare.stderr, traced.stderr)
    if "files" not in case.ignore:
        problems += file_problems(bare, traced)
    return problems + process_problems(case, bare, traced)
