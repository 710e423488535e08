#!/usr/bin/env python3
"""format_doc.py - the offsets of docs/FORMAT.md are those of format.h."""
# SPDX-License-Identifier: Apache-2.0
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def header_rows(text):
    part = text.split("## Header", 1)[1].split("\n## ", 1)[0]
    for offset, name in re.findall(r"^\| (\d+) \| \S+ \| ([a-z_]+) \|", part, re.M):
        if name != "reserved":
            yield int(offset), name


def main():
    with open(os.path.join(TOP, "docs", "FORMAT.md"), encoding="utf-8") as f:
        rows = list(header_rows(f.read()))
    checks = "\n".join(
        f'_Static_assert(offsetof(struct seg_header, {name}) == {offset}, "{name}");'
        for offset, name in rows
    )
    with tempfile.NamedTemporaryFile("w", suffix=".c") as c:
        c.write(f'#include <stddef.h>\n#include "trace/format.h"\n{checks}\n')
        c.flush()
        cc = os.environ.get("CC", "gcc")
        ok = subprocess.call([cc, "-fsyntax-only", "-I", os.path.join(TOP, "src"), c.name])
    if len(rows) < 40:
        sys.exit(f"format_doc: only {len(rows)} header fields found in docs/FORMAT.md")
    if ok != 0:
        sys.exit("format_doc: docs/FORMAT.md and src/trace/format.h differ")


main()
