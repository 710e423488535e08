# tools.py - programs that run and end: compilers, interpreters, git, make.
# SPDX-License-Identifier: Apache-2.0
"""Each function runs one program in a World and returns what must be the same bare and traced."""
import glob
import os
import re
import textwrap

import servers

from world import Failed, find

PYTHON = """
    import collections, json, os, subprocess, sys, threading
    seen, lock = collections.Counter(), threading.Lock()
    def work(k):
        for i in range(3000):
            with lock:
                seen[("x%d" % (i % 500 + k)) * 3] += 1
    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    [t.start() for t in threads]; [t.join() for t in threads]
    for i in range(20):
        pid = os.fork()
        if pid == 0:
            text = json.dumps([{"i": j, "t": "y" * j} for j in range(200)])
            os._exit(len(json.loads(text)) % 256)
        assert os.waitpid(pid, 0)[1] >> 8 == 200
    out = subprocess.run([sys.executable, "-S", "-c", "print(sum(range(1000)))"], stdout=subprocess.PIPE).stdout
    print(len(seen), sum(seen.values()), out)
"""
PERL = "my %h; for my $i (1..60000) { $h{'k'.($i % 7000)} .= chr(65 + $i % 26); } print join(',', map { length $h{$_} } sort keys %h), \"\\n\";"
RUBY = "h = Hash.new(0); 60000.times { |i| h['k' + (i % 5000).to_s] += i }; puts h.values.sum; puts (1..20000).map { |i| i.to_s * 3 }.join.length; system('true'); puts $?.exitstatus"
NODE = """
    const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
    const { fork, execSync } = require('child_process');
    function work(k) { const m = new Map(); for (let i = 0; i < 40000; i++) m.set('k' + i % 9000 + k, [i, String(i)]); return JSON.stringify([...m]).length; }
    if (process.send) { process.send(work(7)); process.disconnect(); }
    else if (!isMainThread) parentPort.postMessage(work(workerData));
    else (async () => {
        const answer = (x) => new Promise((done) => x.once('message', done));
        console.log(work(0), execSync('echo x').toString());
        console.log(...await Promise.all([1, 2, 3, 4].map((k) => answer(new Worker(__filename, { workerData: k })))));
        console.log(...await Promise.all([1, 2, 3].map(() => answer(fork(__filename)))));
    })();
"""
JAVA = """
    import java.util.*;
    public class A {
        static volatile long sum;
        static void work(int k) {
            var m = new HashMap<String, Integer>();
            for (int i = 0; i < 20000; i++) m.merge("k" + i % 500, i, Integer::sum);
            var b = java.nio.ByteBuffer.allocateDirect(1 << 16);
            var d = new java.util.zip.Deflater();
            d.setInput(new byte[1 << 16]); d.finish();
            int n = d.deflate(b); d.end();
            synchronized (A.class) { sum += m.size() + n + k; }
        }
        public static void main(String[] a) throws Exception {
            var all = new ArrayList<Thread>();
            for (int k = 0; k < 50; k++) { int n = k; var t = new Thread(() -> work(n)); t.start(); all.add(t); }
            for (var t : all) t.join();
            System.out.println(sum);
            System.out.println(new ProcessBuilder("echo", "x").start().waitFor());
        }
    }
"""
C = """
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    struct list { struct list *next; char text[32]; };
    %s
    int main(void) { struct list *all = NULL; for (int i = 0; i < 1000; i++) { struct list *l = malloc(sizeof(*l));
        snprintf(l->text, sizeof(l->text), "%%d", i); l->next = all; all = l; } long n = 0; for (; all; all = all->next) n += strlen(all->text); printf("%%ld\\n", n); return 0; }
"""
SQL = "create table t(a integer primary key, b text); with recursive c(x) as (select 1 union all select x + 1 from c where x < 40000) insert into t select x, hex(x * 7919) from c;" \
      "create index i on t(b); select count(distinct substr(b, 1, 3)), sum(length(b)) from t; select b, a from t order by b desc limit 5; delete from t where a % 3 = 0; vacuum; select count(*) from t;\n"


def c_source(n=60):
    bodies = "\n".join(f"static int f{i}(int a, const char *s) {{ char b[64]; int k, r = a; for (k = 0; k < {3 + i % 9}; k++) {{ snprintf(b, sizeof(b), \"%%d%%s\", k, s);"
                       f" r += (int)strlen(b) * {i + 1}; if (r & {1 << i % 8}) r ^= a; }} return r; }}\nint g{i}(void) {{ return f{i}({i}, \"x{i}\"); }}" for i in range(n))
    return textwrap.dedent(C) % bodies.replace("%%", "%")


def python(w):
    return w.run([find("python3"), "-S", w.write("a.py", textwrap.dedent(PYTHON))], PYTHONMALLOC="malloc", PYTHONHASHSEED="0")[:2]


def python_pymalloc(w):
    return w.run([find("python3"), "-S", w.write("a.py", textwrap.dedent(PYTHON))], PYTHONHASHSEED="0")[:2]


def perl(w):
    return w.run([find("perl"), "-e", PERL], PERL_HASH_SEED="0")


def ruby(w):
    return w.run([find("ruby"), "-e", RUBY])


def node(w):
    return w.run([find("node"), w.write("a.js", NODE)])


def java(w):
    return w.run([find("java"), "-Xmx128m", w.write("A.java", JAVA)])[:2]


PYTHON_TESTS = ("test_fork1 test_thread", "test_threading", "test_subprocess.ProcessTestCase",
                "test_subprocess.POSIXProcessTestCase test_subprocess.RunFuncTestCase test_subprocess.ContextManagerTests")


def python_tests(w):
    """Python's own tests, in four processes, for most of them wait; a line per test."""
    if not glob.glob("/usr/lib/python3*/test/test_subprocess.py"):
        raise Failed("no test suite of Python here: make deps-real installs it")
    parts = [w.start(["/usr/bin/python3", "-m", "unittest", "-v"] + [f"test.{x}" for x in names.split()]) for names in PYTHON_TESTS]
    said = [w.finish(p, seconds=200) for p in parts]
    for i in range(len(parts)):
        with open(w.path(f"log-{i}"), encoding="utf-8", errors="replace") as f:
            text = f.read()
        verdicts = sorted(re.findall(r"^(test\w+ \([\w.]+\)).*?\.\.\. (\w+)", text, re.M | re.S))
        if len(verdicts) < 20:
            raise Failed(f"{PYTHON_TESTS[i]}: only {len(verdicts)} tests: {text[-300:]}")
        said += verdicts
    return said


def git(w):
    g, repo = find("git"), w.path("repo")
    env = {"GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2020-01-01T00:00:00Z", "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
           "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    w.run([g, "init", "-q", "-b", "main", repo], **env)
    said = []
    for k in range(8):
        for i in range(15):
            w.write(f"repo/f{i}", f"line {i} {k}\n" * (20 + i * k))
        w.run([g, "-C", repo, "add", "."], **env)
        w.run([g, "-C", repo, "commit", "-q", "-m", f"c{k}"], **env)
    said += [w.run([g, "-C", repo, "log", "-p", "--stat"], **env), w.run([g, "-C", repo, "gc", "-q"], **env), w.run([g, "-C", repo, "fsck", "--no-progress"], **env)]
    said += [w.run([g, "clone", "-q", repo, w.path("copy")], **env), w.run([g, "-C", w.path("copy"), "rev-parse", "HEAD"], **env)]
    return said


def compile_with(w, compiler, name, source):
    path = w.write(name, source)
    said = [w.run([find(compiler), "-O2", "-g0", "-c", path, "-o", w.path("a.o")])]
    with open(w.path("a.o"), "rb") as f:
        return said + [f.read()]


def gcc(w):
    return compile_with(w, "gcc", "a.c", c_source())


def gxx(w):
    return compile_with(w, "g++", "a.cpp", "#include <map>\n#include <string>\n#include <vector>\nint f(const std::string &s) { std::map<std::string, std::vector<int>> m;"
                                           " m[s].push_back(1); return (int)m.size(); }\n")


def clang(w):
    return compile_with(w, "clang", "a.c", c_source())


def make(w):
    w.write("Makefile", "all: $(patsubst %,o/%,$(shell seq 1 40))\no/%:\n\t@mkdir -p o; sleep 0.01; echo $* | md5sum > $@\n.PHONY: sub\nsub:\n\t+@echo \"$$MAKEFLAGS\" >flags; $(MAKE) -s all\n")
    said = [w.run([find("make"), "-s", "-j2", "sub"])]
    said += [open(w.path("o", str(i))).read() for i in range(1, 41)]
    flags = open(w.path("flags")).read()
    if "jobserver" not in flags:
        raise Failed(f"no job server: {flags}")
    return said + [flags]


def sqlite(w):
    return w.run([find("sqlite3"), w.path("a.db")], stdin=w.write("a.sql", SQL))


def qemu(w):
    binary = w.write("hello.c", '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { long n = 0; for (int i = 0; i < 20000; i++) { char *p = malloc(i % 99 + 1); n += (long)(p != 0); free(p); } printf("%ld\\n", n); }\n')
    w.ask([find("gcc"), "-O1", "-static", binary, "-o", w.path("hello")])
    return w.run([find("qemu-x86_64"), w.path("hello")])


def chromium(w):
    page = w.write("p.html", "<!doctype html><title>t</title><body><script>document.body.textContent = 'sum ' + [...Array(1000).keys()].reduce((a, b) => a + b);</script>")
    root = ["--no-sandbox"] if os.geteuid() == 0 else []
    status, out, _ = w.run([find("chromium"), "--headless", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={w.path('profile')}", "--dump-dom"] + root + ["file://" + page], check=False, seconds=120)
    if b"sum 499500" not in out:
        raise Failed(f"the page was not rendered: status {status}")
    if w.mode != "bare":
        reasons = {q["inert_reason"] for q in w.report()["processes"] if q["exe"].endswith("/chromium")}
        if reasons != {"the executable brings its own malloc"}:
            raise Failed(f"chromium has its own allocator, but the trace says {reasons}")
    return out


def with_allocator(name):
    """Programs and a server with another allocator in charge."""
    def run(w):
        if not w.allocator:
            raise Failed(f"no {name} here: make deps-real installs it")
        return [sqlite(w), perl(w), python(w), servers.memcached(w)]
    return run


# name: (function, what it does)
TOOLS = {
    "python3, malloc": (python, "threads, fork, subprocess; PYTHONMALLOC=malloc"),
    "python3": (python_pymalloc, "the same with Python's own allocator"),
    "python3, its tests": (python_tests, "test_fork1, test_thread, test_threading, test_subprocess"),
    "perl": (perl, "hashes and strings"),
    "ruby": (ruby, "hashes, strings, a child"),
    "node": (node, "maps, JSON, 4 worker threads, 3 forks, a shell"),
    "java": (java, "compiles and runs a class, 50 threads, direct buffers, zlib, a child"),
    "git": (git, "8 commits, log -p, gc, fsck, clone"),
    "gcc": (gcc, "60 functions at -O2: driver, cc1, as"),
    "g++": (gxx, "`<map>` and `<string>` at -O2"),
    "clang": (clang, "60 functions at -O2"),
    "make -j2": (make, "40 targets below a sub-make, job server"),
    "sqlite3": (sqlite, "40,000 rows, index, vacuum"),
    "qemu-user": (qemu, "a static program under emulation"),
    "chromium": (chromium, "headless, renders a page with script"),
}

ALLOCATORS = {
    "jemalloc": ("libjemalloc.so.2",),
    "tcmalloc": ("libtcmalloc_minimal.so.4",),
    "mimalloc": ("libmimalloc.so.2.0", "libmimalloc.so.2"),
}
ON_ALLOCATOR = "sqlite3, perl, python3 and memcached with it preloaded behind seep"
