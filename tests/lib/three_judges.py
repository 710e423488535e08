#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""three_judges.py SEEP.json LSAN.txt VALGRIND.txt: a table of what each of them calls lost, by case.

Compares it with the answers in EXPECTED; fails where one differs.
"""
import collections
import json
import re
import sys

# case -> seep, LeakSanitizer, valgrind: l lost, p possible, - held or freed; where it is up to chance what they see, several
EXPECTED = {
    "trivial": "lll", "zero_lost": "lll", "pointer_to_self": "lll", "cycle": "lll", "tree_root": "lll", "tree_leaf": "lll",
    "disowned_list": "lll", "large": "lll llp", "detached_threads": "lll", "in_freed": "lll",
    "globals_initialized": "---", "globals_uninitialized": "---", "tls": "---", "key": "---", "stack": "---",
    "cleaned_in_key_destructor": "---", "zero_held": "---", "realloc_moved": "---", "new_array": "---",
    "interior": "--p", "second_base": "---", "past_end": "pll", "unaligned": "pll", "high_tag": "-ll",
    "intrusive_list": "--p", "pool": "--p", "short_string_lost": "lll", "long_string": "---", "map_lost": "lll",
    "exception_kept": "--p", "weak_pointer": "--- --p", "closure": "---", "unique_pointer": "---", "jump_buffer": "---", "compressed": "lll",
    "unregistered_mapping": "-l-", "swapcontext_stack": "-l- ---",
}


def of_seep(path):
    found = {}
    for site in json.load(open(path))["sites"]:
        name = next((f["function"][2:] for f in site["frames"] if (f["function"] or "").startswith("k_")), None)
        if name and site["verdict"]["blocks"]:
            found.setdefault(name, collections.Counter())["l" if site["verdict"]["class"] == "leak" else "p"] += site["verdict"]["blocks"]
    return found


def of_text(path, head):
    """Records of a head line and a stack below it."""
    found, kind, blocks = {}, None, 0
    for line in open(path):
        m = re.search(head, line)
        if m:
            blocks = int(m["blocks"].replace(",", ""))
            kind = {"still reachable": None, "possibly": "p"}.get(m["kind"], "l")
        name = re.search(r"\bk_(\w+)", line)
        if name and kind:
            found.setdefault(name[1], collections.Counter())[kind] += blocks
        if name or not line.strip(" =0123456789\n"):
            kind = None
    return found


def main():
    judges = [of_seep(sys.argv[1]), of_text(sys.argv[2], r"(?P<kind>Direct|Indirect) leak of \d+ byte\(s\) in (?P<blocks>\d+) object"),
              of_text(sys.argv[3], r"in (?P<blocks>[\d,]+) blocks are (?P<kind>definitely|indirectly|possibly|still reachable)")]
    bad = 0
    for case in sorted(set(EXPECTED) | {c for j in judges for c in j}):
        said = [dict(j.get(case, {})) for j in judges]
        letters = "".join(max(s, key=s.get) if s else "-" for s in said)
        wrong = letters not in EXPECTED.get(case, "").split()
        bad += wrong
        print(f"{'WRONG' if wrong else 'as expected':12} {case:28} {letters} {EXPECTED.get(case)} {said}")
    return 1 if bad else 0


sys.exit(main())
