# page_cases.py - a page in a real browser: each case is one promise.
# SPDX-License-Identifier: Apache-2.0
"""
usage: page_cases.py SEEP FOLDER; FOLDER has page.data, tree.data, many.data, tidy.data,
old.data, verdicts.data.
Prints "ok NAME" or "not ok NAME: why" for each case; pictures and pages are
left in FOLDER.
"""
import os
import subprocess
import sys
import time
import traceback

from browser import Browser, Failure

LIMIT_MS = 1500
ZOOM_MS = 50
SLACK = float(os.environ.get("SEEP_SLACK", "4"))  # of a loaded machine


# Elements that stand out of the window, or whose text stands out of them; what
# scrolls, or ends in an ellipsis, does not.
TOO_WIDE = """(() => {
    const out = [], wide = (e) => e.scrollWidth > e.clientWidth + 1;
    const cut = (e) => ['auto', 'scroll', 'hidden', 'clip'].includes(
        getComputedStyle(e).overflowX);
    const isInside = (e) => { for (let a = e.parentElement; a; a = a.parentElement)
        if (cut(a)) return true; return false; };
    for (const e of document.querySelectorAll('body *')) {
        const r = e.getBoundingClientRect(), s = getComputedStyle(e);
        if (!r.width || !r.height || e.closest('.off-screen')) continue;
        if ((r.right > innerWidth + 0.5 || r.left < -0.5) && !isInside(e) ||
            wide(e) && e.clientWidth > 0 && s.overflowX === 'visible' &&
                s.display !== 'inline')
            out.push([e.tagName, e.id, String(e.className), r.right, e.scrollWidth]);
    }
    return document.documentElement.scrollWidth > innerWidth || out.length > 0 ?
        out.slice(0, 5) : null; })()"""


def expect(what, got, wanted):
    if got != wanted:
        raise Failure(f"{what}: {got!r}, expected {wanted!r}")


class Cases:
    def __init__(self, seep, folder):
        self.seep = seep
        self.folder = folder

    def file(self, name):
        return os.path.join(self.folder, name)

    def make(self, data, page, *options):
        subprocess.run([self.seep, "report", self.file(data), "--format", "html",
                        "-o", self.file(page), *options], check=True)

    # ---- the page of one process ----

    def load(self, b):
        expect("title", b.text("#program"), "page")
        summary = b.text("#summary")
        if "It made" not in summary or "No event is lost" not in summary:
            raise Failure(f"summary: {summary}")
        expect("tiles", b.eval("$$('#metrics button').length"), 4)
        expect("status", b.eval("$('#status').hidden"), True)
        shown = b.text("#metrics button[data-value=live] .exact")
        total = b.eval("seep.model.processes[0].totals.live_bytes")
        if f"{total:,}" not in shown:
            raise Failure(f"live: {shown}, expected {total:,}")

    def flame_is_drawn(self, b):
        colours = b.eval("""(() => {
            const c = $('#flame canvas'), x = c.getContext('2d');
            const d = x.getImageData(0, 0, c.width, c.height).data;
            const seen = new Set();
            for (let i = 0; i < d.length; i += 4)
                if (d[i + 3]) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
            return seen.size; })()""")
        if colours < 5:
            raise Failure(f"{colours} colours in the flame graph")
        labels = b.eval("""seep.flame.drawn.flat().map(
            ([n]) => seep.flame.label(n)).join('|')""")
        for name in ("main", "step_keep"):
            if name not in labels:
                raise Failure(f"no {name} in {labels}")

    def boxes_add_up(self, b):
        wrong = b.eval("""(() => { const t = seep.flame.tree; let wrong = 0;
            for (let n = 0; n < t.begin.length; n++) {
                let sum = 0; for (const r of t.rowsOf(n)) sum += Math.abs(t.values[r]);
                if (sum !== t.value.list[n]) wrong++;
                const [first, k] = t.childrenOf(n); let below = 0;
                for (let i = first; i < first + k; i++) below += t.value.list[i];
                if (below > t.value.list[n]) wrong++;
            } return wrong; })()""")
        expect("boxes that do not add up", wrong, 0)

    def node_box(self, b, name):
        return b.eval(f"""(() => {{ const f = seep.flame;
            $('#flame').scrollIntoView({{block: 'center', behavior: 'instant'}});
            const area = $('#flame').getBoundingClientRect();
            for (const [depth, level] of f.drawn.entries())
                for (const [n, x, w] of level)
                    if (f.label(n) === {name!r})
                        return [area.left + x + w / 2,
                            area.top + (depth + 0.5) * f.rowHeight - f.frame.scrollTop, w];
            return null; }})()""")

    def zoom(self, b):
        before = b.eval("seep.table.order.length")
        x, y, w = self.node_box(b, "odd_all")
        b.click_at(x, y)
        after = self.node_box(b, "odd_all")
        if after[2] <= w * 2:
            raise Failure(f"odd_all was {w} wide, is {after[2]}")
        b.wait(f"seep.table.order.length < {before}")
        if b.eval("seep.table.order.length") == 0:
            raise Failure("the table is empty")
        if "below odd_all" not in b.text("#sites-text"):
            raise Failure(b.text("#sites-text"))
        if b.eval("seep.flame.lastDraw") > ZOOM_MS * SLACK:
            raise Failure(f"took {b.eval('seep.flame.lastDraw')} ms")
        b.key("Escape")
        b.wait(f"seep.table.order.length === {before}")

    def hover_tells(self, b):
        x, y, _ = self.node_box(b, "step_keep")
        b.mouse("mouseMoved", x, y)
        expect("name", b.text("#inspector-name"), "step_keep")
        if "120,000 bytes" not in b.text("#inspector-figures"):
            raise Failure(b.text("#inspector-figures"))

    def search(self, b):
        b.key("/")
        expect("focus", b.eval("document.activeElement.id"), "search")
        b.type("STEP_")
        b.wait("$('#matched').textContent !== ''")
        live = b.eval("""(() => { let a = 0, s = 0; const m = seep.model;
            for (let i = 0; i < m.siteCount; i++) { const v = m.figure('live_bytes', i);
                if (m.isUser[i] || m.figure('suppression', i)) continue;
                s += v; if ([...m.stackOf(i)].some((f) =>
                    m.functionName(f).startsWith('step_'))) a += v; }
            return (100 * a / s).toFixed(1) + '%'; })()""")
        expect("matched", b.text("#matched"), f"{live} matched")
        if b.eval("""[...$$('#table .row .function')].some(
                (e) => !e.textContent.startsWith('step_'))"""):
            raise Failure("the table has others, too")
        b.eval("$('#search').select()")
        b.type("/^odd_(all|6)$/")
        b.wait("$('#sites-text').textContent.includes('odd_(all')")
        if b.eval("seep.table.order.length") < 8:
            raise Failure("the regular expression finds too little")
        b.eval("$('#search').select()")
        b.type("/(/")
        b.wait("$('#search').getAttribute('aria-invalid') === 'true'")
        b.key("Escape")
        expect("matched", b.text("#matched"), "")

    def metric(self, b):
        for name, column in (("peak", "peak_bytes"), ("allocated", "allocated_bytes"),
                             ("temporary", "temporary_bytes"), ("live", "live_bytes")):
            b.click(f"#metrics button[data-value={name}]")
            expect("pressed", b.eval(
                f"$('#metrics [data-value={name}]').getAttribute('aria-pressed')"),
                "true")
            total = b.eval(f"""(() => {{ let s = 0; const m = seep.model;
                for (let i = 0; i < m.siteCount; i++)
                    if (!m.isUser[i] && !m.figure('suppression', i))
                        s += m.figure('{column}', i);
                return s; }})()""")
            expect(name, b.eval("seep.flame.tree.value.list[0]"), total)
        expect("title", b.eval("$('#metrics [data-value=temporary]').title"),
               "freed within 0.2 seconds")
        b.key("b")
        expect("unit", b.eval("seep.state.unit"), "count")
        b.key("b")

    def steps(self, b):
        """Ages at death below 1.6 s: in steps, or as one where they are unknown."""
        rows = """(() => { const t = seep.table, m = seep.model;
            const at = [...t.order].findIndex((r) => m.classes('young', 'step',
                seep.figures.rows[r]).length > 0);
            $(`#row-${at === 0 ? 1 : 0}`).click();
            $(`#row-${at}`).click();
            return [...$$('#detail .ages tr')].map((e) => e.textContent); })()"""
        b.click("#metrics button[data-value=allocated]")
        # so many in each step, whatever there is
        b.eval("""(() => { const m = seep.model, old = m.classes;
            m.classes = function (what, by, site) {
                return what === 'young' && old.call(m, what, by, site).length > 0 ?
                    [[0, 7], [1, 1], [2, 2], [3, 3], [4, 4]] :
                    what === 'living' ? [] : old.call(m, what, by, site); }; })()""")
        labels = [r.replace("still live", "") for r in b.eval(rows)]
        n = int(labels[2].removeprefix("100 ms \u2013 200 ms")) # sites in this row
        expect("steps", labels[:6],
               ["agefreed", f"< 100 ms{7 * n}", f"100 ms \u2013 200 ms{n}",
                f"200 ms \u2013 400 ms{2 * n}", f"400 ms \u2013 800 ms{3 * n}",
                f"800 ms \u2013 1.6 s{4 * n}"])
        if any(r.startswith("< 1.6") for r in labels):
            raise Failure(f"twice: {labels}")
        b.eval("seep.model.columns['site.steps_known'].fill(0)")
        labels = b.eval(rows)
        if not labels[1].startswith("< 1.6 s"):
            raise Failure(f"unknown: {labels}")
        b.eval("seep.model.columns['site.steps_known'].fill(1)")
        b.eval("delete seep.model.classes")
        b.click("#metrics button[data-value=live]")

    def births(self, b):
        """When live blocks were allocated: a sentence and eight rows, if it is known."""
        rows = """(() => { const t = seep.table, m = seep.model;
            $('#row-1').click();
            $('#row-0').click();
            return [...$$('#detail .births tr, #detail .births p')].map((e) => e.textContent); })()"""
        b.eval("""(() => { const m = seep.model, old = m.classes;
            m.processes.forEach((p) => { p.was = p.births_ms; p.births_ms = 32000; });
            m.classes = function (what, by, site) {
                return what === 'birth' ? [[0, 5], [3, 4], [31, 11]] :
                    old.call(m, what, by, site); }; })()""")
        labels = b.eval(rows)
        if labels[0] != "Half were allocated in the last 1.0 s, nine tenths in the last 32.0 s, of 32.0 s.":
            raise Failure(f"sentence: {labels}")
        n = int(labels[2].removeprefix("0 ms \u2013 4.0 s")) // 9  # sites in this row
        expect("births", [labels[1], labels[2], labels[3], labels[9]],
               ["after the startstill live", f"0 ms \u2013 4.0 s{9 * n}", "4.0 s \u2013 8.0 s",
                f"28.0 s \u2013 32.0 s{11 * n}"])
        b.eval("delete seep.model.classes")
        b.eval("seep.model.processes.forEach((p) => { p.births_ms = undefined; })")
        expect("unknown", b.eval(rows), [])
        b.eval("seep.model.processes.forEach((p) => { p.births_ms = p.was; })")

    def invert(self, b):
        b.click("#direction button[data-value=true]")
        labels = b.eval("seep.flame.drawn[1].map(([n]) => seep.flame.label(n))")
        if labels[0] != "step_keep" or "main" in labels:
            raise Failure(f"first row: {labels}")
        self.boxes_add_up(b)
        b.click("#direction button[data-value=false]")

    def merge(self, b):
        b.click("#grouping button[data-value=module]")
        labels = b.eval("seep.flame.drawn.flat().map(([n]) => seep.flame.label(n))")
        if "page" not in labels or "step_keep" in labels:
            raise Failure(f"modules: {labels}")
        b.click("#grouping button[data-value=line]")
        labels = b.eval("seep.flame.drawn.flat().map(([n]) => seep.flame.label(n)).join()")
        if "page.c:" not in labels:
            raise Failure(f"lines: {labels}")
        b.click("#grouping button[data-value=function]")

    def sort(self, b):
        column = "#table .head .cell:nth-child(5) button"  # calls
        b.click(column)
        calls = b.eval("""[...seep.table.order].map(
            (r) => seep.figures.value('allocated', 'count')[r])""")
        expect("order", calls, sorted(calls, reverse=True))
        b.click(column)
        calls = b.eval("""[...seep.table.order].map(
            (r) => seep.figures.value('allocated', 'count')[r])""")
        expect("order", calls, sorted(calls))
        b.click("#table .head .cell:last-child button")
        names = b.eval("""[...seep.table.order].map((r) => seep.model.functionName(
            seep.model.headOf(seep.figures.rows[r])))""")
        expect("names", names, sorted(names))
        b.click("#table .head .cell:nth-child(1) button")

    def site(self, b):
        b.click("#row-0")
        expect("selected", b.eval("$('#row-0').getAttribute('aria-selected')"), "true")
        expect("hidden", b.eval("$('#detail').hidden"), False)
        text = b.text("#detail")
        for wanted in ("step_keep", "page.c:", "main", "Block sizes", "all 1,000 bytes",
                       "Ages", "Live bytes over time"):
            if wanted not in text:
                raise Failure(f"no {wanted!r} in: {text}")
        b.eval("$('#table .scroller').focus()")
        b.key("ArrowDown")
        expect("selected", b.eval("$('#row-1').getAttribute('aria-selected')"), "true")
        expect("title", b.text("#detail h3"), b.text("#row-1 .function"))

    def histograms(self, b):
        """Live blocks by size: 24 30 | 70 90 100 | 5000."""
        rows = b.eval("""(() => { const t = seep.table, m = seep.model;
            const at = [...t.order].findIndex((r) => m.functionName(
                m.headOf(seep.figures.rows[r])) === 'mixed');
            $(`#row-${at}`).click();
            return [...$$('#detail .sizes tr')].map((e) => e.textContent); })()""")
        expect("sizes", rows, ["bytesstill live", "16 \u2013 312", "32 \u2013 63",
                               "64 \u2013 1273", "128 \u2013 255", "256 \u2013 511",
                               "512 \u2013 1,023", "1 \u2013 2 KiB", "2 \u2013 4 KiB",
                               "4 \u2013 8 KiB1"])
        wide = b.eval("""[...$$('#detail .sizes .bar')].map(
            (e) => Math.round(e.getBoundingClientRect().width))""")
        if not wide[2] > wide[0] > wide[-1] > 0 or wide[1] != 0:
            raise Failure(f"bars {wide}")
        b.eval("seep.model.columns['site.sizes_known'].fill(0)")
        b.click("#row-0")
        b.eval("[...$$('#table .row')].find((e) => e.textContent.includes('mixed')).click()")
        if "known only after a normal exit" not in b.text("#detail .sizes"):
            raise Failure(b.text("#detail .sizes"))
        b.eval("seep.model.columns['site.sizes_known'].fill(1)")

    def nothing_lives(self, b):
        """Then the page begins with the peak, and says so."""
        self.make("tidy.data", "tidy.html")
        b.open(self.file("tidy.html"))
        expect("metric", b.eval("seep.state.metric"), "peak")
        expect("said", b.text("#instead"),
               "Nothing is live. The page shows the heap at its peak instead.")
        if b.eval("seep.flame.drawn.length") < 3:
            raise Failure("no flame graph")
        b.key("1")
        expect("said", b.text("#instead"), "")
        if "Nothing here is live" not in b.text("#flame-key"):
            raise Failure(b.text("#flame-key"))
        expect("complaints", b.complaints, [])

    def older_than(self, b):
        """It opens with what is older; the tile, the table and a site have it."""
        self.make("old.data", "old.html", "--older-than", "1.8s")
        b.open(self.file("old.html"))
        expect("metric", b.eval("seep.state.metric"), "older")
        expect("tiles", b.eval("$$('#metrics button').length"), 5)
        tile = "#metrics button[data-value=older] "
        expect("tile", b.text(tile + ".label"), "Older than 1.6 s")
        expect("figures", b.text(tile + ".exact"), "100 in 1 block")
        expect("live", b.text("#metrics button[data-value=live] .exact"), "110 in 2 blocks")
        if "known in steps: 1.8 s is within one" not in b.text("#warnings"):
            raise Failure(b.text("#warnings"))
        b.click("#row-0")
        expect("site", b.eval("""[...$$('#detail .figures tr')].map((r) => r.innerText)
            .filter((t) => t.startsWith('older')).map((t) => t.split('\\t').slice(0, 3))[0]"""),
               ["older than 1.6 s", "100", "1"])
        self.boxes_add_up(b)
        b.key("1")
        expect("metric", b.eval("seep.state.metric"), "live")
        b.key("5")
        expect("metric", b.eval("seep.state.metric"), "older")
        expect("complaints", b.complaints, [])
        self.narrow(b, "old.html")

    def nothing_is_that_old(self, b):
        self.make("page.data", "young.html", "--older-than", "1h")
        b.open(self.file("young.html"))
        expect("said", b.text("#instead"),
               "Nothing is that old. The page shows all live blocks instead.")
        expect("metric", b.eval("seep.state.metric"), "live")
        b.eval("""(() => { const e = $('#kind'); e.value = 'user';
            e.dispatchEvent(new Event('change')); })()""")
        expect("pools", b.eval("$('#metrics button[data-value=older]').disabled"), True)
        expect("complaints", b.complaints, [])

    def copied(self, b):
        b.call("Browser.grantPermissions", permissions=[
            "clipboardReadWrite", "clipboardSanitizedWrite"])
        b.click("#row-0")
        b.click("#detail header button")
        b.wait("$('#detail header button').textContent === 'Copied'")

    def range(self, b):
        b.drag("#line .u-over", 0.25, 0.75)
        b.wait("seep.state.range !== null")
        got = b.eval("""(() => { const r = seep.state.range, m = seep.model;
            const c = m.columns; let s = 0;
            c['change.moment'].forEach((at, i) => { const n = c['change.site'][i];
                if (at >= r.from && at < r.to && !m.isUser[n] &&
                    !m.figure('suppression', n))
                    s += c['change.allocated_bytes'][i] - c['change.freed_bytes'][i]; });
            return [s, seep.figures.total('live', 'bytes')]; })()""")
        expect("growth", got[1], got[0])
        if got[0] < 20000:
            raise Failure(f"only {got[0]} bytes of growth")
        if f"+{got[0]:,} live bytes" not in b.text("#range-text"):
            raise Failure(b.text("#range-text"))
        names = b.eval("[...$$('#table .row .function')].map((e) => e.textContent)")
        if names[0] != "step_keep" or "odd_all" in names:
            raise Failure(f"rows: {names}")
        expect("peak", b.eval("$('#metrics [data-value=peak]').disabled"), True)
        b.click("#clear-range")
        expect("range", b.eval("seep.state.range"), None)

    def range_by_keys(self, b):
        b.eval("$('#from').focus()")
        b.type("0.3")
        b.key("Enter")
        b.wait("seep.state.range !== null")
        if abs(b.eval("seep.state.range.from_us") - 300000) > 20000:
            raise Failure(f"from {b.eval('seep.state.range.from_us')}")
        b.eval("$('#from').value = $('#to').value = ''")
        b.key("Enter")
        b.wait("seep.state.range === null")

    def pools(self, b):
        b.eval("""(() => { const e = $('#kind'); e.value = 'user';
            e.dispatchEvent(new Event('change')); })()""")
        expect("pool", b.text("#row-0 .pool"), "handles")
        expect("bytes", b.eval("seep.figures.total('live', 'bytes')"), 192)
        b.eval("""(() => { const e = $('#kind'); e.value = 'heap';
            e.dispatchEvent(new Event('change')); })()""")

    def hostile_names_stay_text(self, b):
        expect("pwned", b.eval("typeof window.pwned"), "undefined")
        b.eval("document.querySelectorAll('#row-0, #row-1, #row-2').forEach(e => e.click())")
        names = b.eval("seep.model.strings.join('\\n')")
        for wanted in ("</script><script>window.pwned=1</script>",
                       "<img src=x onerror=window.pwned=1>", "@SEEP-DATA@",
                       "right\\u202eleft\\u2066\\u200b",
                       "bell\\x07 tab\\x09 escape\\x1b[31m"):
            if wanted not in names:
                raise Failure(f"no {wanted!r} among the names")
        expect("elements", b.eval("$$('img, script:not(#data)').length"), 1)
        shown = b.eval("[...$$('#table .row .function')].map((e) => e.textContent).join('\\n')")
        if "<img src=x" not in shown:
            raise Failure(f"not in the table: {shown}")
        if "\u202e" in b.eval("document.body.innerText"):
            raise Failure("a mark that turns text is in the page")

    def dark(self, b):
        light = b.eval("getComputedStyle(document.documentElement).backgroundColor")
        b.media(dark=True)
        b.wait("document.documentElement.dataset.theme === 'dark'")
        dark = b.eval("getComputedStyle(document.documentElement).backgroundColor")
        if light == dark:
            raise Failure(f"both are {light}")
        b.screenshot(self.file("dark.png"))
        b.click("#theme")
        expect("theme", b.eval("document.documentElement.dataset.theme"), "light")
        b.eval("localStorage.clear()")
        b.media(dark=False)

    def help_opens(self, b):
        b.eval("document.activeElement.blur()")
        b.key("?")
        expect("open", b.eval("$('#help').open"), True)
        b.key("Escape")
        b.wait("!$('#help').open")

    def flame_by_keys(self, b):
        b.eval("$('#flame').focus()")
        for key in ("ArrowDown", "ArrowDown", "ArrowDown", "Enter"):
            b.key(key)
        if b.eval("seep.flame.zoomed") == 0:
            raise Failure("Enter does not zoom")
        b.key("Home")
        expect("zoomed", b.eval("seep.flame.zoomed"), 0)

    def phone(self, b):
        b.size(390, 844, mobile=True, scale=2)
        time.sleep(0.2)
        wide = b.eval("document.documentElement.scrollWidth")
        b.screenshot(self.file("phone.png"))
        b.size(1400, 900)
        if wide > 390:
            raise Failure(f"the page is {wide} wide on a phone of 390")

    def narrow(self, b, page):
        """At 400 pixels nothing stands out of the page or of its box."""
        b.wait("$$('#table .row').length > 0")
        b.size(400, 800)
        try:
            for step in ("opened", "site", "range"):
                if step == "site":
                    b.click("#row-0")
                if step == "range" and not b.eval("$('#line-section').hidden"):
                    b.eval("$('#from').value = '0.1'; "
                           "$('#from').dispatchEvent(new Event('change'))")
                time.sleep(0.1)
                out = b.eval(TOO_WIDE)
                if out:
                    raise Failure(f"{page}, {step}: too wide at 400: {out}")
            b.screenshot(self.file(page.replace(".html", "-400.png")), whole=True)
        finally:
            b.size(1400, 900)

    def nothing_overflows(self, b):
        self.make("page.data", "one.html")
        b.open(self.file("one.html"))
        self.narrow(b, "one.html")
        self.make("verdicts.data", "lost.html")
        b.open(self.file("lost.html"))
        self.narrow(b, "lost.html")
        self.make("tree.data", "several.html")
        b.open(self.file("several.html"))
        self.narrow(b, "several.html")
        subprocess.run([self.seep, "report", self.file("many.data"), self.file("page.data"),
                        "--format", "html", "-o", self.file("two.html")], check=True)
        b.open(self.file("two.html"))
        self.narrow(b, "two.html")

    def peak_is_on_the_curve(self, b):
        self.make("page.data", "one.html")
        b.open(self.file("one.html"))
        got = b.eval("""(() => { const l = seep.line, p = seep.model.processes[0];
            const mark = l.marks.find((m) => m.kind === 'peak');
            const at = l.data.live.indexOf(Math.max(...l.data.live));
            return [l.data.live[at], p.totals.peak_bytes,
                Math.abs(l.data.x[at] - mark.us / 1e6) < 1e-5,
                l.data.rate.every((r) => r === null || r >= 0)]; })()""")
        if got[0] != got[1] or not got[2] or not got[3]:
            raise Failure(f"highest point, peak, mark there, rates: {got}")

    def two_inputs_open_compared(self, b):
        """Two inputs of a report: both sides at once, with both sides' figures."""
        subprocess.run([self.seep, "report", self.file("many.data"), self.file("page.data"),
                        "--format", "html", "-o", self.file("two.html")], check=True)
        b.open(self.file("two.html"))
        expect("sides", b.eval("[seep.state.process, seep.state.compare]"),
               ["input 1", "input 0"])
        expect("selects", b.eval("[$('#process').value, $('#compare').value]"),
               ["input 1", "input 0"])
        sides = b.text("#metrics button[data-value=live] .sides")
        if "\u2192" not in sides or not sides.startswith("38."):
            raise Failure(f"the tile has not both sides: {sides}")
        b.eval("$('#compare').value = ''; "
               "$('#compare').dispatchEvent(new Event('change'))")
        expect("one side", b.text("#metrics button[data-value=live] .sides"), "")

    def paper(self, b):
        """What is on paper is drawn for it: as wide, nothing to scroll."""
        b.click("#row-0")
        b.eval("dispatchEvent(new Event('beforeprint'))")
        wide = b.eval("[seep.flame.drawn[0][0][2], $('#flame').style.height]")
        expect("flame graph", wide, [680, "auto"])
        drawn = b.eval("""(() => { const c = $('#detail canvas');
            return c.getContext('2d').getImageData(0, 0, c.width, c.height)
                .data.some((v) => v > 0); })()""")
        expect("course is drawn", drawn, True)
        b.eval("dispatchEvent(new Event('afterprint'))")
        b.pdf(self.file("page.pdf"))
        if os.path.getsize(self.file("page.pdf")) < 10000:
            raise Failure("an empty PDF")
        b.wait("$$('#table .row').length > 0")

    def silent(self, b):
        expect("complaints", b.complaints, [])
        expect("requests", [r for r in b.requests if not r.startswith("blob:")],
               ["file://" + self.file("page.html")])

    # ---- others ----

    def processes_can_be_chosen(self, b):
        self.make("tree.data", "tree.html")
        b.open(self.file("tree.html"))
        n = b.eval("seep.model.processes.length")
        expect("choices", b.eval("$$('#process option').length"), n + 1)
        all_live = b.eval("seep.figures.total('live', 'bytes')")
        b.eval("""(() => { const e = $('#process'); e.value = '0';
            e.dispatchEvent(new Event('change')); })()""")
        one = b.eval("seep.figures.total('live', 'bytes')")
        if not 0 < one < all_live:
            raise Failure(f"one has {one}, all have {all_live}")
        b.eval("""(() => { const e = $('#compare'); e.value = '1';
            e.dispatchEvent(new Event('change')); })()""")
        expect("signed", b.eval("seep.figures.isSigned"), True)
        other = b.eval("""(() => { let s = 0; const p = seep.model.processes[1];
            for (let i = p.first; i < p.first + p.rows; i++)
                if (!seep.model.isUser[i] && !seep.model.figure('suppression', i))
                    s += seep.model.figure('live_bytes', i);
            return s; })()""")
        expect("difference", b.eval("seep.figures.total('live', 'bytes')"), one - other)
        self.boxes_add_up(b)
        expect("complaints", b.complaints, [])

    def inputs_can_be_compared(self, b):
        subprocess.run([self.seep, "diff", self.file("many.data"), self.file("page.data"),
                        "--format", "html", "-o", self.file("diff.html")], check=True)
        b.open(self.file("diff.html"))
        expect("compared with", b.eval("$('#compare').selectedOptions[0].textContent"),
               "all of " + self.file("many.data"))
        expect("signed", b.eval("seep.figures.isSigned"), True)
        totals = b.eval("seep.model.processes.map((p) => p.totals.live_bytes)")
        expect("difference", b.eval("seep.figures.total('live', 'bytes')"),
               totals[1] - totals[0])
        if "many.data: figures" not in b.text("#instead"):
            raise Failure(b.text("#instead"))
        if b.eval("$('#flame-key').textContent") == "":
            raise Failure("nothing tells what red and blue mean")
        kept = b.eval("""(() => { let s = 0; const f = seep.figures;
            for (let r = 0; r < f.rows.length; r++) {
                const v = f.value('live', 'bytes')[r];
                const name = seep.model.functionName(seep.model.headOf(f.rows[r]));
                if (name === 'step_keep' && v > 0) s += v;
                if (name === 'heavy' && v > 0) return 'heavy grew'; }
            return s; })()""")
        expect("growth of step_keep", kept, 120000)
        expect("complaints", b.complaints, [])

    def many_stacks_are_fast(self, b):
        self.make("many.data", "many.html", "--full")
        b.open(self.file("many.html"))
        took = b.eval("seep.ready")
        sites = b.eval("seep.model.siteCount")
        zoom = b.eval("""(() => { const f = seep.flame; let worst = 0;
            for (const level of f.drawn.slice(1, 9)) {
                f.zoom(level[0][0]); worst = Math.max(worst, f.lastDraw); }
            f.zoom(0); return worst; })()""")
        size = os.path.getsize(self.file("many.html"))
        print(f"# {sites} sites: {size} bytes, ready after {took:.0f} ms, "
              f"slowest zoom {zoom:.1f} ms")
        if sites < 2000 or took > LIMIT_MS * SLACK or zoom > ZOOM_MS * SLACK:
            raise Failure("too slow")
        rows = b.eval("$$('#table .row').length")
        if rows > 80:
            raise Failure(f"{rows} rows are made")
        b.eval("$('#table .scroller').scrollTop = 26 * 1500")
        b.wait("[...$$('#table .row')].some((e) => Number(e.dataset.at) === 1500)")
        expect("complaints", b.complaints, [])

    def verdicts(self, b):
        self.make("verdicts.data", "verdicts.html")
        b.open(self.file("verdicts.html"))
        said = b.text("#verdicts")
        if "58 blocks (3.3 KiB) leaked at 2 places, of 111 blocks" not in said:
            raise Failure(f"paragraph: {said}")
        column = "[...$$('#table .row .verdict')].map((e) => e.textContent)"
        shown = b.eval(column)
        for text in ("LEAK 3.1 KiB", "LEAK 198 bytes", "possible 2.0 KiB"):
            if text not in shown:
                raise Failure(f"no {text} in {shown}")
        b.eval("[...$$('#table .head button')].find((e) => "
               "e.textContent === 'verdict').click()")
        expect("leaks first", b.eval(f"{column}.slice(0, 3)"),
               ["LEAK 3.1 KiB", "LEAK 198 bytes", "possible 2.0 KiB"])
        choose = "(() => {{ const s = $('#verdict'); s.value = {!r}; " \
                 "s.dispatchEvent(new Event('change')); }})()"
        b.eval(choose.format("leak"))
        expect("leaks", b.eval("$$('#table .row').length"), 2)
        b.eval(choose.format("possible"))
        expect("leaks and possible ones", b.eval("$$('#table .row').length"), 3)
        b.click("#table .row")
        panel = b.text("#detail .verdict")
        for text in ("LEAK", "49 blocks, 3.1 KiB", "nothing points to them", "29 blocks",
                     "20 blocks", "app::session", "3.0 KiB/h (2.0 KiB to 4.3 KiB)",
                     "POSSIBLE", "1 block, 64 bytes", "one past their end"):
            if text not in panel:
                raise Failure(f"no {text} in the panel: {panel}")
        b.screenshot(self.file("verdicts.png"))
        b.eval(choose.format(""))
        if b.eval("$$('#table .row').length") < 4:
            raise Failure("the filter stays")
        expect("nothing of it elsewhere", self.without_verdicts(b), [True, 0])
        expect("complaints", b.complaints, [])

    def without_verdicts(self, b):
        b.open(self.file("page.html"))
        return b.eval("[$('#verdict-label').hidden, "
                      "$$('#table .verdict, #verdicts p').length]")

    def broken_data_is_told(self, b):
        with open(self.file("page.html"), encoding="utf-8") as f:
            html = f.read()
        at = html.index('id="data">') + 200
        with open(self.file("broken.html"), "w", encoding="utf-8") as f:
            f.write(html[:at] + html[at + 64:])
        b.open(self.file("broken.html"),
               ready="$('#status')?.textContent.includes('cannot be shown')")

    ON_PAGE = ("load", "flame_is_drawn", "boxes_add_up", "hover_tells", "zoom",
               "flame_by_keys", "search", "metric", "invert", "merge", "sort", "site",
               "histograms", "steps", "births", "copied", "range", "range_by_keys", "pools", "help_opens",
               "hostile_names_stay_text", "dark", "phone", "paper", "silent")
    ALONE = ("nothing_lives", "processes_can_be_chosen", "inputs_can_be_compared",
             "nothing_overflows", "peak_is_on_the_curve", "two_inputs_open_compared",
             "many_stacks_are_fast", "verdicts", "older_than", "nothing_is_that_old",
             "broken_data_is_told")

    def run(self, name, b):
        try:
            getattr(self, name)(b)
            print(f"ok {name}", flush=True)
        except (Failure, TypeError, subprocess.CalledProcessError) as e:
            why = str(e).replace("\n", " | ") or traceback.format_exc(limit=1)
            print(f"not ok {name}: {why}", flush=True)
            b.screenshot(self.file(f"{name}.png"))

    def all(self):
        self.make("page.data", "page.html")
        with Browser() as b:
            # helpers in every page
            b.call("Page.addScriptToEvaluateOnNewDocument", source="""
                window.$ = (s) => document.querySelector(s);
                window.$$ = (s) => document.querySelectorAll(s);""")
            b.open(self.file("page.html"))
            b.screenshot(self.file("page.png"))
            for name in self.ON_PAGE:
                self.run(name, b)
            for name in self.ALONE:
                self.run(name, b)


if __name__ == "__main__":
    if sys.argv[1] == "list":
        print("\n".join(Cases.ON_PAGE + Cases.ALONE))
    else:
        Cases(sys.argv[1], os.path.abspath(sys.argv[2])).all()
