# scan.py - looks for characters that hide in text, or change its order.
# SPDX-License-Identifier: Apache-2.0
"""
usage: scan.py names [FEW]       bytes for a name that holds such characters
       scan.py points            JSON: all code points that are hidden
       scan.py scan FORM:FILE...  complains of the first that is in a file
FORM is text, tab (may have tabs), csv (has CR), json (also decoded: valid),
html (a page, its data unpacked; decoded), pprof (its texts) or heaptrack.
"""
import base64
import gzip
import json
import os
import re
import sys
import unicodedata

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

MUST = ([*range(0x80, 0xa0)] + [0x61c, 0x200e, 0x200f] + [*range(0x202a, 0x202f)] +
        [*range(0x2066, 0x206a)] + [0xe0001] + [*range(0xe0020, 0xe0080)])
BAD = b"\xff\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80"  # no UTF-8: overlong, surrogate, too large


def names(few):
    """With `few`, short enough for the name of a file."""
    points = [p for p in MUST if not few or p < 0xe0020 or p in (0xe0041, 0xe007f)]
    return "".join(map(chr, points)).encode() + BAD


def is_hidden(char):
    # Cf: formats, Cc: controls, Zl, Zp: lines; newlines are the form's own
    return char != "\n" and unicodedata.category(char) in ("Cf", "Cc", "Zl", "Zp")


def scan_text(text, path, allowed=""):
    for number, line in enumerate(text.split("\n"), 1):
        for char in line:
            assert not is_hidden(char) or char in allowed, \
                f"{path}:{number}: U+{ord(char):04X} in {line[:300]!r}"


def strings(value):
    """All texts of decoded JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def scan(form, path):
    with open(path, "rb") as file:
        data = file.read()
    assert data, path + " is empty"
    if form == "pprof":
        import exports_read
        raw = gzip.decompress(data)
        table = [v.decode() for v in exports_read.message(raw)[6]]
        assert len(table) > 10
        for text in table:
            scan_text(text.replace("\n", "U+000A"), path)
        return
    if form == "heaptrack" and data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    text = data.decode()  # fails where it is no UTF-8
    scan_text(text, path, {"csv": "\r", "tab": "\t", "html": "\t"}.get(form, ""))
    if form in ("json", "shown"):
        decoded = json.loads(text)
        if form == "shown":  # for somebody's page: also what it decodes to
            for item in strings(decoded):
                scan_text(item, path)
    if form == "html":
        block = re.search(r'id="data">(.*?)</script>', text, re.S)
        raw = gzip.decompress(base64.b64decode(block[1]))
        head = raw[4:4 + int.from_bytes(raw[:4], "little")].decode()
        scan_text(head, path)  # the page itself cleans what it decodes
        json.loads(head)


if __name__ == "__main__":
    if sys.argv[1] == "names":
        sys.stdout.buffer.write(names(len(sys.argv) > 2))
    elif sys.argv[1] == "points":
        print(json.dumps([p for p in range(0x110000) if is_hidden(chr(p)) and
                          not 0xd800 <= p < 0xe000] + [10]))
    else:
        for word in sys.argv[2:]:
            scan(*word.split(":", 1))
