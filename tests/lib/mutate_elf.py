#!/usr/bin/env python3
# mutate_elf.py - a damaged copy of an ELF file, by a seed.
# SPDX-License-Identifier: Apache-2.0
"""usage: mutate_elf.py FROM TO SEED

Changes some bytes of headers, section headers, symbol tables or debug sections;
what is loaded and the build-id stay, so that a reader takes the file for the one
that ran.
"""
import random
import struct
import sys


def sections(data):
    shoff, = struct.unpack_from("<Q", data, 40)
    shentsize, shnum, shstrndx = struct.unpack_from("<HHH", data, 58)
    heads = [struct.unpack_from("<IIQQQQ", data, shoff + i * shentsize)
             for i in range(shnum)]
    strings = heads[shstrndx][4]
    for name, kind, flags, _, offset, size in heads:
        end = data.index(b"\0", strings + name)
        yield data[strings + name:end].decode(), kind, flags, offset, size


def main(source, target, seed):
    chance = random.Random(int(seed))
    with open(source, "rb") as f:
        data = bytearray(f.read())
    shoff, = struct.unpack_from("<Q", data, 40)
    shentsize, shnum = struct.unpack_from("<HH", data, 58)
    places = [(shoff, shentsize * shnum)] * 2
    for name, kind, flags, offset, size in sections(data):
        # 8: no bits in the file; 2: SHF_ALLOC, what is loaded
        if kind != 8 and size > 0 and (not flags & 2 or name == ".dynsym"):
            places.append((offset, size))
            if name in (".debug_info", ".debug_abbrev", ".debug_line"):
                places += [(offset, size)] * 2
    for _ in range(chance.choice([1, 2, 5, 20, 100])):
        offset, size = chance.choice(places)
        at = offset + chance.randrange(size)
        how = chance.randrange(4)
        if how == 0:
            data[at] = chance.randrange(256)
        elif how == 1:
            data[at] ^= 1 << chance.randrange(8)
        elif how == 2:
            value = chance.choice([0, 255, 0x7f, 0x80])
            for i in range(min(chance.choice([1, 4, 8]), len(data) - at)):
                data[at + i] = value
        else:
            n = min(chance.randrange(64), size)
            other = offset + chance.randrange(size - n + 1)
            data[at:at + n] = data[other:other + len(data[at:at + n])]
    with open(target, "wb") as f:
        f.write(data)


main(*sys.argv[1:])
