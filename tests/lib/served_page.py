# served_page.py - the page of seep serve, in a browser, while its process goes on.
# SPDX-License-Identifier: Apache-2.0
#
# usage: served_page.py URL FIFO
# The process of the page is tests/hosts/toggled, after its second step; a line
# into FIFO lets it take the third one. Prints "ok" at the end.
import sys

from browser import Browser, Failure


def expect(what, got, wanted):
    if got != wanted:
        raise Failure(f"{what}: {got!r}, not {wanted!r}")


STATE = """(() => { const s = seep.state, f = seep.flame;
    return [f.path().length, f.label(f.zoomed), s.query, s.metric, s.unit, s.inverted,
        document.getElementById('search').value, s.range && s.range.from_us,
        document.querySelector('#detail h3')?.textContent]; })()"""
TOTAL = "seep.model.processes[0].totals"


def renewed(b, seconds=60):
    """Waits for new data."""
    b.eval("window.before = seep.model")
    b.wait("seep.model !== window.before", seconds)


def zoom_to(b, name):
    b.eval(f"""(() => {{ const f = seep.flame, t = f.tree;
        for (let n = 1; n < t.key.list.length; n++)
            if (f.label(n) === {name!r}) {{ f.zoom(n); return; }}
        throw new Error('no box ' + {name!r}); }})()""")


def main():
    url, fifo = sys.argv[1:3]
    with Browser() as b:
        b.open(url)
        expect("live", b.eval(f"{TOTAL}.live_bytes"), 160000)
        renewed(b)  # now there is a time line
        expect("time line", b.eval("document.getElementById('line-section').hidden"), False)
        b.key("3")
        b.key("b")
        zoom_to(b, "alloc_second")
        b.eval("""(() => { const e = document.getElementById('search');
            e.value = 'second'; e.dispatchEvent(new Event('input')); })()""")
        b.wait("seep.state.query === 'second'")
        b.click("#row-0")
        held = b.eval(STATE)
        expect("zoom", held[1], "alloc_second")
        expect("metric", held[2:5], ["second", "allocated", "count"])
        expect("site", held[8], "alloc_second")
        for i in range(3):
            renewed(b)
            expect(f"after refresh {i + 1}", b.eval(STATE), held)
        # the process goes on, and the page with it
        with open(fifo, "w", encoding="ascii") as f:
            f.write("\n")
        b.wait(f"{TOTAL}.live_bytes === 33500", 60)
        expect("after a change", b.eval(STATE), held)
        # a range, of what changed since the page was opened
        b.eval("""(() => { const e = document.getElementById('from'); e.value = '5';
            e.dispatchEvent(new Event('change')); })()""")
        expect("signed", b.eval("seep.figures.isSigned"), True)
        b.key("Escape")
        b.key("Backspace")
        b.eval("seep.flame.zoom(0)")
        expect("grown", b.eval("seep.figures.total('live', 'bytes')"), 33500 - 160000)
        from_us = b.eval("seep.state.range.from_us")
        for _ in range(2):
            renewed(b)
            expect("range", b.eval("seep.state.range.from_us"), from_us)
            expect("grown", b.eval("seep.figures.total('live', 'bytes')"), 33500 - 160000)
        expect("complaints", b.complaints, [])
        others = [u for u in b.requests if not u.startswith(url.split("/view")[0] + "/")]
        expect("requests elsewhere", others, [])
    print("ok")


main()
