# page_speed.py - how large and how quick a page of very many stacks is.
# SPDX-License-Identifier: Apache-2.0
"""
usage: page_speed.py PAGE STACKS MAX_BYTES [MAX_READY_MS MAX_ZOOM_MS]

Opens PAGE in a browser three times and keeps the best of each. Where the main
thread is idle until it has its turn is no matter of the page: what counts is its
own time (TaskDuration, thread time where the browser tells it), and the wall clock
is printed beside it. Says what is beyond a limit; exit 1.
"""
import os
import sys

from browser import Browser

ZOOMS = """(async () => { const f = seep.flame; const worst = [];
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    for (const level of f.drawn.slice(1, 9)) {
        const [node] = level[0];
        f.zoom(node); worst.push(f.lastDraw); await frame();
    }
    f.zoom(0); worst.push(f.lastDraw);
    return Math.max(...worst); })()"""


def metrics(b):
    return {m["name"]: m["value"] for m in b.call("Performance.getMetrics")["metrics"]}


def once(path):
    with Browser() as b:
        b.call("Performance.enable", timeDomain="threadTicks")
        before = metrics(b)
        b.open(path)
        now = metrics(b)
        busy = 1000 * (now["TaskDuration"] - before["TaskDuration"])
        return {"stacks": b.eval("seep.model.siteCount"),
                "nodes": b.eval("seep.flame.tree.begin.length"),
                "ready": b.eval("seep.ready"), "busy": busy,
                "zoom": b.eval(ZOOMS), "complaints": list(b.complaints)}


def main():
    path, stacks, most = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    limits = [float(a) for a in sys.argv[4:6]]
    size = os.path.getsize(path)
    bad = []
    if size > most:
        bad.append(f"{size} bytes, at most {most} are allowed")
    text = f"# {stacks} stacks: {size} bytes"
    if limits:
        runs = [once(path) for _ in range(3)]
        ready, busy, zoom = (min(r[k] for r in runs) for k in ("ready", "busy", "zoom"))
        text += (f", interactive after {ready:.0f} ms ({busy:.0f} ms of work), "
                 f"slowest zoom {zoom:.1f} ms")
        if min(r["stacks"] for r in runs) < stacks:
            bad.append(f"only {runs[0]['stacks']} stacks")
        if min(ready, busy) > limits[0]:
            bad.append(f"interactive after {limits[0]:.0f} ms at most")
        if zoom > limits[1]:
            bad.append(f"a zoom takes {limits[1]:.0f} ms at most")
        bad += [c for r in runs for c in r["complaints"]]
    print(text)
    for line in bad:
        print(f"# {line}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
