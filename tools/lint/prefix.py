#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""prefix.py - the name of a public function begins with the name of its file.

Public means not static and declared in a header, or defined in a header. Five rules; `stem`
is the name of the file without its ending:

1. The name is `stem`, its plural, or one of these and an underscore and more. A file of several
   sections has a line "/* ---- NAME: what it is for ---- */" above each but the first; NAME is a
   stem below it, and in a header of that name.
2. A module of several files (`view.c`, `view_stack.c`) has one prefix. A function in
   `view_*` may begin with `view_` if a header of the same folder declares it.
3. A file of src/print/json whose stem is X_json may name its functions json_X: `json_sites` is
   in src/print/json/sites_json.c.
4. A file of src/format whose stem is seg_X may name its functions X_: `log_words` is in seg_log.h.
5. FAMILIES below: each with the reason why its files keep another prefix.
"""
import glob
import os
import re
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

# file or folder -> pattern of the names that it may define besides
FAMILIES = {
    # names that libc, libstdc++ and seep.h give
    "src/collector/event/malloc.c": r"(c|m|re|v|pv|aligned_)alloc|reallocarray|(posix_)?memalign"
    r"|c?free|free_sized|free_aligned_sized",
    "src/collector/event/companion_calls.c": r"seep_(cxx|next)_\w+",
    "src/collector/process/dl.c": r"dl(close|open|mopen)",
    "src/collector/segment/bytes.c": r"mem(cpy|move|set|cmp)",
    "src/collector/event/api.c": r"(seep|memtrail)_\w+",
    "src/collector/event/mapping.c": r"seep_map_\w+",
    # one interface, cpu.h, whatever the CPU
    "src/base/cpu/": r"cpu_\w+",
    # types and functions of the segment; its constants begin with SEG_
    "src/format/format": r"seg_\w+",
    # the writer that every folder uses
    "src/kit/json/json_put.c": r"json_\w+",
    # the parts of `seep record`, which record_run.h declares
    "src/follow/recorder/record_": r"record_\w+",
    # to be renamed to verdict_list_rate when its callers are at rest
    "src/findings/verdict_list.c": r"verdict_rate",
}

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
SECTION = re.compile(r"^/\* ---- (\w+):", re.M)
CALLED = re.compile(r"\b([a-z]\w*)\s*\(")
# a definition begins in column 0; its return type is on the line of the name or above it
DEFINED = re.compile(r"^([A-Za-z_][\w \t]*[ \t*]\**)?\b([a-z]\w*)\((?:[^;{}()]|\([^;{}]*?\))*\)\s*(?:__attribute__\s*\(\(.*?\)\)\s*)?\{", re.M)


def read(path):
    with open(path, encoding="utf-8") as f:
        return COMMENT.sub(lambda m: "\n" * m.group().count("\n"), f.read())


def definitions(text):
    """(line, name, is static) of each function that the file defines."""
    for found in DEFINED.finditer(text):
        above = text[:found.start()].rstrip("\n").rsplit("\n", 1)[-1]
        types = found.group(1) or above
        yield text.count("\n", 0, found.start()) + 1, found.group(2), "static" in types.split()


def declared_by(headers):
    """Name -> headers that mention it as a function."""
    names = {}
    for header, text in headers.items():
        for name in CALLED.findall(text):
            names.setdefault(name, set()).add(header)
    return names


def begins_with(name, stem):
    return re.fullmatch(rf"{stem}(s|es)?(_\w+)?", name) is not None


def is_of_module(name, path, stem, declared):
    """Rule 2."""
    folder = os.path.dirname(path)
    words = stem.split("_")
    for count in range(1, len(words)):
        module = "_".join(words[:count])
        homes = {h for h in declared.get(name, set()) if os.path.dirname(h) == folder}
        if begins_with(name, module) and homes:
            return True
    return False


def stems(path, text, line):
    """The stem of the file, and that of the section that the line is in."""
    found = [os.path.basename(path)[:-2]]
    above = SECTION.findall("\n".join(text.split("\n")[:line]))
    return found + above[-1:]


def is_right(name, path, stem, declared):
    if begins_with(name, stem) or is_of_module(name, path, stem, declared):
        return True
    if path.startswith("src/print/json/") and begins_with(name, "json_" + stem.removesuffix("_json")):
        return True
    if path.startswith("src/format/") and begins_with(name, stem.removeprefix("seg_")):
        return True
    return any(path.startswith(family) and re.fullmatch(pattern, name)
               for family, pattern in FAMILIES.items())


def main():
    headers = {h: read(h) for h in sorted(glob.glob("src/**/*.h", recursive=True)) + ["include/seep.h"]}
    sources = {c: read(c) for c in sorted(glob.glob("src/**/*.c", recursive=True))}
    declared = declared_by(headers)
    raw = {path: open(path, encoding="utf-8").read() for path in {**headers, **sources}}
    functions = bad = 0
    for path, text in {**headers, **sources}.items():
        for line, name, is_static in definitions(text):
            if path.endswith(".c") and (is_static or name not in declared):
                continue
            functions += 1
            if not any(is_right(name, path, stem, declared) for stem in stems(path, raw[path], line)):
                print(f"{path}:{line}: {name} does not begin with the name of its file", file=sys.stderr)
                bad += 1
    if functions < 500:  # the style changed, and this script no longer sees definitions
        print(f"prefix.py: only {functions} public functions found", file=sys.stderr)
        bad += 1
    return 1 if bad else 0


sys.exit(main())
