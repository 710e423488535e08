#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""join.py - makes headers and .c files of one topic one file, by a table.

usage: join.py TABLE     (lines: see join.map)

A joined file keeps each member under a line "/* ---- MEMBER: what it is for ---- */", by which
tools/lint/prefix.py knows which names may stand below it. Includes of all are on top, once.
Statics of one name in several .c files get the member's name in front. Includes and
mentions of folder/file.h elsewhere follow.
"""
import os
import re
import subprocess
import sys

GUARD = re.compile(r"#ifndef (SEEP_\w+_H)\n#define \1\n")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">][ \t]*(?:/\*.*\*/)?[ \t]*$', re.M)
TITLE = re.compile(r"\A/\* \S+ - (.*?)\.? ?\*/\n/\* SPDX[^\n]*\n", re.S)
STATIC = re.compile(r"^static [^;{}()=]*?\b(\w+)(?=[\[\]\w]*\s*(?:\(|\[|=|;))", re.M)
TYPE = re.compile(r"^(?:struct|enum|union) (\w+) \{", re.M)
ENUMERATOR = re.compile(r"^enum (?:\w+ )?\{(.*?)\}", re.M | re.S)
DEFINE = re.compile(r"^#define (\w+)", re.M)
LEFT_ALONE = ("CHANGELOG.md", "bench/results/", "tests/golden/", "tests/fuzz/seeds/", "web/dist/", "tools/refactor/")
WIDTH = 100


def git(*words):
    return subprocess.run(("git",) + words, check=True, capture_output=True, text=True).stdout


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def read_table(path):
    headers, sources = [], []
    for line in read(path).splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        kind, folder, rest = line.split(None, 2)
        target, rest = rest.split(":", 1)
        members, _, title = rest.partition("|")
        (headers if kind == "H" else sources).append((f"src/{folder}", target, members.split(), title.strip()))
    return headers, sources


class Part:
    """A file taken apart: its title, includes and the rest."""
    def __init__(self, path):
        text = read(path)
        self.stem = os.path.basename(path)[:-2]
        found = TITLE.search(text)
        if not found:
            sys.exit(f"join.py: {path} does not begin as our files do")
        self.title = re.sub(r"\s*\n \*\s*", " ", found.group(1)).strip()
        text = text[found.end():]
        self.guard = None
        if path.endswith(".h"):
            guard = GUARD.search(text)
            if not guard:
                sys.exit(f"join.py: {path} has no guard")
            self.guard = guard.group(1)
            end = text.rstrip().rfind("#endif")
            text = text[:guard.start()] + text[guard.end():end]
        self.system, self.ours = [], []

        def take(include):
            mark, name = include.groups()
            (self.ours if mark == '"' else self.system).append(name)
            return "\0"
        head = re.search(r"\A(?:\s|/\*.*?\*/|#[ \t]*include[^\n]*\n)*", text, re.S)
        # only includes on top are moved: one further down is there for a reason
        top = text[:head.end()]
        top = re.sub(r"\0\n?", "", INCLUDE.sub(take, top))
        self.body = (top + text[head.end():]).strip("\n")


def banner(stem, title):
    words = f"{stem}: {title}"
    line = f"/* ---- {words} ---- */"
    if len(line) <= WIDTH:
        return line
    cut = words.rfind(" ", 0, WIDTH - 12)
    return f"/* ---- {words[:cut]}\n * {words[cut + 1:]} ---- */"


def unique(names):
    return list(dict.fromkeys(names))


def in_order(parts, folder):
    """Those that others include come first; otherwise as in the table."""
    left, out = list(parts), []
    names = {f"{folder.removeprefix('src/')}/{p.stem}.h": p for p in parts}
    while left:
        for part in left:
            if not any(names.get(i) in left and names.get(i) is not part for i in part.ours):
                out.append(part)
                left.remove(part)
                break
        else:
            sys.exit(f"join.py: {[p.stem for p in left]} include each other")
    return out


def head_of(target, ending, title, system, ours, guard=None):
    lines = []
    first = f"/* {target}{ending} - {title}. */"
    if len(first) > WIDTH:
        cut = first.rfind(" ", 0, WIDTH)
        first = f"/*\n{first[:cut]}"
    lines.append(first.replace("?. */", "? */"))
    lines.append("/* SPDX-License-Identifier: Apache-2.0 */")
    if guard:
        lines += [f"#ifndef {guard}", f"#define {guard}"]
    return "\n".join(lines) + "\n"


def include_block(own, system, ours):
    blocks = []
    if own:
        blocks.append(f'#include "{own}"')
    if system:
        blocks.append("\n".join(f"#include <{n}>" for n in system))
    if ours:
        blocks.append("\n".join(f'#include "{n}"' for n in ours))
    return "\n\n".join(blocks)


def join_header(folder, target, members, title):
    members = [m for m in members if os.path.exists(f"{folder}/{m}.h")]
    if not members or members == [target]:
        return {}
    parts = in_order([Part(f"{folder}/{m}.h") for m in members], folder)
    own = {f"{folder.removeprefix('src/')}/{m}.h" for m in members}
    system = sorted(unique(n for p in parts for n in p.system))
    ours = sorted(unique(n for p in parts for n in p.ours if n not in own))
    guard = "SEEP_" + target.upper() + "_H"
    text = head_of(target, ".h", title or parts[0].title, system, ours, guard)
    includes = include_block(None, system, ours)
    text += "\n" + (includes + "\n\n" if includes else "")
    text += "\n\n".join((banner(p.stem, p.title) + "\n\n" if p.stem != target or p is not parts[0] else "") + p.body for p in parts)
    text += "\n\n#endif\n"
    for m in members:
        os.unlink(f"{folder}/{m}.h")
    write(f"{folder}/{target}.h", text)
    return {f"{folder}/{m}.h": f"{folder}/{target}.h" for m in members if m != target}


def statics(text):
    found = set(STATIC.findall(text)) | set(TYPE.findall(text)) | set(DEFINE.findall(text))
    for block in ENUMERATOR.findall(text):
        found |= set(re.findall(r"(?:\A|,)\s*([A-Z]\w+)\b", re.sub(r"/\*.*?\*/", "", block, flags=re.S)))
    return found - {"static", "inline", "const"}


def join_source(folder, target, members):
    members = [m for m in members if os.path.exists(f"{folder}/{m}.c")]
    if not members or not os.path.exists(f"{folder}/{target}.c"):
        return {}
    parts = [Part(f"{folder}/{m}.c") for m in [target] + members]
    taken = statics(parts[0].body)
    for part in parts[1:]:
        for name in sorted(statics(part.body) & taken):
            new = f"{part.stem.upper()}_{name}" if name.isupper() else f"{part.stem}_{name}"
            part.body = re.sub(rf"(?<!->)(?<!\.)\b{name}\b", new, part.body)
            print(f"{folder}/{target}.c: {name} of {part.stem} is {new}")
        taken |= statics(part.body)
    first = parts[0]
    own = first.ours[0] if first.ours else None
    system = sorted(unique(n for p in parts for n in p.system))
    ours = sorted(unique(n for p in parts for n in p.ours if n != own))
    text = head_of(target, ".c", first.title, system, ours)
    text += include_block(own, system, ours) + "\n\n"
    text += "\n\n".join((banner(p.stem, p.title) + "\n\n" if p is not first else "") + p.body for p in parts) + "\n"
    for m in members:
        os.unlink(f"{folder}/{m}.c")
    write(f"{folder}/{target}.c", text)
    return {f"{folder}/{m}.c": f"{folder}/{target}.c" for m in members}


def follow(moves):
    names = {old.removeprefix("src/"): new.removeprefix("src/") for old, new in moves.items()}
    every = "|".join(re.escape(n) for n in sorted(names, key=len, reverse=True))
    mention = re.compile(rf"(?<![\w./-])(src/)?({every})(?![\w-]|\.\w)")
    bare = {os.path.basename(o): os.path.basename(n) for o, n in moves.items()}
    for path in git("ls-files", "--cached", "--others", "--exclude-standard").splitlines():
        if path.startswith(LEFT_ALONE) or not os.path.isfile(path) or os.path.islink(path):
            continue
        with open(path, "rb") as f:
            raw = f.read()
        if b"\0" in raw:
            continue
        text = before = raw.decode("utf-8", "surrogateescape")
        text = mention.sub(lambda m: (m.group(1) or "") + names[m.group(2)], text)
        if path.endswith((".c", ".h", ".cpp")):
            seen = set()

            def once(include):
                line = include.group()
                if include.group(1) == '"' and include.group(2) in seen:
                    return "\0"
                seen.add(include.group(2))
                if path.endswith(".h") and include.group(2) == path.removeprefix("src/"):
                    return "\0"
                return line
            if "\0" not in text:
                text = re.sub(r"\0\n?", "", INCLUDE.sub(once, text))
            text = re.sub(r"/\*.*?\*/", lambda c: re.sub(
                r"(?<![\w./-])(\w+\.[ch])\b", lambda m: bare.get(m.group(1), m.group(1)), c.group())
                if not c.group().startswith("/* " + os.path.basename(path)) else c.group(), text, flags=re.S)
        if text != before:
            with open(path, "wb") as f:
                f.write(text.encode("utf-8", "surrogateescape"))


def main():
    headers, sources = read_table(sys.argv[1])
    moves = {}
    for folder, target, members, title in headers:
        moves.update(join_header(folder, target, members, title))
    if moves:
        follow(moves)
    later = {}
    for folder, target, members, _ in sources:
        later.update(join_source(folder, target, members))
    if later:
        follow(later)
    print(f"{len(moves)} headers and {len(later)} sources are in others now")


main()
