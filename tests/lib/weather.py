# weather.py - what else the machine did while something was measured.
# SPDX-License-Identifier: Apache-2.0
import os
import platform
import resource
import time


class Weather:
    """From its making on; tell() says it in a sentence or two."""

    def __init__(self):
        self.began, self.busy, self.own = time.monotonic(), self._busy(), self._own()

    @staticmethod
    def _busy():
        with open("/proc/stat") as f:
            words = [int(x) for x in f.readline().split()[1:9]]
        return (sum(words) - words[3] - words[4]) / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def _own():
        return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))

    def tell(self):
        seconds, cpus = time.monotonic() - self.began, os.cpu_count()
        others = max(0.0, self._busy() - self.busy - (self._own() - self.own)) / seconds / cpus
        verdict = "The machine was idle but for this." if others < 0.10 else "**Others worked on the machine: times and latencies are worth little.**"
        return (f"Linux {platform.release().split('-')[0]}, {platform.machine()}, {' '.join(platform.libc_ver())}, {cpus} CPUs; {seconds / 60:.0f} minutes, of whose "
                f"CPU time others used {others:.0%}. {verdict}")
