#!/usr/bin/env python3
# log_sizes.py - bytes that a recording takes for each event of real programs.
# SPDX-License-Identifier: Apache-2.0
"""
log_sizes.py SEEP WORK NAME...: records the programs of the benchmark with --log.
Prints for each of them its name, events, stored bytes, and bytes per event; exits
with 1 if one of them has more than a byte per event, or has lost events.
"""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "bench"))
import workloads  # noqa: E402

SAID = re.compile(r"^seep: logged: ([\d,]+) events, ([\d.]+) (B|bytes|KiB|MiB|GiB)(, lost .*)?$", re.M)
UNITS = {"B": 1, "bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def main(seep, work, *names):
    worst = 0
    for program in workloads.make_programs(work):
        if program.name not in names:
            continue
        assert not program.missing, program.missing
        with open(program.stdin or os.devnull, "rb") as stdin:
            done = subprocess.run(
                [seep, "record", "--log", "-o", os.path.join(work, program.name + ".seep"), "--"] + program.argv,
                env=dict(os.environ, SEEP_LOG_POOL="128MiB", **program.env), stdin=stdin,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        said = SAID.search(done.stderr)
        assert done.returncode == 0 and said, done.stderr
        events, size = int(said[1].replace(",", "")), float(said[2]) * UNITS[said[3]]
        print("%s %d events %d bytes %.3f%s" % (program.name, events, size, size / events, said[4] or ""))
        worst = max(worst, size / events, 2 if said[4] else 0)
    sys.exit(worst > 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
