#!/usr/bin/env bats
# scores_of_real_programs - programs without a leak have no line of LEAK or GROWTH.
# SPDX-License-Identifier: Apache-2.0
#
# SEEP_SCORE_CLOCK=3600: a second counts as an hour.
load ../../lib/record.bash
export SEEP_SCORE_CLOCK=3600

# told INPUT: its report has scores. On a busy machine, the memory of a running
# process may not be read in a tenth of a second; then it is asked again.
told() {
	(cd "$T" && SEEP_DIR=$DIR/sqlite "$SEEP" report "$1" --no-cache >"$1.text")
	grep -q '^STEADY ' "$T/$1.text"
}

# steady INPUT: its report has a line STEADY, and none of growth
steady() {
	eventually told "$1"
	head -12 "$T/$1.text"
	lacks '^LEAK\|^GROWTH\| in about ' "$T/$1.text"
}

# queries SECONDS: a table in memory, then the same questions for so long
queries() {
	local end=$((SECONDS + $1))
	echo 'create table t (a integer primary key, b text);'
	echo "with recursive n(i) as (values(1) union all select i + 1 from n where i < 20000)
		insert into t select i, printf('row %d', i) from n;"
	while [[ $SECONDS -lt $end ]]; do
		echo "select count(*) from t where b like '%7'; update t set b = 'row ' || a where a % 100 = 3;"
		sleep 0.05
	done
}

# ask SOCKET SECONDS: requests over it, one after the other
ask() {
	"$PYTHON" - "$@" <<-'END'
	import socket, sys, time
	end = time.monotonic() + float(sys.argv[2])
	while time.monotonic() < end:
	    with socket.socket(socket.AF_UNIX) as s:
	        s.connect(sys.argv[1])
	        s.sendall(b"GET / HTTP/1.0\r\n\r\n")
	        while s.recv(65536):
	            pass
	    time.sleep(0.01)
	END
}

@test "nginx and sqlite3 are STEADY and do not grow" {
	need nginx
	need sqlite3
	seconds=$(full_or 60 4)
	cat >"$T/nginx.conf" <<-END
	daemon off;
	master_process off;
	error_log stderr;
	pid $T/nginx.pid;
	events { worker_connections 64; }
	http {
		access_log off;
		client_body_temp_path $T/body;
		proxy_temp_path $T/proxy;
		fastcgi_temp_path $T/fastcgi;
		uwsgi_temp_path $T/uwsgi;
		scgi_temp_path $T/scgi;
		server { listen unix:$T/socket; location / { return 200 hello; } }
	}
	END
	mkdir "$DIR/nginx" "$DIR/sqlite"
	(cd "$T" && SEEP_DIR=$DIR/nginx exec timeout 200 "$SEEP" record -o nginx.data \
		nginx -p "$T" -c "$T/nginx.conf") >"$T/nginx.out" 2>&1 3>&- &
	server=$!
	PIDS+=("$server")
	# at its end it gives back everything, so it is looked at before
	mkfifo "$T/lines"
	queries 1000 >"$T/lines" 2>"$T/err" 3>&- &
	PIDS+=($!)
	SEEP_DIR=$DIR/sqlite LD_PRELOAD=$COLLECTOR sqlite3 <"$T/lines" >"$T/sqlite.out" 2>&1 3>&- &
	client=$!
	PIDS+=("$client")
	eventually test -S "$T/socket"
	eventually test -s "$T/nginx.pid"
	ask "$T/socket" "$seconds"
	kill -QUIT "$(<"$T/nginx.pid")"
	wait "$server"
	steady nginx.data
	steady "$client"
}
