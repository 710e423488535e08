#!/usr/bin/env python3
# sorted.py - rewrites halvings as sorted_first() and comparators as BY() (kit/data/sorted.h).
# SPDX-License-Identifier: Apache-2.0
"""usage: sorted.py FILE...   Changes what it recognises for certain, and lists what it has changed."""
import re
import sys

HALVING = re.compile(
    r"\t(?P<for>while \((?P<low>low|lo) < (?P<high>high|hi)\)) \{\n"
    r"\t\tsize_t (?P<mid>mid|middle) = (?P=low) \+ \((?P=high) - (?P=low)\) / 2;\n\n"
    r"\t\tif \((?P<cond>[^\n]*)\)\n\t\t\t(?P=low) = (?P=mid) \+ 1;\n"
    r"\t\telse\n\t\t\t(?P=high) = (?P=mid);\n\t\}\n")


def condition(cond, mid, name):
    """The array, and the condition with `name` as a pointer to the item."""
    arrays = set(re.findall(r"([A-Za-z_][\w>.-]*)\[%s\]" % mid, cond))
    if len(arrays) != 1:
        return None
    array = arrays.pop()
    old = re.escape("%s[%s]" % (array, mid))
    cond = re.sub(old + r"->", "(*%s)->" % name, cond)
    cond = re.sub(old + r"\.", name + "->", cond)
    cond = re.sub(old, "*" + name, cond)
    return array, cond


def halvings(text):
    changed = 0
    at = 0
    while (m := HALVING.search(text, at)):
        at = m.end()
        low, high = m["low"], m["high"]
        begin = text.rfind("\n{\n", 0, m.start())
        body = text[begin:m.start()]
        decl = re.search(r"\tsize_t %s = 0, %s = ([^;\n]+);\n" % (low, high), body)
        name = next(n for n in ("x", "item", "one") if not re.search(
            r"\b%s\b" % n, text[begin:text.find("\n}\n", at)]))
        found = condition(m["cond"], m["mid"], name)
        if not decl or not found or re.search(r"\b%s\b" % high, text[at:text.find("\n}\n", at)]):
            continue
        call = "sorted_first(%s, %s, %s, %s)" % (found[0], decl[1], name, found[1])
        between = body[decl.end():]
        head = text[:begin] + body[:decl.start()]
        if body[:decl.start()] == "\n{\n" and between == "\n" and text.startswith(
                "\treturn %s;\n" % low, at):
            text = head + "\treturn %s;\n" % call + text[at + len("\treturn %s;\n" % low):]
        elif "/*" in between:
            text = (head + "\tsize_t %s;\n" % low + between + "\t%s = %s;\n" % (low, call) +
                    text[at:])
        else:
            text = head + "\tsize_t %s = %s;\n" % (low, call) + between + text[at:]
        changed += 1
        at = begin + 1
    return text, changed


FUNCTION = re.compile(r"^static int (\w+)\(const void \*(\w+), const void \*(\w+)\)\n\{\n"
                      r"\tconst (struct \w+|\w+) \*(\w+) = (\w+), \*(\w+) = (\w+);\n\n(.*?)^\}\n",
                      re.M | re.S)


def order(body, x, y):
    """The body as an expression of UP() and DOWN(); None: it is another thing."""
    parts = []
    body = " ".join(body.split())
    key = r"%s->([\w.\[\]>-]+)"
    kx, ky = key % re.escape(x), key % re.escape(y)
    while body:
        m = re.match(r"if \(%s != %s\) return %s (?:([<>]) %s )?\? (-1 : 1|1 : -1); " %
                     (kx, ky, kx, ky), body)
        if m and m[1] == m[2] == m[3] and m[5] in (None, m[1]):
            up = (m[4] == "<") == (m[6] == "-1 : 1")
            parts.append("%s(%s)" % ("UP" if up else "DOWN", m[1]))
            body = body[m.end():]
            continue
        m = (re.fullmatch(r"return \(%s ([<>]) %s\) - \(%s ([<>]) %s\);" % (kx, ky, kx, ky), body))
        if m and m[1] == m[3] == m[4] == m[6] and m[2] != m[5]:
            parts.append("%s(%s)" % ("UP" if m[2] == ">" else "DOWN", m[1]))
            return " ?: ".join(parts)
        m = re.fullmatch(r"return %s ([<>]) %s \? -1 : %s ([<>]) %s(?: \? 1 : 0)?;" % (kx, ky, kx, ky),
                         body)
        if m and m[1] == m[3] == m[4] == m[6] and m[2] != m[5]:
            parts.append("%s(%s)" % ("UP" if m[2] == "<" else "DOWN", m[1]))
            return " ?: ".join(parts)
        m = re.fullmatch(r"return (\w+\([^?;]*\));", body)
        if not m:
            return None
        parts.append(re.sub(r"\b%s\b" % y, "y", re.sub(r"\b%s\b" % x, "x", m[1])))
        return " ?: ".join(parts)
    return None


def comparators(text):
    changed = 0

    def one(m):
        nonlocal changed
        name, a, b, kind, x, from_a, y, from_b, body = m.groups()
        found = order(body, x, y)
        if (from_a, from_b) != (a, b) or not found:
            return m[0]
        changed += 1
        return "BY(%s, %s, %s)\n" % (name, kind, found)

    return FUNCTION.sub(one, text), changed


def main():
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as f:
            old = f.read()
        text, first = halvings(old)
        text, by = comparators(text)
        if text == old:
            continue
        line = '#include "kit/data/sorted.h"\n'
        if line not in text:
            ours = list(re.finditer(r'^#include "kit/[^\n]*\n', text, re.M)) or list(
                re.finditer(r'^#include "[^\n]*\n', text, re.M))
            text = text[:ours[-1].end()] + line + text[ours[-1].end():]
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        print("%s: %d halvings, %d comparators" % (path, first, by))


main()
