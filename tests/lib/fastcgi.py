# fastcgi.py - asks a FastCGI server on a unix socket: SOCKET SCRIPT COUNT; prints each answer's body.
# SPDX-License-Identifier: Apache-2.0
import socket
import struct
import sys

BEGIN, PARAMS, STDIN, STDOUT, END = 1, 4, 5, 6, 3


def record(kind, body):
    return struct.pack(">BBHHBx", 1, kind, 1, len(body), 0) + body


def params(values):
    out = b""
    for name, value in values.items():
        out += struct.pack(">II", len(name) | 1 << 31, len(value) | 1 << 31) + name.encode() + value.encode()
    return out


def ask(path, script):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(60)
        s.connect(path)
        values = {"SCRIPT_FILENAME": script, "REQUEST_METHOD": "GET", "QUERY_STRING": "", "REQUEST_URI": "/"}
        s.sendall(record(BEGIN, struct.pack(">HB5x", 1, 0)) + record(PARAMS, params(values)) + record(PARAMS, b"") + record(STDIN, b""))
        with s.makefile("rb") as f:
            out = b""
            while len(head := f.read(8)) == 8:
                _, kind, _, length, padding = struct.unpack(">BBHHBx", head)
                body = f.read(length + padding)[:length]
                out += body if kind == STDOUT else b""
                if kind == END:
                    break
    return out.split(b"\r\n\r\n", 1)[1].decode()


for _ in range(int(sys.argv[3])):
    print(ask(sys.argv[1], sys.argv[2]))
