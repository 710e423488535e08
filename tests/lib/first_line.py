# first_line.py - how much CPU time a command takes to its first line.
# SPDX-License-Identifier: Apache-2.0
#
# usage: first_line.py COMMAND [ARG...]
# Prints "FIRST_MS ALL_MS PEAK_MB LINES": CPU time to the first line and in all
# (what else the machine does counts less than with a clock), peak memory.
import os
import resource
import subprocess
import sys

with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE) as command:
    command.stdout.readline()
    with open(f"/proc/{command.pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    first = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    lines = 1 + sum(1 for _ in command.stdout)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(
    int(first * 1000),
    int((used.ru_utime + used.ru_stime) * 1000),
    used.ru_maxrss // 1024,
    lines,
)
sys.exit(command.returncode)
