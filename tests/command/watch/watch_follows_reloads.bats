#!/usr/bin/env bats
# watch_follows_reloads - servers whose workers come and go: each worker is in the history, and the last one's counters are whole.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/watch.bash

children() { pgrep -P "$1" 2>/dev/null | sort; }
# are_new COUNT OLD: so many children, none of them an old one
are_new() { [[ $(children "$HOST" | wc -l) -eq $1 && -z $(comm -12 <(children "$HOST") <(sort <<<"$2")) ]]; }
says() { grep -q "$1" "$2"; }

# is_whole PID: nothing is lost, and its sites add up to its totals
is_whole() {
	"${AS[@]}" "$SEEP" report --format json --no-suppress "$1" >"$T/report.json"
	[[ $(from_report '[p[0]["lost"][k] for k in ("children_untraced", "no_child_room", "events")]') == "[0, 0, 0]" ]]
	[[ $(from_report '[sum(s[k] for s in p[0]["sites"]) == p[0]["totals"][k] for k in ("allocations", "live_bytes", "live_blocks")]') == "[True, True, True]" ]]
	[[ $(from_report 'p[0]["totals"]["allocations"] > 0') == True ]]
}

# all_are_there FILE: each of these pids is in the history as often as in FILE, and nothing is lost
all_are_there() {
	[[ -s $1 ]]
	sort -n "$1" >"$T/expected"
	"$PYTHON" -c 'import ast, sys; print(*sorted(ast.literal_eval(sys.stdin.read())), sep="\n")' \
		<<<"$(in_history '[x["pid"] for x in p.values()]')" >"$T/found"
	echo "$(wc -l <"$T/expected") workers, $(wc -l <"$T/found") processes in the history; missing:"
	comm -23 <(sort "$T/expected") <(sort "$T/found") | tee "$T/missing"
	[[ ! -s $T/missing ]]
	[[ $(in_history 'sum(x["lost"]["events"] + x["lost"]["children_untraced"] for x in p.values())') -eq 0 ]]
}

@test "nginx: 4 workers come and go with each reload" {
	need nginx
	reloads=$(full_or 500 5)
	mkdir -p "$T/www/logs"
	cat >"$T/www/conf" <<-CONF
	daemon off;
	worker_processes 4;
	pid $T/www/pid;
	error_log $T/www/error.log notice;
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
	eventually are_new 4 none
	for ((i = 0; i < reloads; i++)); do
		old=$(children "$HOST")
		kill -HUP "$HOST"
		eventually are_new 4 "$old"
	done
	"$PYTHON" -c '
import socket, sys
for _ in range(6):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    s.sendall(b"GET / HTTP/1.0\r\n\r\n")
    assert b"hello" in s.makefile("rb").read()' "$T/www/socket"
	is_whole "$HOST"
	for worker in $(children "$HOST"); do is_whole "$worker"; done
	[[ $(du -sk "$DIR" | cut -f1) -lt 16384 ]]
	kill -QUIT "$HOST"
	wait "$HOST"
	eventually is_empty
	unwatch
	sed -n 's/.* start worker process \([0-9]*\)$/\1/p' "$T/www/error.log" >"$T/workers"
	[[ $(wc -l <"$T/workers") -eq $((4 * (reloads + 1))) ]]
	all_are_there "$T/workers"
}

@test "PostgreSQL: a process for each connection" {
	local bins
	bins=$(compgen -G '/usr/lib/postgresql/*/bin' | sort -V | tail -1) || lacking PostgreSQL
	connections=$(full_or 5000 60)
	drop_privileges # it does not run as root
	WATCH_AS=("${AS[@]}")
	# all of it is where nobody may come
	PG=$OWN_DIR/pg DIR=$OWN_DIR/segments H=$OWN_DIR/history
	"${AS[@]}" mkdir -m 700 "$PG" "$DIR"
	"${AS[@]}" "$bins/initdb" -D "$PG/data" -A trust -N -U postgres --locale=C >"$T/initdb" 2>&1
	watching
	cd "$PG"
	background "${AS[@]}" "$bins/postgres" -D "$PG/data" -k "$PG" -p 5432 -c listen_addresses= -c fsync=off \
		-c log_connections=on -c log_line_prefix='%p '
	eventually says 'database system is ready' "$T/err"
	pgbench=("${AS[@]}" "$bins/pgbench" -h "$PG" -p 5432 -U postgres)
	"${pgbench[@]}" -i -q postgres >"$T/bench" 2>&1
	"${pgbench[@]}" -C -S -n -c 4 -t $((connections / 4)) postgres >"$T/bench" 2>&1
	grep -q "transactions actually processed: $connections/$connections" "$T/bench"
	# the last one, while it runs
	"${AS[@]}" "$bins/psql" -h "$PG" -U postgres -Atq -c 'select pg_backend_pid()' -c 'select pg_sleep(600)' postgres >"$T/last" 2>&1 3>&- &
	CLIENT=$!
	PIDS+=("$CLIENT")
	eventually test -s "$T/last"
	is_whole "$(head -1 "$T/last")"
	is_whole "$HOST"
	[[ $(du -sk "$DIR" | cut -f1) -lt 16384 ]]
	kill -INT "$HOST"
	wait "$HOST"
	wait "$CLIENT" || true
	eventually is_empty
	unwatch
	sed -n 's/^\([0-9]*\) LOG:  connection authorized.*/\1/p' "$T/err" >"$T/workers"
	[[ $(wc -l <"$T/workers") -ge $((connections + 1)) ]]
	all_are_there "$T/workers"
}

@test "php-fpm: a worker ends after five requests" {
	local server
	server=$(compgen -G '/usr/sbin/php-fpm*' | sort -V | tail -1) || lacking php-fpm
	requests=$(full_or 5000 100)
	cat >"$T/conf" <<-CONF
	[global]
	error_log = $T/fpm.log
	[www]
	listen = $T/socket
	pm = static
	pm.max_children = 2
	pm.max_requests = 5
	CONF
	echo '<?php $a = []; for ($i = 0; $i < 500; $i++) $a[] = str_repeat("x", $i); echo getmypid();' >"$T/a.php"
	root=()
	[[ $(id -u) -ne 0 ]] || root=(-R)
	watching
	background env USE_ZEND_ALLOC=0 "$server" -n -F "${root[@]}" -y "$T/conf"
	eventually test -S "$T/socket"
	"$PYTHON" "$LIB/fastcgi.py" "$T/socket" "$T/a.php" "$requests" >"$T/answers"
	[[ $(wc -l <"$T/answers") -eq $requests ]]
	eventually are_new 2 "$(sort -u "$T/answers" | head -n 3)"
	is_whole "$HOST"
	for worker in $(children "$HOST"); do is_whole "$worker"; done
	[[ $(du -sk "$DIR" | cut -f1) -lt 16384 ]]
	kill -QUIT "$HOST"
	wait "$HOST"
	eventually is_empty
	unwatch
	# five answers of each but the last ones
	sort "$T/answers" | uniq -c | while read -r times worker; do
		for ((i = 0; i < times; i += 5)); do echo "$worker"; done
	done >"$T/workers"
	[[ $(wc -l <"$T/workers") -ge $((requests / 5)) ]]
	all_are_there "$T/workers"
}
