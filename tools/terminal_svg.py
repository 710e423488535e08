#!/usr/bin/env python3
# terminal_svg.py - what a terminal shows (tmux capture-pane -e) as an SVG.
# SPDX-License-Identifier: Apache-2.0
"""usage: tmux capture-pane -e -p | terminal_svg.py TITLE COLUMNS >FILE.svg"""
import re
import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 8.43, 19  # of a cell, of a font of 14 pixels
MARGIN, BAR = 18, 34
STYLES = {1: "b", 2: "d", 4: "l", 7: "v", 31: "r", 32: "g", 33: "y", 34: "u", 35: "m", 36: "c"}
SHEET = """
text { font: 14px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono",
  monospace; fill: #d8dee4; white-space: pre; }
.b { font-weight: 700; fill: #ffffff; } .d { fill: #8b96a1; } .r { fill: #f08a75; }
.g { fill: #8fce8f; } .y { fill: #e0b458; } .u { fill: #7ab5ee; }
.v, .v.b { fill: #15191e; } .l { text-decoration: underline; }
 .m { fill: #c9a0e0; } .c { fill: #4cc3d9; } .t { fill: #8b96a1; font-size: 12px; }
"""


def pieces(line, style):
    """(style, text) of a line with escapes; `style` goes on in the next line."""
    at = 0
    for m in re.finditer(r"\x1b\[([0-9;]*)m", line):
        if m.start() > at:
            yield style_of(style), line[at:m.start()]
        at = m.end()
        for code in (int(x or 0) for x in m.group(1).split(";")):
            if code == 0:
                style.clear()
            elif code in (22, 24, 27, 39):
                style -= {22: {"b", "d"}, 24: {"l"}, 27: {"v"}}.get(code, set(STYLES.values()) - set("bdlv"))
            elif code in STYLES:
                style.add(STYLES[code])
    if at < len(line):
        yield style_of(style), line[at:]


def style_of(style):
    return [s for s in sorted(style) if s in "blv" or "v" not in style]


def main():
    title, columns = sys.argv[1], int(sys.argv[2])
    lines = sys.stdin.read().rstrip("\n").split("\n")
    wide = round(columns * WIDTH + 2 * MARGIN)
    high = BAR + len(lines) * HEIGHT + MARGIN
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" '
          f'viewBox="0 0 {wide} {high}"><style>{SHEET}</style>')
    print(f'<rect width="{wide}" height="{high}" rx="8" fill="#15191e"/>')
    for i, colour in enumerate(("#e0685c", "#e0b458", "#7dbb7d")):
        print(f'<circle cx="{20 + 18 * i}" cy="17" r="5.5" fill="{colour}"/>')
    print(f'<text class="t" x="{wide / 2}" y="21" text-anchor="middle">'
          f"{escape(title)}</text>")
    going = set()
    for i, line in enumerate(lines):
        spans, column = [], 0
        for style, text in pieces(line, going):
            if "v" in style:
                print(f'<rect x="{MARGIN + column * WIDTH - 1:.1f}" y="{BAR + i * HEIGHT}" '
                      f'width="{len(text) * WIDTH + 1:.1f}" height="{HEIGHT}" fill="#c3ccd4"/>')
            # each piece has its own place: fonts differ in width
            name = f' class="{" ".join(style)}"' if style else ""
            spans.append(f'<tspan{name} x="{MARGIN + column * WIDTH:.1f}" '
                         f'textLength="{len(text) * WIDTH:.1f}">{escape(text)}</tspan>')
            column += len(text)
        if spans:
            print(f'<text y="{BAR + (i + 1) * HEIGHT - 5}">{"".join(spans)}</text>')
    print("</svg>")


main()
