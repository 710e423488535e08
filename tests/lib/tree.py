# tree.py - the processes below one: who they are, and their end.
# SPDX-License-Identifier: Apache-2.0
import contextlib
import ctypes
import os
import signal
import time

PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans():
    """From now on all that is started from here stays below us."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children_of(pid):
    """The process and all its descendants, as /proc has them now."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                with open(f"/proc/{name}/stat", encoding="latin-1") as f:
                    parents[int(name)] = int(f.read().rsplit(")", 1)[1].split()[1])
    found, queue = [], [pid]
    while queue:
        at = queue.pop()
        found.append(at)
        queue += [p for p, parent in parents.items() if parent == at]
    return found


def end_all_below():
    """Kills, by id, what is still there of all that was started from here."""
    for _ in range(100):
        left = children_of(os.getpid())[1:]
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not left:
            return
        time.sleep(0.02)
