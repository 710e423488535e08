# servers.py - servers under load: what they answer, and how fast.
# SPDX-License-Identifier: Apache-2.0
"""Each function runs one server in a World and returns what must be the same bare and traced."""
import glob
import os
import re
import signal
import socket
import time

import clients
from clients import fetch, percentile, talk, timed
from world import Failed, Skip, children_of, connects, find, free_port, until


def wrk(w, url, seconds=2, threads=1, connections=8):
    """Load for a time, so what counts is the CPU per request."""
    before = w.tree_cpu()
    out = w.ask([find("wrk"), "-t", str(threads), "-c", str(connections), "-d", f"{seconds}s", "--latency", url]).decode()
    m, n = re.search(r"99%\s+([0-9.]+)(us|ms|s)\b", out), re.search(r"(\d+) requests in", out)
    if not m or not n or not int(n[1]) or "Non-2xx" in out:
        raise Failed(f"wrk: {out[-300:]}")
    w.cpu_per_request = (w.tree_cpu() - before) / int(n[1])
    w.latency_ms = float(m[1]) * {"us": 0.001, "ms": 1, "s": 1000}[m[2]]


def workers(p):
    return set(children_of(p.pid)) - {p.pid}


def replaced(p, number, all_gone=True):
    """Sends a signal and waits until the workers are others."""
    before = workers(p)
    p.send_signal(number)
    until("new workers", 30, lambda: workers(p) - before and not (all_gone and workers(p) & before))


def drops_to(user):
    """A line for a configuration: as root, workers become that user."""
    return f"user {user};" if os.geteuid() == 0 else ""


def site(w, name="www"):
    for i in range(20):
        w.write(f"{name}/f{i}.txt", f"file {i}\n" * (50 * i + 1))
    w.write(f"{name}/index.html", "<p>hello\n")
    return w.path(name)


def redis_info(port, key):
    with socket.create_connection(("127.0.0.1", port), timeout=20) as s, s.makefile("rwb") as f:
        f.write(b"INFO persistence\r\n")
        f.flush()
        text = f.read(int(f.readline()[1:])).decode()
    return re.search(rf"^{key}:(.*?)\r?$", text, re.M)[1]


def redis(w, threads=1):
    port = free_port()
    p = w.start([find("redis-server"), "--port", str(port), "--bind", "127.0.0.1", "--dir", w.work, "--save", "",
                 "--appendonly", "no", "--io-threads", str(threads)])
    until("redis-server", 20, lambda: connects(port))
    said = talk(port, [(b"SET a 1\r\n", 1), (b"INCRBY a 41\r\n", 1), (b"GET a\r\n", 2), (b"RPUSH l x y z\r\n", 1), (b"LLEN l\r\n", 1)])
    said += talk(port, [(b"SET kept:%d %s\r\n" % (i, b"v" * (i + 1)), 1) for i in range(300)])
    out = w.ask([find("redis-benchmark"), "-p", str(port), "-n", str(10000 if threads == 1 else 1500), "-c", "10", "-r", "5000", "-q", "--csv",
                 "-t", "set,get,lpush,hset"]).decode()
    w.latency_ms = max(float(line.split('","')[6].strip('"')) for line in out.splitlines()[1:])
    for command, busy, verdict in ((b"BGSAVE", "rdb_bgsave_in_progress", "rdb_last_bgsave_status"), (b"BGREWRITEAOF", "aof_rewrite_in_progress", "aof_last_bgrewrite_status")):
        said += talk(port, [(command + b"\r\n", 1)])
        until(command.decode(), 60, lambda: redis_info(port, busy) == "0")
        said += [redis_info(port, verdict)]
    said += talk(port, [(b"GET kept:%d\r\n" % i, 2) for i in range(300)])
    tasks = [open(f).read() for f in glob.glob(f"/proc/{p.pid}/task/*/comm")]
    return said + [os.path.exists(w.path("dump.rdb")), sorted(t for t in tasks if t.startswith("io_thd")), w.stop(p)]


def redis_io_threads(w):
    return redis(w, threads=2)


NGINX = """{user} daemon off; pid {w.work}/pid; error_log {w.work}/err; worker_processes 2; events {{ worker_connections 256; }}
    http {{ access_log off; client_body_temp_path {w.work}/a; proxy_temp_path {w.work}/b; fastcgi_temp_path {w.work}/c; uwsgi_temp_path {w.work}/d;
    scgi_temp_path {w.work}/e; server {{ listen 127.0.0.1:{port}; {inside} }} }}"""


def nginx(w):
    port = free_port()
    conf = w.write("nginx.conf", NGINX.format(w=w, port=port, user=drops_to("www-data"), inside=f"root {site(w)}; gzip on; gzip_types *;"))
    # an upgrade is refused while the parent is the one that started it
    starter = w.start([find("sh"), "-c", f"{find('nginx')} -c {conf} & while test ! -e go; do sleep 0.1; done"])
    until("nginx", 20, lambda: connects(port))
    w.write("go", "")
    starter.wait()
    old = w.adopt(int(open(w.path("pid")).read()))
    said = [fetch(port, f"/f{i}.txt") for i in range(20)]
    wrk(w, f"http://127.0.0.1:{port}/f7.txt")
    replaced(old, signal.SIGHUP)  # reload: new workers
    said += [fetch(port, f"/f{i}.txt") for i in range(20)]
    old.send_signal(signal.SIGUSR2)  # upgrade: a new binary takes over the sockets
    until("the new master", 30, lambda: os.path.exists(w.path("pid.oldbin")) and os.path.getsize(w.path("pid")))
    said += [fetch(port, "/nothing")[0]]
    number = int(open(w.path("pid")).read())
    said += [w.stop(old, signal.SIGQUIT)]
    new = w.adopt(number)
    said += [fetch(port, f"/f{i}.txt") for i in range(20)]  # by the new one alone
    return said + [w.stop(new)]


def start_postgres(w):
    """A server with pgbench's tables: its process, psql, pgbench."""
    where = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    if not where:
        raise Failed("no PostgreSQL here: make deps-real installs it")
    if os.geteuid() != 0:
        raise Skip("needs root")
    bins, port, data = where[-1], free_port(), w.path("data")
    w.give("postgres")
    w.ask([f"{bins}/initdb", "-D", data, "-A", "trust", "--no-sync", "-U", "postgres", "--locale=C"], user="postgres")
    p = w.start([f"{bins}/postgres", "-D", data, "-p", str(port), "-k", w.work, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"], user="postgres")
    psql = [find("psql"), "-h", "127.0.0.1", "-p", str(port), "-U", "postgres", "-At"]
    until("postgres", 60, lambda: connects(port))
    until("postgres to answer", 60, lambda: w.ask(psql + ["-c", "select 1"], check=False) == b"1\n")
    pgbench = [f"{bins}/pgbench", "-h", "127.0.0.1", "-p", str(port), "-U", "postgres"]
    w.ask(pgbench + ["-i", "-s", "1", "-q", "postgres"])
    return p, psql, pgbench


def postgres(w):
    p, psql, pgbench = start_postgres(w)
    w.ask(pgbench + ["-c", "4", "-t", "250", "-l", "--log-prefix", w.path("lat"), "postgres"])
    times = [int(line.split()[2]) / 1000 for f in glob.glob(w.path("lat*")) for line in open(f)]
    w.latency_ms = percentile(times, 0.99)
    said = [w.ask(psql + ["-c", "select count(*), sum(abalance) - (select sum(delta) from pgbench_history) from pgbench_accounts"])]
    w.ask(psql + ["-c", "create table t as select generate_series(1, 5000) x"])
    jit = "set jit = on; set jit_above_cost = 0; set jit_optimize_above_cost = 0; set jit_inline_above_cost = 0; select pg_jit_available(), sum(x * 2), count(*) from t where x % 7 = 3"
    said += [w.ask(psql + ["-c", jit])]
    # kill -9 of a backend: all others are restarted, nothing is lost
    client = w.background(psql + ["-c", "select pg_sleep(60)"])
    at_it = psql + ["-c", "select pid from pg_stat_activity where query = 'select pg_sleep(60)'"]
    until("the backend", 20, lambda: w.ask(at_it).strip().isdigit())
    os.kill(int(w.ask(at_it)), signal.SIGKILL)
    said += [client.wait(60)]
    until("recovery", 60, lambda: w.ask(psql + ["-c", "select sum(x) from t"], check=False) == b"12502500\n")
    said += [w.ask(psql + ["-c", "select md5(string_agg(x::text, ',' order by x)) from t"])]
    return said + [w.stop(p, signal.SIGINT)]


def mariadb(w):
    server, port, data = find("mariadbd"), free_port(), w.path("data")
    user = ["--user=root"] if os.geteuid() == 0 else []
    w.ask([find("mariadb-install-db"), f"--datadir={data}", "--auth-root-authentication-method=normal", "--skip-test-db", f"--tmpdir={w.work}"] + user)
    p = w.start([server, "--no-defaults", f"--datadir={data}", f"--port={port}", f"--socket={w.path('sock')}", "--bind-address=127.0.0.1",
                 f"--pid-file={w.path('pid')}", f"--tmpdir={w.work}"] + user)
    until("mariadbd", 60, lambda: connects(port))
    sql = "create database d; use d; create table t(a int primary key, b varchar(200)); insert into t select seq, repeat(char(65 + seq % 26), seq % 200) from seq_1_to_20000;" \
          "select count(*), sum(length(b)), md5(group_concat(b order by a limit 50)) from t; select b, count(*) from t group by b order by 2 desc, 1 limit 5;"
    said = [w.ask([find("mariadb"), "-S", w.path("sock"), "-u", "root", "-N", "-e", sql])]
    with clients.Mysql(w.path("sock"), "d") as c:
        said += timed(w, 1000, lambda i: c.query(f"select a, b from t where a = {i * 17 % 20000 + 1}"))
        said += [c.query(f"update t set b = 'x{i}' where a = {i + 1}") for i in range(200)]
    return said + [w.stop(p)]


def memcached(w):
    port = free_port()
    user = ["-u", "nobody"] if os.geteuid() == 0 else []
    p = w.start([find("memcached"), "-p", str(port), "-l", "127.0.0.1", "-m", "64", "-t", "4"] + user)
    until("memcached", 20, lambda: connects(port))
    with socket.create_connection(("127.0.0.1", port)) as s, s.makefile("rwb") as f:
        def exchange(i):
            body = b"x" * (i % 900)
            f.write(b"set k%d 0 0 %d\r\n%s\r\nget k%d\r\n" % (i % 3000, len(body), body, i % 3000))
            f.flush()
            return [f.readline() for _ in range(4)]

        said = timed(w, 10000, exchange)
    return said + [w.stop(p)]


def haproxy(w):
    front = free_port()
    os.makedirs(w.path("jail"))
    drop = f" user nobody\n group nogroup\n chroot {w.path('jail')}\n" if os.geteuid() == 0 else ""
    conf = w.write("h.cfg", f"""global\n nbthread 2\n{drop}defaults\n mode http\n timeout connect 5s\n timeout client 20s\n timeout server 20s
frontend f\n bind 127.0.0.1:{front}\n default_backend b\nbackend b\n http-request return status 200 content-type text/plain lf-string "%[path] %[rand(1)]\\n"\n""")
    p = w.start([find("haproxy"), "-W", "-db", "-f", conf])
    until("haproxy", 20, lambda: connects(front))
    said = [fetch(front, f"/{i}") for i in range(50)]
    wrk(w, f"http://127.0.0.1:{front}/x")
    replaced(p, signal.SIGUSR2)  # reload: the master executes itself anew
    said += [fetch(front, f"/{i}") for i in range(50)]
    return said + [w.stop(p, signal.SIGUSR1)]


def varnish(w):
    back, front = free_port(), free_port()
    web = w.start([find("python3"), "-m", "http.server", str(back), "--bind", "127.0.0.1", "--directory", site(w)])
    until("the back end", 20, lambda: connects(back))
    find("gcc")
    vcl = f'vcl 4.1; backend default {{ .host = "127.0.0.1"; .port = "{back}"; }}\n'
    p = w.start([find("varnishd"), "-F", "-a", f"127.0.0.1:{front}", "-f", w.write("v.vcl", vcl), "-n", w.path("v"), "-s", "malloc,32m", "-j", "none"])
    until("varnishd", 60, lambda: connects(front))
    said = [fetch(front, f"/f{i % 20}.txt")[1] for i in range(60)]
    wrk(w, f"http://127.0.0.1:{front}/f3.txt")
    admin = [find("varnishadm"), "-n", w.path("v")]
    for i in range(3):  # each is compiled, loaded as a plugin, and the one before unloaded
        path = w.write(f"v{i}.vcl", vcl + f'sub vcl_recv {{ if (req.url == "/v") {{ return (synth(200, "v{i}")); }} }}')
        w.ask(admin + ["vcl.load", f"v{i}", path])
        w.ask(admin + ["vcl.use", f"v{i}"])
        w.ask(admin + ["vcl.discard", f"v{i - 1}" if i else "boot"])
        said += [fetch(front, "/v")[0]] + [fetch(front, f"/f{k}.txt")[1] for k in range(20)]
    status = w.stop(p)
    w.stop(web)
    return said + [status]


def ganesha(w):
    if os.geteuid() != 0:
        raise Skip("needs root")
    os.rename(site(w), w.path("export"))
    port = free_port()
    conf = w.write("g.conf", f"""NFS_CORE_PARAM {{ NFS_Port = {port}; Protocols = 4; Enable_NLM = false; Enable_RQUOTA = false; Bind_addr = 127.0.0.1; }}
NFSv4 {{ RecoveryBackend = fs; Graceless = true; Lease_Lifetime = 5; RecoveryRoot = {w.path('rec')}; }}
EXPORT {{ Export_Id = 1; Path = {w.path('export')}; Pseudo = /e; Access_Type = RW; Squash = None; SecType = sys; FSAL {{ Name = VFS; }} }}
LOG {{ COMPONENTS {{ ALL = WARN; }} }}""")
    os.makedirs(w.path("rec"), exist_ok=True)
    p = w.start([find("ganesha.nfsd"), "-F", "-f", conf, "-L", w.path("g.log"), "-p", w.path("g.pid"), "-N", "NIV_WARN"])
    until("ganesha.nfsd", 60, lambda: connects(port))
    with clients.Nfs(port) as c:
        until("the export", 30, lambda: b"file 3" in c.read(0, "e", "f3.txt"))
        said = timed(w, 2000, lambda i: c.read(i + 1, "e", f"f{i % 21}.txt"))  # f20.txt: there is none
    return said + [w.stop(p)]


def h2o(w):
    port = free_port()
    user = "user: root\n" if os.geteuid() == 0 else ""
    conf = w.write("h2o.conf", f"""{user}listen:\n  host: 127.0.0.1\n  port: {port}\nnum-threads: 2\nhosts:\n  default:\n    paths:\n      /:\n        file.dir: {site(w)}\n""")
    p = w.start([find("h2o"), "-c", conf])
    until("h2o", 20, lambda: connects(port))
    said = [fetch(port, f"/f{i}.txt") for i in range(20)]
    wrk(w, f"http://127.0.0.1:{port}/f7.txt")
    return said + [w.stop(p)]


def php_fpm(w):
    server = next((c for c in sorted(glob.glob("/usr/sbin/php-fpm*"))), None)
    if not server:
        raise Failed("no php-fpm here: make deps-real installs it")
    port, front = free_port(), free_port()
    user = "user=www-data\ngroup=www-data\n" if os.geteuid() == 0 else ""
    conf = w.write("fpm.conf", f"[global]\nerror_log={w.path('fpm.log')}\ndaemonize=no\n[www]\n{user}listen=127.0.0.1:{port}\npm=static\npm.max_children=2\npm.max_requests=50\n")
    w.write("www/a.php", "<?php $a=[]; for($i=0;$i<2000;$i++) $a[]=str_repeat(chr(65+$i%26),$i%90); echo md5(implode(',',$a)), ' ', $_GET['n'] ?? '', \"\\n\";")
    p = w.start([server, "-F", "-y", conf, "-n"], USE_ZEND_ALLOC="0")
    until("php-fpm", 20, lambda: connects(port))
    inside = f"location / {{ fastcgi_pass 127.0.0.1:{port}; fastcgi_param SCRIPT_FILENAME {w.path('www')}$fastcgi_script_name; fastcgi_param QUERY_STRING $query_string; fastcgi_param REQUEST_METHOD GET; }}"
    web = w.start([find("nginx"), "-c", w.write("ng.conf", NGINX.format(w=w, port=front, user=drops_to("www-data"), inside=inside))])
    until("nginx", 20, lambda: connects(front))
    first = workers(p)
    said = timed(w, 300, lambda i: fetch(front, f"/a.php?n={i}")[1])
    if workers(p) & first:
        raise Failed("php-fpm has not replaced its workers")
    w.stop(web, signal.SIGQUIT)
    return said + [w.stop(p, signal.SIGQUIT)]


def apache(w):
    port = free_port()
    mods = "/usr/lib/apache2/modules"
    if not os.path.isdir(mods):
        raise Failed("no apache2 here: make deps-real installs it")
    load = "\n".join(f"LoadModule {m}_module {mods}/mod_{m}.so" for m in ("mpm_event", "authz_core", "dir", "mime", "deflate", "filter"))
    user = "User www-data\nGroup www-data\n" if os.geteuid() == 0 else ""
    conf = w.write("a.conf", f"""ServerRoot {w.work}\n{load}\n{user}PidFile {w.path('pid')}\nErrorLog {w.path('err')}\nListen 127.0.0.1:{port}\nServerName localhost
TypesConfig /dev/null\nDefaultRuntimeDir {w.work}\nMutex file:{w.work}\nStartServers 2\nDocumentRoot {site(w)}\n<Directory {w.path('www')}>\nRequire all granted\n</Directory>\n""")
    p = w.start([find("apache2"), "-f", conf, "-DFOREGROUND"])
    until("apache2", 20, lambda: connects(port))
    said = [fetch(port, f"/f{i}.txt") for i in range(20)]
    wrk(w, f"http://127.0.0.1:{port}/f7.txt")
    for _ in range(3):  # graceful restart: modules unloaded and loaded, new children
        replaced(p, signal.SIGUSR1, all_gone=False)
        said += [fetch(port, f"/f{i}.txt") for i in range(20)]
    return said + [w.stop(p)]


def zone(w, serial):
    hosts = "".join(f"h{i} IN A 10.{serial}.{i // 250}.{i % 250}\n" for i in range(2000))
    w.write("zone", f"$TTL 60\n@ IN SOA ns h {serial} 60 60 60 60\n@ IN NS ns\nns IN A 127.0.0.1\n{hosts}")


def bind9(w):
    port = free_port()
    zone(w, 1)
    conf = w.write("named.conf", f"""options {{ directory "{w.work}"; listen-on port {port} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }}; pid-file "{w.path('pid')}";
        session-keyfile "{w.path('key')}"; recursion no; dnssec-validation no; }}; zone "z.test" {{ type primary; file "zone"; }}; controls {{ }};""")
    w.give("bind", starts_as_root=True)
    w.companion("libseep-jemalloc.so")
    p = w.start([find("named"), "-c", conf, "-f", "-n", "2", "-p", str(port)] + (["-u", "bind"] if os.geteuid() == 0 else []))
    until("named", 30, lambda: connects(port))
    with clients.Dns(port) as c:
        until("the zone", 30, lambda: b"\x0a\1\0\1" in c.question(1))
        said = timed(w, 4000, c.question)
        zone(w, 2)
        p.send_signal(signal.SIGHUP)  # reload
        until("the new zone", 30, lambda: b"\x0a\2\0\1" in c.question(1))
        said += [c.question(i) for i in range(500)]
    return said + [w.stop(p)]


def slapd(w):
    port = free_port()
    find("slapadd")
    conf = w.write("slapd.conf", f"""include /etc/ldap/schema/core.schema\nmodulepath /usr/lib/ldap\nmoduleload back_mdb\npidfile {w.path('pid')}\ndatabase mdb\nmaxsize 33554432
suffix "dc=t"\nrootdn "cn=a,dc=t"\nrootpw p\nindex cn eq\ndirectory {w.path('db')}\n""")
    os.makedirs(w.path("db"))
    ldif = w.write("l.ldif", "dn: dc=t\nobjectClass: dcObject\nobjectClass: organization\ndc: t\no: t\n\n" + "".join(
        f"dn: cn=u{i},dc=t\nobjectClass: person\ncn: u{i}\nsn: s{i % 7}\n\n" for i in range(500)))
    if not os.path.exists("/etc/ldap/schema/core.schema"):
        raise Failed("no LDAP schema here: make deps-real installs it")
    p = w.start([find("slapd"), "-d", "0", "-f", conf, "-h", f"ldap://127.0.0.1:{port}"])
    until("slapd", 20, lambda: connects(port))
    base = ["-x", "-H", f"ldap://127.0.0.1:{port}", "-D", "cn=a,dc=t", "-w", "p"]
    w.ask([find("ldapadd")] + base + ["-f", ldif])
    said = [w.ask([find("ldapsearch")] + base + ["-LLL", "-b", "dc=t", f"(sn=s{i})", "cn"]) for i in range(7)]
    with clients.Ldap(port, b"cn=a,dc=t", b"p") as c:
        said += timed(w, 1000, lambda i: c.search(b"dc=t", b"cn", b"u%d" % (i % 510)))
    return said + [w.stop(p)]


SERVERS = {
    "redis-server": (redis, "SET, GET, LPUSH, HSET; BGSAVE, BGREWRITEAOF"),
    "redis-server, io-threads": (redis_io_threads, "the same with --io-threads 2"),
    "nginx": (nginx, "files, gzip, dropped uid, reload, binary upgrade"),
    "PostgreSQL": (postgres, "pgbench, a query by its JIT, kill -9 of a backend, recovery"),
    "mariadb": (mariadb, "20,000 rows, aggregates, 1,000 single selects"),
    "memcached": (memcached, "10,000 set and get, 4 threads, dropped uid"),
    "haproxy": (haproxy, "master and worker, 2 threads, chroot and dropped uid, reload, soft stop"),
    "varnish": (varnish, "cache in front of a Python server, 3 configurations compiled, loaded and unloaded"),
    "nfs-ganesha": (ganesha, "2,000 reads by NFSv4"),
    "h2o": (h2o, "files, 2 threads"),
    "php-fpm": (php_fpm, "behind nginx, workers replaced, malloc as its allocator"),
    "apache2": (apache, "event MPM, 3 graceful restarts"),
    "bind9": (bind9, "4,000 questions to a zone of 2,000 names, dropped uid, reload"),
    "slapd": (slapd, "500 entries added, 1,000 searches"),
}
