#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""move.py - moves files of the tree by a map, and rewrites everything that names them.

usage: move.py MAP     lines "old new", paths below the top of the tree

Includes become the full new path below src/, include guards the new name, the first line of
a file its new name, and each mention of "folder/file.h" or "folder/file.c" (with or without
src/ in front) in a tracked text file the new path. A bare "file.h" is rewritten in a comment
of a file that lay in the same folder, and in backquotes in the README.md of that folder. Nothing else changes: tools/refactor/same-objects shows
that the code stays as it was. CHANGELOG.md is history and is left alone.
"""
import os
import re
import subprocess
import sys

INCLUDE = re.compile(r'^(\s*#\s*include\s*")([^"]+)(")', re.M)
GUARD = re.compile(r"^#ifndef (SEEP_\w+_H)$", re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)
QUOTED = re.compile(r"`[^`\n]+`")
LEFT_ALONE = ("CHANGELOG.md", "bench/results/", "tests/golden/", "tests/fuzz/seeds/", "web/dist/", "tools/refactor/")


def git(*words):
    return subprocess.run(("git",) + words, check=True, capture_output=True, text=True).stdout


def read_map(path):
    moves = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                old, new = line.split()
                moves[old] = new
    return moves


def resolve(name, folder, moves):
    """The old path that an include names: in its own folder, or below src/."""
    for path in (f"{folder}/{name}", f"src/{name}"):
        if path in moves or os.path.exists(path):
            return path
    return None


def rewrite_includes(text, folder, moves):
    def new(found):
        path = resolve(found.group(2), folder, moves)
        if path not in moves:
            return found.group()
        return found.group(1) + moves[path].removeprefix("src/") + found.group(3)
    return INCLUDE.sub(new, text)


def mentions(moves):
    """A pattern for folder/file.c with or without src/, and what stands for each."""
    names = {old.removeprefix("src/"): new.removeprefix("src/") for old, new in moves.items() if old.startswith("src/")}
    every = "|".join(re.escape(n) for n in sorted(names, key=len, reverse=True))
    return re.compile(rf"(?<![\w./-])(src/)?({every})(?![\w-]|\.\w)"), names


def stems(moves):
    """Old folder -> {old basename: new basename}, of those whose basename changes."""
    changed = {}
    for old, new in moves.items():
        if os.path.basename(old) != os.path.basename(new):
            changed.setdefault(os.path.dirname(old), {})[os.path.basename(old)] = os.path.basename(new)
    return changed


def rewrite_comments(text, names, where=COMMENT):
    if not names:
        return text
    pattern = re.compile(r"(?<![\w./-])(" + "|".join(map(re.escape, names)) + r")(?!\w)")
    return where.sub(lambda c: pattern.sub(lambda m: names[m.group()], c.group()), text)


def main():
    moves = read_map(sys.argv[1])
    tracked = git("ls-files").splitlines()
    missing = [old for old in moves if old not in tracked]
    if missing:
        sys.exit("move.py: not tracked: " + " ".join(missing[:5]))
    pattern, names = mentions(moves)
    changed = stems(moves)
    for path in tracked:
        if path.startswith(LEFT_ALONE) or not os.path.isfile(path) or os.path.islink(path):
            continue
        with open(path, "rb") as f:
            raw = f.read()
        if b"\0" in raw:
            continue
        text = before = raw.decode("utf-8", "surrogateescape")
        folder = os.path.dirname(path)
        if path.endswith((".c", ".h", ".cpp")):
            text = rewrite_includes(text, folder, moves)
            text = rewrite_comments(text, changed.get(folder, {}))
        if os.path.basename(path) == "README.md":
            text = rewrite_comments(text, changed.get(folder, {}), QUOTED)
        text = pattern.sub(lambda m: (m.group(1) or "") + names[m.group(2)], text)
        if path in moves and path.endswith(".h"):
            guard = GUARD.search(text)
            if guard:
                new = "SEEP_" + re.sub(r"\W", "_", os.path.basename(moves[path])).upper()
                text = re.sub(rf"\b{guard.group(1)}\b", new, text)
        if path in moves:
            old_name, new_name = os.path.basename(path), os.path.basename(moves[path])
            head, rest = text.split("\n", 1) if "\n" in text else (text, "")
            text = re.sub(rf"^(\W*){re.escape(old_name)} - ", rf"\g<1>{new_name} - ", head) + "\n" + rest
        if text != before:
            with open(path, "wb") as f:
                f.write(text.encode("utf-8", "surrogateescape"))
    for old, new in moves.items():
        if old != new:
            os.makedirs(os.path.dirname(new), exist_ok=True)
            os.rename(old, new)
    git("add", "-A", "src", "tests")


main()
