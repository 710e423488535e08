#!/usr/bin/env python3
"""format_doc.py - docs/FORMAT.md has every field, size and number of format.h and its parts."""
# SPDX-License-Identifier: Apache-2.0
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SIZES = {"u8": 1, "char": 1, "u16": 2, "u32": 4, "u64": 8, "i64": 8}
# a heading: `struct NAME`, its size, then a table of its fields
HEADING = re.compile(r"^##+ [^\n]*`struct (\w+)`(?:, (\d+) bytes)?[^\n]*\n(.*?)(?=^##|\Z)", re.M | re.S)
FIELD = re.compile(r"^\| (\d+) \| (u8|char|u16|u32|u64|i64)(?:\[(\d+)\])? \| (\w+|live_\*_bits) \|", re.M)
KIND = re.compile(r"^\| \d+ \| [^|]+ \| (seg_\w+) \| (\d+)", re.M)
COUNT = re.compile(r"^\| (\d+) \| ([a-z_]+) \|", re.M)


def read(*path):
    with open(os.path.join(TOP, *path), encoding="utf-8") as f:
        return f.read()


def struct_checks(name, size, table):
    """Offsets and sizes of a table, without a gap up to the end of the struct."""
    end = 0
    for offset, unit, number, field in FIELD.findall(table):
        offset, bytes_ = int(offset), SIZES[unit] * int(number or 1)
        if offset != end:
            sys.exit(f"format_doc: {name}.{field} is at {offset}, the field before it ends at {end}")
        end = offset + bytes_
        if field == "live_*_bits":  # four fields in one row
            continue
        yield f"offsetof(struct {name}, {field}) == {offset}", f"{name}.{field}"
        yield f"sizeof(((struct {name} *)0)->{field}) == {bytes_}", f"{name}.{field}"
    if end == 0 or (size and int(size) != end):
        sys.exit(f"format_doc: the fields of {name} end at {end}, not at {size}")
    yield f"sizeof(struct {name}) == {end}", f"struct {name}"


def count_checks(text, header):
    """The table of counts and enum seg_count have the same numbers."""
    table = text.split("## Counts", 1)[1].split("\n## ", 1)[0]
    ours = {(name, int(number)) for number, name in COUNT.findall(table)}
    enum = header.split("enum seg_count {", 1)[1].split("};", 1)[0]
    theirs = {(name.lower(), int(number)) for name, number in
              re.findall(r"^\tSEG_(\w+) = (\d+),", enum, re.M)}
    theirs -= {pair for pair in theirs if pair[0] == "counts_used"}
    if ours != theirs:
        sys.exit(f"format_doc: counts differ: {sorted(ours ^ theirs)}")


def main():
    text = read("docs", "FORMAT.md")
    parts = ("format.h", "format_words.h", "format_stacks.h", "format_figures.h", "format_family.h")
    header = "\n".join(read("src", "format", name) for name in parts)
    checks, structs = [], set()
    for name, size, table in HEADING.findall(text):
        structs.add(name)
        checks += struct_checks(name, size, table)
    for name, size in KIND.findall(text):
        checks.append((f"sizeof(struct {name}) == {size}", f"kind of {name}"))
    missing = set(re.findall(r"^struct (\w+) \{", header, re.M)) - structs
    if missing:
        sys.exit(f"format_doc: docs/FORMAT.md has no table of {', '.join(sorted(missing))}")
    count_checks(text, header)
    with tempfile.NamedTemporaryFile("w", suffix=".c") as c:
        c.write('#include <stddef.h>\n#include "format/format.h"\n#include "format/seg_log.h"\n')
        c.writelines(f'_Static_assert({test}, "{what}");\n' for test, what in checks)
        c.flush()
        cc = os.environ.get("CC", "gcc")
        wrong = subprocess.call([cc, "-fsyntax-only", "-I", os.path.join(TOP, "src"), c.name])
    if wrong:
        sys.exit("format_doc: docs/FORMAT.md and src/format/format.h differ")


main()
