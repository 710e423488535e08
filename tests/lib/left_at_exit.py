# left_at_exit.py - what cases of a program leave at exit, as several tools count it.
# SPDX-License-Identifier: Apache-2.0
"""
usage: left_at_exit.py LEDGER TOOL FILE
LEDGER has lines "case_NAME BLOCKS BYTES", by the program itself. TOOL is seep (JSON with
shared frames), valgrind (what memcheck says) or heaptrack (stacks of leaked bytes, by
heaptrack_print -F). A block belongs to the case whose function is in its stack.
Complains of each case that the tool counts otherwise.
"""
import collections
import json
import re
import sys


def read_ledger(path):
    with open(path, encoding="utf-8") as file:
        return {name: (int(blocks), int(size)) for name, blocks, size in map(str.split, file)}


def case_of(functions, names):
    """case_tree of case_tree_node, of case_tree(void)."""
    for function in functions:
        found = re.match(r"(?:void )?(case_\w+)", function or "")
        if found:
            return max((n for n in names if (found[1] + "_").startswith(n + "_")),
                       key=len, default=None)
    return None


def read_seep(path):
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    # not of forked children
    first = next(p for p in report["processes"] if not p["parent"])
    for site in first["sites"]:
        if "suppression" in site: # the loader's and libc's own
            continue
        yield ([report["frames"][n]["function"] for n in site["frames"]],
               site.get("live_blocks", 0), site.get("live_bytes", 0))


RUNTIME = "_dl_allocate_tls", "dl_open_worker", "_dl_open" # libc's own notes


def read_valgrind(path):
    """The text of --leak-check=full: a line of figures, then its stack."""
    with open(path, encoding="utf-8", errors="replace") as file:
        text = re.sub(r"(?m)^==\d+== ?", "", file.read())
    for record in text.split("\n\n"):
        found = re.match(r"([\d,]+) (?:\(([\d,]+) direct, [\d,]+ indirect\) )?bytes in "
                         r"([\d,]+) blocks? (?:are|is) ", record)
        functions = re.findall(r"(?m)^ +(?:at|by) 0x[0-9A-F]+: (\S+)", record)
        # what is indirectly lost has a record of its own
        if found and not set(functions) & set(RUNTIME):
            yield (functions, int(found[3].replace(",", "")),
                   int((found[2] or found[1]).replace(",", "")))


def read_heaptrack(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            stack, _, size = line.rstrip("\n").rpartition(" ")
            if not any(name in stack for name in RUNTIME):
                yield stack.split(";"), None, int(size)


# What heaptrack 1.4 counts otherwise: realloc(p, 0) frees in glibc, which it takes for a
# new block of p's size; it does not see memalign.
HEAPTRACK = {"case_realloc": 77, "case_kinds": -100}


def main(ledger_path, tool, path):
    ledger = read_ledger(ledger_path)
    for name, more in HEAPTRACK.items() if tool == "heaptrack" else ():
        if name in ledger:
            ledger[name] = (ledger[name][0], ledger[name][1] + more)
    read = {"seep": read_seep, "valgrind": read_valgrind, "heaptrack": read_heaptrack}[tool]
    counted = collections.defaultdict(lambda: [0, 0])
    for functions, blocks, size in read(path):
        case = case_of(functions, ledger)
        counted[case][0] += blocks or 0
        counted[case][1] += size
    bad = 0
    for name, (blocks, size) in ledger.items():
        got = tuple(counted[name])
        if got[1] != size or (tool != "heaptrack" and got[0] != blocks):
            print(f"{tool}: {name}: {got[0]} blocks, {got[1]} bytes; "
                  f"expected {blocks}, {size}")
            bad += 1
    print(f"{tool}: {len(ledger)} cases, {bad} differ")
    return bad > 0 or not ledger


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
