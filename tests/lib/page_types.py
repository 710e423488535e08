#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""page_types.py PAGE JSON [insight]: a browser shows the types of JSON in the table of PAGE, both of one process, with equal figures.

A click on a heading sorts the table, and nothing stands out of a narrow window.
"""
import json
import sys

from browser import Browser
from page_cases import TOO_WIDE

ROWS = "[...document.querySelectorAll('table.census')[0].tBodies[0].rows].map((r) => [...r.cells].map((c) => c.textContent))"


def main():
    page, answer = sys.argv[1:3]
    report = json.load(open(answer))
    types = report["types"]
    bad = []
    with Browser() as b:
        b.open(page)
        rows = b.eval(ROWS)
        if len(rows) != len(types):
            bad.append(f"{len(rows)} rows instead of {len(types)}")
        for row, t in zip(rows, types):
            name = t["type"] + (f" in {t['container']}" if t["container"] else "")
            grown = t["blocks"] - t["before_blocks"] if "before_blocks" in t else None
            if grown is not None:
                if row.pop(0).replace("\u2212", "-") != (f"{grown:+,}" if grown else "0"):
                    bad.append(f"{row}: not {grown} more")
                row.pop(0)
            if (row[0], row[2], row[3]) != (f"{t['blocks']:,}", t["basis"], name):
                bad.append(f"{row} instead of {t}")
        b.eval("document.querySelector('table.census th button').click()")
        counts = [int(row[0].replace(",", "").replace("\u2212", "-")) for row in b.eval(ROWS)]
        if counts != sorted(counts, reverse=True):
            bad.append(f"not sorted: {counts}")
        if "insight" in sys.argv[3:] and b.eval("document.querySelectorAll('table.census').length") != 2:
            bad.append("no table of what could be given back")
        text = b.eval("document.querySelector('#census').textContent")
        if f"{report['processes'][0]['census']['untyped']['blocks']:,} blocks" not in text:
            bad.append(f"how much has no type: {text[:200]}")
        b.size(400, 900)
        wide = b.eval(TOO_WIDE)
        if wide:
            bad.append(f"too wide: {wide}")
        bad += b.complaints
    print("\n".join(bad) or f"{len(types)} types: all right")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
