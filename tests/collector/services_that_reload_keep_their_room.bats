#!/usr/bin/env bats
# services_that_reload_keep_their_room - nginx with four workers, reloaded again and again: ls --prune gives back the slots of old workers, and the newest workers are traced.
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

# workers: the children of the master, as /proc has them
workers() { cat "/proc/$HOST/task/$HOST/children"; }
four_new() {
	local now
	now=$(workers)
	# shellcheck disable=SC2086 # several words
	set -- $now
	[[ $# -eq 4 ]] || return 1
	for pid in $now; do [[ " $OLD " != *" $pid "* ]] || return 1; done
}

# prune: as the user of the service; how many slots came back is added to $freed
prune() {
	"${AS[@]}" env SEEP_DIR="$DIR" "$SEEP" ls --prune >"$T/list" 2>"$T/list.err"
	grep -qx "0 files removed" "$T/list"
	freed=$((freed + $(sed -n 's/,//g; s/ slots\? of ended children given back//p' "$T/list" | grep . || echo 0)))
}

@test "nginx, four workers, reloads" {
	need nginx
	need jq
	local reloads i freed=0 pid most=0 blocks
	reloads=$(full_or 300 12)
	drop_privileges
	W=$DIR/work # a place that the service's user may write
	"${AS[@]}" mkdir -p "$W/site"
	cat >"$W/nginx.conf" <<-END
		daemon off; worker_processes 4; pid $W/pid; error_log $W/errors;
		events { worker_connections 1024; }
		http { access_log off; client_body_temp_path $W/b; proxy_temp_path $W/p; fastcgi_temp_path $W/f; uwsgi_temp_path $W/u; scgi_temp_path $W/s;
			server { listen unix:$W/socket; root $W/site; } }
	END
	"${AS[@]}" env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" nginx -c "$W/nginx.conf" >"$T/out" 2>"$T/err" 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	OLD=""
	eventually four_new
	for ((i = 1; i <= reloads; i++)); do
		OLD=$(workers)
		kill -HUP "$HOST"
		eventually four_new
		((i % 4)) || prune
		blocks=$(stat -c %b "$(echo "$DIR"/nginx-"$HOST"-*.seg)")
		((blocks <= most)) || most=$blocks
	done
	prune
	echo "$reloads reloads, $freed slots given back, at most $((most / 2)) KiB"
	[[ $freed -eq $((4 * reloads)) ]]
	((most / 2 < 16 * 1024))
	# the last workers are traced, and what they have is whole
	for pid in $(workers); do
		"${AS[@]}" "$SEEP" report "$pid" --format json >"$T/report.json"
		jq -e '.processes[0] | .end == "running" and .lost.children_untraced == 0 and .live_map == "agrees" and .totals.live_bytes > 200000' "$T/report.json"
	done
	kill -QUIT "$HOST"
	wait "$HOST"
}
