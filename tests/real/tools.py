# tools.py - programs that run and end: compilers, interpreters, git, make.
# SPDX-License-Identifier: Apache-2.0
"""Each function runs one program in a World and returns what must be the same bare and traced."""
import os
import textwrap

from world import Failed, Skip, find

PYTHON = """
    import collections, json, os, subprocess, sys, threading
    seen = collections.Counter()
    def work(k):
        for i in range(3000):
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
NODE = "const m=new Map();for(let i=0;i<80000;i++)m.set('k'+i%9000,[i,String(i)]);console.log(m.size,JSON.stringify([...m]).length,require('child_process').execSync('echo x').toString());"
JAVA = 'public class A { public static void main(String[] a) throws Exception { var m = new java.util.HashMap<String, Integer>(); for (int i = 0; i < 400000; i++) m.merge("k" + i % 5000, i, Integer::sum);' \
       ' var t = new Thread(() -> System.out.println(m.size())); t.start(); t.join(); var b = java.nio.ByteBuffer.allocateDirect(1 << 20); System.out.println(b.capacity()); } }'
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
    return w.run([find("node"), "-e", NODE])


def java(w):
    return w.run([find("java"), "-Xmx128m", w.write("A.java", JAVA)])[:2]


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
    w.write("Makefile", "all: $(patsubst %,o/%,$(shell seq 1 40))\no/%:\n\t@mkdir -p o; sleep 0.01; echo $* | md5sum > $@\n.PHONY: sub\nsub:\n\t+@$(MAKE) -s all\n")
    w.run([find("make"), "-s", "-j2", "sub"])
    return [open(w.path("o", str(i))).read() for i in range(1, 41)]


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
    return out


def with_allocator(names):
    """sqlite3 and python3 with another allocator in charge."""
    def run(w):
        if len(w.preloads) < (1 if w.mode == "bare" else 2):
            raise Skip(f"no {names} here")
        return [sqlite(w), python(w)]
    return run


# name: (function, what it does, the same number of allocations in every run?)
TOOLS = {
    "python3, malloc": (python, "threads, fork, subprocess; PYTHONMALLOC=malloc", False),
    "python3": (python_pymalloc, "the same with Python's own allocator", False),
    "perl": (perl, "hashes and strings", True),
    "ruby": (ruby, "hashes, strings, a child", False),
    "node": (node, "maps, JSON, a child", False),
    "java": (java, "compiles and runs a class, threads, direct buffers", False),
    "git": (git, "8 commits, log -p, gc, fsck, clone", False),
    "gcc": (gcc, "60 functions at -O2: driver, cc1, as", True),
    "g++": (gxx, "<map> and <string> at -O2", True),
    "clang": (clang, "60 functions at -O2", False),
    "make -j2": (make, "40 targets below a sub-make, job server", False),
    "sqlite3": (sqlite, "40,000 rows, index, vacuum", True),
    "qemu-user": (qemu, "a static program under emulation", False),
    "chromium": (chromium, "headless, renders a page with script; brings its own allocator", False),
}

ALLOCATORS = {
    "jemalloc": ("libjemalloc.so.2",),
    "tcmalloc": ("libtcmalloc_minimal.so.4",),
    "mimalloc": ("libmimalloc.so.2.0", "libmimalloc.so.2"),
}
