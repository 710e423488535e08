#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""vtable_oracle.py JSON [LEAST]: the types of `seep leaks --types` are those of the files, read without the process.

For each vtable that the census names, the file of its module is read: its relocations say to which typeinfo and to
which name the vtable leads, and symbol tables, where they have it, of which class it is. Both are demangled by
llvm-cxxfilt and compared with the type of the census. LEAST: so many must have been compared.
"""
import bisect
import json
import re
import struct
import subprocess
import sys

R_64, R_COPY, R_GLOB_DAT, R_RELATIVE = 1, 5, 6, 8
PT_LOAD, SHT_SYMTAB, SHT_RELA, SHT_DYNSYM = 1, 2, 4, 11
TYPEINFOS = {f"_ZTVN10__cxxabiv1{len(n)}{n}E" for n in ("__class_type_info", "__si_class_type_info", "__vmi_class_type_info")}


class File:
    def __init__(self, path):
        self.bytes = open(path, "rb").read()
        header = struct.unpack_from("<16sHHIQQQIHHHHHH", self.bytes)
        segments = [struct.unpack_from("<IIQQQQQQ", self.bytes, header[5] + i * header[9]) for i in range(header[10])]
        self.loads = [(s[3], s[3] + s[5], s[2]) for s in segments if s[0] == PT_LOAD]
        sections = [struct.unpack_from("<IIQQQQIIQQ", self.bytes, header[6] + i * header[11]) for i in range(header[12])]
        self.relocations, self.vtables = {}, []
        for s in sections:
            if s[1] == SHT_RELA:
                self.read_relocations(s, sections)
            if s[1] in (SHT_SYMTAB, SHT_DYNSYM):
                self.read_vtables(s, sections)
        self.vtables.sort()

    def text(self, offset):
        return self.bytes[offset:self.bytes.index(b"\0", offset)].decode("ascii", "replace")

    def read_relocations(self, section, sections):
        symbols = sections[section[6]] if section[6] < len(sections) else None
        for place, info, addend in struct.iter_unpack("<QQq", self.bytes[section[4]:section[4] + section[5]]):
            kind, number = info & 0xFFFFFFFF, info >> 32
            if kind == R_RELATIVE:
                self.relocations[place] = ("", 0, addend)
            elif kind in (R_64, R_GLOB_DAT, R_COPY) and number:
                name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", self.bytes, symbols[4] + number * 24)
                self.relocations[place] = (self.text(sections[symbols[6]][4] + name), value, addend)

    def read_vtables(self, section, sections):
        strings = sections[section[6]][4]
        for name, _, _, index, value, size in struct.iter_unpack("<IBBHQQ", self.bytes[section[4]:section[4] + section[5]]):
            if index and self.bytes[strings + name:strings + name + 4] == b"_ZTV":
                self.vtables.append((value, value + size, self.text(strings + name)))

    def offset(self, address):
        for start, end, offset in self.loads:
            if start <= address < end:
                return offset + address - start
        return None

    def word(self, address):
        """(symbol, value): an address of this file has symbol ""."""
        if address in self.relocations:
            symbol, value, addend = self.relocations[address]
            return (symbol, addend) if symbol and not value else ("", value + addend)
        offset = self.offset(address)
        return ("", struct.unpack_from("<Q", self.bytes, offset)[0]) if offset is not None else ("", 0)

    def vtable_symbol(self, address):
        address -= 8  # its typeinfo; behind it there may be no function
        i = bisect.bisect_right(self.vtables, (address, 1 << 64, ""))
        if i and self.vtables[i - 1][0] <= address < self.vtables[i - 1][1]:
            return self.vtables[i - 1][2]
        return None


def name_of(f, vtable):
    """The mangled name of the class, by relocations; None: it is not to be had from the file alone."""
    symbol, info = f.word(vtable - 8)
    if symbol:
        return symbol[4:] if symbol.startswith("_ZTI") else "?" + symbol
    kind, value = f.word(info)
    if kind and kind not in TYPEINFOS:
        return "?" + kind
    if not kind and info in f.relocations and (copied := f.relocations.get(value - 16)) and copied[0] not in TYPEINFOS:
        return "?" + copied[0]
    symbol, name = f.word(info + 8)
    if symbol.startswith("_ZTS"):
        return symbol[4:]
    offset = f.offset(name)
    return None if offset is None else f.text(offset).lstrip("*")


def demangled(names, by="llvm-cxxfilt-14"):
    """Of names of types and of symbols."""
    answer = subprocess.run([by, "--types"], input="\n".join(names), capture_output=True, text=True,
                            check=True).stdout.split("\n")
    return dict(zip(names, answer))


def same(a, b):
    return a.replace(" ", "") == b.replace(" ", "")


def control(name):
    """The object's type, where a control block has it in itself."""
    m = re.match(r"std::_Sp_counted_ptr_inplace<(.*), std::allocator<", name)
    return m.group(1) if m else None


def main():
    report, least = json.load(open(sys.argv[1])), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    files, rows, bad, by_symbol = {}, [], [], 0
    for t in report["types"]:
        place = t.get("vtable")
        if not place:
            continue
        f = files.setdefault(place["module"], None) or File(place["module"])
        files[place["module"]] = f
        rows.append((t["type"], name_of(f, place["offset"]), f.vtable_symbol(place["offset"])))
    names = sorted({n for _, n, s in rows if n} | {s for _, _, s in rows if s})
    plain = demangled(names)
    gnu = demangled(names, "c++filt")  # the two write lambdas differently
    for shown, name, symbol in rows:
        if not name:
            bad.append(f"{shown}: the file has no name there")
        elif shown != name and not same(shown, plain[name]) and not same(shown, control(plain[name]) or "") and \
                not same(shown, gnu[name]) and not same(shown, control(gnu[name]) or ""):
            bad.append(f"{shown}: the file says {plain[name]}")
        if symbol:
            by_symbol += 1
            if name and plain[symbol] not in ("vtable for " + plain[name], "vtable for " + name) and \
                    symbol != "_ZTV" + name:
                bad.append(f"{shown}: the symbol is {plain[symbol]}")
    print("\n".join(bad) or f"{len(rows)} vtables in {len(files)} files are right, {by_symbol} of them by their symbols, too")
    return 1 if bad or len(rows) < least else 0


sys.exit(main())
