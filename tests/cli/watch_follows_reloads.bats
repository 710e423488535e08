#!/usr/bin/env bats
# watch_follows_reloads - a server that is reloaded again and again: each worker is in the history, and the last one's counters are whole.
# SPDX-License-Identifier: Apache-2.0
load ../lib/watch.bash

workers() { pgrep -P "$HOST" 2>/dev/null | sort -n; }
are_new() { [[ $(workers | wc -l) -eq 2 && -z $(comm -12 <(workers | sort) <(sort <<<"$1")) ]]; }

@test "nginx: workers come and go with each reload" {
	need nginx
	reloads=$(full_or 500 5)
	mkdir -p "$T/www/logs"
	cat >"$T/www/conf" <<-CONF
	daemon off;
	worker_processes 2;
	pid $T/www/pid;
	error_log $T/www/error.log;
	events { worker_connections 64; }
	http {
		access_log off;
		client_body_temp_path $T/www/body;
		proxy_temp_path $T/www/proxy;
		fastcgi_temp_path $T/www/fastcgi;
		uwsgi_temp_path $T/www/uwsgi;
		scgi_temp_path $T/www/scgi;
		server { listen unix:$T/www/socket; return 200 "hello"; }
	}
	CONF
	[[ $(id -u) -ne 0 ]] || chmod 755 "$T" "$T/www"
	watching
	background nginx -p "$T/www" -c "$T/www/conf"
	eventually test -S "$T/www/socket"
	eventually are_new none
	for ((i = 0; i < reloads; i++)); do
		old=$(workers)
		kill -HUP "$HOST"
		eventually are_new "$old"
	done
	# the last workers can be read, and nobody was blind
	"$PYTHON" -c '
import socket, sys
for _ in range(6):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    s.sendall(b"GET / HTTP/1.0\r\n\r\n")
    assert b"hello" in s.makefile("rb").read()' "$T/www/socket"
	"$SEEP" report --format json "$HOST" >"$T/report.json"
	[[ $(from_report '[p[0]["lost"][k] for k in ("children_untraced", "no_child_room", "events")]') == "[0, 0, 0]" ]]
	[[ $(du -sk "$DIR" | cut -f1) -lt 16384 ]]
	kill -QUIT "$HOST"
	wait "$HOST"
	eventually is_empty
	unwatch
	# of each reload two workers; those without an event need not be there
	echo "$(in_history 'len(p)') processes"
	[[ $(in_history 'len(p)') -ge $((2 * reloads)) ]]
	[[ $(in_history 'sum(x["lost"]["events"] for x in p.values())') -eq 0 ]]
}
