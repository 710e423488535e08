#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rename.py - gives identifiers other names, by a table.

usage: rename.py TABLE [--check]

A line of TABLE is "old new [only=REGEX] [not=REGEX] [but=NAME,...]"; the patterns select paths, so that
two programs may have one name for two things. "old_* new_*" stands for all identifiers of that
beginning, less those of but=; "tag:old new" renames struct, union or enum `old` and no variable. Whole identifiers are replaced in C (never in a string
or an include) and, in backquotes, in docs. A new name that is in use already is refused,
unless the line says "joins" (then the two become one on purpose).
"""
import re
import subprocess
import sys

TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#[ \t]*include[^\n]*|\b[A-Za-z_]\w*\b', re.M)
QUOTED = re.compile(r"`[^`\n]+`")
WORD = re.compile(r"\b[A-Za-z_]\w*\b")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)


def read_table(path):
    rows = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            words = line.split("#")[0].split()
            if not words:
                continue
            row = {"old": words[0], "new": words[1], "only": None, "not": None, "joins": False, "but": ()}
            for extra in words[2:]:
                if extra == "joins":
                    row["joins"] = True
                else:
                    key, value = extra.split("=", 1)
                    row[key] = value.split(",") if key == "but" else re.compile(value)
            rows.append(row)
    return rows


def applies(row, path):
    return (not row["only"] or row["only"].search(path)) and not (row["not"] and row["not"].search(path))


def expand(rows, words_of):
    """Rows with a star become one for each identifier that they mean."""
    for row in rows:
        if not row["old"].endswith("*"):
            yield row
            continue
        begin = row["old"][:-1]
        found = {w for p, words in words_of.items() if applies(row, p) for w in words
                 if w.startswith(begin) and w not in row["but"]}
        for word in sorted(found):
            yield {**row, "old": word, "new": row["new"][:-1] + word[len(begin):]}


def in_code(text, names):
    """Identifiers of code and comments. Quotes in comments are not strings."""
    def comment(found):
        if found.group()[0] in "\"'":
            return found.group()
        return WORD.sub(lambda w: names.get(w.group(), w.group()), found.group())

    out, at = [], 0
    for piece in COMMENT.finditer(text):
        out.append(code(text[at:piece.start()], names))
        out.append(comment(piece))
        at = piece.end()
    out.append(code(text[at:], names))
    return "".join(out)


def code(text, names):
    def word(found):
        token = found.group()
        return token if token[0] in "\"'#" or token.lstrip().startswith("#") else names.get(token, token)
    return TOKEN.sub(word, text)


def main():
    rows = read_table(sys.argv[1])
    files = subprocess.run(["git", "ls-files", "src", "tests", "man", "bench", "examples", "docs", "CONTRIBUTING.md", "README.md", "tools/lint"],
                           check=True, capture_output=True, text=True).stdout.splitlines()
    kinds = (".c", ".h", ".cpp", ".md", ".py")
    texts = {}
    for path in files:
        if path.endswith(kinds) and not path.startswith(("tests/golden", "bench/results")):
            with open(path, encoding="utf-8", errors="surrogateescape") as f:
                texts[path] = f.read()
    words_of = {path: set(WORD.findall(text)) for path, text in texts.items() if path.endswith((".c", ".h", ".cpp"))}
    bad = 0
    tags = [row for row in rows if row["old"].startswith("tag:")]
    rows = list(expand([row for row in rows if row not in tags], words_of))
    for row in rows:
        used = [p for p, words in words_of.items() if row["new"] in words and applies(row, p)]
        if used and not row["joins"]:
            print(f"rename.py: {row['new']} is in use: {used[0]}", file=sys.stderr)
            bad = 1
        if not any(row["old"] in words for p, words in words_of.items() if applies(row, p)):
            print(f"rename.py: there is no {row['old']}", file=sys.stderr)
            bad = 1
    if bad or "--check" in sys.argv:
        sys.exit(bad)
    for path, text in texts.items():
        names = {row["old"]: row["new"] for row in rows if applies(row, path)}
        if path.endswith((".c", ".h", ".cpp")):
            new = in_code(text, names)
            for row in tags:
                if applies(row, path):
                    new = re.sub(rf"\b(struct|union|enum) {row['old'][4:]}\b", rf"\1 {row['new']}", new)
        elif path.endswith(".md"):
            new = QUOTED.sub(lambda q: WORD.sub(lambda w: names.get(w.group(), w.group()), q.group()), text)
        else:
            continue
        if new != text:
            with open(path, "w", encoding="utf-8", errors="surrogateescape") as f:
                f.write(new)


main()
