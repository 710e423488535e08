# list_cost.py - the CPU time of seep ls with many idle traced processes.
# SPDX-License-Identifier: Apache-2.0
#
# usage: SEEP_DIR=DIR list_cost.py SEEP LIBRARY PROCESSES OUTPUT
# Fails if a list takes more than 0.4 ms of CPU for each process. CPU time, because the machine may be busy.
import os
import resource
import subprocess
import sys
import time

seep, library, count, output = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
directory = os.environ["SEEP_DIR"]
processes = [
    subprocess.Popen(["/bin/sleep", "600"], env=dict(os.environ, LD_PRELOAD=library), close_fds=True)
    for _ in range(count)]


def listed():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    lines = subprocess.run([seep, "ls"], capture_output=True, text=True).stdout.splitlines()
    wall = time.monotonic() - began
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = now.ru_utime - used.ru_utime + now.ru_stime - used.ru_stime
    return sum(" running " in line for line in lines), wall, cpu


try:
    end = time.monotonic() + 60
    while listed()[0] < count and time.monotonic() < end:
        time.sleep(0.2)
    runs = [listed() for _ in range(7)]
    assert all(r[0] == count for r in runs), runs
    wall = sorted(r[1] for r in runs)[3]
    cpu = min(r[2] for r in runs)
    with open(output, "w") as out:
        print("%d processes: %.0f ms, at best %.0f ms of CPU" % (count, wall * 1000, cpu * 1000), file=out)
    assert cpu < 0.0004 * count + 0.02, cpu
finally:
    for p in processes:
        p.kill()
    for p in processes:
        p.wait()
