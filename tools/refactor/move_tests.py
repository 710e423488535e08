#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""move_tests.py - moves bats files into folders by a map, and rewrites everything that names them.

usage: move_tests.py [MAP]     lines "old new", paths below the top of the tree (tests.map)

A line whose old file is gone is done: a file that came to the old place later, by another branch,
takes a line more and another run. `load ../X` and "$BATS_TEST_DIRNAME/../X" of a moved file get as
many "../" as it lies deeper; each mention of an old path in a tracked text file becomes the new one.
CHANGELOG.md is history and is left alone.
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
UP = re.compile(r'(^\s*load |\$BATS_TEST_DIRNAME/|\$\{BATS_TEST_DIRNAME\}/)\.\./', re.M)
LEFT_ALONE = ("CHANGELOG.md", "tools/refactor/", "tests/golden/")


def git(*words):
    return subprocess.run(("git",) + words, check=True, capture_output=True, text=True).stdout


def main(arguments):
    path = os.path.abspath(arguments[0]) if arguments else os.path.join(HERE, "tests.map")
    os.chdir(os.path.join(HERE, "../.."))
    with open(path, encoding="utf-8") as lines:
        moves = dict(line.split() for line in lines)
    for old, new in moves.items():
        if not os.path.exists(old):
            continue
        os.makedirs(os.path.dirname(new), exist_ok=True)
        git("mv", old, new)
        deeper = "../" * (new.count("/") - old.count("/"))
        with open(new, encoding="utf-8") as file:
            text = file.read()
        with open(new, "w", encoding="utf-8") as file:
            file.write(UP.sub(lambda m: m.group(1) + deeper + "../", text))
    left = [old for old in git("ls-files", "tests/cli").split() if old not in moves]
    for name in git("grep", "-lI", "tests/cli/").split("\n"):
        if not name or name.startswith(LEFT_ALONE):
            continue
        with open(name, encoding="utf-8") as file:
            text = file.read()
        new = re.sub(r"tests/cli/\w+\.bats", lambda m: moves.get(m.group(), m.group()), text)
        if new != text:
            with open(name, "w", encoding="utf-8") as file:
                file.write(new)
    for old in left:
        print(f"{old}: not in {path}", file=sys.stderr)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
