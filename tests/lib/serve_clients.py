# serve_clients.py - clients of seep serve that behave badly, or are many.
# SPDX-License-Identifier: Apache-2.0
#
# usage: serve_clients.py PORT PID WHAT
# Prints "ok", or what is wrong. PID is that of the server.
import concurrent.futures
import os
import socket
import struct
import sys
import time


class Wrong(Exception):
    """Something that must not be."""


PORT, PID, WHAT = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]


def connect(seconds=30):
    s = socket.create_connection(("127.0.0.1", PORT), timeout=seconds)
    s.settimeout(seconds)
    return s


def read_all(s):
    data = b""
    try:
        while True:
            more = s.recv(65536)
            if not more:
                return data
            data += more
    except (ConnectionResetError, BrokenPipeError):
        return data


def ask(text, seconds=30):
    """The whole reply to some bytes, with the connection closed behind it."""
    with connect(seconds) as s:
        try:
            s.sendall(text)
        except (ConnectionResetError, BrokenPipeError):
            pass
        return read_all(s)


def get(path="/metrics", more=b""):
    return ask(b"GET " + path.encode() + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n" + more +
               b"Connection: close\r\n\r\n")


def status(reply):
    return int(reply.split(b" ", 2)[1]) if reply.startswith(b"HTTP/1.") else 0


def scrape_fast(limit=3.0):
    begin = time.monotonic()
    reply = get()
    took = time.monotonic() - begin
    if status(reply) != 200 or b"seep_build_info" not in reply:
        raise Wrong(f"no scrape: {reply[:200]!r}")
    if took > limit:
        raise Wrong(f"a scrape took {took:.1f} s")
    return took


def resident_kib(pid=PID):
    with open(f"/proc/{pid}/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * 4


def descriptors():
    return len(os.listdir(f"/proc/{PID}/fd"))


def threads():
    return len(os.listdir(f"/proc/{PID}/task"))


# ---- what is tried ----

def headers():
    """8 KiB of headers, and not much more."""
    for size in (100, 4000, 7000):
        reply = get(more=b"X-Long: " + b"x" * size + b"\r\n")
        if status(reply) != 200:
            raise Wrong(f"{size} bytes of a header: {reply[:100]!r}")
    for more in (b"X-Long: " + b"x" * 20000 + b"\r\n", b"".join(b"X-%d: y\r\n" % i for i in range(5000))):
        reply = get(more=more)
        if status(reply) not in (0, 400, 413, 431):
            raise Wrong(f"{len(more)} bytes of headers: {reply[:100]!r}")
    reply = get("/" + "x" * 20000)
    if status(reply) not in (0, 400, 414, 431):
        raise Wrong(f"a long path: {reply[:100]!r}")
    scrape_fast()


def stalled():
    """500 clients that say nothing, or half a request; scrapes go on."""
    before = descriptors()
    held = []
    for i in range(500):
        s = connect()
        try:
            s.sendall((b"", b"G", b"GET / HTTP/1.1\r\n", b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")[i % 4])
        except OSError:
            pass
        held.append(s)
        if i % 100 == 99:
            scrape_fast()
    if descriptors() > before + 80:
        raise Wrong(f"{descriptors()} descriptors, {before} before")
    for _ in range(5):
        scrape_fast()
    # they are told to go after 10 s, whatever they do
    end = time.monotonic() + 14
    while time.monotonic() < end:
        for s in held:
            try:
                s.send(b"x")  # a byte now and then does not help
            except OSError:
                pass
        scrape_fast()
        time.sleep(0.5)
    if descriptors() > before + 3:
        raise Wrong(f"{descriptors()} descriptors after 14 s, {before} before")
    for s in held:
        s.close()


def receivers():
    """Clients that ask for much and do not read it."""
    held = []
    for _ in range(100):
        s = connect()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        try:
            s.sendall(b"GET /view HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 20)
        except OSError:
            pass
        held.append(s)
    # while replies that nobody reads fill all places, a scrape may be refused
    # for the two seconds after which they give way
    end = time.monotonic() + 20
    while status(get()) == 503 and time.monotonic() < end:
        time.sleep(0.2)
    for _ in range(10):
        scrape_fast(10)
    for s in held:
        # a reset in the middle
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()
    scrape_fast(10)


def many():
    """Very many requests: memory and descriptors stay as they are."""
    count = int(os.environ.get("REQUESTS", "10000"))
    paths = ("/metrics", "/", "/sd", "/debug/pprof/", "/none", "/metrics?service=x", "/style.css")

    def batch(n):
        with connect() as s:
            for i in range(n):
                s.sendall(b"GET " + paths[i % len(paths)].encode() +
                          b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                head = b""
                while b"\r\n\r\n" not in head:
                    head += s.recv(65536)
                head, body = head.split(b"\r\n\r\n", 1)
                length = int([x for x in head.split(b"\r\n") if x.lower().startswith(b"content-length")][0].split(b":")[1])
                while len(body) < length:
                    body += s.recv(65536)
    for _ in range(10):
        batch(100)
    for _ in range(20):
        get("/debug/pprof/heap")
    first, open_before = resident_kib(), descriptors()
    for _ in range(count // 100):
        batch(100)
    for _ in range(50):
        if status(get("/debug/pprof/heap")) != 200:
            raise Wrong("no profile")
    last = resident_kib()
    if last > first + 1024:
        raise Wrong(f"{first} KiB before, {last} after {count} requests")
    if descriptors() > open_before + 2:
        raise Wrong(f"{descriptors()} descriptors, {open_before} before")
    if threads() != 1:
        raise Wrong(f"{threads()} threads")


def gone():
    """Clients that leave while their profile is made: its process ends."""
    def children():
        with open(f"/proc/{PID}/task/{PID}/children", encoding="ascii") as f:
            return f.read().split()
    held = []
    for _ in range(20):
        s = connect()
        s.sendall(b"GET /debug/pprof/heap?seconds=500 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        held.append(s)
    end = time.monotonic() + 20
    while len(children()) != 8 and time.monotonic() < end:
        time.sleep(0.1)
    if len(children()) != 8:
        raise Wrong(f"{len(children())} children for 20 slow profiles")
    # a fast one has its place meanwhile
    if status(get("/debug/pprof/heap")) != 200:
        raise Wrong("no profile beside slow ones")
    for s in held:
        s.close()
    end = time.monotonic() + 20
    while children() and time.monotonic() < end:
        time.sleep(0.1)
    if children():
        raise Wrong(f"{len(children())} children are left")
    scrape_fast()


def descriptors_run_out():
    """More clients than the server can have descriptors: it does not spin."""
    def cpu():
        with open(f"/proc/{PID}/schedstat", encoding="ascii") as f:
            return int(f.read().split()[0]) / 1e9
    held = [connect() for _ in range(60)]
    before = cpu()
    time.sleep(3)
    if cpu() - before > 1:
        raise Wrong(f"{cpu() - before:.1f} s of CPU time while nothing could be accepted")
    for s in held:
        s.close()
    end = time.monotonic() + 30
    while status(get()) != 200 and time.monotonic() < end:
        time.sleep(0.2)
    scrape_fast(5)
    if status(get("/debug/pprof/heap")) != 200:
        raise Wrong("no profile")


def odd():
    """What is no request, or an odd one."""
    tries = [b"\0" * 100, b"\r\n" * 500, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00",
             b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.0\r\n\r\n",
             b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n",
             b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
             b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
             b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
             b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /metrics HTTP/1.1\r\n\r\n",
             b"GET /%00%ff%2e%2e/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
             b"GET /../../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
             b"GET http://evil.example/metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n",
             b"CONNECT evil.example:80 HTTP/1.1\r\nHost: evil.example:80\r\n\r\n",
             b"GET /metrics?service=%s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" % (b"%25n" * 500),
             b"GET /debug/pprof/heap?service&pid&seconds HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
             b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n"]

    def ask(text):
        with connect(25) as s:
            s.sendall(text)
            s.shutdown(socket.SHUT_WR)
            return read_all(s)

    # at once: some are answered only when their time is up
    with concurrent.futures.ThreadPoolExecutor(len(tries)) as pool:
        replies = pool.map(ask, tries)
        scrape_fast()
    for text, reply in zip(tries, replies):
        if b"root:" in reply or (b"evil" in text and status(reply) == 200):
            raise Wrong(f"{text!r}: {reply[:200]!r}")
    scrape_fast()


def main():
    try:
        globals()[WHAT]()
    except (Wrong, OSError) as why:
        print(why)
        sys.exit(1)
    print("ok")


main()
