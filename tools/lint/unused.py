#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""unused.py - functions of src/ that no program reaches.

usage: tools/lint/unused.py [--tests] [--own]
  --tests  list the functions that only tests reach, too
  --own    list the public functions that no other file of src/ uses

A graph of names: a function, a variable with an initializer or a macro points to what its text
names. It begins at main() of each program, at what exports*.map export, at constructors, and at
man/. A name means what its own file or an included header defines as static, otherwise all public
definitions of this name. Nothing is compiled, so a function that is inlined everywhere counts as
used. Names of members (x.f, x->f) do not count; a local variable that has the name of a
function does, which hides that function from this check.

Status 1: a function is reached from nowhere, not even from a test. ALLOWED has exceptions, and
must not have others.
"""
import collections
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "refactor"))
import csource  # noqa: E402

os.chdir(os.path.join(HERE, "..", ".."))

# name -> reason
ALLOWED = dict.fromkeys(
    ("cause_has_ended", "live_sites", "daemon_find_in", "fields_title", "focus_left_out", "focus_has_names"),
    "found when this check was new; goes with the next change of its file")

WORD = re.compile(r"[A-Za-z_]\w*")
DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:\\\n|/\*.*?\*/|[^\n])*)", re.M | re.S)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
MACRO = re.compile(r"\b[A-Z][A-Z0-9_]+\b")
START = re.compile(r"\bSEEP_EXPORT\b|constructor|destructor|\bifunc\b|\balias\b|\.(init|fini|preinit)_array")

Node = collections.namedtuple("Node", "name path kind words static line")


def words_of(toks):
    """Names that the tokens use: not those of members."""
    out = set()
    assembly = any(t.text in ("asm", "__asm__", "alias") for t in toks)
    for i, t in enumerate(toks):
        if t.kind == "word" and (i == 0 or toks[i - 1].text not in (".", "->")):
            out.add(t.text)
        elif t.kind == "string" and assembly:  # which names functions in texts
            out.update(WORD.findall(t.text))
    return out


def static_words(texts):
    """"static" and macros that expand to it."""
    return {"static"} | {m.group(1) for text in texts for m in DEFINE.finditer(text)
                         if re.search(r"\bstatic\b", COMMENT.sub("", m.group(2)))}


def nodes_of(path, text, static):
    """Functions, macros, variables with initializers, and as "" what is used without a name."""
    found = []
    toks = csource.tokens(text)
    spans, heads = [], []
    for f in csource.functions(path, text):
        spans.append((f.begin, f.end))
        before = text[f.begin:f.tokens[0].begin]
        head = COMMENT.sub("", before)
        heads.append(head)
        is_static = not static.isdisjoint(WORD.findall(head))
        kind = "start" if START.search(head) else "function"
        used = words_of(f.tokens) | set(WORD.findall(head)) - {f.name}
        found.append(Node(f.name, path, kind, used, is_static, csource.line_of(text, f.begin + before.find(f.name))))
    for m in DEFINE.finditer(text):
        found.append(Node(m.group(1), path, "macro", set(WORD.findall(COMMENT.sub("", m.group(2)))), False, 0))
    outside, at = [], 0
    for t in toks:
        while at < len(spans) and spans[at][1] <= t.begin:
            at += 1
        if at == len(spans) or t.begin < spans[at][0]:
            outside.append(t)
    found += file_scope(path, text, outside)
    # macros that are expanded outside of functions may define some
    expanded = " ".join(heads + [t.text for t in outside if t.kind == "word"])
    found.append(Node("", path, "start", set(MACRO.findall(expanded)), True, 0))
    return found


def file_scope(path, text, toks):
    """Declarations use nothing; initializers do, under the variable's name; so do assembly and constructors."""
    i = start = 0
    while i < len(toks):
        t = toks[i].text
        if t in ("(", "[", "{"):
            i = csource.closing(toks, i)
        if t == ";" or i == len(toks) - 1:
            declaration = toks[start:i + 1]
            start = i + 1
            yield from declared(path, text, declaration)
        i += 1


def declared(path, text, toks):
    first = toks[0].text if toks else ""
    if first in ("__asm__", "asm") or toks and START.search(" ".join(t.text for t in toks)):
        yield Node("", path, "start", words_of(toks), True, 0)
        return
    depth = 0
    for i, t in enumerate(toks):
        depth += (t.text in ("(", "[", "{")) - (t.text in (")", "]", "}"))
        if t.text == "=" and depth == 0:
            names = [x.text for x in toks[:i] if x.kind == "word"]
            # of "type name[SIZE]" the last word outside of brackets
            name, inner = names[-1], 0
            for x in toks[:i]:
                inner += (x.text == "[") - (x.text == "]")
                if x.kind == "word" and inner == 0:
                    name = x.text
            yield Node(name, path, "variable", words_of(toks[i:]), "static" in names, 0)
            return


class Graph:
    def __init__(self, nodes):
        self.public = collections.defaultdict(list)
        self.own = collections.defaultdict(list)  # (path, name)
        self.nodes = nodes
        for n in nodes:
            if n.static and n.path.endswith(".c"):
                self.own[n.path, n.name].append(n)
            else:  # static in a header: whoever includes it
                self.public[n.name].append(n)

    def of(self, path, name):
        return self.own.get((path, name)) or self.public.get(name, ())

    def reach(self, starts):
        """ids of all nodes that (path, words) pairs lead to."""
        seen = set()
        waiting = list(starts)
        while waiting:
            path, words = waiting.pop()
            for w in words:
                for n in self.of(path, w):
                    if id(n) not in seen:
                        seen.add(id(n))
                        waiting.append((n.path, n.words))
        return seen


def files(*patterns):
    out = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
                         capture_output=True, text=True, check=True).stdout.split("\n")
    return sorted({p for p in out if p and os.path.exists(p)})


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def main():
    src = {p: read(p) for p in files("src/*.c", "src/*.h")}
    static = static_words(src.values())
    nodes = [n for p, text in src.items() for n in nodes_of(p, text, static)]
    graph = Graph(nodes)
    starts = [(n.path, n.words | {n.name}) for n in nodes if n.kind == "start" or n.name == "main"]
    for path in files("src/*.map"):
        starts.append(("", set(WORD.findall(COMMENT.sub("", read(path))))))
    for path in files("man/*.c", "man/*.h"):
        starts.append(("", set(WORD.findall(COMMENT.sub("", read(path))))))
    programs = graph.reach(starts)
    tests = []
    for path in files("tests/*.c", "tests/*.h", "tests/*.cpp", "bench/*.c", "bench/*.h"):
        tests.append(("", set(WORD.findall(COMMENT.sub("", read(path))))))
    tested = graph.reach(tests)

    functions = [n for n in nodes if n.kind == "function"]
    left = [n for n in functions if id(n) not in programs and not n.name.startswith("__")]
    nowhere = [n for n in left if id(n) not in tested]
    stale = sorted(ALLOWED.keys() - {n.name for n in nowhere})
    allowed = len(nowhere)
    nowhere = [n for n in nowhere if n.name not in ALLOWED]
    allowed -= len(nowhere)
    alone = [n for n in left if id(n) in tested]
    for n in nowhere:
        print(f"{n.path}:{n.line}: {n.name} is used nowhere", file=sys.stderr)
    for name in stale:
        print(f"unused.py: {name} in ALLOWED is used or gone: remove it there", file=sys.stderr)
    if "--tests" in sys.argv:
        for n in alone:
            print(f"{n.path}:{n.line}: {n.name} is used by tests alone")
    if "--own" in sys.argv:
        own_alone(graph, functions, nodes, set().union(*(words for _, words in tests)))
    print(f"unused.py: {len(functions)} functions: {len(nowhere)} are used nowhere "
          f"({allowed} more are allowed), {len(alone)} by tests alone")
    if len(functions) < 1000:
        print(f"unused.py: only {len(functions)} functions found", file=sys.stderr)
        return 1
    return 1 if nowhere or stale else 0


def own_alone(graph, functions, nodes, tested):
    users = collections.defaultdict(set)
    for n in nodes:
        for w in n.words:
            for goal in graph.of(n.path, w):
                users[id(goal)].add(n.path)
    for n in functions:
        if not n.static and n.path.endswith(".c") and users[id(n)] == {n.path}:
            besides = " besides tests" if n.name in tested else ""
            print(f"{n.path}:{n.line}: {n.name} is public, and its own file alone uses it{besides}")


if __name__ == "__main__":
    sys.exit(main())
