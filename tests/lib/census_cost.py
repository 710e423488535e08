#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""census_cost.py SEEP LIBRARY HOST DIRECTORY BLOCKS: CPU time of a census beside that of a look. Fails above the bar.

Both read the same process, in turns; the best of several is what counts. Names are not looked up: they are no part of
either. Besides BLOCKS, the host has three pointers in each block, and no types.
"""
import os
import resource
import subprocess
import sys

BAR = 1.5
TURNS = 5
LEAST = 0.02  # seconds that the clock of the kernel may add


def cpu(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    seep, library, host, directory, blocks = sys.argv[1:]
    env = dict(os.environ, LD_PRELOAD=library, SEEP_DIR=directory)
    run = subprocess.Popen([host, blocks], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    pid = run.stdout.readline().split()[1]
    times = {"--looks=1": [], "--types": [], "--insight": []}
    for _ in range(TURNS):
        for option, list_of in times.items():
            list_of.append(cpu([seep, "leaks", "--no-symbols", option, pid]))
    run.stdin.close()
    run.wait()
    look = min(times["--looks=1"])
    bad = False
    for option in "--types", "--insight":
        best = min(times[option])
        print(f"{option}: {best:.3f} s, a look {look:.3f} s: {best / look:.2f}")
        bad |= best > BAR * look + LEAST
    return 1 if bad else 0


sys.exit(main())
