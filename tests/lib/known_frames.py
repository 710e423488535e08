#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""known_frames.py OUTPUT JSON [all|own]: what `seep leaks --types` knows by frames is what tests/hosts/typed_frames.cpp has counted.

No type and no container has more blocks or bytes than the host has counted, whatever the compiler has inlined. `all`: all
blocks of std::allocator have their type; `own`: those of the allocator of the host, too.
"""
import json
import sys

# nodes of containers, of libstdc++ and libc++: what they are in
NODES = {
    "_List_node": "std::list",
    "_Fwd_list_node": "std::forward_list",
    "_Rb_tree_node": "std::map or std::set",
    "_Hash_node": "std::unordered_map or _set",
    "_Sp_counted_ptr_inplace": "std::shared_ptr",
    "__list_node": "std::list",
    "__forward_list_node": "std::forward_list",
    "__tree_node": "std::map or std::set",
    "__hash_node": "std::unordered_map or _set",
    "__shared_ptr_emplace": "std::shared_ptr",
}


def first_argument(text):
    depth = 0
    for i, c in enumerate(text):
        if depth == 0 and c in ",>":
            return text[:i].strip()
        depth += (c in "<([{") - (c in ">)]}")
    raise ValueError(text)


def element(name):
    """The element of a node, and its container."""
    head, _, rest = name.partition("<")
    container = NODES.get(head.rpartition("::")[2])
    return (first_argument(rest), container) if container and rest else (name, None)


def read(path):
    """(type, container or None) -> [blocks, bytes], of std::allocator and of the host's own."""
    both = {"std": {}, "own": {}}
    for line in open(path):
        kind, _, rest = line.partition(" ")
        if kind not in ("own", "new"):
            continue
        blocks, size, name = rest.split(None, 2)
        name = name.strip()
        worlds = ["own", "std"] if kind == "own" else ["std"]
        for world in worlds:
            text = name
            if kind == "own" and world == "std":
                text = text.replace("app::by_own", "app::by_std").replace("app::ledger<", "std::allocator<")
            to = both[world].setdefault(element(text), [0, 0])
            to[0] += int(blocks)
            to[1] += int(size)
    return both


def plain(name):
    """std::string is printed by a short name or a long one."""
    return name.replace(" ", "").replace("std::__cxx11::", "std::").replace("std::__1::", "std::").replace(
        "std::basic_string<char,std::char_traits<char>,std::allocator<char>>", "std::string")


def total(*tables):
    sums = {}
    for table in tables:
        for (name, container), figures in table.items():
            to = sums.setdefault((plain(name), container), [0, 0])
            to[0] += figures[0]
            to[1] += figures[1]
    return sums


def main():
    output, answer = sys.argv[1:3]
    least = sys.argv[3] if len(sys.argv) > 3 else "none"
    both = read(output)
    most = total(both["std"], both["own"])
    # a few blocks of libraries: regex, locales, the vectors of main
    free = {"char", "int", "unsignedlong", "short", "std::any", "std::function<long()>", "std::ios_base::Init", "char*", "void*"}
    report = json.load(open(answer))
    found, bad, typed = {}, [], 0
    for t in report["types"]:
        if t["basis"] == "vtable":
            continue
        name, container = plain(t["type"]), t["container"]
        # a control block begins with its vtable, which says the same
        if t["basis"] == "shared_ptr":
            container = "std::shared_ptr"
        node = container if container in NODES.values() else None
        # the array of a hash
        if "_Hash_node_base*" in name or "__hash_node_base" in name:
            node = None
        to = found.setdefault((name, node), [0, 0])
        to[0] += t["blocks"]
        to[1] += t["bytes"]
    for key, (blocks, size) in found.items():
        limit = most.get(key, [0, 0])
        typed += blocks
        ours = "app::" in key[0]
        if (blocks > limit[0] or size > limit[1]) and (ours or key[0] not in free and not key[0].startswith(("std::__detail::_", "std::sub_match", "std::regex"))):
            bad.append(f"too many: {key}: {blocks} blocks, {size} bytes; there are {limit[0]}, {limit[1]}")
    lacking = total(both["std"]) if least != "own" else most
    have = want = 0
    missing = []
    for key, (blocks, size) in lacking.items():
        want += blocks
        n = min(found.get(key, [0, 0])[0], blocks)
        have += n
        if n < blocks:
            missing.append(f"missing: {key}: {n} of {blocks}")
    if least != "none":
        bad += missing
    elif len(sys.argv) > 4:
        print("\n".join(missing))
    print("\n".join(bad) or "no type is wrong")
    print(f"{have} of {want} blocks have their type")
    return 1 if bad or not want else 0


sys.exit(main())
