#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""std.py - base/std.h in the place of the libc headers that nearly every file of the command needs.

usage: std.py     rewrites the rooms of the command; the collector names its headers one by one
A .c file has it by its own header, which it includes first; one without a header includes it.
"""
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
os.chdir(os.path.join(HERE, "..", ".."))
STD = re.findall(r"#include <([^>]+)>", open("src/base/std.h", encoding="utf-8").read())
ROOMS = "kit host recording segments session analysis names view findings print attach follow replay command".split()
LINE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>]+)>[ \t]*(?:/\*.*\*/)?[ \t]*\n", re.M)
OURS = re.compile(r'^#include "([^"]+)"[^\n]*\n', re.M)
GUARD = re.compile(r"#define SEEP_\w+_H\n\n?")


def has_std(path):
    return os.path.exists(path) and '#include "base/std.h"' in open(path, encoding="utf-8").read()


def convert(path):
    text = open(path, encoding="utf-8").read()
    used = [n for n in LINE.findall(text) if n in STD]
    if not used or "base/std.h" in text:
        return
    new = LINE.sub(lambda m: "" if m.group(1) in STD else m.group(), text)
    std = '#include "base/std.h"\n'
    first = OURS.search(new)
    if path.endswith(".c") and first and has_std("src/" + first.group(1)):
        pass
    elif path.endswith(".h"):
        guard = GUARD.search(new)
        rest = new[guard.end():].lstrip("\n")
        glue = "" if rest.startswith("#include \"") else "\n"
        new = new[:guard.end()].rstrip("\n") + "\n\n" + std + glue + rest
    elif first:
        at = first.end()
        new = new[:at] + "\n" + std + new[at:].lstrip("\n")
    else:
        at = LINE.search(new)
        at = at.start() if at else new.index("\n", new.index("SPDX")) + 1
        new = new[:at] + std + "\n" + new[at:].lstrip("\n")
    new = re.sub(r"\n{3,}", "\n\n", new)
    open(path, "w", encoding="utf-8").write(new)


files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"] + [f"src/{r}" for r in ROOMS],
                       check=True, capture_output=True, text=True).stdout.split()
files = [f for f in files if os.path.exists(f)]
for kind in (".h", ".c"):
    for name in files:
        if name.endswith(kind):
            convert(name)
