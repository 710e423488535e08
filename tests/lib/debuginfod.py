#!/usr/bin/env python3
# debuginfod.py - a server of debug information on the loopback, for tests.
# SPDX-License-Identifier: Apache-2.0
"""usage: debuginfod.py DIR

Serves DIR/ID as /buildid/ID/debuginfo on a free port of 127.0.0.1, prints
"PORT n", then each request. Ends with its standard input.
"""
import http.server
import os
import re
import sys
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print("GET " + self.path, flush=True)
        m = re.fullmatch(r"/buildid/([0-9a-f]+)/debuginfo", self.path)
        path = os.path.join(sys.argv[1], m.group(1)) if m else None
        if not path or not os.path.exists(path):
            self.send_error(404)
            return
        with open(path, "rb") as f:
            content = f.read()
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print("PORT %d" % server.server_port, flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
