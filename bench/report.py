# report.py - the figures as a table and as a plot.
# SPDX-License-Identifier: Apache-2.0
import json
import math
import os
from html import escape

COLOURS = {"floor": "#9a9a9a", "seep": "#0072b2", "seep-sampled": "#56b4e9", "seep-dormant": "#a6d4ee",
           "seep-log": "#004d7a", "seep-log-empty": "#7fa6bd", "seep-last": "#3f6f8f", "seep-again": "#3f6f8f", "seep-no-guess": "#9cc3d5", "seep-no-guess-again": "#9cc3d5", "heaptrack": "#d55e00",
           "heaptrack-r": "#e8a070", "unwind": "#009e73", "jemalloc": "#e6d9a0", "jemalloc-512k": "#d8c25a", "jemalloc-all": "#b8960c",
           "gperftools": "#cc79a7", "lsan": "#7a5195", "memcheck": "#222222", "massif": "#444444", "dhat": "#777777"}


def names(result):
    return [v["name"] for v in result["variants"]]


def table(head, rows):
    def line(cells):
        return "| " + " | ".join(cells) + " |"
    return [line(head), "|" + "---|" * len(head)] + [line(r) for r in rows] + [""]


def both(s):
    return f"{s['min']:,.1f} / {s['median']:,.1f}"


def grid(cases, variants, cell):
    """One row per case, one column per variant that has anything to say."""
    shown = [v for v in variants if any(v in c for c in cases.values())]
    rows = [[case] + [cell(by[v], by, v) if v in by else "" for v in shown] for case, by in cases.items()]
    return table([""] + shown, rows)


def micro_tables(cases, variants):
    loops = {k: c for k, c in cases.items() if k != "short run"}
    many = {k: c for k, c in loops.items() if "threads" in k and not k.endswith(" 2 threads")}
    ways = {k: c for k, c in loops.items() if k.startswith("20 frames")}
    heaps = {k: c for k, c in loops.items() if k.endswith(" live") and k.startswith("1 way")}
    few = {k: c for k, c in loops.items() if not any(k in part for part in (many, ways, heaps))}
    others = [v for v in variants if v != "native"]

    def added(key):
        return lambda row, by, _: f"{row[key]['min'] - by['native'][key]['min']:,.1f} / {row[key]['median'] - by['native'][key]['median']:,.1f}"

    out = ["## Micro: ns per malloc+free pair", "",
           "Minimum / median. A pair is one malloc and one free of 16 to 512 bytes. `added` is the figure less the native one.", ""]
    if few:
        out += ["Native, in the loop:", ""]
        out += grid(few, ["native"], lambda row, *_: both(row["loop_ns"]))
        out += ["Added, in the loop, wall time:", ""]
        out += grid(few, others, added("loop_ns"))
    for part, what in ((ways, "Stacks that vary: 20 frames, the outer four drawn at random, each stack seen before"),
                       (heaps, "Large heaps: one stack, a random block of so many is replaced")):
        if part:
            out += [f"{what}. Native, and added in the loop, wall time:", ""]
            out += grid(part, ["native"], lambda row, *_: both(row["loop_ns"]))
            out += grid(part, others, added("loop_ns"))
    if many:
        out += ["More threads than CPUs: added CPU time per pair, whole run, thread start and helpers included:", ""]
        out += grid(many, others, added("cpu_op_ns"))
    out += ["CPU time of all processes over the whole run, added, ns per pair:", ""]
    out += grid(loops, others, added("cpu_op_ns"))
    short, one = cases.get("short run"), cases.get("depth 30")
    if short and one and "heaptrack" in one:
        out += ["### How long the run is decides what heaptrack costs per pair", "",
                "Its second process needs a while to start, and the program waits on a full pipe meanwhile. Depth 30, added ns per pair "
                "(minimum / median):", ""]
        rows = []
        for label, case, key in (("steady state, 1,000,000 pairs, in the loop, wall", one, "loop_ns"),
                                 ("the same, CPU of all processes", one, "cpu_op_ns"),
                                 ("short run, 40,000 pairs, whole run, wall", short, "wall_op_ns"),
                                 ("the same, CPU of all processes", short, "cpu_op_ns"),
                                 ("the same, in the loop, wall", short, "loop_ns")):
            row = [label]
            for v in ("seep", "heaptrack", "heaptrack-r"):
                row.append(added(key)(case[v], case, v) if v in case else "")
            if "seep" in case and "heaptrack" in case:
                d = {v: case[v][key]["min"] - case["native"][key]["min"] for v in ("seep", "heaptrack")}
                row.append(f"{d['heaptrack'] / max(d['seep'], 0.5):,.0f}")
            rows.append(row)
        out += table(["", "seep", "heaptrack", "heaptrack -r", "heaptrack / seep"], rows)
    return out


def times(s):
    runs = "" if s["runs"] >= 7 else f" ({s['runs']})"
    return f"x{s['median']:.2f} [{s['q1']:.2f} to {s['q3']:.2f}]{runs}" if s["runs"] > 1 else f"x{s['median']:.1f} (1)"


def program_tables(cases, variants, seen):
    others = [v for v in variants if v != "native"]
    out = ["## Programs", "",
           "Ratio to the native run of the same round: median [quartiles], number of runs in brackets where fewer than 7. "
           "CPU time is user + system of all processes, helpers included (redis: of the server process).", "", "CPU time:", ""]
    out += grid(cases, others, lambda row, *_: times(row["cpu_x"]) if "cpu_x" in row else "")
    out += ["Wall time (redis: of the client):", ""]
    out += grid(cases, others, lambda row, *_: times(row["wall_x"]) if "wall_x" in row else "")
    rows = []
    for case, by in cases.items():
        s = seen.get(case, {})
        rows.append([case, f"{by['native']['cpu_ns']['median'] / 1e6:,.0f}",
                     f"{by['native']['cpu_ns']['min'] / 1e6:,.0f} to {by['native']['cpu_ns']['max'] / 1e6:,.0f}",
                     f"{s['allocations']:,}" if s else "", f"{s['sites']:,}" if s else "",
                     added_ns(by, s)])
    out += ["What they are:", ""]
    out += table(["", "native CPU ms", "min to max", "allocations", "call stacks", "seep: added CPU ns per allocation"], rows)
    latency = {k: {v: r for v, r in by.items() if "p99_ms" in r} for k, by in cases.items()}
    latency = {k: by for k, by in latency.items() if by}
    if latency:
        out += ["redis: worst p99 latency of the commands, ms, median [quartiles]:", ""]
        out += grid(latency, variants, lambda row, *_: f"{row['p99_ms']['median']:.2f} [{row['p99_ms']['q1']:.2f} to {row['p99_ms']['q3']:.2f}]")
    return out


def added_ns(by, seen):
    if not seen or "seep" not in by:
        return ""
    return f"{(by['seep']['cpu_ns']['median'] - by['native']['cpu_ns']['median']) / seen['allocations']:,.0f}"


def startup_table(cases, variants):
    out = ["## Start-up", "", "Wall time, ms, minimum / median:", ""]
    out += grid(cases, variants, lambda row, *_: f"{row['wall_ns']['min'] / 1e6:,.2f} / {row['wall_ns']['median'] / 1e6:,.2f}")
    out += ["Page faults (median):", ""]
    return out + grid(cases, variants, lambda row, *_: f"{row['faults']['median']:,.0f}")


def memory_table(cases, variants):
    def mib(kb):
        return f"{kb / 1024:,.1f}"
    out = ["## Memory", "", "Peak RSS of the largest process, MiB:", ""]
    out += grid(cases, variants, lambda row, *_: mib(row["rss_kb"]["median"]))
    rows = []
    for case, by in cases.items():
        rows.append([case, mib(by["native"]["anon_kb"]["max"])] + [
            f"{by[v][k]['median'] / 1024:,.0f}" if v in by and k in by[v] else ""
            for v, k in (("seep", "segment_bytes"), ("seep", "file_bytes"), ("heaptrack", "file_bytes"))])
    out += ["Touched heap of the bare program (largest RssAnon), and what a recording weighs:", ""]
    return out + table(["", "heap MiB", "seep segment KiB", "seep recording KiB", "heaptrack recording KiB"], rows)


def log_tables(cases, variants):
    others = [v for v in variants if v not in ("native", "seep")]
    loops = {k: c for k, c in cases.items() if k.startswith("depth")}
    programs = {k: c for k, c in cases.items() if k not in loops}
    out = ["## Event log, against exact mode", ""]
    if loops:
        out += ["ns per malloc+free pair in the loop, wall time, minimum / median:", ""]
        out += grid(loops, ["seep"] + others, lambda row, *_: both(row["loop_ns"]))
        out += ["CPU time of the host over the whole run, ns per pair, minimum / median:", ""]
        out += grid(loops, ["seep"] + others, lambda row, *_: both(row["cpu_op_ns"]))
    if programs:
        out += ["CPU time of the host, ratio to the run in exact mode of the same round:", ""]
        out += grid(programs, others, lambda row, *_: times(row["cpu_x"]) if "cpu_x" in row else "")
    return out


def guess_table(cases):
    out = ["## Stacks through code without unwind information, against stacks that end there", "",
           "CPU time of the host, ratio to the run with SEEP_GUESS=0 of the same round:", ""]
    return out + grid(cases, ["seep", "seep-no-guess-again"], lambda row, *_: times(row["cpu_x"]) if "cpu_x" in row else "")


def verdict_table(lines):
    def limit(v, key):
        return "" if v[key] is None else ("<= " if v["at_most"] else ">= ") + f"{v[key]:,.2f}"

    def word(v):
        if v["holds"] is False:
            return "**FLOOR MISSED**"
        return "goal reached" if v["reached"] else "goal missed" if v["reached"] is False else "floor holds" if v["holds"] else "no floor"
    out = ["## Floors and goals", "", "`--check` holds the floors.", ""]
    return out + table(["", "measured", "floor", "goal", "", ""],
                       [[v["what"], f"{v['value']:,.2f}", limit(v, "floor"), limit(v, "goal"), word(v), v["note"]] for v in lines])


def markdown(result):
    m, load = result["machine"], result["load"]
    busy = load["during"]["max"] > 1 + 1e-9 and load["others_cpus"]["median"] > 0.1
    out = ["# Measured cost", "",
           f"{m['cpu']}, {m['cpus']} CPUs, Linux {m['kernel']}, {m['libc']}; seep {m['commit']}; `make bench`, {result['rounds']} interleaved rounds"
           f"{', --quick' if result['quick'] else ''}, {result['seconds']:,} s. How to read it: docs/BENCHMARK.md.", "",
           f"Load average {load['before']:.1f} before, up to {load['during']['max']:.1f} during (our own runs are part of it); others "
           f"used {load['others_cpus']['median']:.2f} CPUs (median of the rounds, up to {load['others_cpus']['max']:.2f})."
           + (" **The machine was not ours alone: trust CPU time and minima more than wall time and medians.**" if busy else ""), ""]
    out += verdict_table(result["verdict"])
    groups, variants = result["groups"], names(result)
    if "micro" in groups:
        out += micro_tables(groups["micro"], variants)
    if "programs" in groups:
        out += program_tables(groups["programs"], variants, result["seen"])
    if "startup" in groups:
        out += startup_table(groups["startup"], variants)
    if "memory" in groups:
        out += memory_table(groups["memory"], variants)
    if "log" in groups:
        out += log_tables(groups["log"], variants)
    if "guess" in groups:
        out += guess_table(groups["guess"])
    out += ["## Variants", ""]
    out += [f"- {v['name']}: {v['what']}" for v in result["variants"]]
    out += [f"- {name}: not run: {why}" for name, why in result["skipped"].items()]
    out += [f"- {name}: failed: {why}" for name, why in result["failed"].items()]
    return "\n".join(out) + "\n"


class Svg:
    def __init__(self, width):
        self.width = width
        self.y = 0
        self.parts = []

    def text(self, x, y, words, size=12, anchor="start", weight="normal", fill="#222"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
                          f'font-weight="{weight}" fill="{fill}">{escape(words)}</text>')

    def rect(self, x, y, w, h, fill, title=""):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(w, 0.5):.1f}" height="{h}" fill="{fill}">'
                          f'<title>{escape(title)}</title></rect>')

    def line(self, x1, y1, x2, y2, stroke="#ddd"):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}"/>')

    def done(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.y + 20:.0f}" '
                f'viewBox="0 0 {self.width} {self.y + 20:.0f}" font-family="sans-serif">'
                f'<rect width="100%" height="100%" fill="#fff"/>' + "\n".join(self.parts) + "</svg>\n")


LEFT, RIGHT, BAR = 235, 110, 13


def bars(svg, title, subtitle, groups, low, ticks, show, show_tick):
    """groups: [(label, [(variant, value, low, high)])], on a log scale from `low`."""
    high = max([v for _, rows in groups for _, v, *_ in rows] + [low * 10]) * 1.15
    width = svg.width - LEFT - RIGHT

    def x(value):
        return LEFT + width * math.log(max(value, low) / low) / math.log(high / low)
    svg.y += 34
    svg.text(20, svg.y, title, 16, weight="bold")
    svg.y += 18
    svg.text(20, svg.y, subtitle, 12, fill="#555")
    svg.y += 24
    top = svg.y
    height = sum(len(rows) * (BAR + 2) + 12 for _, rows in groups)
    for t in ticks:
        if low <= t <= high:
            svg.line(x(t), top - 4, x(t), top + height, "#ccc" if t == low else "#e6e6e6")
            svg.text(x(t), top - 8, show_tick(t), 10, "middle", fill="#777")
    for label, rows in groups:
        if label:
            svg.text(20, svg.y + BAR - 2, label, 13, weight="bold")
        for name, value, lo, hi in rows:
            colour = COLOURS.get(name, "#5a3fa0")
            svg.text(LEFT - 6, svg.y + BAR - 3, name, 10, "end", fill="#444")
            svg.rect(LEFT, svg.y, x(value) - LEFT, BAR, colour, f"{label} {name}: {show(value)}")
            if hi > lo:
                svg.line(x(lo), svg.y + BAR / 2, x(hi), svg.y + BAR / 2, "#000")
            svg.text(max(x(value), x(hi)) + 5, svg.y + BAR - 3, show(value), 10, weight="bold" if name.startswith("seep") else "normal")
            svg.y += BAR + 2
        svg.y += 12


def plot(result):
    svg = Svg(1000)
    groups, order = result["groups"], [n for n in names(result) if n != "native"]
    svg.y = 34
    svg.text(20, svg.y, "What watching a heap costs", 20, weight="bold")
    svg.text(20, svg.y + 20, f"{result['machine']['cpu']}, {result['machine']['cpus']} CPUs, {result['rounds']} interleaved rounds; all scales logarithmic", 12, fill="#555")
    svg.y += 20
    if "micro" in groups:
        cases = [(c, by) for c, by in groups["micro"].items() if c in ("depth 30", "1,000 paths, 1 M live", "depth 30, 2 threads")]
        rows = []
        for case, by in cases:
            native = by["native"]["loop_ns"]["min"]
            rows.append((case.replace("depth 30, ", "30 deep, "),
                         [(n, by[n]["loop_ns"]["min"] - native, 0, 0) for n in order if n in by and n != "jemalloc"]))
        bars(svg, "Added to one malloc+free pair", "ns in the loop, minimum of the rounds; shorter is better", rows, 1,
             [1, 10, 100, 1000, 10000, 100000], lambda v: f"{v:,.1f} ns" if v < 100 else f"{v:,.0f} ns", lambda t: f"{t:,} ns")
    if "programs" in groups:
        rows = []
        for case, by in groups["programs"].items():
            rows.append((case, [(n, by[n]["cpu_x"]["median"], by[n]["cpu_x"]["q1"], by[n]["cpu_x"]["q3"])
                                for n in order if n in by and "cpu_x" in by[n] and n not in ("jemalloc",)]))
        bars(svg, "CPU time of whole programs", "times native, median and quartiles, helper processes included; shorter is better", rows, 0.9,
             [1, 1.5, 2, 5, 10, 20, 50, 100], lambda v: f"x{v:.2f}" if v < 10 else f"x{v:.0f}", lambda t: f"x{t:g}")
    if "startup" in groups:
        rows = []
        for case, by in groups["startup"].items():
            native = by["native"]["wall_ns"]["median"]
            rows.append((case, [(n, (by[n]["wall_ns"]["median"] - native) / 1e6, 0, 0) for n in order if n in by and n != "jemalloc"]))
        bars(svg, "Added to the start of a program", "ms, median; shorter is better", rows, 0.01,
             [0.01, 0.1, 1, 10, 100, 1000], lambda v: f"{v:,.2f} ms", lambda t: f"{t:g} ms")
    return svg.done()


def write(result, where):
    os.makedirs(where, exist_ok=True)
    for name, text in (("latest.md", markdown(result)), ("latest.json", json.dumps(result, indent=1) + "\n"),
                       ("latest.svg", plot(result))):
        with open(os.path.join(where, name), "w") as out:
            out.write(text)
