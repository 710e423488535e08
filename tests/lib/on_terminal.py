# on_terminal.py - runs a command on a terminal of its own and presses keys.
# SPDX-License-Identifier: Apache-2.0
#
# usage: on_terminal.py [-c COLUMNS] [-t SECONDS] [-k WHEN=KEYS]... COMMAND [ARG...]
# WHEN is a text to wait for on the screen; KEYS may hold \x03 and the like.
# What came out goes to stdout, "\r\n" as "\n". The exit status is that of the
# command, 128+N for signal N, 124 when it took too long (default 20 s).
import argparse
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("-c", "--columns", type=int, default=80)
    p.add_argument("-t", "--seconds", type=float, default=20)
    p.add_argument("-k", "--key", action="append", default=[])
    p.add_argument("command", nargs=argparse.REMAINDER)
    return p.parse_args()


def start(command, columns):
    pid, fd = pty.fork()
    if pid == 0:
        size = struct.pack("HHHH", 24, columns, 0, 0)
        fcntl.ioctl(1, termios.TIOCSWINSZ, size)
        os.execvp(command[0], command)
    return pid, fd


def converse(fd, keys, until):
    """All that the command wrote; None: it took too long."""
    out, seen = b"", 0
    while time.monotonic() < until:
        if select.select([fd], [], [], 0.05)[0]:
            try:
                got = os.read(fd, 65536)
            except OSError:  # nobody holds the other end any more
                return out
            if not got:
                return out
            out += got
        if keys:
            when, press = keys[0]
            at = out.find(when, seen)
            if at >= 0:
                seen = at + len(when)
                os.write(fd, press)
                keys.pop(0)
    return None


def main():
    a = arguments()
    keys = []
    for k in a.key:
        when, press = k.split("=", 1)
        keys.append((when.encode(), press.encode().decode("unicode_escape").encode()))
    pid, fd = start(a.command, a.columns)
    out = converse(fd, keys, time.monotonic() + a.seconds)
    if out is None:
        os.kill(pid, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    sys.stdout.buffer.write((out or b"").replace(b"\r\n", b"\n"))
    if out is None:
        return 124
    return 128 - status if status < 0 else status


sys.exit(main())
