# sweep.py - every command with every mistake one can make on its line.
# SPDX-License-Identifier: Apache-2.0
#
# usage: sweep.py SEEP RECORDING SCRATCH PART
# PART: options, operands, flags, output. The options come from --help, so a
# new one is swept without a word here. A mistake must be one line on stderr,
# "seep: ...", nothing on stdout, status 2 (or 3: not readable or writable;
# record: 125), in a few seconds, and never a signal.
import os
import re
import subprocess
import sys

seep, recording, scratch, part = sys.argv[1:5]
logged = f"{scratch}/logged.seep"
bad = 0
runs = 0

GOOD = {  # what each command needs to have something to say
    "report": [recording],
    "view": [recording, "--no-open"],
    "diff": [recording, recording],
    "check": [recording],
    "export": [recording, "--format", "json"],
    "ls": [],
    "doctor": [],
    "help": [],
    "completions": ["bash"],
    "snapshot": ["4194305"],
    "leaks": ["4194305"],
    "dump": [logged],
    "who": ["0x10", "4194305"],  # and see sweep_output()
    "replay": [logged, "--runs", "1", "--allocator", "glibc"],
    "on": ["4194305"],
    "off": ["4194305"],
    "record": ["true"],
    "top": ["4194305"],
    "service": ["enable", "no-such-unit", "--root", "/proc/self/none"],
    "serve": ["4194305"],
    "push": ["http://127.0.0.1:1", "4194305"],
    "watch": ["4194305", "--once", "--history", "/proc/self/none"],
}

# by the argument's name in the help: values that are none
NUMBERS = ["", "x", "-1", "1e3", "99999999999999999999", "0x10", " 1", "1 ", "१"]
WRONG = {
    "N": NUMBERS,
    "PCT": ["", "x", "-1", "101", "nan", "inf", "1e1", "%", "50%%"],
    "SIZE": ["", "x", "-1", "1Q", "1e9", "nan", "9999999T", "1.2.3k", "k"],
    "BYTES": ["", "x", "-1", "1Q", "nan", "9999999T", "k"],
    "TIME": ["", "x", "-1", "10", "1y", "nans", "999999999999h"],
    "SECONDS": ["", "x", "-1", "1y", "nans", "1.2.3", "999999999999h"],
    "RE": ["(", "[", "a{2,1}", "*("],
    "FILE": [""],
    "DIR": [""],
}


def run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, seconds=20, **more):
    global runs
    runs += 1
    try:
        p = subprocess.run(
            [seep] + words, stdin=stdin, stdout=stdout, cwd=scratch,
            stderr=subprocess.PIPE, timeout=seconds, check=False, **more)
    except subprocess.TimeoutExpired:
        return None, b"", b""
    return p.returncode, p.stdout or b"", p.stderr


def complain(words, why, status, err):
    global bad
    bad += 1
    print(f"seep {' '.join(map(repr, words))}: {why}")
    print(f"   status {status}, stderr: {err[:300]!r}")


def mistake(words, codes, **more):
    """It is told in one line."""
    status, out, err = run(words, **more)
    if status not in codes:
        complain(words, f"expected status {codes}", status, err)
    elif err.count(b"\n") != 1 or not err.startswith(b"seep: ") or len(err) < 12:
        complain(words, "expected one line", status, err)
    elif out:
        complain(words, "stdout is not empty", status, err)
    elif any(c < 32 and c != 10 for c in err):
        complain(words, "control bytes", status, err)
    return err


def survives(words, **more):
    status, _, err = run(words, **more)
    if status is None or status < 0 or status > 128:
        complain(words, "hangs or crashes", status, err)


def commands():
    text = run(["help"])[1].decode()
    return [m.group(1) for m in re.finditer(r"^  ([a-z]+) +\S", text, re.M)]


def options(command):
    text = run([command, "--help"])[1].decode()
    for m in re.finditer(r"^  (?:-(\w), |    )--([a-z-]+)(?: (\S+))?", text, re.M):
        yield m.group(1), m.group(2), m.group(3)


def refusals(command):
    """Statuses of what cannot be read or written."""
    return (125,) if command == "record" else (3,)


def sweep_options(command):
    good = GOOD.get(command, [])
    for words in (["--frobnicate"], ["--"[:1] + "Z"], ["---"], ["--="], ["--=x"],
                  ["-\x1b[31m"], ["--\xff"], ["--help-me"], ["--" + "x" * 5000]):
        mistake([command] + words + good, (2,))
    for letter, name, arg in options(command):
        if name == "help":
            continue
        typo = name[:-2] + name[-1] + name[-2]
        if len(name) > 4 and typo != name:
            err = mistake([command, "--" + typo] + good, (2,))
            if b"did you mean --" not in err:
                complain([command, "--" + typo], "no suggestion", 2, err)
        if not arg:
            mistake([command, f"--{name}=x"] + good, (2,))
            mistake([command, f"--{name}="] + good, (2,))
            continue
        if not arg.startswith("["):
            mistake([command] + good[:1] * (command != "record") + [f"--{name}"], (2,))
            if letter:
                mistake([command, f"-{letter}"], (2,))
        wrong = ["", "x", arg, " "] if "|" in arg else WRONG.get(arg, [])
        for value in wrong:
            mistake([command, f"--{name}={value}"] + good, (2,))
            mistake([command, f"--{name}", value] + good, (2,))


def sweep_operands(command):
    os.makedirs(f"{scratch}/empty", exist_ok=True)
    if not os.path.exists(f"{scratch}/fifo"):
        os.mkfifo(f"{scratch}/fifo")
    with open(f"{scratch}/text", "w", encoding="ascii") as f:
        f.write("hello\n" * 1000)
    with open(f"{scratch}/magic", "wb") as f:
        f.write(open(recording, "rb").read(8) + b"\xff" * 4000)
    odd = ["", " ", "no/such", "empty", "fifo", "text", "magic", "/dev/null", "/dev/zero",
           "/dev/full", "/", "/proc/self/mem", "0", "99999999999999999999", "-1",
           "4194305", "\x1b[31m", "x" * 5000, "./1"]
    for word in odd:
        if command in ("report", "view", "check", "export", "dump", "replay", "ls", "snapshot", "on", "off", "help", "completions"):
            more = ["--format", "json"] if command == "export" else []
            mistake([command, word] + more, (2, 3))
        elif command == "service":
            mistake([command, "status", word], (2, 3))
            mistake([command, word, "no-such-unit"], (2,))
        elif command == "diff":
            mistake([command, word, recording], (2, 3))
            mistake([command, recording, word], (2, 3))
        elif command == "record":
            if word not in ("x" * 5000,):
                mistake([command, "-q", "--", word], (126, 127, 2))
        elif command == "doctor":
            mistake([command, "--", word], (2, 3))
    if command in ("snapshot", "on", "off", "diff", "completions", "record", "service"):
        mistake([command], (2,))
    if command in ("snapshot", "on", "off", "ls", "doctor", "help", "diff", "completions", "export"):
        mistake([command] + (GOOD[command] + ["a", "b", "c"])[:4], (2,))


def sweep_flags(command):
    """Each alone and with each other: whatever they mean together, no crash."""
    if command in ("snapshot", "on", "off", "help", "completions", "record"):
        return
    flags = [f"--{name}" for _, name, arg in options(command)
             if not arg and name not in ("help", "debuginfod", "prune")]
    names = ["--no-symbols"] if "--no-symbols" in flags else []
    for i, one in enumerate(flags):
        survives([command, one] + names + GOOD[command])
        for other in flags[i + 1:: 3]:
            survives([command, one, other] + names + GOOD[command])
    for _, name, arg in options(command):
        if arg and "|" in arg:
            for word in arg.split("|"):
                survives([command, f"--{name}", word] + names + GOOD[command])
        elif arg in ("N", "BYTES", "SIZE", "PCT"):
            for value in ("0", "1", "100"):
                survives([command, f"--{name}", value] + names + GOOD[command])


def closed_stdout(words, codes):
    """As `seep ... >&-`."""
    def close():
        os.close(1)
    mistake(words, codes, stdout=None, preexec_fn=close)


def broken_pipe(words):
    reader, writer = os.pipe()
    os.close(reader)
    status, _, err = run(words, stdout=writer, restore_signals=True)
    os.close(writer)
    if err or status not in (0, -13):
        complain(words, "a reader that goes away is no mistake", status, err)


def sweep_output(command):
    words = [command] + GOOD[command]
    if command not in ("snapshot", "leaks", "who", "on", "off", "record", "top", "watch", "serve", "push", "service"):
        with open("/dev/full", "wb") as full:
            mistake(words, (3,), stdout=full)
        closed_stdout(words, (3,))
        broken_pipe(words)
    with open("/dev/full", "wb") as full:
        mistake([command, "--help"], (3,), stdout=full)
    closed_stdout([command, "--help"], (3,))
    broken_pipe([command, "--help"])
    if not any(letter == "o" for letter, _, _ in options(command)) or command in ("snapshot", "leaks"):  # who: 3 anyway
        return
    places = ["empty", "no/such/file", "/proc/nothing", "text/below", "/dev/full",
              "y" * 300, "z/" * 3000]
    for place in places:
        if command == "export":
            mistake(words + ["-o", place, "--force"], (3,))
        elif command == "record":
            if place == "/dev/full":
                continue  # a device is no place for a recording: its own test
            mistake([command, "-q", "-o", place, "true"], (125,))
        elif command == "check":
            mistake(words + ["-o", place, "--format", "json"], (3,))
        else:
            mistake(words + ["-o", place], (3,))
    left = [f for f in os.listdir(scratch) if re.search(r"\.[A-Za-z0-9]{6}$", f)]
    if left:
        complain(words, f"left behind: {left}", 0, b"")


os.environ.pop("LD_PRELOAD", None)
os.environ["SEEP_DIR"] = os.environ.get("SEEP_DIR", scratch)
os.environ["TMPDIR"] = f"{scratch}/pages"  # of view
os.makedirs(f"{scratch}/pages", exist_ok=True)
os.makedirs(f"{scratch}/empty", exist_ok=True)
with open(f"{scratch}/text", "w", encoding="ascii") as text_file:
    text_file.write("hello\n")
subprocess.run([seep, "record", "-q", "--force", "--log", "-o", logged, "ls"], stdout=subprocess.DEVNULL, check=True)
known = commands()
if len(known) < 8:
    sys.exit("no commands found in the help")
for c in known:
    if c not in GOOD:
        sys.exit(f"sweep.py: which operands does a good line of \"{c}\" have? See GOOD")
    globals()[f"sweep_{part}"](c)
print(f"{runs} runs, {bad} bad")
sys.exit(1 if bad or runs < 50 else 0)
