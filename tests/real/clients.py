# clients.py - the least of a client for each protocol: what was asked, what came.
# SPDX-License-Identifier: Apache-2.0
"""Of our own, so that the answers can be compared and each request timed."""
import contextlib
import socket
import time


def percentile(values, p):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * p))] if values else None


def timed(w, n, request):
    """The answers to n requests, one after the other; the world gets their p99."""
    times, said = [], []
    for i in range(n):
        begin = time.perf_counter()
        said.append(request(i))
        times.append((time.perf_counter() - begin) * 1000)
    w.latency_ms = percentile(times, 0.99)
    return said


def talk(port, lines):
    """Sends lines one by one, returns the answers; a line-based protocol."""
    said = []
    with socket.create_connection(("127.0.0.1", port), timeout=20) as s, s.makefile("rwb") as f:
        for line, answers in lines:
            f.write(line)
            f.flush()
            said += [f.readline() for _ in range(answers)]
    return said


def fetch(port, path, host="localhost"):
    """Status line and body of a GET; no header that carries a time."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as s:
        s.sendall(f"GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
        data = b""
        while True:
            part = s.recv(65536)
            if not part:
                break
            data += part
    head, _, body = data.partition(b"\r\n\r\n")
    return head.split(b"\r\n")[0], body


class Client(contextlib.AbstractContextManager):
    """A connection; read(n) is exact."""

    def __init__(self, address, family=socket.AF_INET, kind=socket.SOCK_STREAM):
        self.socket = socket.socket(family, kind)
        self.socket.settimeout(20)
        self.socket.connect(address)

    def __exit__(self, *_):
        self.socket.close()

    def read(self, n):
        data = b""
        while len(data) < n:
            part = self.socket.recv(n - len(data))
            if not part:
                raise OSError("the server hung up")
            data += part
        return data


class Mysql(Client):
    """Text queries as root without a password."""

    def __init__(self, path, database):
        super().__init__(path, socket.AF_UNIX)
        self._packet()  # greeting
        flags = 1 | 8 | 0x200 | 0x8000 | 0x80000  # with database, protocol 4.1, plugin
        self._send(1, flags.to_bytes(4, "little") + (1 << 24).to_bytes(4, "little") + b"\x21" + bytes(23)
                   + b"root\0\0" + database.encode() + b"\0mysql_native_password\0")
        if self._packet()[0] != 0:
            raise OSError("mariadb does not let us in")

    def _send(self, number, body):
        self.socket.sendall(len(body).to_bytes(3, "little") + bytes([number]) + body)

    def _packet(self):
        head = self.read(4)
        return self.read(int.from_bytes(head[:3], "little"))

    def query(self, sql):
        """All packets of the answer: a verdict, or columns, end, rows, end."""
        self._send(0, b"\3" + sql.encode())
        said, ends = [self._packet()], 0
        while said[0][0] not in (0, 0xff) and ends < 2:
            said.append(self._packet())
            ends += said[-1][0] == 0xfe and len(said[-1]) < 9
        return said


class Nfs(Client):
    """NFS 4.0 as root: PUTROOTFH, LOOKUP ..., READ without a state."""

    def __init__(self, port):
        super().__init__(("127.0.0.1", port))

    def read_reply(self):
        size = int.from_bytes(super().read(4), "big") & ~(1 << 31)
        return super().read(size)

    def read(self, xid, *names):
        def words(*values):
            return b"".join(v.to_bytes(4, "big") for v in values)

        def text(name):
            return words(len(name)) + name.encode() + bytes(-len(name) % 4)

        call = words(xid, 0, 2, 100003, 4, 1, 1, 20, 0, 0, 0, 0, 0, 0, 0)  # COMPOUND, AUTH_SYS
        call += words(0, 0, len(names) + 2, 24) + b"".join(words(15) + text(n) for n in names)
        call += words(25) + bytes(16) + bytes(8) + words(4096)
        self.socket.sendall((len(call) | 1 << 31).to_bytes(4, "big") + call)
        return self.read_reply()


class Dns(Client):
    """Addresses of hN.z.test."""

    def __init__(self, port):
        super().__init__(("127.0.0.1", port), kind=socket.SOCK_DGRAM)

    def question(self, i):
        name = b"".join(bytes([len(part)]) + part for part in (b"h%d" % (i % 2100), b"z", b"test", b""))
        self.socket.send(i.to_bytes(2, "big") + b"\0\0\0\1\0\0\0\0\0\0" + name + b"\0\1\0\1")
        return self.socket.recv(1500)


class Ldap(Client):
    """A simple bind, then searches for equality."""

    def __init__(self, port, name, password):
        super().__init__(("127.0.0.1", port))
        self.socket.sendall(self._message(self._ber(0x60, self._ber(2, b"\3"), self._ber(4, name), self._ber(0x80, password))))
        self._reply()

    @staticmethod
    def _ber(tag, *parts):
        body = b"".join(parts)
        size = bytes([len(body)]) if len(body) < 128 else b"\x82" + len(body).to_bytes(2, "big")
        return bytes([tag]) + size + body

    def _message(self, body):
        return self._ber(0x30, self._ber(2, b"\1"), body)

    def _reply(self):
        head = self.read(2)
        size = head[1]
        if size & 128:
            more = self.read(size & 127)
            size = int.from_bytes(more, "big")
        return self.read(size)

    def search(self, base, key, value):
        """All messages, the last one says that it is done."""
        self.socket.sendall(self._message(self._ber(0x63, self._ber(4, base), self._ber(10, b"\2"), self._ber(10, b"\0"), self._ber(2, b"\0"), self._ber(2, b"\0"),
                                                    self._ber(1, b"\0"), self._ber(0xa3, self._ber(4, key), self._ber(4, value)), self._ber(0x30))))
        said = [self._reply()]
        while said[-1][3] != 0x65:
            said.append(self._reply())
        return said
