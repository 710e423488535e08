#!/usr/bin/env python3
# pyroscope.py - a server with Pyroscope's limits, and with bad days, on the loopback.
# SPDX-License-Identifier: Apache-2.0
"""usage: pyroscope.py OUT [BEHAVIOUR...]

Takes pushes on a free port of 127.0.0.1, which is written to OUT/port. Each
accepted profile becomes OUT/NNNN.pb.gz, with what is known of it in
OUT/NNNN.json; every request is a line of OUT/log. Ends with its standard input.

The first requests meet the BEHAVIOURs, one each; all others OUT/mode, if that
file exists, else "ok". A behaviour is one of
  ok              as Pyroscope: its limits are held against the request
  NUMBER          this status, with an error as Connect sends it
  429:X, 503:X    the same with Retry-After: X (seconds); 429@X: X s from now, as a date
  hang, reset     nothing is said; the connection is reset when all was read
  lost            accepted, but the connection is reset instead of an answer
  redirect        307 to another path, which counts what comes
  garbage         bytes that are no HTTP
  portal          200, and a page for people
  flood           200 and a body without end
"""
import email.utils
import gzip
import http.server
import json
import os
import socket
import struct
import sys
import threading
import time
import zlib

OUT = sys.argv[1]
PLAN = sys.argv[2:]
LOCK = threading.Lock()
COUNT = {"accepted": 0}
RATE = 4 << 20  # bytes a second, with a burst of 2 MB
BURST = {"left": 2 << 20, "at": time.monotonic()}


class Bad(Exception):
    pass


def varint(b, i):
    value = shift = 0
    while True:
        byte = b[i]
        i += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, i
        shift += 7


def fields(b):
    i = 0
    while i < len(b):
        key, i = varint(b, i)
        if key & 7 == 0:
            value, i = varint(b, i)
        elif key & 7 == 2:
            size, i = varint(b, i)
            if i + size > len(b):
                raise Bad("a field is longer than its message")
            value = b[i : i + size]
            i += size
        else:
            raise Bad("wire type %d" % (key & 7))
        yield key >> 3, value


def packed(b):
    i = 0
    while i < len(b):
        value, i = varint(b, i)
        yield value - (1 << 64) if value >> 63 else value


def read_profile(raw):
    inflate = zlib.decompressobj(31)
    plain = inflate.decompress(raw, (4 << 20) + 1)
    if len(plain) > 4 << 20 or inflate.unconsumed_tail:
        raise Bad("the profile is larger than 4 MiB")
    p = {"types": [], "samples": [], "strings": [], "unpacked": len(plain), "comments": 0}
    p.update(time=0, duration=0)
    for field, value in fields(plain):
        if field == 1:
            p["types"].append(dict(fields(value)))
        elif field == 2:
            sample = {"locations": [], "values": [], "labels": 0}
            for f, v in fields(value):
                if f == 1:
                    sample["locations"] = list(packed(v))
                elif f == 2:
                    sample["values"] = list(packed(v))
                elif f == 3:
                    sample["labels"] += 1
            p["samples"].append(sample)
        elif field == 6:
            p["strings"].append(value.decode())
        elif field == 9:
            p["time"] = value
        elif field == 10:
            p["duration"] = value
        elif field == 13:
            p["comments"] += 1
    p["types"] = [p["strings"][t[1]] for t in p["types"]]
    return p


def read_series(body):
    for field, series in fields(body):
        if field != 1:
            raise Bad("unknown field %d of the request" % field)
        labels, samples = {}, []
        for f, v in fields(series):
            if f == 1:
                pair = {1: b"", 2: b""}
                for n, text in fields(v):
                    if n not in pair:
                        raise Bad("unknown field %d of a label" % n)
                    pair[n] = text
                if pair[1].decode() in labels:
                    raise Bad("a label twice")
                labels[pair[1].decode()] = pair[2].decode()
            elif f == 2:
                sample = dict(fields(v))
                if set(sample) - {1, 2}:
                    raise Bad("unknown field of a sample")
                samples.append(sample)
            else:
                raise Bad("unknown field %d of a series" % f)
        yield labels, samples


def check(labels, p):
    if labels.get("__name__") != "memory" or not labels.get("service_name"):
        raise Bad("labels")
    if len(p["samples"]) > 4000:
        raise Bad("the profile has more than 4000 samples")
    age = time.time() - p["time"] / 1e9
    if age > 3600 or age < -600:
        raise Bad("profile is too old or too new: %d s" % age)
    if any(s["labels"] for s in p["samples"]):
        raise Bad("labels on samples")


def keep(body):
    for labels, samples in read_series(body):
        for sample in samples:
            p = read_profile(sample[1])
            check(labels, p)
            sums = {t: sum(s["values"][i] for s in p["samples"]) for i, t in enumerate(p["types"])}
            with LOCK:
                COUNT["accepted"] += 1
                name = "%s/%04d" % (OUT, COUNT["accepted"])
            with open(name + ".pb.gz", "wb") as f:
                f.write(sample[1])
            about = dict(labels=labels, id=sample[2].decode(), time=p["time"], sums=sums)
            about.update(duration=p["duration"], samples=len(p["samples"]), comments=p["comments"])
            about.update(packed=len(sample[1]), unpacked=p["unpacked"], at=time.time())
            with open(name + ".new", "w") as f:
                json.dump(about, f)
            os.rename(name + ".new", name + ".json")


def within_rate(size):
    with LOCK:
        now = time.monotonic()
        BURST["left"] = min(2 << 20, BURST["left"] + (now - BURST["at"]) * RATE)
        BURST["at"] = now
        if size > BURST["left"]:
            return False
        BURST["left"] -= size
        return True


def behaviour():
    with LOCK:
        if PLAN:
            return PLAN.pop(0)
    try:
        with open(OUT + "/mode") as f:
            return f.read().strip() or "ok"
    except FileNotFoundError:
        return "ok"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body, kind="application/json", **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def error(self, status, text, **headers):
        code = {400: "invalid_argument", 401: "unauthenticated", 429: "resource_exhausted"}
        body = {"code": code.get(status, "unavailable"), "message": text}
        self.answer(status, json.dumps(body).encode(), **headers)

    def reset(self):
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.close_connection = True
        self.connection.close()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        how = "stolen" if self.path == "/elsewhere" else behaviour()
        with LOCK, open(OUT + "/log", "a") as f:
            print("%.3f" % time.time(), how, len(body), self.headers.get("Authorization", "-"),
                  self.headers.get("X-Scope-OrgID", "-"), file=f, flush=True)
        if self.path != "/push.v1.PusherService/Push":
            return self.error(404, "no such procedure")
        if self.headers["Content-Type"] != "application/proto":
            return self.error(415, "Content-Type")
        name, _, rest = how.partition(":")
        if how == "hang":
            time.sleep(3600)
        elif how == "reset":
            self.reset()
        elif how == "lost":
            keep(body)
            self.reset()
        elif how == "redirect":
            self.answer(307, b"", Location="/elsewhere")
        elif how == "garbage":
            self.connection.sendall(b"\x00\xff\x1b[2J not HTTP\r\n\r\n")
            self.close_connection = True
        elif how == "portal":
            self.answer(200, b"<html>Welcome</html>", "text/html")
        elif how == "flood":
            self.send_response(400)
            self.send_header("Content-Type", "text/plain")
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"\x1b]0;owned\x07" * 1000)
            except OSError:
                self.close_connection = True
        elif how == "ok":
            if not within_rate(len(body)):
                return self.error(429, "rate limit", Retry_After="1")
            try:
                keep(body)
            except (Bad, KeyError, IndexError, UnicodeError, zlib.error, gzip.BadGzipFile) as e:
                return self.error(400, "refused: %r" % e)
            self.answer(200, b"", "application/proto")
        elif "@" in name:
            at = email.utils.formatdate(time.time() + int(name.split("@")[1]), usegmt=True)
            self.error(int(name.split("@")[0]), "a bad day", Retry_After=at)
        elif rest:
            self.error(int(name), "a bad day", Retry_After=rest)
        else:
            self.error(int(name), "a bad day: \x1b[31m\u202e\\ of %s" % how)

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request, client_address):
        pass


server = Server(("127.0.0.1", 0), Handler)
with open(OUT + "/port.new", "w") as port:
    print(server.server_port, file=port)
os.rename(OUT + "/port.new", OUT + "/port")
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
