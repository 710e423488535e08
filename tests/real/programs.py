# programs.py - real programs, idle and busy, for who looks at their memory from outside.
# SPDX-License-Identifier: Apache-2.0
"""Each function runs one program in a World and yields where there is something to look at."""
import contextlib
import os
import signal
import subprocess
import threading
import time

import clients
import servers
import world
from world import Failed, connects, find, free_port, until


@contextlib.contextmanager
def busy(work):
    """Calls work(i) in a thread, again and again, meanwhile."""
    end, failed = threading.Event(), []

    def loop():
        i = 0
        try:
            while not end.is_set():
                work(i)
                i += 1
        except Exception as why:  # pylint: disable=broad-except
            failed.append(why)

    t = threading.Thread(target=loop)
    t.start()
    try:
        yield
    finally:
        end.set()
        t.join()
    if failed:
        raise Failed(f"the load has ended early: {failed[0]}")


# ---- each yields (what it does, its pid) where it is looked at ----


def start_redis(w, *more, **env):
    port = free_port()
    p = w.start([find("redis-server"), "--port", str(port), "--bind", "127.0.0.1", "--dir", w.work, "--save", "", "--appendonly", "no", *more], **env)
    until("redis-server", 20, lambda: connects(port))
    return p, port


def redis_load(w, port, requests=20000):
    return lambda i: w.ask([find("redis-benchmark"), "-p", str(port), "-n", str(requests), "-c", "10", "-r", "20000", "-q", "-t", "set,get,lpush,lpop,hset,zadd,spop,sadd"])


def redis(w, *more, requests=20000):
    p, port = start_redis(w, *more)
    load = redis_load(w, port, requests)
    load(0)
    yield "idle", p.pid
    with busy(load):
        yield "busy", p.pid
    w.stop(p)


def redis_threads(w):
    yield from redis(w, "--io-threads", "2", requests=1500)  # they spin


def nginx(w):
    port = free_port()
    conf = w.write("nginx.conf", servers.NGINX.format(w=w, port=port, user=servers.drops_to("www-data"), inside=f"root {servers.site(w)}; gzip on; gzip_types *;"))
    p = w.start([find("nginx"), "-c", conf])
    until("nginx", 20, lambda: connects(port))
    workers = sorted(servers.workers(p))
    load = lambda i: w.ask([find("wrk"), "-t", "1", "-c", "8", "-d", "1s", f"http://127.0.0.1:{port}/f7.txt"])  # noqa: E731
    load(0)
    yield "master, idle", p.pid
    yield "worker, idle", workers[0]
    with busy(load):
        yield "worker, busy", workers[0]
    servers.replaced(p, signal.SIGHUP)
    yield "master, after a reload", p.pid
    w.stop(p)


def postgres(w):
    p, psql, pgbench = servers.start_postgres(w)
    yield "postmaster", p.pid
    held = subprocess.Popen(psql, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env={"PATH": world.PATH, "HOME": w.work})
    held.stdin.write(b"create table t as select generate_series(1, 50000) x;\nselect count(*), max(x) from t where x % 7 = 3;\n"
                     b"prepare q as select x, count(*) over () from t order by x desc limit 10; execute q;\n"
                     b"do $$ begin for i in 1..100 loop perform sum(x) from t; end loop; end $$;\n")
    held.stdin.flush()
    backend = psql + ["-c", "select pid from pg_stat_activity where backend_type = 'client backend' and state = 'idle' and query like 'do %'"]
    until("the backend", 60, lambda: w.ask(backend).strip().isdigit())
    yield "backend, idle", int(w.ask(backend))
    held.stdin.close()
    held.wait()
    load = w.background(pgbench + ["-c", "2", "-T", "20", "postgres"])
    until("pgbench", 30, lambda: w.ask(psql + ["-c", "select count(*) from pg_stat_activity where application_name = 'pgbench'"]).strip() == b"2")
    yield "backend, busy", int(w.ask(psql + ["-c", "select min(pid) from pg_stat_activity where application_name = 'pgbench'"]))
    load.terminate()
    load.wait()
    for kind in ("checkpointer", "autovacuum launcher"):
        pid = w.ask(psql + ["-c", f"select pid from pg_stat_activity where backend_type = '{kind}'"]).strip()
        if pid.isdigit():
            yield kind, int(pid)
    w.stop(p, signal.SIGINT)


def mariadb(w):
    server, port, data = find("mariadbd"), free_port(), w.path("data")
    user = ["--user=root"] if os.geteuid() == 0 else []
    w.ask([find("mariadb-install-db"), f"--datadir={data}", "--auth-root-authentication-method=normal", "--skip-test-db", f"--tmpdir={w.work}"] + user)
    p = w.start([server, "--no-defaults", f"--datadir={data}", f"--port={port}", f"--socket={w.path('sock')}", "--bind-address=127.0.0.1",
                 f"--pid-file={w.path('pid')}", f"--tmpdir={w.work}"] + user)
    until("mariadbd", 60, lambda: connects(port))
    sql = "create database d; use d; create table t(a int primary key, b varchar(200)); insert into t select seq, repeat(char(65 + seq % 26), seq % 200) from seq_1_to_20000;"
    w.ask([find("mariadb"), "-S", w.path("sock"), "-u", "root", "-N", "-e", sql])
    yield "idle", p.pid
    with clients.Mysql(w.path("sock"), "d") as c, busy(lambda i: c.query(f"select b, count(*) from t where a > {i % 1000} group by b order by 2 desc limit 5")):
        yield "busy", p.pid
    w.stop(p)


@contextlib.contextmanager
def reading(w, command, text, ready, **env):
    """A command that reads its work from a pipe; it has said `ready`, and waits: (process, pipe)."""
    log = w.path("said")
    inner, outer = os.pipe()
    with open(log, "wb") as out:
        p = subprocess.Popen(command, env=w.environment(**env), cwd=w.work, stdin=inner, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
    os.close(inner)
    w.started.append(p)
    try:
        os.write(outer, text)
        until(ready, 60, lambda: ready.encode() in open(log, "rb").read())
        yield p, outer
    finally:
        p.kill()
        p.wait()
        os.close(outer)


PYTHON = r"""
import collections, decimal, json, re, sqlite3, sys, threading, time, weakref, xml.etree.ElementTree as E, zlib, ctypes, asyncio, hashlib
class Node:
    __slots__ = ("left", "right", "value", "__weakref__")
class Node2:
    def __init__(self): self.a, self.b = {}, []
kept = []
def work(n):
    for i in range(n):
        kept.append({"k%d" % i: [i, str(i) * 3, (i, float(i))], i: {i, i + 1}})
        x = Node2(); x.a["self"] = x; kept.append(x) if i % 10 == 0 else None
        kept.append(decimal.Decimal(i) / 7); kept.append(bytearray(i % 300)); kept.append(weakref.ref(Node2))
    kept.append(E.fromstring("<a>" + "<b c='1'>x</b>" * 500 + "</a>"))
    kept.append(json.loads(json.dumps([{"a": [1, 2, {"b": None}]}] * 300)))
    kept.append([re.compile("a%d|b(c)*" % i) for i in range(20)])
    db = sqlite3.connect(":memory:"); db.execute("create table t(a, b)"); db.executemany("insert into t values(?, ?)", [(i, "v%d" % i) for i in range(2000)])
    kept.append(db); kept.append(zlib.compressobj()); kept.append(hashlib.sha256(b"x")); kept.append((i for i in range(9))); next(kept[-1])
def spin():
    while True:
        work(50); del kept[-200:]
threads = [threading.Thread(target=time.sleep, args=(3600,), daemon=True) for _ in range(3)]
for t in threads: t.start()
work(3000)
if sys.argv[1] == "busy": threading.Thread(target=spin, daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
"""


def python(w, **env):
    script = w.write("work.py", PYTHON)
    for how in ("idle", "busy"):
        with reading(w, [find("python3"), script, how], b"\n", "ready", **env) as (p, _):
            yield how, p.pid


def python_malloc(w):
    yield from python(w, PYTHONMALLOC="malloc")


NODE = r"""
const zlib = require('zlib'), crypto = require('crypto'), fs = require('fs'), http = require('http'), {Worker, isMainThread} = require('worker_threads');
if (isMainThread) {
const kept = [];
function work(n) {
  for (let i = 0; i < n; i++) { kept.push({i, s: String(i).repeat(3), b: Buffer.alloc(100 + i % 9000), m: new Map([[i, i]])}); }
  kept.push(zlib.gzipSync(Buffer.alloc(100000))); kept.push(crypto.createHash('sha256').update('x')); kept.push(zlib.createGzip()); kept.push(new Function('a', 'return a + 1'));
}
const w = new Worker(__filename); kept.push(w);
const server = http.createServer((q, r) => { work(1); r.end('hello'); }); server.listen(0, '127.0.0.1', () => {
  work(3000);
  if (process.argv[2] === 'busy') setInterval(() => { work(100); kept.splice(0, 90); fs.readFile(__filename, () => {}); http.get({port: server.address().port}, r => r.resume()); zlib.deflate(Buffer.alloc(10000), () => {}); }, 5);
  console.log('ready');
});
} else { const k = []; for (let i = 0; i < 1000; i++) k.push(Buffer.alloc(i)); setInterval(() => k.length, 1000); }
"""


def node(w):
    script = w.write("work.js", NODE)
    for how in ("idle", "busy"):
        with reading(w, [find("node"), script, how], b"\n", "ready") as (p, _):
            time.sleep(1)
            yield how, p.pid


JAVA = r"""
import java.nio.*; import java.util.*; import java.util.zip.*;
public class A {
    static final List<Object> kept = new ArrayList<>();
    static synchronized void work(int n) {
        for (int i = 0; i < n; i++) {
            kept.add(new HashMap<>(Map.of("k" + i, i)));
            ByteBuffer b = ByteBuffer.allocateDirect(1 << 12); kept.add(b);
            Deflater d = new Deflater(); d.setInput(new byte[1 << 12]); d.finish(); d.deflate(b); d.end();
        }
        if (kept.size() > 4000) kept.subList(0, kept.size() - 4000).clear();
    }
    public static void main(String[] a) throws Exception {
        for (int i = 0; i < 8; i++) { Thread t = new Thread(() -> { try { Thread.sleep(3600000); } catch (InterruptedException e) { } }); t.setDaemon(true); t.start(); }
        work(2000);
        if (a[0].equals("busy")) { Thread t = new Thread(() -> { for (;;) work(50); }); t.setDaemon(true); t.start(); }
        System.out.println("ready");
        System.in.read(new byte[2]); System.in.read();
    }
}
"""


def java(w):
    script = w.write("A.java", JAVA)
    for how in ("idle", "busy"):
        with reading(w, [find("java"), "-Xmx128m", script, how], b"\n", "ready") as (p, _):
            time.sleep(1)
            yield how, p.pid


SQL = b"""create table t(a integer primary key, b text, c blob); create index i on t(b);
with recursive n(x) as (select 1 union all select x + 1 from n where x < %d) insert into t select x, 'v' || x, zeroblob(x %% 200) from n;
create view v as select b, count(*) n from t group by b; create trigger g after insert on t begin select 1; end;
select json_group_array(b) from t where a < 5;
.print ready
"""


def sqlite(w):
    with reading(w, [find("sqlite3"), "-batch", ":memory:"], SQL % 50000, "ready") as (p, pipe):
        yield "idle", p.pid
        os.write(pipe, b"with recursive n(x) as (select 1 union all select x + 1 from n where x < 100000000) select count(*) from n, t where x % 1000 = t.a and t.b like '%7%';\n")
        yield "busy", p.pid


def gdb(w):
    work = b"break malloc\nrun -c 'print(1)'\nbt\ninfo sharedlibrary\npython print(len(gdb.objfiles()))\nptype struct foo\nkill\nprint 7 * 1111\n"
    with reading(w, [find("gdb"), "-nx", "-q", find("python3")], work, " = 7777") as (p, _):
        yield "idle", p.pid


def memcached(w):
    port = free_port()
    user = ["-u", "nobody"] if os.geteuid() == 0 else []
    p = w.start([find("memcached"), "-p", str(port), "-l", "127.0.0.1", "-m", "64", "-t", "4"] + user)
    until("memcached", 20, lambda: connects(port))
    work = lambda i: clients.talk(port, [(b"set k%d 0 0 3\r\nabc\r\n" % (i % 3000), 1), (b"get k%d\r\n" % (i % 3000), 3)])  # noqa: E731
    work(0)
    yield "idle", p.pid
    with busy(work):
        yield "busy", p.pid
    w.stop(p)
