# workloads.py - the real programs, their input, and redis, which needs a client.
# SPDX-License-Identifier: Apache-2.0
"""All input is generated into the scratch directory, the same in each run."""
import os
import shutil
import signal
import socket
import subprocess
import textwrap
import time

from variants import BUILD, clean_environment


class Program:
    def __init__(self, name, argv, env=None, missing=None, stdin=None):
        self.name = name
        self.argv = argv
        self.env = env or {}
        self.missing = missing
        self.stdin = stdin


def write(work, name, text):
    path = os.path.join(work, name)
    with open(path, "w") as out:
        out.write(textwrap.dedent(text))
    return path


SQLITE = """
    create table person(id integer primary key, name text, town text, born int);
    create table visit(person int, place text, day int, note text);
    with recursive n(i) as (select 1 union all select i+1 from n where i < 60000)
      insert into person select i, 'name ' || (i*7919 % 30011), 'town ' || (i % 97), 1930 + i % 80 from n;
    with recursive n(i) as (select 1 union all select i+1 from n where i < 120000)
      insert into visit select i*31 % 60000 + 1, 'place ' || (i*17 % 1009), i % 365, hex(i*104729) from n;
    create index by_name on person(name);
    create index by_person on visit(person, day);
    select count(*), min(name), max(note) from person join visit on person.id = visit.person where day between 100 and 130;
    select town, count(*), group_concat(distinct place) from person join visit on id = person group by town order by 2 desc limit 3;
    select name, (select count(*) from visit where person = id and day > 300) as c from person where name like 'name 1%' order by c desc, name limit 5;
    update visit set note = note || '-' || day where day % 7 = 0;
    delete from visit where place = 'place 5';
    select sum(length(note)), count(distinct place) from visit;
"""

PYTHON = """
    import collections, json, re
    class Node:
        def __init__(self, key, parent):
            self.key, self.parent, self.children = key, parent, {}
        def child(self, key):
            if key not in self.children:
                self.children[key] = Node(key, self)
            return self.children[key]
    def words(n):
        x = 1
        for _ in range(n):
            x = (x * 1103515245 + 12345) & 0x7fffffff
            yield "w%d" % (x % 5003)
    def main():
        root, seen = Node("", None), collections.Counter()
        for w in words(30000):
            at = root
            for c in w:
                at = at.child(c)
            seen[w] += 1
        rows = [{"word": w, "n": n, "tail": [w[i:] for i in range(len(w))]} for w, n in seen.most_common(3000)]
        text = json.dumps(rows)
        back = json.loads(text)
        groups = collections.defaultdict(list)
        for r in back:
            groups[r["n"] % 7].append(tuple(sorted(r["tail"], key=lambda t: (len(t), t))))
        hits = sum(len(re.findall(r"w[0-9]*7", " ".join(t))) for g in groups.values() for t in g)
        print(len(text), hits, sum(len(g) for g in groups.values()), sum(i * i for i in range(50000)))
    for _ in range(5):
        main()
"""

PERL = r"""
    use strict;
    my (%count, %by, $x);
    $x = 1;
    for my $i (1 .. 250000) {
        $x = ($x * 1103515245 + 12345) % 2147483648;
        my $line = join(":", "user" . $x % 4001, "host" . $x % 211, $i, "some text of a log line");
        my ($user, $host, $n) = split /:/, $line;
        $count{$user}++;
        push @{$by{$host}}, "$user-$n" if $n % 3 == 0;
    }
    my $sum = 0;
    for my $host (sort keys %by) {
        my @names = sort { $a cmp $b } grep { /[13579]$/ } @{$by{$host}};
        $sum += scalar(@names);
        (my $s = join(",", @names)) =~ s/user(\d+)/U$1/g;
        $sum += length($s);
    }
    print "$sum ", scalar(keys %count), "\n";
"""

NODE = """
    const seen = new Map();
    let x = 1;
    for (let i = 0; i < 200000; i++) {
      x = (x * 1103515245 + 12345) & 0x7fffffff;
      const k = "key" + (x % 5003);
      seen.set(k, (seen.get(k) || []).concat(i).slice(-20));
    }
    const text = JSON.stringify([...seen]);
    const parts = [];
    for (let i = 0; i < 300; i++) parts.push(Buffer.from(text.slice(i * 10, i * 10 + 4000)));
    console.log(Buffer.concat(parts).length, JSON.parse(text).length);
"""

CXX = """
    #include <algorithm>
    #include <map>
    #include <sstream>
    #include <string>
    #include <unordered_map>
    #include <vector>
    template <int N> struct Box {
        std::map<int, std::vector<std::string>> m;
        static int f(int i) { return i * N; }
        int run(int n) {
            std::ostringstream o;
            for (int i = 0; i < n; i++) m[f(i) % 17].push_back(std::to_string(i));
            for (auto &[k, v] : m) { std::sort(v.begin(), v.end()); o << k << v.size(); }
            return int(o.str().size());
        }
    };
    int all(int n) { return Box<1>{}.run(n) + Box<2>{}.run(n) + Box<3>{}.run(n) + Box<4>{}.run(n); }
"""


def c_source(functions):
    """C of some variety: the passes of a compiler need something to do."""
    out = ["#include <stdio.h>", "#include <stdlib.h>", "#include <string.h>", "#include <stdint.h>",
           "struct item { struct item *next; char name[24]; long value[4]; double ratio; };",
           "typedef int cmp_fn(const void *, const void *);"]
    for i in range(functions):
        out.append(f"""
static int compare_{i}(const void *a, const void *b)
{{
	const struct item *x = a, *y = b;
	if (x->value[{i % 4}] != y->value[{(i + 1) % 4}])
		return x->value[{i % 4}] < y->value[{(i + 1) % 4}] ? -1 : 1;
	return strcmp(x->name, y->name);
}}
long work_{i}(struct item *list, size_t count, const uint32_t *data, double scale)
{{
	long sum = 0, table[{8 + i % 9}] = {{0}};
	struct item *p, **link = &list;
	for (size_t i = 0; i < count; i++) {{
		uint32_t w = data[i] * {2654435761 + 2 * i}u >> {3 + i % 20};
		switch (w % {5 + i % 4}) {{
		case 0: sum += (long)w; break;
		case 1: table[i % {8 + i % 9}] ^= (long)w << 3; break;
		case 2: sum -= table[w % {8 + i % 9}]; /* fall through */
		case 3: scale = scale * {1 + i}.5 + (double)w; break;
		default: if (w & {1 << i % 16}) sum = -sum; else sum ^= (long)i;
		}}
	}}
	while ((p = *link)) {{
		if (p->ratio > scale && p->value[{i % 4}] > sum) {{
			*link = p->next;
			snprintf(p->name, sizeof(p->name), "%ld-%d", sum, {i});
			qsort(p->value, 4, sizeof(long), compare_{max(i - 1, 0)});
			free(p);
		}} else {{
			for (int k = 0; k < 4; k++)
				p->value[k] = p->value[k] * {3 + i % 5} + table[k];
			p->ratio /= scale + {i}.25;
			link = &p->next;
		}}
	}}
	return sum + (long)scale + (long)(uintptr_t)compare_{i};
}}""")
    return "\n".join(out) + "\n"


def compiler_stage(work, name, source, driver, flags):
    """cc1 itself, on text that needs no headers: one process, no driver."""
    if not shutil.which(driver):
        return Program(name, [], missing=f"no {driver} here")
    said = subprocess.run([driver, f"-print-prog-name={name}"], stdout=subprocess.PIPE, text=True).stdout.strip()
    if not os.path.isabs(said):
        return Program(name, [], missing=f"{driver} names no {name}")
    suffix = "ii" if driver == "g++" else "i"
    plain = os.path.join(work, f"{name}.{suffix}")
    subprocess.run([driver, "-E", source, "-o", plain], check=True)
    return Program(name, [said, "-quiet", "-fpreprocessed"] + flags + [plain, "-o", os.devnull])


def git_repository(work, commits=700, files=40):
    path = os.path.join(work, "repo")
    env = dict(clean_environment(), GIT_CONFIG_NOSYSTEM="1", HOME=work)
    subprocess.run(["git", "init", "-q", path], check=True, env=env)
    stream, lines = [], {f: [f"line {i} of file {f}" for i in range(120)] for f in range(files)}
    for c in range(commits):
        stream.append(f"commit refs/heads/main\nmark :{c + 1}\ncommitter A <a@example.org> {1600000000 + c * 60} +0000\ndata 8\nchange {c % 10}\n")
        if c:
            stream[-1] = stream[-1].rstrip("\n") + f"\nfrom :{c}\n"
        for f in range(files) if c == 0 else [(c * k) % files for k in (3, 7, 11)]:
            lines[f][(c * 13) % 120] = f"changed by {c}: {c * 7919 % 1000}"
            text = "\n".join(lines[f]) + "\n"
            stream.append(f"M 644 inline d{f % 5}/f{f}\ndata {len(text)}\n{text}\n")
    subprocess.run(["git", "-C", path, "fast-import", "--quiet"], input="".join(stream), text=True, check=True, env=env)
    return Program("git", ["git", "-C", path, "--no-pager", "log", "-p", "--stat", "main"],
                   env={"GIT_CONFIG_NOSYSTEM": "1", "HOME": work})


def lacks(command):
    return None if shutil.which(command) else f"no {command} here"


def make_programs(work):
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else shutil.which("python3")
    c_file = write(work, "input.c", c_source(30))
    cxx_file = write(work, "input.cpp", CXX)
    return [
        Program("sqlite3", ["sqlite3", ":memory:"], missing=lacks("sqlite3"), stdin=write(work, "input.sql", SQLITE)),
        Program("perl", ["perl", write(work, "input.pl", PERL)], missing=lacks("perl"), env={"PERL_HASH_SEED": "0"}),
        Program("python3", [python, "-S", write(work, "input.py", PYTHON)], env={"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0"}),
        compiler_stage(work, "cc1", c_file, "gcc", ["-O2"]),
        compiler_stage(work, "cc1plus", cxx_file, "g++", ["-O0"]),
        git_repository(work) if shutil.which("git") else Program("git", [], missing="no git here"),
        Program("node", ["node", write(work, "input.js", NODE)], missing=lacks("node")),
        Program("objects", [os.path.join(BUILD, "bench", "objects"), "20"]),
    ]


class Redis:
    """A server on a free port of the loopback, nothing on disk."""

    missing = lacks("redis-server") or lacks("redis-benchmark")
    # pipelined: the server, not the system calls, is what is measured
    PHASES = {
        "redis": ["-P", "1", "-c", "20", "-n", "30000", "-t", "set,get,lpush,hset"],
        "redis-pipelined": ["-P", "16", "-c", "20", "-n", "200000", "-t", "set,get,lpush,hset,zadd"],
    }

    def __init__(self, work):
        self.work = work

    @staticmethod
    def free_port():
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            return s.getsockname()[1]

    @staticmethod
    def ask(port, *words):
        with socket.create_connection(("127.0.0.1", port), timeout=20) as s:
            s.sendall((" ".join(words) + "\r\n").encode())
            return s.recv(65536).decode("latin-1")

    def server(self, port):
        return ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                "--daemonize", "no", "--dir", self.work, "--loglevel", "warning"]

    def wait_for(self, port, process):
        until = time.monotonic() + 30
        while time.monotonic() < until and process.poll() is None:
            try:
                for line in self.ask(port, "INFO", "server").splitlines():
                    if line.startswith("process_id:"):
                        return int(line.split(":")[1])
            except OSError:
                time.sleep(0.02)
        raise RuntimeError("redis-server did not start")

    @staticmethod
    def cpu_ns(pid):
        total = 0
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/schedstat") as f:
                total += int(f.read().split()[0])
        return total

    @staticmethod
    def peak_kb(pid):
        with open(f"/proc/{pid}/status") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))

    def run(self, variant, meter):
        """name -> sample, for each phase. `meter` starts the server."""
        port = self.free_port()
        process = meter(variant, self.server(port))
        samples = {}
        try:
            pid = self.wait_for(port, process)
            for name, options in self.PHASES.items():
                before, begin = self.cpu_ns(pid), time.perf_counter_ns()
                done = subprocess.run(["redis-benchmark", "-h", "127.0.0.1", "-p", str(port), "-r", "20000", "-d", "64",
                                       "--csv"] + options, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                      text=True, env=clean_environment(), check=True)
                wall = time.perf_counter_ns() - begin
                rows = [line.replace('"', "").split(",") for line in done.stdout.splitlines()]
                p99 = [float(r[rows[0].index("p99_latency_ms")]) for r in rows[1:]]
                samples[name] = {"wall_ns": wall, "cpu_ns": self.cpu_ns(pid) - before, "p99_ms": max(p99)}
            samples["redis"]["rss_kb"] = samples["redis-pipelined"]["rss_kb"] = self.peak_kb(pid)
            try:
                self.ask(port, "SHUTDOWN", "NOSAVE")
            except OSError:
                pass
            process.wait(60)
        finally:
            if process.poll() is None:  # its session: meter, the server, helpers
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        return samples
