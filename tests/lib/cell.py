# cell.py - one cell of a table on a screen.
# SPDX-License-Identifier: Apache-2.0
#
# usage: cell.py TITLE RE <SCREEN: what is below TITLE in the first row that RE
# matches below the line of titles. Figures end where their title ends, names
# begin where it begins.
# usage: cell.py --selected <SCREEN WITH ATTRIBUTES: the rows in reverse video that
# are no titles.
import re
import sys

LEFT = {"SERVICE", "MODE", "TREND", "FUNCTION"}


def selected(text):
    reverse = False  # goes on from line to line
    for line in text.split("\n"):
        first = None
        for code, character in re.findall(r"\x1b\[([0-9;]*)m|(.)", line):
            if character:
                first = reverse if first is None else first
                continue
            for number in code.split(";"):
                reverse = number == "7" or (reverse and number not in ("", "0", "27"))
        plain = re.sub(r"\x1b\[[0-9;]*m", "", line)
        if first and "LIVE" not in plain:
            print(plain)


def main():
    if sys.argv[1] == "--selected":
        return selected(sys.stdin.read())
    title, wanted = sys.argv[1], re.compile(sys.argv[2])
    lines = sys.stdin.read().split("\n")
    for number, line in enumerate(lines):
        found = re.search(r"(?<![\w/])" + re.escape(title) + r"(?![\w/])", line)
        if not found or "LIVE" not in line:
            continue
        for row in lines[number + 1 :]:
            if not wanted.search(row):
                continue
            if title in LEFT:
                print(re.split(r"\s\s|\s(?=\d)", row[found.start() :].strip())[0])
            else:
                before = row[: found.end()]
                print(before.split()[-1] if before.strip() else "")
            return 0
    return 1


sys.exit(main())
