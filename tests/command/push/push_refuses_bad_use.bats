#!/usr/bin/env bats
# push_refuses_bad_use - what seep push cannot do, or must not, it says in one line before it sends anything.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/push.bash

# the waiting host, which has had its first line, gets the others and ends well
goes_on() {
	printf '\n\n\n' >&9
	exec 9>&-
	wait "$HOST"
}

@test "a label or a tenant with control characters is refused; rows of tests/golden have the other mistakes" {
	one_line 2 "$SEEP" push http://127.0.0.1:1 "$DIR" --label $'a=\x1b[2J'
	said --label
	one_line 2 "$SEEP" push http://127.0.0.1:1 "$DIR" --tenant $'a\r\nEvil: 1'
}

@test "a token that others can read, or that would travel unencrypted" {
	echo 0123456789abcdef0 >"$T/open"
	chmod 644 "$T/open"
	one_line 3 "$SEEP" push http://127.0.0.1:1 "$DIR" --token-file "$T/open"
	said "$T/open"
	one_line 3 "$SEEP" push http://127.0.0.1:1 "$DIR" --token-file "$T/none"
	one_line 3 "$SEEP" watch --history "$T/history" --push http://127.0.0.1:1 --push-token-file "$T/open" "$DIR"
	chmod 600 "$T/open"
	one_line 2 "$SEEP" push http://192.0.2.1:1 "$DIR" --token-file "$T/open"
	said https
	[[ ! -e $T/history ]]
}

@test "nobody listens, nobody is traced, no such process" {
	one_line 3 "$SEEP" push http://127.0.0.1:1 "$DIR"
	said 'no process is traced'
	one_line 3 "$SEEP" push http://127.0.0.1:1 4194305
	waiting
	one_line 3 "$SEEP" push http://127.0.0.1:1 "$DIR"
	said 'allocated nothing'
	echo >&9
	answered first
	one_line 3 "$SEEP" push http://127.0.0.1:1 "$DIR"
	said http://127.0.0.1:1
	one_line 3 "$SEEP" push https://127.0.0.1:1 "$HOST"
	goes_on
}

@test "a server of HTTPS that nobody vouches for gets nothing" {
	need openssl
	(cd "$T" && openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 \
		-subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 2>/dev/null)
	"$PYTHON" -c '
import http.server, ssl, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        open(sys.argv[1] + "/taken", "wb").write(body)
        self.send_response(200)
        self.send_header("Content-Type", "application/proto")
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *args): pass
s = http.server.HTTPServer(("127.0.0.1", 0), Handler)
c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
c.load_cert_chain(sys.argv[1] + "/cert.pem", sys.argv[1] + "/key.pem")
s.socket = c.wrap_socket(s.socket, server_side=True)
print(s.server_port, file=open(sys.argv[1] + "/tls", "w"), flush=True)
s.serve_forever()' "$T" 2>/dev/null 3>&- &
	PIDS+=($!)
	eventually test -s "$T/tls"
	waiting
	echo >&9
	answered first
	one_line 3 "$SEEP" push "https://127.0.0.1:$(cat "$T/tls")" "$DIR"
	said certificate
	[[ ! -e $T/taken ]]
	# with its certificate it is taken
	SSL_CERT_FILE=$T/cert.pem "$SEEP" push "https://127.0.0.1:$(cat "$T/tls")" "$DIR"
	[[ -s $T/taken ]]
	goes_on
}

@test "without seep-net the command says so, and help is there" {
	mkdir "$T/alone"
	cp "$SEEP" "$T/alone/seep"
	one_line 3 "$T/alone/seep" push http://127.0.0.1:1
	said 'built without'
	"$T/alone/seep" push --help | grep -q -- --tenant
}
