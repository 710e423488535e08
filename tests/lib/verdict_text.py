# verdict_text.py - holds verdicts in a text report against those in JSON.
# SPDX-License-Identifier: Apache-2.0
"""
usage: verdict_text.py REPORT.json TEXT, of a report without filters, at least 200
columns wide. Every line LEAK and POSSIBLE has the numbers of sites of the JSON, and
every such site is in a line.
"""
import json
import re
import sys

CLASS = {"LEAK": "leak", "POSSIBLE": "possible"}


def size(n):
    """As words_bytes() writes it."""
    if n < 1024:
        return "1 byte" if n == 1 else f"{n} bytes"
    value, i = n / 1024, 0
    while value >= 1023.95:
        value, i = value / 1024, i + 1
    return f"{value:.1f} {['KiB', 'MiB', 'GiB', 'TiB'][i]}"


def blocks(n):
    return f"{n:,} block{'' if n == 1 else 's'}"


def expected(report):
    """What the lines begin with: sites of one process that look the same are one."""
    found = {}
    for p in report["processes"]:
        for s in p["sites"]:
            verdict = s["verdict"]
            while verdict:
                key = (p["pid"], verdict["class"],
                       json.dumps([f["function"] for f in s["frames"]]))
                parts = found.setdefault(key, [0, 0, None])
                parts[0] += verdict["blocks"]
                parts[1] += verdict["bytes"]
                parts[2] = verdict["rate"]
                verdict = verdict.get("also")
    return sorted((kind, f"{blocks(n)} {size(b)}" +
                   (f" +{size(round(rate))}/h" if rate else ""))
                  for (_, kind, _), (n, b, rate) in found.items())


def told(text):
    lines = re.findall(r"^(LEAK|POSSIBLE) +(\d[\d,]* blocks? [\d.]+ \w+(?: \+[\d.]+ \w+/h)?):",
                       text, re.M)
    return sorted((CLASS[word], figures) for word, figures in lines)


def main(report_path, text_path):
    with open(report_path, encoding="utf-8") as f:
        report = json.load(f)
    with open(text_path, encoding="utf-8") as f:
        text = f.read()
    wanted, got = expected(report), told(text)
    if wanted != got or not wanted:
        print(f"text {got}\nJSON {wanted}")
        return 1
    for p in report["processes"]:
        lost = p["leaks"].get("leak", {"blocks": 0})
        sentence = f"{blocks(lost['blocks'])} ({size(lost.get('bytes', 0))}) leaked"
        if lost["blocks"] and sentence not in text:
            print(f"no sentence {sentence}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
