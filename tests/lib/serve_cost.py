# serve_cost.py - what seep serve costs with very many services, or very many sites.
# SPDX-License-Identifier: Apache-2.0
#
# usage: serve_cost.py SEEP COLLECTOR BUSY_SITES DIR PORT WHAT N
# WHAT: services (N of them, scraped), sites (a profile of N).
# Prints figures, one a line. In a cgroup namespace of its own (unshare -C) every
# program is a service; otherwise all of them may be one: that is printed, too.
import http.client
import os
import statistics
import subprocess
import sys
import time

SEEP, COLLECTOR, HOST, DIR, PORT, WHAT, N = sys.argv[1:8]
PORT, N = int(PORT), int(N)
started = []


def host(name, sites, rounds=0):
    p = subprocess.Popen([name, str(sites), str(rounds)], executable=HOST,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         env={**os.environ, "LD_PRELOAD": COLLECTOR, "SEEP_DIR": DIR})
    started.append(p)
    return p


def get(path):
    """The reply, and how long it took in ms."""
    begin = time.perf_counter()
    c = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
    c.request("GET", path)
    r = c.getresponse()
    body = r.read()
    c.close()
    if r.status != 200:
        raise SystemExit(f"{path}: {r.status} {body[:200]!r}")
    return body, (time.perf_counter() - begin) * 1000


def cpu_seconds(pid):
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as f:
        return int(f.read().split()[0]) / 1e9


def resident_mib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        for line in f:
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    return 0


def serve():
    p = subprocess.Popen([SEEP, "serve", "--listen", f"127.0.0.1:{PORT}", DIR], stderr=subprocess.PIPE)
    started.append(p)
    line = p.stderr.readline()
    if b"listening" not in line:
        raise SystemExit(line)
    return p


def wait_for(count, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        body, _ = get("/metrics")
        have = sum(int(x.split()[1]) for x in body.decode().splitlines() if x.startswith("seep_processes{"))
        if have >= count:
            return
        time.sleep(0.5)
    raise SystemExit(f"{have} of {count} processes are listed")


def services():
    p = serve()
    for i in range(N):
        host(f"service{i}", 20)
    wait_for(N)
    time.sleep(1)
    took = []
    cpu = cpu_seconds(p.pid)
    scrapes = 8
    for _ in range(scrapes):
        body, ms = get("/metrics")
        took.append(ms)
        time.sleep(1.0)
    spent = cpu_seconds(p.pid) - cpu
    text = body.decode()
    print("services", sum(x.startswith("seep_processes{") for x in text.splitlines()))
    print("bytes", len(text))
    print(f"scrape_ms {statistics.median(took):.1f}")
    print(f"scrape_cpu_ms {spent / scrapes * 1000:.1f}")
    # a scrape every 15 s, and what the loop does meanwhile
    begin_idle, cpu = time.monotonic(), cpu_seconds(p.pid)
    time.sleep(12)
    idle = (cpu_seconds(p.pid) - cpu) / (time.monotonic() - begin_idle)
    print(f"idle_core {idle:.4f}")
    print(f"core_at_15s {spent / scrapes / 15 + idle:.4f}")
    print(f"resident_mib {resident_mib(p.pid):.1f}")


def sites():
    serve()
    host("many", N)
    wait_for(1)
    time.sleep(1)
    get("/debug/pprof/heap")  # finds the names
    took = [get("/debug/pprof/heap")[1] for _ in range(9)]
    print("bytes", len(get("/debug/pprof/heap")[0]))
    print(f"heap_ms {statistics.median(took):.1f}")


try:
    globals()[WHAT]()
finally:
    for process in started:
        process.kill()
    for process in started:
        process.wait()
