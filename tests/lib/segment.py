#!/usr/bin/env python3
# segment.py - a second reader of segments, from docs/FORMAT.md alone.
# SPDX-License-Identifier: Apache-2.0
"""
segment.py REPORT FILE...: decodes the segments in FILEs, with their slots, as
the page describes them, and compares processes, totals, sites, stacks, ages,
modules, marks, pools and counts with REPORT (seep report --full --format json).

The page is read by this program: offsets and types come from its tables.
"""

import json
import mmap
import re
import struct
import sys
from os.path import dirname, join

PAGE = join(dirname(__file__), "..", "..", "docs", "FORMAT.md")
UNITS = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i64": "q"}
FIELD = re.compile(r"^\| (\d+) \| (u8|char|u16|u32|u64|i64)(?:\[(\d+)\])? \| ([a-z_]+) \|", re.M)
APIS = ["unknown", "malloc", "calloc", "realloc", "reallocarray", "memalign",
        "aligned_alloc", "posix_memalign", "valloc", "pvalloc", "new", "new[]"]


def read_page():
    """Struct -> [(field, offset, format)], and number -> name of the counts."""
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    structs = {}
    for part in re.split(r"^##+ ", text, flags=re.M):
        name = re.search(r"`struct (\w+)`", part.split("\n")[0])
        if name:
            structs[name[1]] = [
                (field, int(offset), (number or "1") + ("s" if unit == "char" or number and unit == "u8" else UNITS[unit]))
                for offset, unit, number, field in FIELD.findall(part)]
    counts = text.split("## Counts")[1].split("\n## ")[0]
    names = {int(n): name for n, name in re.findall(r"^\| (\d+) \| ([a-z_]+) \|", counts, re.M)}
    return structs, names


STRUCTS, COUNTS = read_page()


def decode(struct_name, data, at, limit=None):
    """The fields of a struct; those beyond limit bytes are missing."""
    row = {}
    for field, offset, form in STRUCTS[struct_name]:
        if limit is not None and offset + struct.calcsize("<" + form) > limit:
            break
        value = struct.unpack_from("<" + form, data, at + offset)
        row[field] = value[0] if form[0] == "1" and form[1] not in "0123456789" or form[-1] == "s" else list(value)
    return row


class Segment:
    """One process: its header, and its tables as {(kind, owner): {index: row}}."""

    KINDS = {1: "seg_module", 3: "seg_node", 4: "seg_inner", 5: "seg_site", 6: "seg_row", 7: "seg_info",
             8: "seg_inherited", 9: "seg_live", 10: "seg_mark", 11: "seg_sample", 12: "seg_pool", 13: "seg_ages",
             14: "seg_info"}

    def __init__(self, data, base):
        self.header = decode("seg_header", data, base)
        assert data[base:base + 8] == b"SEEPSEG\x01" and self.header["version"] in (1, 2, 3)
        self.tables, self.strings = {}, {}
        for i in range(self.header["dir_used"]):
            x = decode("seg_extent", data, base + self.header["dir_offset"] + 32 * i)
            start = base + x["offset"]
            if x["kind"] == 2:
                self.strings[x["first"]] = data[start:start + x["count"]]
            elif x["kind"] in self.KINDS:
                table = self.tables.setdefault((x["kind"], x["owner"]), {})
                for n in range(x["count"]):
                    at = start + n * x["row_bytes"]
                    if any(data[at:at + x["row_bytes"]]):
                        table[x["first"] + n] = decode(self.KINDS[x["kind"]], data, at, x["row_bytes"])

    def table(self, kind, owner=0):
        return self.tables.get((kind, owner), {})

    def string(self, at, length):
        for first, text in self.strings.items():
            if first <= at < first + len(text):
                return text[at - first:at - first + length].decode()
        return None

    def frames(self, site):
        """Innermost first, then from the node to the root."""
        inner = self.table(4)[site["inner"]]
        found = inner["frames"][:inner["count"]]
        node, nodes = site["node"], self.table(3)
        while node:
            row = nodes[node]
            if row["flags"] == 64:
                run = self.table(4)[row["frame"]]
                found += run["frames"][:run["count"]]
            elif row["frame"]:
                found.append(row["frame"])
            node = row["parent"]
        return found

    def offset(self, frame):
        """(path, address in the file), or (None, address)."""
        number, address = frame >> 48, frame & (1 << 47) - 1
        if not number:
            return None, address
        module = self.table(1)[number]
        return self.string(module["path"], module["path_bytes"]), address - module["base"]

    def alike(self, site_id):
        """Two threads may give one stack two ids: all of them."""
        def key(row):
            return row["kind"], row["api"], row["pool"], self.frames(row), self.ends(row)
        wanted = key(self.table(5)[site_id])
        return [n for n, row in self.table(5).items() if row["inner"] and key(row) == wanted]

    def ends(self, site):
        """Flags of its nodes and of its inner record."""
        found, node = self.table(4)[site["inner"]]["flags"], site["node"]
        while node:
            found |= self.table(3)[node]["flags"] & ~64  # a run or single nodes, all the same
            node = self.table(3)[node]["parent"]
        return found

    def sums(self, *ids):
        """Figures of sites, over all arrays."""
        rows = [t[n] for (kind, _), t in self.tables.items() if kind == 6 for n in ids if n in t]
        total = {key: sum(r[key] for r in rows)
                 for key in ("allocations", "allocated_bytes", "frees", "freed_bytes")}
        epoch = self.header["peak_epoch"] & 0xffffffff
        total["peak_bytes"] = max(0, sum(
            r["snap_bytes"] if r["epoch"] == epoch else r["allocated_bytes"] - r["freed_bytes"] for r in rows))
        used = [r for r in rows if r["allocations"]]
        if used:
            total["size_min"] = min(r["size_min"] for r in used)
            total["size_max"] = max(r["size_min"] + r["size_span"] for r in used)
        return total

    def ages_fine(self, *ids):
        """Frees by age: in the first tick, then 1, 2-3, 4-7, 8-15 ticks."""
        young = [sum(t[n]["deaths"][i] for (kind, _), t in self.tables.items() if kind == 13 for n in ids if n in t)
                 for i in range(4)]
        return [self.sums(*ids)["frees"] - sum(young) - sum(sum(self.ages(n)) for n in ids)] + young

    def ages(self, site_id):
        infos = [row for row in self.table(14).values() if row["site"] == site_id]
        if site_id in self.table(7):
            infos.append(self.table(7)[site_id])
        total = [0] * 20
        for info in infos:
            more = zip(info["ages"], info.get("ages_high", [0] * 20))
            total = [n + low + (high << 32) for n, (low, high) in zip(total, more)]
        return total


def segments(data, lines):
    """The process of a file, and those of its forked children in slots; others into lines."""
    first = Segment(data, 0)
    yield first
    at = first.header["slots_offset"]
    if not at or data[at:at + 8] != b"SEEPSLT\x01":
        return
    table = decode("seg_slots", data, at)
    large = table["large_count"]
    for i in range(table["early_count"] if table["early_offset"] else 0):
        line = decode("seg_early", data, at + table["early_offset"] + 64 * i)
        if line["state"]:
            lines.append(line)
    for i in range(table["count"]):
        start = table["first_offset"] + min(i, large) * table["slot_bytes"] + max(0, i - large) * table["small_bytes"]
        if table["taken"][i] and data[at + start:at + start + 8] == b"SEEPSEG\x01":
            yield Segment(data, at + start)


def same(what, mine, theirs):
    if mine != theirs:
        sys.exit("segment.py: %s: the page says %r, the report %r" % (what, mine, theirs))


def compare_site(mine, s, peak_is_now):
    row = mine.table(5)[s["id"]]
    same("api", APIS[row["api"]] if row["api"] < 10 else s["api"], s["api"])
    ids = mine.alike(s["id"])
    sums = mine.sums(*ids)
    if peak_is_now:
        sums["peak_bytes"] = sums["allocated_bytes"] - sums["freed_bytes"]
    for key, value in sums.items():
        same("%s of site %d" % (key, s["id"]), value, s[key])
    if not mine.table(3)[row["node"]]["flags"] & 16:  # early children have no ages
        same("ages of site %d" % s["id"], mine.ages_fine(*ids), s["ages_fine"])
    theirs = [(f["module"], f["offset"]) for f in s["frames"]
              if not f["inlined"] and f["offset"] is not None]  # others are remarks
    same("stack of site %d" % s["id"], [mine.offset(f) for f in mine.frames(row)], theirs)


def compare(mine, p):
    header = mine.header
    same("pid", header["pid"], p["pid"])
    same("exe", header["exe"].split(b"\0")[0].decode(), p["exe"])
    command = [x.decode() for x in header["command"].split(b"\0")[:len(p["command"])]]
    same("command", command, p["command"])
    heap = {n for n, row in mine.table(5).items() if row["inner"] and row["kind"] == 1}
    sums = {n: mine.sums(n) for n in heap}
    keys = ["allocations", "allocated_bytes", "frees", "freed_bytes"]
    for key in keys + (["peak_bytes"] if header["threads"] == 1 else []):
        same(key, sum(s[key] for s in sums.values()), p["totals"][key])
    live = sum(s["allocated_bytes"] - s["freed_bytes"] for s in sums.values())
    same("peak", max(header["peak_bytes"], live), p["totals"]["peak_bytes"])
    for number, name in COUNTS.items():
        for place in ("lost", "counts", "totals"):
            if name in p[place]:
                same(name, header["counts"][number], p[place][name])
    same("modules", {(mine.string(m["path"], m["path_bytes"]), m["build_id"][:m["build_id_bytes"]].hex(), m["base"])
                     for m in mine.table(1).values()},
         {(m["path"], m["build_id"] or "", m["base"]) for m in p["modules"]})
    marks = [m for m in mine.table(10).values() if m["sequence"]]
    same("marks", [m["label"].split(b"\0")[0].decode() for m in sorted(marks, key=lambda m: m["sequence"])],
         [m["label"] for m in p["marks"]])
    same("pools", {x["name"][:x["name_bytes"]].decode() for x in mine.table(12).values()},
         {x["name"] for x in p["pools"]})
    for s in p["sites"]:
        if s["sites"] == 1:
            compare_site(mine, s, live > header["peak_bytes"])
    return len(p["sites"])


def main(report, *paths):
    with open(report, encoding="utf-8") as file:
        theirs = {p["uuid"]: p for p in json.load(file)["processes"]}
    found, sites, lines = 0, 0, []
    for path in paths:
        with open(path, "rb") as file:  # most of it are holes: mapped, not read
            data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        for mine in segments(data, lines):
            p = theirs.pop(mine.header["uuid"].hex(), None)
            assert p, "the report lacks a process of " + path
            sites += compare(mine, p)
            found += 1
    keys = ("allocations", "allocated_bytes", "frees", "freed_bytes", "peak_bytes")
    same("children that ended early", sorted([line["pid"]] + [line[k] for k in keys] for line in lines),
         sorted([p["pid"]] + [p["totals"][k] for k in keys] for p in theirs.values()))
    print("%d processes with %d sites, %d early children compared" % (found, sites, len(lines)))


if __name__ == "__main__":
    main(*sys.argv[1:])
