# SPDX-License-Identifier: Apache-2.0
"""csource.py - C as tokens: the functions that a file defines and small changes of each.

Neither depends on how lines are broken, where a file lies or in which order functions stand."""
import collections
import hashlib
import re

TOKEN = re.compile(r"""
    (?P<space>\s+|\\\n|/\*.*?\*/|//(?:\\\n|[^\n])*)
  | (?P<directive>(?m:^)[ \t]*\#(?:/\*.*?\*/|\\\n|[^\n])*)
  | (?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\])*")
  | (?P<char>(?:[uUL])?'(?:\\.|[^'\\])*')
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<mark>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.X | re.S)

KEYWORDS = set("""if else for while do switch case default return break continue goto sizeof
    _Alignof _Static_assert __asm__ asm __attribute__ typeof __typeof__""".split())
OPPOSITE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
            "+": "-", "-": "+", "+=": "-=", "-=": "+=", "++": "--", "--": "++"}
KIND = {"<": "compare", "<=": "compare", ">": "compare", ">=": "compare", "==": "compare", "!=": "compare",
        "&&": "logic", "||": "logic"}
AROUND = 4  # tokens of context that are part of a change's name

Token = collections.namedtuple("Token", "kind text begin end")
Function = collections.namedtuple("Function", "name path kind tokens begin end")
Change = collections.namedtuple("Change", "kind begin end text context")


def tokens(text):
    """All tokens but comments; of #if ... #else ... #endif the first branch."""
    out = []
    skipped = []  # for each open #if: is its present branch left out?
    for m in TOKEN.finditer(text):
        kind = m.lastgroup
        if kind == "directive":
            word = re.match(r"\s*#\s*(\w*)", m.group()).group(1)
            if word.startswith("if"):
                skipped.append(False)
            elif word in ("else", "elif") and skipped:
                skipped[-1] = True
            elif word == "endif" and skipped:
                skipped.pop()
        elif kind != "space" and not any(skipped):
            out.append(Token(kind, m.group(), m.start(), m.end()))
    return out


def closing(toks, at):
    """Index of what closes the bracket at `at`."""
    depth = 0
    for i in range(at, len(toks)):
        if toks[i].text in ("(", "[", "{"):
            depth += 1
        elif toks[i].text in (")", "]", "}"):
            depth -= 1
            if depth == 0:
                return i
    return len(toks) - 1


def defined(head):
    """Name in the declaration before a `{`, and what is in front of it; None if this is no function."""
    if not head or any(t.text in ("=", "typedef") for t in head) or head[-1].text in ("=", ","):
        return None
    found, i = None, 0
    while i < len(head):
        if head[i].text == "(":
            end = closing(head, i)
            if i and head[i - 1].kind == "word" and head[i - 1].text not in KEYWORDS:
                # an attribute in front of the type is a macro with arguments: the last one counts
                found = head[i - 1].text, [t.text for t in head[:i - 1]]
            i = end
        i += 1
    return found


def returns(front):
    """What kind of value: void, pointer, truth, number."""
    words = [w for w in front if w not in ("static", "inline", "const", "extern")]
    if "*" in words:
        return "pointer"
    if "bool" in words or "_Bool" in words:
        return "truth"
    return "void" if words and words[-1] == "void" else "number"


def functions(path, text):
    toks = tokens(text)
    i = start = 0
    while i < len(toks):
        t = toks[i].text
        if t == ";":
            start = i + 1
        elif i == start and t == "BY" and toks[i + 1].text == "(":  # kit/data/sorted.h: defines a comparator
            end = closing(toks, i + 1)
            yield Function(toks[i + 2].text, path, "int", toks[i + 1:end + 1], toks[i].begin, toks[end].end)
            i, start = end, end + 1
        elif t in ("(", "["):
            i = closing(toks, i)
        elif t == "{":
            end = closing(toks, i)
            found = defined(toks[start:i])
            if found:
                yield Function(found[0], path, returns(found[1]), toks[i:end + 1], toks[start].begin, toks[end].end)
                start = end + 1
            i = end
        i += 1


def changes(function):
    """All changes of the function, in the order of its tokens."""
    toks = function.tokens

    def change(kind, first, last, text):
        context = [t.text for t in toks[max(0, first - AROUND):last + 1 + AROUND]]
        return Change(kind, toks[first].begin, toks[last].end, text, " ".join(context))

    for i, t in enumerate(toks[:-1]):
        before = toks[i - 1] if i else t
        if t.kind == "mark" and t.text in OPPOSITE:
            binary = before.kind in ("word", "number", "char") and before.text not in KEYWORDS or \
                before.text in (")", "]")
            if binary or t.text in ("++", "--"):
                # a cast in front of a sign looks like an operand, and does not compile or does
                yield change(KIND.get(t.text, "arithmetic"), i, i, OPPOSITE[t.text])
        elif t.kind == "number" and re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*", t.text):
            yield change("constant", i, i, f"({t.text} + 1)")
        elif t.text == "if" and toks[i + 1].text == "(":
            end = closing(toks, i + 1)
            condition = slice_of(toks, i + 2, end)
            yield change("negated", i + 1, end, f"(!({condition}))")
            yield change("skipped", i + 1, end, f"(0 && ({condition}))")
        elif t.text == "return" and toks[i + 1].text != ";":
            text = other_value(function.kind, toks, i)
            if text:
                end = statement_end(toks, i)
                yield change("return", i, end, text)
        elif t.kind == "word" and t.text not in KEYWORDS and toks[i + 1].text == "(" and begins_statement(toks, i):
            end = closing(toks, i + 1)
            if end + 1 < len(toks) and toks[end + 1].text == ";":
                yield change("dropped", i, end, "(void)0")


def slice_of(toks, first, last):
    """The text of toks[first:last], one blank between tokens."""
    return " ".join(t.text for t in toks[first:last])


def statement_end(toks, at):
    i = at
    while i < len(toks) and toks[i].text != ";":
        if toks[i].text in ("(", "[", "{"):
            i = closing(toks, i)
        i += 1
    return i


def other_value(kind, toks, at):
    value = slice_of(toks, at + 1, statement_end(toks, at))
    if kind == "pointer":
        return None if value in ("NULL", "0") else "return NULL;"
    if kind == "truth":
        return f"return !({value});"
    return f"return ({value}) + 1;" if kind == "number" else None


def begins_statement(toks, at):
    before = toks[at - 1].text if at else ""
    if before in (";", "{", "}", "else", "do"):
        return True
    if before != ")":
        return False
    # ")" of a controlling expression, or of "(void)" in front of the call
    depth, i = 0, at - 1
    while i >= 0:
        depth += (toks[i].text == ")") - (toks[i].text == "(")
        if depth == 0:
            break
        i -= 1
    return toks[i - 1].text in ("if", "while", "for", "switch") or (
        slice_of(toks, i, at) == "( void )" and begins_statement(toks, i))


class Mutant:
    """A change with a name that says function, kind and surroundings, and nothing of the file."""

    def __init__(self, function, change, name, rank):
        self.function, self.change, self.name, self.rank = function, change, name, rank


def mutants(files, seed, old_names):
    """All of `files` (path -> text), the lowest rank first. `old_names`: present name -> former one."""
    counted = collections.defaultdict(list)
    for path, text in files.items():
        for f in functions(path, text):
            content = hashlib.sha256(slice_of(f.tokens, 0, len(f.tokens)).encode()).hexdigest()
            for number, c in enumerate(changes(f)):
                words = [old_names.get(w, w) for w in [f.name, c.kind, *c.context.split(" ")]]
                counted[tuple(words)].append((content, path, number, f, c))
    out = []
    for words, same in counted.items():
        # equal ones, in one function or in functions of one name: by contents, then by place
        same.sort(key=lambda s: (s[0], s[1], s[2]))
        for number, (_, _, _, f, c) in enumerate(same):
            digest = hashlib.sha256("\0".join([str(seed), *words, str(number)]).encode()).hexdigest()
            out.append(Mutant(f, c, f"{words[0]}:{c.kind}:{digest[:10]}", digest))
    return sorted(out, key=lambda m: m.rank)


def line_of(text, at):
    return text.count("\n", 0, at) + 1
