#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wordlits.py - WORDS_BYTES(n) in the place of a named buffer and words_bytes(buffer, n).

usage: wordlits.py     rewrites src/

A buffer goes if all that its function does with it is to give it to words_count(), words_counted(),
words_bytes() or words_time() as an argument of another call: a compound literal lives until the end of
the enclosing block, so what is stored or returned keeps its buffer.
"""
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import csource  # noqa: E402

FORMS = {"words_count": "WORDS_COUNT", "words_counted": "WORDS_COUNTED", "words_bytes": "WORDS_BYTES", "words_time": "WORDS_TIME"}
SIZES = ("WORDS_MAX", "WORDS_COUNTED_MAX")


def is_argument(toks, at):
    """Is the call at toks[at] inside the parentheses of another call, and of nothing else?"""
    depth = 0
    for i in range(at - 1, -1, -1):
        text = toks[i].text
        if text in (")", "]", "}"):
            depth += 1
        elif text in ("(", "[", "{"):
            if depth == 0:
                return text == "(" and i > 0 and toks[i - 1].kind == "word" and \
                    toks[i - 1].text not in ("if", "while", "for", "switch", "return", "sizeof")
            depth -= 1
        elif depth == 0 and text in (";", "="):
            return False
    return False


def edits_of(function):
    toks = function.tokens
    for i, t in enumerate(toks):
        if t.text != "char" or toks[i - 1].text not in ("{", ";", "}"):
            continue
        end = next(k for k in range(i, len(toks)) if toks[k].text == ";")
        items, k = [], i + 1
        while k < end and toks[k].kind == "word" and [x.text for x in toks[k + 1:k + 4]][::2] == ["[", "]"]:
            items.append((toks[k].text, toks[k + 2].text))
            k += 4
            if toks[k].text == ",":
                k += 1
        if k != end or not items:
            continue
        kept, calls = [], []
        for name, size in items:
            uses = [j for j in range(end + 1, len(toks)) if toks[j].text == name and toks[j].kind == "word"]
            fits = size in SIZES and uses and all(
                toks[j - 1].text == "(" and toks[j - 2].text in FORMS and toks[j + 1].text == "," and
                is_argument(toks, j - 2) for j in uses)
            if fits:
                calls += [(toks[j - 2].begin, toks[j + 1].end, FORMS[toks[j - 2].text] + "(") for j in uses]
            else:
                kept.append(f"{name}[{size}]")
        if calls:
            yield (toks[i].begin, toks[end].end, "char " + ", ".join(kept) + ";" if kept else "")
            yield from calls


def main():
    files = subprocess.run(["git", "ls-files", "src/*.c", "src/**/*.c"], check=True, capture_output=True, text=True).stdout.split()
    for path in sorted(set(files)):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        if "words_" not in text or path.endswith("/words.c"):
            continue
        edits = [e for fn in csource.functions(path, text) for e in edits_of(fn)]
        if not edits:
            continue
        new = text
        for begin, end, put in sorted(edits, reverse=True):
            tail = new[end:]
            if not put:  # the line of the declaration goes, and the blank one behind it if it was the last
                begin = new.rindex("\n", 0, begin) + 1
                tail = tail.lstrip(" ").removeprefix("\n")
            elif put.endswith("("):
                tail = tail.lstrip()
            new = new[:begin] + put + tail
        # a block that began with declarations alone has no blank line now
        new = re.sub(r"\{\n\n", "{\n", new)
        with open(path, "w", encoding="utf-8") as f:
            f.write(new)


main()
