#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""page_held.py PAGE JSON: a browser shows the holders and sites of JSON (seep leaks --retained) in the tables of PAGE, with equal figures."""
import json
import sys

from browser import Browser
from page_cases import TOO_WIDE

ROWS = "[...document.querySelectorAll('#held table')[%d].tBodies[0].rows].map((r) => [...r.cells].map((c) => c.textContent))"


def main():
    page, answer = sys.argv[1:]
    report = json.load(open(answer))
    bad = []
    with Browser() as b:
        b.open(page)
        holders, sites = b.eval(ROWS % 0), b.eval(ROWS % 1)
        want = [f"{r['retained_blocks']:,}" for r in report["retained"]]
        if [row[1] for row in holders] != want:
            bad.append(f"{holders} instead of {want}")
        names = [r["way"][0]["name"] for r in report["retained"]]
        for row, name in zip(holders, names):
            if name and f"`{name}`" not in row[2]:
                bad.append(f"{row} has no {name}")
        order = sorted(report["sites"], key=lambda s: -s["retained_bytes"])
        shown = sorted((row[2], row[3], row[4]) for row in sites)
        want = sorted((f"{s['live_blocks']:,}", str(s["id"] or ""), s["function"]) for s in order[:500])
        if shown != want:
            bad.append(f"{shown[:5]} instead of {want[:5]}")
        b.size(400, 900)
        wide = b.eval(TOO_WIDE)
        if wide:
            bad.append(f"too wide: {wide}")
        bad += b.complaints
    print("\n".join(bad) or f"{len(holders)} holders, {len(sites)} sites: all right")
    return 1 if bad or len(holders) < 12 else 0


if __name__ == "__main__":
    sys.exit(main())
