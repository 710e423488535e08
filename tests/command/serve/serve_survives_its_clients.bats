#!/usr/bin/env bats
# serve_survives_its_clients - whatever clients do, seep serve answers the others, and does not grow.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/serve.bash

# clients WHAT: as serve_clients.py has it; the server lives on and ends well
clients() {
	timeout 300 "$PYTHON" "$LIB/serve_clients.py" "$PORT" "$SERVE" "$1" >"$T/said" 2>&1 || {
		cat "$T/said" "$T/serve.err"
		return 1
	}
	grep -qx ok "$T/said"
	[[ $(cat "$T/serve.err") == "seep: listening on $AT" ]]
}

@test "500 clients that stall, and scrapes go on" {
	waiting
	serving
	clients stalled
	unserve
}

@test "clients that do not read what they asked for" {
	waiting
	serving
	clients receivers
	unserve
}

@test "10,000 requests leave memory, descriptors and threads as they are" {
	waiting
	serving
	clients many
	unserve
}

@test "8 KiB of headers, and no more" {
	waiting
	serving
	clients headers
	unserve
}

@test "clients that leave while their profile is made" {
	waiting
	serving
	clients gone
	unserve
	# nothing is left of it
	lacks pgrep -g "$SERVE" -x seep-net
}

@test "it ends at once, whoever waits" {
	waiting
	serving
	local i
	for i in 1 2 3; do
		curl -sS --max-time 60 -o /dev/null "$AT/debug/pprof/heap?seconds=500" 2>/dev/null 3>&- &
		PIDS+=("$!")
	done
	eventually three_children
	local begin=$SECONDS
	unserve
	[[ $((SECONDS - begin)) -le 3 ]]
	wait "${PIDS[@]:2}" || true
}
three_children() { [[ $(pgrep -P "$SERVE" | wc -l) -eq 3 ]]; }

@test "without descriptors it waits, and then goes on" {
	waiting
	SERVE_AS=(prlimit --nofile=40:40)
	serving
	clients descriptors_run_out
	unserve
}

@test "what is no request, or an odd one" {
	waiting
	serving
	clients odd
	unserve
}

@test "a page of another site gets nothing: DNS rebinding, and foreign requests of a browser" {
	waiting
	serving
	local path
	for path in / /metrics /sd /debug/pprof/heap /view /view/data /api/ls /api/report; do
		[[ $(status "$path" -H 'Host: evil.example') == 421 ]]
		[[ $(status "$path" -H "Host: evil.example:$PORT") == 421 ]]
		[[ $(status "$path" -H 'Host: 127.0.0.1.evil.example') == 421 ]]
		[[ $(status "$path" -H 'Host: localhost.evil.example') == 421 ]]
		[[ $(status "$path" -H 'Host:') != 200 ]]
		[[ $(status "$path" -H 'Sec-Fetch-Site: cross-site' -H 'Sec-Fetch-Mode: no-cors') == 403 ]]
		[[ $(status "$path" -H 'Sec-Fetch-Site: same-site' -H 'Sec-Fetch-Mode: cors') == 403 ]]
		[[ $(status "$path" -H "Host: localhost:$PORT") == 200 ]]
		[[ $(status "$path" -H 'Host: [::1]') == 200 ]]
	done
	[[ $(status / -H 'Sec-Fetch-Site: cross-site' -H 'Sec-Fetch-Mode: navigate') == 200 ]]
	# nothing allows another site to read a reply
	get /metrics -D "$T/head" -H 'Origin: http://evil.example' >/dev/null
	lacks grep -qi access-control "$T/head"
	unserve
	serving --host seep.example
	[[ $(status /metrics -H 'Host: SEEP.example:80') == 200 ]]
	[[ $(status /metrics -H 'Host: evil.example') == 421 ]]
	unserve
}

@test "GET and HEAD alone" {
	waiting
	serving
	local method
	for method in POST PUT DELETE PATCH OPTIONS TRACE FOO; do
		[[ $(status /metrics -X "$method") == 405 ]]
		[[ $(status /metrics -X "$method" -d x=y) == 405 ]]
	done
	grep -qi 'get, head' <(curl -sS -D - -o /dev/null -X POST "$AT/")
	[[ $(status /metrics -I) == 200 ]]
	[[ $(status /debug/pprof/heap -I) == 200 ]]
	[[ ! -s $T/reply || $(head -c 4 "$T/reply") == HTTP ]]
	[[ $(status /metrics -X GET -d x=y) == 413 ]]
	unserve
}

@test "a socket of the file system is for its owner alone, and goes with the server" {
	waiting
	"$SEEP" serve --listen "unix:$T/socket" "$DIR" 2>"$T/serve.err" 3>&- &
	SERVE=$!
	PIDS+=("$SERVE")
	eventually grep -q listening "$T/serve.err"
	[[ $(stat -c %a "$T/socket") == 600 ]]
	curl -sS --fail --unix-socket "$T/socket" http://any/metrics | grep -q '^seep_heap_live_bytes{'
	unserve
	[[ ! -e $T/socket ]]
	# one that a killed server has left is taken over
	"$SEEP" serve --listen "unix:$T/socket" "$DIR" 2>"$T/serve.err" 3>&- &
	SERVE=$!
	PIDS+=("$SERVE")
	eventually grep -q listening "$T/serve.err"
	kill -KILL "$SERVE"
	wait "$SERVE" || true
	[[ -S $T/socket ]]
	"$SEEP" serve --listen "unix:$T/socket" "$DIR" 2>"$T/serve.err" 3>&- &
	SERVE=$!
	PIDS+=("$SERVE")
	eventually grep -q listening "$T/serve.err"
	# one that is in use is not
	one_line 3 "$SEEP" serve --listen "unix:$T/socket" "$DIR"
	curl -sS --fail --unix-socket "$T/socket" http://any/ >/dev/null
	unserve
}

@test "the same under AddressSanitizer" {
	local sanitized=$BUILD/san-fuzz/seep-net what
	[[ -x $sanitized ]] || skip "no sanitized server was built"
	waiting
	printf '\n\n' >&9
	answered second
	export ASAN_OPTIONS=detect_leaks=1:quarantine_size_mb=8 UBSAN_OPTIONS=halt_on_error=1
	# what options need is kept as long as the program runs
	printf 'leak:%s\n' targets_take view_opts_finish_exact net_keep opts_parse >"$T/kept"
	export LSAN_OPTIONS=suppressions=$T/kept:print_suppressions=0
	SEEP=$sanitized serving --per-process --top 2
	for what in odd headers $(full_or "receivers gone" ""); do
		clients "$what"
	done
	local path
	for path in / /metrics /sd /debug/pprof/ /debug/pprof/heap /debug/pprof/allocs /view /view/data \
		/api/ls /api/report '/debug/pprof/heap?seconds=1'; do
		[[ $(status "$path") == 200 ]]
	done
	unserve
	[[ $(cat "$T/serve.err") == "seep: listening on $AT" ]]
}
