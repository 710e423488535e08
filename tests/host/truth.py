# truth.py - holds the trace of a run against the program's own books.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import subprocess
import sys
import tempfile

from header import REPO
from modes import EXACT, SEEP

sys.path.append(os.path.join(REPO, "tests", "lib"))
import shared  # noqa: E402

COMPARE = os.path.join(REPO, "tests", "lib", "compare.py")
# must be zero in an exact trace that lost nothing, ledger or not
ZERO = ("unknown_frees", "missed_frees")


def report_of(run):
    """The trace as JSON, or a list of problems."""
    source = run.recording if run.mode == "record" else run.segments
    done = subprocess.run([SEEP, "report", source, "--format", "json",
                           "--frames", "shared"], capture_output=True, check=False, timeout=120)
    if done.returncode != 0:
        return None, ["seep report ends with %d: %s" % (
            done.returncode, done.stderr.decode(errors="replace"))]
    try:
        return shared.expand(json.loads(done.stdout)), []
    except ValueError as error:
        return None, ["the report is no JSON: %s" % error]


def arithmetic_problems(process):
    problems = []
    rows = [("totals", process["totals"])] + [
        ("site %s" % s["id"], s) for s in process["sites"]]
    for what, row in rows:
        if row["allocations"] - row["frees"] != row["live_blocks"] or (
                row["allocated_bytes"] - row["freed_bytes"]
                != row["live_bytes"]):
            problems.append("pid %d: %s does not add up" % (
                process["pid"], what))
    return problems


def clean_problems(case, process):
    return ["pid %d: %s = %d" % (process["pid"], key, process["totals"][key])
            for key in ZERO
            if key not in case.allow and process["totals"][key] != 0]


def stated_problems(case, processes):
    """What a case says must be told."""
    problems = []
    for name in case.counted:
        if not any(p["lost"].get(name) or p["counts"].get(name)
                   for p in processes):
            problems.append("%s is 0, or unknown" % name)
    for name in case.cut:
        found = [s["stack"] for p in processes for s in p["sites"]
                 if any(f["function"] == name for f in s["frames"])]
        if not found or any(stack != "cut" for stack in found):
            problems.append("stacks of %s are %s" % (
                name, ", ".join(sorted(set(found))) or "not there"))
    return problems


def agreement_problems(report):
    """The reader's own check of what it is given (I15)."""
    return [note for note in report.get("notes", []) if "do not agree" in note
            ] + ["pid %d: the live map disagrees" % p["pid"]
                 for p in report["processes"] if p["live_map"] == "disagrees"]


def mode_problems(case, mode, processes):
    problems = []
    for process in processes:
        totals = process["totals"]
        if mode == "dormant" and totals["allocations"]:
            problems.append("dormant, and yet %d allocations in pid %d" % (
                totals["allocations"], process["pid"]))
        if mode != "sampled":
            problems += arithmetic_problems(process)
        if mode in ("record", *EXACT):
            problems += clean_problems(case, process)
    return problems


def ledger_problems(case, run, report):
    if case.ledger.startswith("no") or b"\nSITE " not in b"\n" + run.stdout:
        return []
    with tempfile.TemporaryDirectory() as folder:
        ledger = os.path.join(folder, "ledger")
        figures = os.path.join(folder, "report.json")
        with open(ledger, "wb") as text:
            text.write(b"\n".join(
                line for line in run.stdout.splitlines()
                if line.split(b" ")[0] in (
                    b"PID", b"SITE", b"API", b"PEAK", b"INHERITED", b"OTHER",
                    b"OPTIONAL", b"BROKEN")) + b"\n")
        with open(figures, "w", encoding="utf-8") as text:
            json.dump(report, text)
        done = subprocess.run(
            [sys.executable, COMPARE, ledger, figures] + case.ledger.split(),
            capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return []
    return ["the trace differs from the ledger:"] + (
        done.stdout + done.stderr).splitlines()


def check_trace(case, mode, run):
    """A list of problems; nothing is asked of other tools' traces."""
    if mode in ("bare", "heaptrack") or run.timed_out or not case.traced:
        return []
    report, problems = report_of(run)
    if not report:
        return problems
    processes = report["processes"]
    if not processes:
        return ["nothing was traced"]
    problems += mode_problems(case, mode, processes)
    problems += agreement_problems(report)
    if mode in ("record", *EXACT):
        problems += stated_problems(case, processes)
        problems += ledger_problems(case, run, report)
    return problems
