# scores.py - are the numbers of LEAK, GROWTH and STEADY the same in text, JSON and page?
# SPDX-License-Identifier: Apache-2.0
#
# usage: scores.py TEXT JSON PAGE_SCORES
#
# TEXT is a report, JSON the same with --format json, PAGE_SCORES what the head of the page has of
# its only process. All lines of LEAK and GROWTH and those of STEADY that are printed are compared.
import json
import re
import sys


def in_bytes(n):
    if n < 1024:
        return f"{n} byte" + ("" if n == 1 else "s")
    value = n / 1024
    for unit in ("KiB", "MiB", "GiB"):
        if value < 1023.95:
            break
        value /= 1024
    return f"{value:.1f} {unit}"


def in_time(seconds):
    s = int(seconds)
    if s == 0:
        return f"{int(seconds * 1000)} ms"
    if s < 60:
        return f"{s}.{int(seconds * 10) % 10} s"
    if s < 3600:
        return f"{s // 60} min {s % 60} s"
    if s < 86400:
        return f"{s // 3600} h {s // 60 % 60} min"
    return f"{s // 86400} d {s // 3600 % 24} h"


def share(part):
    percent = 100 * part
    if percent > 99.9:
        return "more than 99.9 %"
    return f"{percent:.1f} %" if percent > 99 else f"{percent:.0f} %"


# The line that the numbers of JSON make.
def line(v):
    rate = ""
    if v["rate"] is not None:
        rate = f" +{in_bytes(v['rate'])}/h ({in_bytes(v['rate_low'])} to {in_bytes(v['rate_high'])})"
    if v["class"] == "leak":
        blocks = f"{v['blocks']:,} block" + ("" if v["blocks"] == 1 else "s")
        return (f"LEAK {blocks} {in_bytes(v['bytes'])}{rate}: {share(v['siblings_freed'])} of their "
                f"siblings die within {in_time(v['siblings_within_s'])}")
    if v["class"] == "growth":
        return rf"GROWTH {in_bytes(v['bytes'])}{rate}: .*; a leak by {100 * v['confidence']:.0f} %"
    return f"STEADY {in_bytes(v['bytes'])}, built in the first {in_time(v['built_s'])}: .*"


# Lines with their continuations, one space between words.
def entries(text):
    found = []
    for row in text.splitlines():
        if re.match("(LEAK|GROWTH|STEADY) ", row):
            found.append(row)
        elif found and row.startswith("         "):
            found[-1] += row
        elif found:
            break
    return [" ".join(x.split()) for x in found]


def expected(report):
    wanted = []
    for process in report["processes"]:
        for site in process["sites"]:
            v = site.get("verdict")
            if v and v["basis"] in ("siblings", "inflow") and v["class"] != "churn":
                wanted.append(v)
    return wanted


def main():
    text, page = open(sys.argv[1]).read(), open(sys.argv[3]).read()
    with open(sys.argv[2]) as f:
        wanted = expected(json.load(f))
    for name, lines in (("text", entries(text)), ("page", entries(page))):
        assert lines, f"no lines in {name}"
        for x in lines:
            pattern = lambda v: ".*".join(re.escape(part) for part in line(v).split(".*"))
            assert any(re.match(pattern(v), x) for v in wanted), \
                f"{name}: {x}\nis none of\n" + "\n".join(line(v) for v in wanted)
        for kind in ("leak", "growth"):
            n = sum(v["class"] == kind for v in wanted)
            m = sum(x.startswith(kind.upper()) for x in lines)
            assert n == m, f"{name}: {m} lines of {kind}, JSON has {n}"
    print(f"{len(entries(text))} lines are equal")


main()
