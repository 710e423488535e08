#!/usr/bin/env python3
# samples.py - sampled runs of one program held against its exact run.
# SPDX-License-Identifier: Apache-2.0
"""
samples.py BUILD RUNS RATE SHARE CMD...: runs CMD once exactly and RUNS times
sampled. At least SHARE per cent of the estimates must have the truth inside
their stated 95 % interval, and their mean must not be biased: within four
standard errors of the truth. Looked at: live and allocated bytes, in all and
of the largest sites.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

SITES = 3


def run(build, cmd, rate):
    scratch = tempfile.mkdtemp(prefix="seep-test.%s." % os.environ.get("SEEP_RUN", "0"), dir="/dev/shm")
    env = dict(os.environ, LD_PRELOAD=build + "/libseep.so", SEEP_DIR=scratch)
    if rate:
        env["SEEP_SAMPLE"] = rate
    try:
        subprocess.run(cmd, env=env, stdout=subprocess.DEVNULL, check=True)
        text = subprocess.check_output(
            [build + "/seep", "report", scratch, "--format", "json"])
    finally:
        shutil.rmtree(scratch)
    process, = json.loads(text)["processes"]
    if process["mode"] != ("sampled" if rate else "on"):
        sys.exit("mode is %s" % process["mode"])
    return process


def stack(site):
    return tuple((f["module"], f["offset"]) for f in site["frames"])


def figures(process, stacks):
    """{name: (value, error)} of the totals and of some stacks."""
    by_stack = {stack(s): s for s in process["sites"]}
    rows = {"total": process["totals"]}
    rows.update((s, by_stack.get(s)) for s in stacks)
    out = {}
    for name, row in rows.items():
        for key in ("live_bytes", "allocated_bytes"):
            error = (row or {}).get("error")
            out[name, key] = ((row or {}).get(key, 0),
                              error[key] if error else 0)
    return out


def main(build, runs, rate, share, *cmd):
    exact = run(build, cmd, None)
    top = sorted(exact["sites"], key=lambda s: -s["live_bytes"])[:SITES]
    stacks = [stack(s) for s in top]
    truth = {k: v for k, (v, _) in figures(exact, stacks).items()}
    seen = {k: [] for k in truth}
    for _ in range(int(runs)):
        for k, v in figures(run(build, cmd, rate), stacks).items():
            seen[k].append(v)
    inside = total = wrong = 0
    for k, values in seen.items():
        n = len(values)
        covered = sum(abs(v - truth[k]) <= e for v, e in values)
        # a site that no sample has hit states no error: the total covers it
        if any(e == 0 for _, e in values):
            continue
        mean = sum(v for v, _ in values) / n
        spread = (sum((v - mean) ** 2 for v, _ in values) / (n - 1)) ** .5
        off = (mean - truth[k]) / (spread / n ** .5 or 1)
        print("%-16s %-16s truth %12d mean %12.0f off by %+.1f standard "
              "errors, %d of %d inside" % (
                  k[0] if isinstance(k[0], str) else "site", k[1], truth[k],
                  mean, off, covered, n))
        inside += covered
        total += n
        wrong += abs(off) > 4
    print("%d of %d inside (%.1f %%)" % (inside, total, 100 * inside / total))
    if not total or inside < total * float(share) / 100 or wrong:
        sys.exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
