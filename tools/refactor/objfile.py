# SPDX-License-Identifier: Apache-2.0
"""objfile.py - reads 64-bit little-endian ELF object files: sections, symbols, relocations, and
functions as text without addresses (by objdump), for same-objects and check-unused."""
import bisect
import os
import re
import struct
import subprocess

SHT_SYMTAB, SHT_RELA, SHT_NOBITS = 2, 4, 8
SHF_WRITE, SHF_ALLOC, SHF_EXEC, SHF_MERGE, SHF_STRINGS = 1, 2, 4, 0x10, 0x20
STB = {0: "local", 1: "global", 2: "weak", 10: "unique"}
STV = {0: "default", 1: "internal", 2: "hidden", 3: "protected"}
STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_SECTION, STT_FILE, STT_TLS, STT_IFUNC = 0, 1, 2, 3, 4, 6, 10
SPECIAL = {0: "undefined", 0xFFF1: "absolute", 0xFFF2: "common"}

# x86-64: relocations whose value is relative to the place, so that the distance
# from the field to the end of the instruction is part of the addend
PC_RELATIVE = {2, 4, 9, 19, 20, 22, 26, 34, 41, 42}
RELOCATION = {1: "64", 2: "pc", 4: "pc", 9: "got", 10: "32", 11: "32s", 19: "tlsgd", 20: "tlsld",
              21: "dtpoff", 22: "gottpoff", 23: "tpoff", 41: "got", 42: "got"}

NUMBERING = re.compile(r"\.\d+(?=\.|$)")


class NotAnObject(Exception):
    pass


class Section:
    __slots__ = ("name", "type", "flags", "size", "align", "entsize", "data", "info", "link")

    def zeros(self):
        return self.type == SHT_NOBITS


class Symbol:
    __slots__ = ("name", "bind", "type", "visibility", "shndx", "value", "size")


class Object:
    """One .o file. `rename` is applied to each symbol's name."""

    def __init__(self, path, rename=None):
        self.path = path
        self.rename = rename or (lambda name: name)
        with open(path, "rb") as f:
            raw = f.read()
        if raw[:6] != b"\x7fELF\x02\x01":
            raise NotAnObject(f"{path}: not an ELF object of 64 bits, little-endian")
        self.machine = struct.unpack_from("<H", raw, 18)[0]
        shoff = struct.unpack_from("<Q", raw, 40)[0]
        shnum, shstrndx = struct.unpack_from("<HH", raw, 60)
        heads = [struct.unpack_from("<IIQQQQIIQQ", raw, shoff + 64 * i) for i in range(shnum)]
        names = raw[heads[shstrndx][4]:heads[shstrndx][4] + heads[shstrndx][5]]
        self.sections, self.symbols, self.relocations = [], [], {}
        symtab = None
        for i, (name, kind, flags, _, offset, size, link, info, align, entsize) in enumerate(heads):
            s = Section()
            s.name = names[name:names.index(b"\0", name)].decode()
            s.type, s.flags, s.size, s.align, s.entsize = kind, flags, size, align, entsize
            s.info, s.link = info, link
            s.data = b""
            if kind in (SHT_SYMTAB, SHT_RELA) or flags & SHF_ALLOC and kind != SHT_NOBITS:
                s.data = raw[offset:offset + size]
            self.sections.append(s)
            if kind == SHT_SYMTAB:
                symtab = i
        if symtab is not None:
            head = heads[heads[symtab][6]]
            self.read_symbols(self.sections[symtab].data, raw[head[4]:head[4] + head[5]])
        for s in self.sections:
            if s.type == SHT_RELA and self.sections[s.info].flags & SHF_ALLOC:
                entries = [(o, i & 0xFFFFFFFF, i >> 32, a)
                           for o, i, a in struct.iter_unpack("<QQq", s.data)]
                self.relocations[s.info] = sorted(entries)

    def read_symbols(self, table, strings):
        for name, info, other, shndx, value, size in struct.iter_unpack("<IBBHQQ", table):
            s = Symbol()
            s.name = self.rename(strings[name:strings.index(b"\0", name)].decode())
            s.bind, s.type, s.visibility = STB.get(info >> 4, info >> 4), info & 15, STV[other & 3]
            s.shndx, s.value, s.size = shndx, value, size
            self.symbols.append(s)

    def place(self, shndx):
        return SPECIAL.get(shndx) or self.sections[shndx].name

    def allocated(self):
        """(name, index), where the second section of a name gets a number."""
        seen = {}
        for i, s in enumerate(self.sections):
            if s.flags & SHF_ALLOC:
                n = seen[s.name] = seen.get(s.name, 0) + 1
                yield s.name if n == 1 else f"{s.name}({n})", i

    def target(self, index, addend):
        """Symbol and addend of a relocation; a local symbol is its section and place."""
        s = self.symbols[index]
        if s.bind != "local":
            return s.name, 0, addend
        return "section " + self.place(s.shndx), s.value, addend

    def globals(self):
        return {s.name: (s.bind, s.visibility, s.type, s.size, self.place(s.shndx), s.value)
                for s in self.symbols if s.bind != "local" and s.name}


NOP = re.compile(r"(data16 |cs )*(nop\w?\b|xchg\s+%ax,%ax$)")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\t(.*?)\s*$")
COMMENT = re.compile(r"\s+# ([0-9a-f]+) <.*$")
BRANCH = re.compile(r"^((?:(?:bnd|notrack|data16|rex\.W) )*(?:j\w+|call|loop\w*|xbegin)(?:,p[nt])?)\s+([0-9a-f]+) <.*$")
DISPLACEMENT = re.compile(r"-?0x[0-9a-f]+\(%rip\)")


class Body:
    """A function or a variable, as text that says nothing of where it lies."""
    __slots__ = ("name", "lines")

    def __init__(self, name, lines):
        self.name, self.lines = name, lines


class Functions:
    """All functions and variables of an object, as text."""

    def __init__(self, obj):
        self.obj = obj
        self.starts = {}  # section -> sorted starts
        self.named = {}  # (section, start) -> symbols there
        self.anchors = {}  # section -> places of variables, and where nameless data is referred to
        self.code = {}  # section -> [(address, end, text)]
        self.indices = {}  # (section, start) -> addresses of instructions that are not padding
        for s in obj.symbols:
            if not 0 < s.shndx < len(obj.sections) or s.type in (STT_SECTION, STT_FILE):
                continue
            section = obj.sections[s.shndx]
            if not section.flags & SHF_ALLOC or s.name.startswith(".L") or not s.name:
                continue
            self.named.setdefault((s.shndx, s.value), []).append(s)
        for shndx, value in self.named:
            self.starts.setdefault(shndx, []).append(value)
        for starts in self.starts.values():
            starts.sort()
        for symbols in self.named.values():
            symbols.sort(key=lambda s: (s.bind == "local", s.name))
        self.disassemble()
        self.collect_anchors()

    @staticmethod
    def plain(symbol):
        return symbol.name if symbol.bind != "local" else NUMBERING.sub("", symbol.name)

    def disassemble(self):
        executable = {n: i for n, i in self.obj.allocated() if self.obj.sections[i].flags & SHF_EXEC}
        if not any(self.obj.sections[i].size for i in executable.values()):
            return
        out = subprocess.run(["objdump", "-d", "-z", "-w", "--no-show-raw-insn", self.obj.path], check=True,
                             capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout
        code, seen = None, {}
        for line in out.split("\n"):
            if line.startswith("Disassembly of section "):
                name = line[23:-1]
                n = seen[name] = seen.get(name, 0) + 1
                code = self.code.setdefault(executable[name if n == 1 else f"{name}({n})"], [])
                continue
            found = INSTRUCTION.match(line)
            if found and code is not None:
                code.append([int(found.group(1), 16), 0, found.group(2)])
        for section, code in self.code.items():
            for here, following in zip(code, code[1:]):
                here[1] = following[0]
            if code:
                code[-1][1] = self.obj.sections[section].size

    def extent(self, section, start):
        """Where the function or variable at `start` ends."""
        size = max(s.size for s in self.named[section, start])
        if size:
            return start + size
        starts = self.starts[section]
        at = bisect.bisect_right(starts, start)
        return starts[at] if at < len(starts) else self.obj.sections[section].size

    def within(self, section, first, end):
        entries = self.obj.relocations.get(section, [])
        return entries[bisect.bisect_left(entries, (first,)):bisect.bisect_left(entries, (end,))]

    def destination(self, entry, end):
        """(symbol of another object or None, section, offset) that a relocation names; `end` is that of
        the instruction, or None in data."""
        offset, kind, index, addend = entry
        symbol = self.obj.symbols[index]
        if kind in PC_RELATIVE and end is not None:
            addend += end - offset
        if symbol.bind != "local" or symbol.shndx == 0:
            return symbol.name, 0, addend
        return None, symbol.shndx, symbol.value + addend

    def collect_anchors(self):
        for section, code in self.code.items():
            for address, end, _ in code:
                for entry in self.within(section, address, end):
                    self.anchor(entry, end)
        for section in self.obj.relocations:
            if section not in self.code and not self.obj.sections[section].name.startswith(".eh_frame"):
                for entry in self.obj.relocations[section]:
                    self.anchor(entry, None)
        for section, starts in self.starts.items():
            self.anchors.setdefault(section, set()).update(starts)
        self.anchors = {section: sorted(places) for section, places in self.anchors.items()}

    def anchor(self, entry, end):
        name, section, offset = self.destination(entry, end)
        if name is None and section in range(1, len(self.obj.sections)) and section not in self.code:
            self.anchors.setdefault(section, set()).add(offset)

    def index(self, section, start, offset):
        """Number of the instruction at `offset`: not its distance, which depends on padding."""
        key = section, start
        if key not in self.indices:
            self.indices[key] = [a for a, _, text in self.instructions(section, start) if not NOP.match(text)]
        return bisect.bisect_left(self.indices[key], offset)

    def instructions(self, section, start):
        code = self.code.get(section, [])
        first = bisect.bisect_left(code, [start])
        return code[first:bisect.bisect_left(code, [self.extent(section, start)])]

    def around(self, section, offset):
        """The last symbol at or before `offset`."""
        starts = self.starts.get(section, [])
        at = bisect.bisect_right(starts, offset) - 1
        return starts[at] if at >= 0 else None

    def describe(self, section, offset, inside=None, depth=0):
        """A place of this object in words that hold wherever it lies."""
        if not 0 < section < len(self.obj.sections):
            return f"{SPECIAL.get(section, section)}+{offset:#x}"
        s = self.obj.sections[section]
        start = self.around(section, offset)
        if s.flags & SHF_EXEC:
            if start is None:
                return f"{s.name}+{offset:#x}"
            if start == inside and offset != start:
                return f"#{self.index(section, start, offset)}"
            name = self.plain(self.named[section, start][0])
            return name if offset == start else f"{name}#{self.index(section, start, offset)}"
        if start is not None and offset < max(self.extent(section, start), start + 1):
            name = self.plain(self.named[section, start][0])
            return name if offset == start else f"{name}+{offset - start:#x}"
        if s.flags & SHF_STRINGS and 0 <= offset < s.size:
            return repr(s.data[offset:s.data.find(b"\0", offset)])[1:]
        if s.flags & SHF_MERGE and 0 <= offset < s.size:
            return s.data[offset:offset + s.entsize].hex()
        if s.type != SHT_NOBITS and 0 <= offset < s.size and depth < 4:
            anchors = self.anchors.get(section, [])
            at = bisect.bisect_right(anchors, offset)
            end = anchors[at] if at < len(anchors) else s.size
            return "{" + " ".join(self.contents(section, offset, end, inside, depth + 1)) + "}"
        if start is not None:
            return f"{self.plain(self.named[section, start][0])}+{offset - start:#x}"
        return f"{s.name}+{offset:#x}"

    def contents(self, section, first, end, inside=None, depth=0):
        """Bytes and references of data, padding at the end left out."""
        s = self.obj.sections[section]
        if s.type == SHT_NOBITS:
            return [f"{end - first} bytes of zeros"]
        out, at = [], first
        for entry in self.within(section, first, end):
            offset, kind, _, addend = entry
            if s.data[at:offset].strip(b"\0"):
                out.append(f"+{at - first:#x}:{s.data[at:offset].hex()}")
            name, where, place = self.destination(entry, None)
            if kind in PC_RELATIVE:  # an entry of a jump table counts from its begin
                place -= offset - first
            what = f"{name}+{addend:#x}" if name is not None else self.describe(where, place, inside, depth)
            out.append(f"+{offset - first:#x}:{RELOCATION.get(kind, kind)}:{what}")
            at = offset + (4 if kind in PC_RELATIVE or kind in (10, 11) else 8)
        rest = s.data[at:end].rstrip(b"\0")
        if rest:
            out.append(f"+{at - first:#x}:{rest.hex()}")
        return out

    def line(self, section, start, address, end, text):
        entries = self.within(section, address, end)
        comment = COMMENT.search(text)
        text = COMMENT.sub("", text)
        branch = BRANCH.match(text)
        if branch:
            if not entries:
                return f"{branch.group(1)} {self.describe(section, int(branch.group(2), 16), start)}"
            text = branch.group(1)
        elif comment and not entries:
            goal = self.describe(section, int(comment.group(1), 16), start)
            return DISPLACEMENT.sub(f"{goal}(%rip)", text)
        for entry in entries:
            name, where, place = self.destination(entry, end)
            kind = RELOCATION.get(entry[1], str(entry[1]))
            if name is None:
                goal = self.describe(where, place, start)
            else:
                goal = name if not place else f"{name}+{place:#x}"
            text += f" {goal}" if kind == "pc" and branch else f" {kind}:{goal}"
        return " ".join(text.split())

    def functions(self):
        for (section, start), symbols in sorted(self.named.items()):
            if not self.obj.sections[section].flags & SHF_EXEC:
                continue
            lines = [self.line(section, start, address, end, text)
                     for address, end, text in self.instructions(section, start) if not NOP.match(text)]
            for name in sorted({self.plain(s) for s in symbols}):
                yield Body(name, lines)

    def variables(self):
        for (section, start), symbols in sorted(self.named.items()):
            s = self.obj.sections[section]
            if s.flags & SHF_EXEC:
                continue
            kind = ("" if s.flags & SHF_WRITE else "const ") + ("zeros " if s.zeros() else "")
            end = self.extent(section, start)
            for symbol in symbols:
                yield Body(self.plain(symbol),
                           [f"{kind}{end - start} bytes", *self.contents(section, start, end)])
        for name, section in self.obj.allocated():
            if re.match(r"\.(init_array|fini_array|preinit_array|ctors|dtors)", name):
                for entry in self.obj.relocations.get(section, []):
                    yield Body(name, self.contents(section, entry[0], entry[0] + 8))
