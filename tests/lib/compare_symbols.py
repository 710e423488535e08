#!/usr/bin/env python3
# compare_symbols.py - our names of random addresses against llvm-symbolizer's.
# SPDX-License-Identifier: Apache-2.0
"""usage: compare_symbols.py [option...] NAMES_OF MODULE

Takes N random addresses of MODULE's code and compares what names_of (built
from tests/tools) says with llvm-symbolizer --inlines: the functions, how many
are inlined, files and lines. Exit status 1 when fewer than --least percent are
equal in all of these.

Names are compared as they are in the file (mangled). The variants of one
constructor or destructor (C1, C2, D1, D2), which stand at one address under
two names, count as equal, and so do all functions at one address. Two things
of llvm-symbolizer 14 are left alone: a file name out of the symbol table, where
no line is known; and a directory that is put twice before a relative name.
"""
import argparse
import collections
import os
import random
import re
import subprocess
import sys
import time


def run(command, text=None, env=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True,
                          env=env, check=False)
    if done.returncode != 0:
        sys.exit("%s: exit %d\n%s" % (command[0], done.returncode, done.stderr))
    return done


def code_of(module):
    """Start and size of the sections with code."""
    sections = []
    for line in run(["readelf", "-SW", module]).stdout.splitlines():
        m = re.match(r"\s*\[\s*\d+\]\s+(\S+)\s+\S+\s+([0-9a-f]+)\s+[0-9a-f]+"
                     r"\s+([0-9a-f]+)\s+\S+\s+(\S*)", line)
        if m and "X" in m.group(4) and not m.group(1).startswith(".plt"):
            sections.append((int(m.group(2), 16), int(m.group(3), 16)))
    return [s for s in sections if s[1] > 0]


def pick(module, count, seed):
    sections = code_of(module)
    total = sum(size for _, size in sections)
    chosen = random.Random(seed)
    addresses = set()
    if total <= count:
        addresses = {a + i for a, size in sections for i in range(size)}
    while len(addresses) < min(count, total):
        at = chosen.randrange(total)
        for start, size in sections:
            if at < size:
                addresses.add(start + at)
                break
            at -= size
    return sorted(addresses)


def build_id(module):
    m = re.search(r"Build ID: ([0-9a-f]+)", run(["readelf", "-nW", module]).stdout)
    return m.group(1) if m else None


def aliases(files):
    """Symbol -> address, for functions; of all tables there are."""
    found = {}
    for name in files:
        for line in run(["readelf", "-sW", name]).stdout.splitlines():
            part = line.split()
            if len(part) >= 8 and part[3] in ("FUNC", "IFUNC") and part[6] != "UND":
                found[part[7].split("@")[0]] = part[1]
    return found


def ours(names_of, options, module, addresses, env):
    begin = time.monotonic()
    done = run([names_of, *options, module],
               "".join("%x\n" % a for a in addresses), env)
    seconds = time.monotonic() - begin
    result = []
    for block in done.stdout.strip("\n").split("\n\n"):
        lines = block.split("\n")
        chain = []
        for line in lines[1:]:
            symbol, _, name, number = line.split("\t")
            chain.append((symbol, name, int(number)))
        result.append(chain)
    return result, seconds, done.stderr


def llvms(tool, module, addresses, options):
    done = run([tool, "--inlines", "--no-demangle", "--obj=" + module, *options],
               "".join("0x%x\n" % a for a in addresses))
    result = []
    for block in done.stdout.strip("\n").split("\n\n"):
        lines = block.split("\n")
        chain = []
        for i in range(0, len(lines) - 1, 2):
            name, line, _ = lines[i + 1].rsplit(":", 2)
            chain.append((lines[i], name, int(line)))
        result.append(chain)
    return result


def same_symbol(a, b, at):
    a, b = a.split("@")[0], b.split("@")[0]
    if a == b or re.sub(r"([CD])[0-9]", r"\1", a) == re.sub(r"([CD])[0-9]", r"\1", b):
        return True
    return a in at and at[a] == at.get(b)


def same_file(a, b):
    if a[1] == b[1] or (a[1] == "??" and a[2] == b[2] == 0):
        return True
    return not a[1].startswith("/") and b[1].endswith("/" + a[1])


def difference(a, b, at):
    if len(a) != len(b):
        return "depth"
    if any(x[2] != y[2] for x, y in zip(a, b)):
        return "line"
    if not all(same_symbol(x[0], y[0], at) for x, y in zip(a, b)):
        return "function"
    if not all(same_file(x, y) for x, y in zip(a, b)):
        return "file"
    return None


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("names_of")
    p.add_argument("module")
    p.add_argument("-n", "--count", type=int, default=20000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--least", type=float, default=99.9, help="percent")
    p.add_argument("--debug-dir")
    p.add_argument("--debug-file", help="what llvm-symbolizer is to read")
    p.add_argument("--symbolizer", default="llvm-symbolizer")
    p.add_argument("--no-cache", action="store_true")
    p.add_argument("--most-seconds", type=float)
    p.add_argument("--most-mib", type=int)
    p.add_argument("--inlined-at-least", type=int, default=0,
                   help="so many addresses must be in inlined code")
    p.add_argument("--show", type=int, default=3, help="differences of a kind")
    o = p.parse_args()

    module = os.path.realpath(o.module)
    addresses = pick(module, o.count, o.seed)
    options = ["-n"] if o.no_cache else []
    if o.debug_dir:
        options += ["-d", o.debug_dir]
    if build_id(module):
        options += ["-b", build_id(module)]
    mine, _, said = ours(o.names_of, options, module, addresses, None)
    theirs = llvms(o.symbolizer, o.debug_file or module, addresses, [])
    if len(mine) != len(addresses) or len(theirs) != len(addresses):
        sys.exit("%d addresses, %d answers of ours, %d of llvm-symbolizer" %
                 (len(addresses), len(mine), len(theirs)))
    at = aliases({module, o.debug_file or module})
    kinds = collections.Counter()
    for address, a, b in zip(addresses, mine, theirs):
        kind = difference(a, b, at)
        if not kind:
            continue
        kinds[kind] += 1
        if kinds[kind] <= o.show:
            print("%x: %s differs" % (address, kind))
            for who, chain in (("ours", a), ("llvm", b)):
                for f in chain:
                    print("   %s %s %s:%d" % ((who,) + f))
    equal = len(addresses) - sum(kinds.values())
    strict = sum(1 for a, b in zip(mine, theirs)
                 if [f[1:] for f in a] == [f[1:] for f in b])
    percent = 100.0 * equal / len(addresses)
    inlined = sum(1 for c in mine if len(c) > 1)
    seconds = float(re.search(r"^seconds ([\d.]+)$", said, re.M).group(1))
    mib = int(re.search(r"^child_mib (\d+)$", said, re.M).group(1))
    for note in re.findall(r"^note (.*)$", said, re.M):
        print("note: " + note)
    print("%s: %d addresses, %d equal (%.2f %%), %d with inlined functions, "
          "%.2f s, %d MiB; differ: %s; files and lines to the letter: %d" %
          (os.path.basename(module), len(addresses), equal, percent, inlined,
           seconds, mib, dict(kinds) or "none", strict))
    bad = []
    if percent < o.least:
        bad.append("less than %.2f %% are equal" % o.least)
    if inlined < o.inlined_at_least:
        bad.append("fewer than %d with inlined functions" % o.inlined_at_least)
    if o.most_seconds and seconds > o.most_seconds:
        bad.append("took more than %.2f s" % o.most_seconds)
    if o.most_mib and mib > o.most_mib:
        bad.append("took more than %d MiB" % o.most_mib)
    if bad:
        sys.exit("; ".join(bad))


main()
