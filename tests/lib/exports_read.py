# exports_read.py - readers of exported formats, written from their pages.
# SPDX-License-Identifier: Apache-2.0
import collections
import gzip
import html
import json
import re
import xml.etree.ElementTree


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
        if not names: # a reader would show the whole file as one node
            raise ValueError(f"no function for {address:x} in {mapping}")
        locations[one(m, 1)] = names
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


# ---- CSV, as RFC 4180 has it ----

def csv_rows(path):
    with open(path, encoding="utf-8", newline="") as f:
        text = f.read()
    cell = r'(?:"(?:[^"]|"")*"|[^",\r\n]*)'
    rows, at = [], 0
    line = re.compile(rf"{cell}(?:,{cell})*\r\n")
    while at < len(text):
        found = line.match(text, at)
        if not found:
            raise ValueError(f"no row at {at}: {text[at:at + 80]!r}")
        cells = re.findall(rf"({cell})(?:,|\r\n)", found[0])
        rows.append([c[1:-1].replace('""', '"') if c[:1] == '"' else c
                     for c in cells])
        at = found.end()
    if len({len(row) for row in rows}) != 1:
        raise ValueError("rows of different length")
    return [dict(zip(rows[0], row)) for row in rows[1:]]


# ---- DHAT ----

def dhat(path):
    with open(path, encoding="utf-8") as f:
        d = json.load(f)
    for key in ("mode", "verb", "bklt", "bkacc", "tu", "Mtu", "cmd", "pid",
                "te", "pps", "ftbl", "tg", "tuth"):
        d[key]
    if d["dhatFileVersion"] != 2 or d["ftbl"][0] != "[root]":
        raise ValueError("not a file of version 2")
    stacks = [tuple(p["fs"]) for p in d["pps"]]
    if len(set(stacks)) != len(stacks):
        raise ValueError("a stack comes twice")
    for p in d["pps"]:
        for key in ("tb", "tbk", "tl", "mb", "mbk", "gb", "gbk", "eb", "ebk"):
            if p[key] < 0:
                raise ValueError(f"{key} is negative")
    d["names"] = [re.sub(r"^0x[0-9A-F]+: (.*) \((in .*|.*:\d+)\)$", r"\1", f)
                  for f in d["ftbl"]]
    return d


def page_text(path):
    """The text of a page as a browser dumps it."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    text = re.sub(r"<(script|style).*?</\1>", "", text, flags=re.S)
    return html.unescape(re.sub(r"<[^>]*>", " ", text))


# ---- speedscope ----

def speedscope(path):
    with open(path, encoding="utf-8") as f:
        d = json.load(f)
    if d["$schema"] != "https://www.speedscope.app/file-format-schema.json":
        raise ValueError("another schema")
    if not all(isinstance(d[k], str) for k in ("exporter", "name")):
        raise ValueError("names that are no text")
    names = []
    for frame in d["shared"]["frames"]:
        if not set(frame) <= {"name", "file", "line", "col"}:
            raise ValueError(f"keys of {frame}")
        names.append(frame["name"])
    profiles = {}
    for p in d["profiles"]:
        if (p["type"], p["startValue"]) != ("sampled", 0) or (
                p["unit"] not in ("bytes", "none")) or (
                len(p["samples"]) != len(p["weights"])):
            raise ValueError(f"profile {p['name']}")
        profiles[p["name"]] = ([
            (tuple(names[n] for n in stack), weight)
            for stack, weight in zip(p["samples"], p["weights"])],
            p["endValue"])
    return profiles, d["profiles"][d["activeProfileIndex"]]["name"]


# ---- callgrind ----

def callgrind(path):
    """Events, totals, own costs and inclusive ones by function."""
    events, totals, names = None, None, {}
    own = collections.defaultdict(lambda: None)
    calls = collections.defaultdict(lambda: None)
    function = callee = None
    called = False

    def named(kind, text):
        found = re.fullmatch(r"\((\d+)\)(?: (.*))?", text)
        if not found:
            return text
        if found[2] is not None:
            if (kind, found[1]) in names:
                raise ValueError(f"named twice: {text}")
            names[(kind, found[1])] = found[2]
        return names[(kind, found[1])]

    def add(sums, key, values):
        old = sums[key] or (0,) * len(values)
        sums[key] = tuple(a + b for a, b in zip(old, values))

    lines = lines_of(path)
    if lines[0] != "# callgrind format":
        raise ValueError("another first line")
    for line in lines:
        key, _, rest = line.partition("=")
        if line.startswith("events: "):
            events = line.split()[1:]
        elif line.startswith("totals: "):
            totals = tuple(int(n) for n in line.split()[1:])
        elif key == "fn":
            function = named("fn", rest)
        elif key == "cfn":
            callee = named("fn", rest)
        elif key in ("fl", "cfi"):
            named("fl", rest)
        elif key in ("ob", "cob"):
            named("ob", rest)
        elif key == "calls":
            called = True
        elif re.match(r"\d+ ", line):
            values = tuple(int(n) for n in line.split()[1:])
            if len(values) != len(events):
                raise ValueError(f"costs of {line}")
            if called:
                add(calls, (function, callee), values)
            else:
                add(own, function, values)
            called = False
        elif events and line:
            raise ValueError(f"a line that makes no sense: {line}")
    # of a function and all that it calls: what it costs by itself, and calls
    below = dict(own)
    for (caller, _), values in calls.items():
        below[caller] = tuple(a + b for a, b in zip(
            below.get(caller) or (0,) * len(values), values))
    below = {k: v for k, v in below.items() if not re.search(r"'\d+$", k)}
    merged = collections.defaultdict(lambda: None)
    for name, values in own.items():
        add(merged, re.sub(r"'\d+$", "", name), values)
    return events, totals, dict(merged), below


def callgrind_annotate(path):
    """Events, totals, rows by function."""
    events = totals = None
    rows = {}
    cell = r"\s*(\d[\d,]*|\.)(?: \(\s*[\d.]+%\))?"
    for line in lines_of(path):
        if line.startswith("Events shown:"):
            events = line.split()[2:]
        found = events and re.fullmatch(
            "(" + cell * len(events) + r")\s+(\S.*)", line)
        if not found:
            continue
        values = tuple(0 if v == "." else int(v.replace(",", ""))
                       for v in found.groups()[1:-1])
        name = found.groups()[-1]
        if name.startswith("PROGRAM TOTALS"):
            totals = values
            continue
        name = re.sub(r" \[[^\]]*\]$", "", name)
        name = re.sub(r"^(?:\?\?\?|[^:]*):", "", name, count=1)
        old = rows.get(name, (0,) * len(values))
        rows[name] = tuple(a + b for a, b in zip(old, values))
    return events, totals, rows


# ---- Graphviz ----

def dot_text(text):
    return re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], text)


def dot(path):
    """{name: (own, inclusive)}, {(caller, callee): bytes}"""
    names, nodes, edges = {}, {}, collections.Counter()
    text = r'"((?:[^"\\]|\\.)*)"'

    def amount(line):
        found = re.match(r"(?:of )?([-+]?[\d,]+) bytes?\b", line)
        return int(found[1].replace(",", ""))

    for line in lines_of(path):
        node = re.match(rf"(n\d+) \[label={text}.*tooltip={text}\];$", line)
        edge = re.match(rf"(n\d+) -> (n\d+) \[label={text}", line)
        if node:
            name = re.sub(r": [-+]?[\d,]+ blocks?$", "", dot_text(node[3]))
            names[node[1]] = name
            sums = [part for part in dot_text(node[2]).split("\n")
                    if re.match(r"(of )?[-+]?[\d,]+ bytes?\b", part)]
            below = amount(sums[-1])
            own = 0 if sums[0].startswith("of ") else amount(sums[0])
            nodes[name] = (own, below)
        elif edge:
            edges[(names[edge[1]], names[edge[2]])] += amount(edge[3].strip())
    return nodes, dict(edges)


def svg_texts(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    return {(e.text or "").replace("\u00a0", " ")
            for e in root.iter("{http://www.w3.org/2000/svg}text")}


# ---- massif ----

def massif(path):
    """Snapshots with their time, bytes, kind of tree and its nodes."""
    lines = iter(lines_of(path))
    for start in ("desc: ", "cmd: ", "time_unit: ms"):
        line = next(lines)
        if not line.startswith(start):
            raise ValueError(f"{start} is missing: {line}")

    def value(key):
        found = re.fullmatch(key + "=(.*)", next(lines))
        return found[1]

    def tree(depth, nodes):
        found = re.fullmatch(r"( *)n(\d+): (\d+) (\S.*)", next(lines))
        if len(found[1]) != depth:
            raise ValueError(f"indent of {found[0]}")
        nodes.append((depth, int(found[3]), found[4]))
        left = int(found[3])
        for _ in range(int(found[2])):
            at = len(nodes)
            tree(depth + 1, nodes)
            left -= nodes[at][1]
        if left < 0:
            raise ValueError(f"children have more: {found[0]}")

    snapshots = []
    for line in lines:
        if line != "#-----------" or value("snapshot") != str(
                len(snapshots)) or next(lines) != "#-----------":
            raise ValueError(f"not a snapshot: {line}")
        s = {"time": int(value("time")), "bytes": int(value("mem_heap_B"))}
        if value("mem_heap_extra_B") != "0" or value("mem_stacks_B") != "0":
            raise ValueError("extra bytes")
        s["tree"], s["nodes"] = value("heap_tree"), []
        if s["tree"] in ("peak", "detailed"):
            tree(0, s["nodes"])
        elif s["tree"] != "empty":
            raise ValueError(s["tree"])
        snapshots.append(s)
    return snapshots


def ms_print(path):
    """{number: nodes} of the detailed snapshots, and which is the peak."""
    trees, number, peak = {}, None, None
    for line in lines_of(path):
        found = re.search(r"Detailed snapshots: .*?(\d+) \(peak\)", line)
        peak = int(found[1]) if found else peak
        found = re.match(r"\s*(\d+)(\s+[\d,]+){5}$", line)
        if found:
            number = int(found[1])
        found = re.match(r"([| ]*)(->)?[\d.]+% \(([\d,]+)B\) (.*)", line)
        if found and number is not None:
            depth = len(found[1]) // 2 + 1 if found[2] else 0
            trees.setdefault(number, []).append(
                (depth, int(found[3].replace(",", "")), found[4]))
    return trees, peak


# ---- heaptrack ----

def heaptrack(path):
    """Sums by stack (innermost first), and of all, after playing it."""
    strings, ips, traces, sizes = [None], [None], [None], []
    sums, total = {}, collections.Counter()
    last = None

    def of(index):
        return sums.setdefault(sizes[index][1], collections.Counter())

    for line in lines_of(path):
        kind, _, rest = line.partition(" ")
        if kind == "s":
            length, _, text = rest.partition(" ")
            if len(text.encode()) != int(length, 16):
                raise ValueError(f"length of {line}")
            strings.append(text)
            continue
        if kind == "X":
            continue
        words = [int(w, 16) for w in rest.split()]
        if kind == "v" and words != [0x10400, 3]:
            raise ValueError(line)
        elif kind == "i":
            names = [strings[words[i]] for i in range(2, len(words), 3)]
            if not names:
                raise ValueError(f"no name for {line}")
            ips.append(names)
        elif kind == "t":
            parent = traces[words[1]] if words[1] else []
            traces.append([words[0]] + parent)
        elif kind == "a":
            sizes.append((words[0], words[1]))
        elif kind == "+":
            sum_ = of(words[0])
            for s in sum_, total:
                s["allocations"] += 1
                s["live_blocks"] += 1
                s["live_bytes"] += sizes[words[0]][0]
            last = words[0]
            if total["live_bytes"] > total["peak_bytes"]:
                total["peak_bytes"] = total["live_bytes"]
                at_peak = {k: v["live_bytes"] for k, v in sums.items()}
        elif kind == "-":
            if words[0] == 0:
                last = None
                continue
            sum_ = of(words[0])
            for s in sum_, total:
                s["live_blocks"] -= 1
                s["live_bytes"] -= sizes[words[0]][0]
            sum_["temporary"] += last == words[0]
            last = None
    by_stack = {}
    for trace, v in sums.items():
        stack = []
        for ip in traces[trace]:
            stack += ips[ip]
        v["peak_bytes"] = at_peak.get(trace, 0)
        merged = by_stack.setdefault(tuple(stack), collections.Counter())
        merged.update(v)
    return by_stack, total


def heaptrack_bytes(n):
    if n < 1000:
        return f"{n}B"
    for unit in "KMGT":
        n /= 1000
        if n < 1000:
            return f"{n:.2f}{unit}"
    return None


def heaptrack_print(path):
    """Its summary, and the costs of stacks in PATH.stacks, but for zeros."""
    got = {}
    for line in lines_of(path):
        for key, start in (("calls", "calls to allocation functions: "),
                           ("peak", "peak heap memory consumption: "),
                           ("leaked", "total memory leaked: ")):
            if line.startswith(start):
                got[key] = line[len(start):].split()[0]
    got["calls"] = int(got["calls"])
    values = [int(line.rsplit(" ", 1)[1])
              for line in lines_of(path + ".stacks")]
    return got, sorted(v for v in values if v)


def gprof2dot(path):
    """Bytes by (function of allocation, innermost function), and by function."""
    with open(path, encoding="utf-8") as f:
        d = json.load(f)
    if set(d) != {"version", "costs", "functions", "events"} or d["version"] != 0:
        raise ValueError(f"keys {set(d)}")
    if [c["unit"] for c in d["costs"]] != ["bytes"]:
        raise ValueError(f"costs {d['costs']}")
    names = [f["name"] for f in d["functions"]]
    own, below = collections.Counter(), collections.Counter()
    for e in d["events"]:
        chain = [names[i] for i in e["callchain"]]
        own[tuple(chain[:2])] += e["cost"][0]
        for name in set(chain[1:]):
            below[name] += e["cost"][0]
    return own, below


def speedscope_table(path):
    """(total, own, function) of the rows of speedscope's sandwich view."""
    with open(path, encoding="utf-8") as f:
        rows = re.findall(r"<tr[ >].*?</tr>", f.read(), re.S)
    number = lambda text: int(text.split()[0].replace(",", ""))
    for row in rows:
        cells = [html.unescape(re.sub(r"<[^>]*>", "", c))
                 for c in re.findall(r"<td[ >].*?</td>", row, re.S)]
        if len(cells) == 3:
            yield number(cells[0]), number(cells[1]), cells[2].strip()
