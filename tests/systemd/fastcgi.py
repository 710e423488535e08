# fastcgi.py - asks a FastCGI server for one script, N times; prints the last answer.
# SPDX-License-Identifier: Apache-2.0
#
# usage: fastcgi.py SOCKET SCRIPT N
import socket
import struct
import sys

BEGIN, PARAMS, STDIN, STDOUT, END = 1, 4, 5, 6, 3


def record(kind, data):
    return struct.pack(">BBHHBx", 1, kind, 1, len(data), 0) + data


def pair(name, value):
    return bytes([len(name), len(value)]) + name.encode() + value.encode()


def receive(s, count):
    data = b""
    while len(data) < count:
        more = s.recv(count - len(data))
        if not more:
            sys.exit("the server has closed the connection")
        data += more
    return data


def ask(path, script):
    params = b"".join(pair(*p) for p in (
        ("SCRIPT_FILENAME", script), ("REQUEST_METHOD", "GET"),
        ("SCRIPT_NAME", script), ("SERVER_PROTOCOL", "HTTP/1.1")))
    answer = b""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(20)
        s.connect(path)
        s.sendall(record(BEGIN, struct.pack(">HB5x", 1, 0)) + record(PARAMS, params) +
                  record(PARAMS, b"") + record(STDIN, b""))
        while True:
            _, kind, _, size, padding = struct.unpack(">BBHHBx", receive(s, 8))
            data = receive(s, size + padding)[:size]
            if kind == STDOUT:
                answer += data
            elif kind == END:
                return answer


for i in range(int(sys.argv[3])):
    last = ask(sys.argv[1], sys.argv[2])
print(last.decode(errors="replace"))
