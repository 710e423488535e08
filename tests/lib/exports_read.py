# exports_read.py - readers of exported formats, written from their pages.
# SPDX-License-Identifier: Apache-2.0
import gzip
import re


# ---- protocol buffers ----

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at += 1
        shift += 7
        if byte < 0x80:
            return value, at


def message(data):
    """{field: [values]}: numbers, or bytes where the field has a length."""
    at, fields = 0, {}
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            if len(value) != size:
                raise ValueError("a field is cut")
        else:
            raise ValueError(f"wire type {key & 7}")
        fields.setdefault(key >> 3, []).append(value)
    return fields


def packed(values):
    out = []
    for value in values:
        if isinstance(value, int):
            out.append(value)
            continue
        at = 0
        while at < len(value):
            number, at = varint(value, at)
            out.append(number)
    return out


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def one(fields, number, default=0):
    return fields.get(number, [default])[-1]


def pprof(path):
    with gzip.open(path) as f:
        top = message(f.read())
    strings = [s.decode("utf-8") for s in top[6]]
    if strings[0] != "":
        raise ValueError("the first string is not empty")
    mappings = {}
    for data in top.get(3, []):
        m = message(data)
        mappings[one(m, 1)] = {
            "start": one(m, 2), "limit": one(m, 3), "offset": one(m, 4),
            "file": strings[one(m, 5)], "build_id": strings[one(m, 6)]}
    functions = {}
    for data in top.get(5, []):
        m = message(data)
        functions[one(m, 1)] = (strings[one(m, 2)], strings[one(m, 4)])
    locations, lines = {}, set()
    for data in top.get(4, []):
        m = message(data)
        mapping, address = mappings.get(one(m, 2)), one(m, 3)
        if mapping and mapping["start"] and not (
                mapping["start"] <= address <= mapping["limit"]):
            raise ValueError(f"address {address:x} is not in {mapping}")
        names = []
        for line in m.get(4, []):
            fields = message(line)
            name, file = functions[one(fields, 1)]
            names.append(name)
            lines.add((name, file, one(fields, 2)))
        if not names and mapping:
            base = mapping["start"] - mapping["offset"]
            names = [mapping["file"].rsplit("/", 1)[-1] + "+" +
                     hex(address - base)]
        locations[one(m, 1)] = names or [hex(address)]
    samples = []
    for data in top.get(2, []):
        m = message(data)
        stack = []
        for number in packed(m.get(1, [])):
            stack += locations[number]
        labels = {}
        for label in m.get(3, []):
            fields = message(label)
            labels[strings[one(fields, 1)]] = (
                strings[one(fields, 2)] if 2 in fields else one(fields, 3))
        samples.append((tuple(stack),
                        [signed(v) for v in packed(m[2])], labels))
    types = [message(t) for t in top[1]]
    return {
        "types": [(strings[one(t, 1)], strings[one(t, 2)]) for t in types],
        "samples": samples, "lines": lines,
        "mappings": list(mappings.values()),
        "time_ns": one(top, 9), "duration_ns": one(top, 10),
        "period": one(top, 12), "default_type": strings[one(top, 14)],
        "comments": [strings[i] for i in packed(top.get(13, []))],
    }


def lines_of(path):
    with open(path, encoding="utf-8", newline="\n") as f:
        text = f.read()
    if not text.endswith("\n"):
        raise ValueError("the last line has no end")
    return text[:-1].split("\n")


# ---- what go tool pprof prints ----

def go_top(path):
    started = False
    for line in lines_of(path):
        words = line.split(None, 5)
        if started:
            name = words[5].removesuffix(" (inline)").removesuffix(
                " (partial-inline)")
            yield name, go_bytes(words[0]), go_bytes(words[3])
        started = started or words[:2] == ["flat", "flat%"]


def go_bytes(text):
    return 0 if text == "0" else int(text.removesuffix("B"))


def go_traces(path):
    """Stacks, innermost first, with their bytes."""
    stack, value = [], 0
    for line in lines_of(path):
        if re.match(r"-+\+-", line):
            if stack:
                yield tuple(stack), value
            stack, value = [], 0
            continue
        head = re.match(r"\s*(-?\d+)B?   (\S.*)$", line)
        if head and not stack:
            value = int(head[1])
            stack = [head[2]]
        elif stack:
            stack.append(line.strip())
        stack = [f.removesuffix(" (inline)") for f in stack]


# ---- collapsed stacks ----

def collapsed(path):
    for line in lines_of(path):
        stack, value = re.fullmatch(r"(.*) (\d+)", line).groups()
        yield tuple(stack.split(";")), int(value)
