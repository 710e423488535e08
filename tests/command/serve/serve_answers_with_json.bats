#!/usr/bin/env bats
# serve_answers_with_json - /api/ of seep serve has the JSON of seep report and seep ls, and each user sees what is his.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/serve.bash

# without the moments of reading
still() {
	"$PYTHON" -c '
import json, sys
d = json.load(open(sys.argv[1]))
moments = ("duration_ms", "rss_bytes", "age_ms", "stored_bytes", "live_births", "live_births_ms")
def cut(v):
    if isinstance(v, dict):
        return {k: cut(x) for k, x in v.items() if k not in moments and "ages" not in k}
    return [cut(x) for x in v] if isinstance(v, list) else v
json.dump(cut(d), sys.stdout, sort_keys=True, indent=1)' "$1"
}

@test "/api/report is what seep report prints of the same process" {
	waiting
	printf '\n\n\n' >&9
	answered third
	serving
	"$SEEP" report --format json "$HOST" >"$T/by-command"
	get "/api/report?pid=$HOST" -D "$T/head" >"$T/by-server"
	grep -qi '^content-type: application/json' "$T/head"
	diff <(still "$T/by-command") <(still "$T/by-server")
	unserve
}

@test "/api/ls is what seep ls prints, of the processes that are served" {
	waiting
	serving
	SEEP_DIR=$DIR "$SEEP" ls --format json >"$T/by-command"
	get /api/ls >"$T/by-server"
	diff <(still "$T/by-command") <(still "$T/by-server")
	unserve
	# by pid: nobody else
	exec 9>&-
	wait "$HOST" || true
	rm "$T/lines" "$T/out"
	waiting
	local first=$HOST
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$HOSTS/toggled" <"$T/lines" >"$T/out2" 2>&1 3>&- &
	PIDS+=("$!")
	eventually grep -q ready "$T/out2"
	serving -- "$first"
	[[ $(get /api/ls | jq -c '[.processes[].pid]') == "[$first]" ]]
	[[ $(status "/api/report?pid=$!") == 404 ]]
	[[ $(status "/debug/pprof/heap?pid=$!") == 404 ]]
	[[ $(get /metrics | sed -nE 's/^seep_processes\{.*\} //p') -eq 1 ]]
	unserve
}

# two GET-PATH: it has a parent and its forked child
two() { [[ $(get "$1" | jq '.processes | length') -eq 2 ]]; }

@test "a forked child belongs to the service of its parent: one profile, one page" {
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$HOSTS/waiting_child" >"$T/out" 2>&1 3>&- </dev/null &
	local parent=$! child
	PIDS+=("$parent")
	eventually test -s "$T/out"
	child=$(pgrep -P "$parent")
	PIDS+=("$child")
	serving
	eventually two /api/report
	get /api/report | jq -e '[.processes[].totals.live_bytes] | add >= 300' >/dev/null
	[[ $(get /metrics | sed -nE 's/^seep_processes\{.*\} //p') -eq 2 ]]
	[[ $(get "/api/report?pid=$child" | jq '.processes | length') -eq 1 ]]
	get /debug/pprof/heap >"$T/heap.pb.gz"
	PYTHONPATH=$LIB "$PYTHON" - "$T/heap.pb.gz" <<-'END'
		import sys
		from exports_read import pprof
		live = sum(values[3] for _, values, _ in pprof(sys.argv[1])["samples"])
		assert live >= 300, live
	END
	unserve
}

@test "a user sees his own processes alone" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	local place
	place=$(mktemp -d)
	chmod 755 "$place"
	waiting
	cp "$BUILD/seep" "$BUILD/seep-net" "$place"
	SERVE_AS=(setpriv --reuid=65534 --regid=65534 --clear-groups env "XDG_CACHE_HOME=$place/none")
	setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null || {
		rm -rf "$place"
		skip "no userns here"
	}
	PORT=$(free_port)
	AT=http://127.0.0.1:$PORT
	: >"$T/serve.err"
	"${SERVE_AS[@]}" "$place/seep" serve --listen "127.0.0.1:$PORT" 2>>"$T/serve.err" 3>&- &
	SERVE=$!
	PIDS+=("$SERVE")
	eventually serve_is_up_or_ended
	[[ $(status "/debug/pprof/heap?pid=$HOST") == 404 ]]
	get /api/ls | jq -e --argjson pid "$HOST" '[.processes[].pid] | index($pid) == null' >/dev/null
	unserve
	# no right to read what is named: one line
	one_line 3 "${SERVE_AS[@]}" "$place/seep" serve "$HOST"
	rm -rf "$place"
}
