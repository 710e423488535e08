# readable.py - what a command wrote, as text of which a diff can be read.
# SPDX-License-Identifier: Apache-2.0
"""
Text stays as it is. JSON, the data of a page and profiles of pprof are written one value a
line; then comes a line with the length and a hash of the bytes themselves (of what is in
them, if they are compressed), so that nothing changes unseen.
"""
import base64
import gzip
import hashlib
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.dont_write_bytecode = True
import exports_read  # noqa: E402

WIDTH = 110  # what fits is on one line
MANY = 48  # numbers of a column of the page that are written


class Literal(str):
    """A number as it was written."""


def one_line(value):
    if isinstance(value, Literal):
        return str(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(one_line, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{one_line(k)}: {one_line(v)}" for k, v in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


def lines(value, indent="", before=""):
    """The lines of a value; what fits on one line is on one."""
    flat = one_line(value)
    if not isinstance(value, (list, dict)) or len(indent + before + flat) <= WIDTH:
        return [indent + before + flat]
    opening, closing = "[]" if isinstance(value, list) else "{}"
    if isinstance(value, list):
        parts = [("", v) for v in value]
    else:
        parts = [(one_line(k) + ": ", v) for k, v in value.items()]
    if not any(isinstance(v, (list, dict)) and len(v) for _, v in parts):
        return filled([b + one_line(v) for b, v in parts], indent, before + opening, closing)
    out = [indent + before + opening]
    for b, v in parts:
        out += lines(v, indent + " ", b)
    return out + [indent + closing]


def filled(words, indent, opening, closing):
    """Plain values, as many on a line as fit."""
    out, line = [indent + opening], indent + " "
    for word in words:
        if len(line) + len(word) > WIDTH and line.strip():
            out.append(line.rstrip())
            line = indent + " "
        line += word + ", "
    return out + [line.rstrip().rstrip(","), indent + closing]


class Twice(Exception):
    pass


def pairs(items):
    result = dict(items)
    if len(result) != len(items):
        raise Twice("a key is there twice")
    return result


def parsed(text):
    return json.loads(text, parse_int=Literal, parse_float=Literal, object_pairs_hook=pairs)


def digest(data, what="bytes"):
    return f"({len(data):,} {what}, {hashlib.sha256(data).hexdigest()[:16]})"


def varints(data):
    out, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            out.append(value)
            value = shift = 0
    return out


def column(data, code):
    values = varints(data)
    if code in ("signed", "delta"):
        values = [(v >> 1) ^ -(v & 1) for v in values]
    if code == "delta":
        for i in range(1, len(values)):
            values[i] += values[i - 1]
    return values


def page(text, neutral):
    """The data of a page; its template is web/dist/report.html, which has tests of its own."""
    begin = text.index('id="data">') + len('id="data">')
    data = gzip.decompress(base64.b64decode(text[begin:text.index("</script>", begin)]))
    size = int.from_bytes(data[:4], "little")
    head = neutral(data[4:4 + size].decode())
    out, at = ["(the data of a page)"] + lines(parsed(head)), 4 + size
    for name, code, count, length in parsed(head)["columns"]:
        part, at = data[at:at + int(length)], at + int(length)
        values = column(part, code)
        shown = " ".join(map(str, values[:MANY]))
        out.append(f"{name}: {shown}" + (f" ... {digest(part)}" if int(count) > MANY else ""))
    return out + [digest(head.encode() + data[4 + size:])]


def pprof(data, path):
    with open(path, "wb") as f:
        f.write(data)
    profile = exports_read.pprof(path)
    out = ["(a profile of pprof)"]
    for key in ("types", "time_ns", "duration_ns", "period", "default_type", "comments", "mappings"):
        out += lines(profile[key], before=key + ": ")
    for stack, values, labels in profile["samples"]:
        out += lines([" < ".join(stack), values, labels])
    out += lines(sorted(map(list, profile["lines"])))
    return out + [digest(gzip.decompress(data))]


def readable(data, scratch, neutral):
    """Text of these bytes; `neutral` takes out of a text what is of this run."""
    if data[:2] == b"\x1f\x8b":
        return "\n".join(pprof(data, scratch)) + "\n"
    if data[:8] == b"SEEPREC\1":
        return "(a recording)\n"
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return f"(not text: {digest(data)})\n"
    if "\0" in text:
        return f"(not text: {digest(data)})\n"
    if text[:15].lower() == "<!doctype html>" and 'id="data">' in text:
        return "\n".join(page(text, neutral)) + "\n"
    text = neutral(text)
    if text[:1] in ("{", "["):
        try:
            return "\n".join(lines(parsed(text)) + [digest(text.encode())]) + "\n"
        except (json.JSONDecodeError, Twice):
            pass
    return text
