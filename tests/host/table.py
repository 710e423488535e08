#!/usr/bin/env python3
# table.py - which test holds which number of torture.list, as a table.
# SPDX-License-Identifier: Apache-2.0
"""
table.py [--check|--write]

Prints the table of docs/HOST_RULES.md, or writes it there. --check: says if it
differs. All say which numbers have no test, and which test is gone.
"""

import glob
import os
import re
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
REPO = os.path.dirname(os.path.dirname(HERE))
PAGE = os.path.join(REPO, "docs", "HOST_RULES.md")
BEGIN, END = "<!-- table: begin -->\n", "<!-- table: end -->\n"
TEST = re.compile(r'^@test "(.*)" \{', re.M)
NUMBER = re.compile(r"\bT\d{2,3}\b")

sys.path.insert(0, HERE)
from header import read_header  # noqa: E402

problems = []


def bats_titles():
    """File name -> its group, and the titles of its tests."""
    found = {}
    for path in sorted(glob.glob(os.path.join(REPO, "tests/**/*.bats"), recursive=True), key=os.path.basename):
        group = os.path.relpath(path, os.path.join(REPO, "tests")).split(os.sep)[0]
        with open(path, encoding="utf-8") as text:
            found[os.path.basename(path)] = group, TEST.findall(text.read())
    return found


def numbered(titles):
    """Number -> tests that carry it."""
    found = {}
    for path in sorted(glob.glob(os.path.join(HERE, "cases", "*"))):
        if not path.endswith((".c", ".cpp", ".sh", ".py")):
            continue
        name = os.path.basename(path)
        for number in NUMBER.findall(read_header(path).get("torture", "")):
            found.setdefault(number, []).append("host: " + name)
    for name, (group, tests) in titles.items():
        for title in tests:
            for number in NUMBER.findall(title):
                found.setdefault(number, []).append(group + ": " + name)
    return found


def older(number, text, titles):
    tests = []
    for one in filter(None, (x.strip() for x in text.split("; "))):
        name, _, part = one.partition(": ")
        group, known = titles.get(name, ("", []))
        if not any(part in title for title in known):
            problems.append("%s: no test \"...%s...\" in %s" % (
                number, part, name))
        tests.append(group + ": " + name)
    return tests


def rows():
    titles = bats_titles()
    carried = numbered(titles)
    with open(os.path.join(HERE, "torture.list"), encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("#") or not line.strip():
                continue
            number, what, text = (x.strip() for x in line.split("|"))
            tests = carried.pop(number, []) + older(number, text, titles)
            if not tests:
                problems.append("%s has no test" % number)
            yield "| %s | %s | %s |\n" % (
                number, what,
                ", ".join("`%s`" % x for x in dict.fromkeys(tests)))
    for number in carried:
        problems.append("%s is not in torture.list" % number)


def main(arguments):
    table = "| | must hold | tests |\n|---|---|---|\n" + "".join(rows())
    with open(PAGE, encoding="utf-8") as page:
        text = page.read()
    head, _, rest = text.partition(BEGIN)
    old, _, tail = rest.partition(END)
    if "--write" in arguments:
        with open(PAGE, "w", encoding="utf-8") as page:
            page.write(head + BEGIN + table + END + tail)
    elif "--check" not in arguments:
        sys.stdout.write(table)
    elif old != table:
        problems.append("docs/HOST_RULES.md: the table is not what "
                        "tests/host/table.py prints (make host-table)")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
