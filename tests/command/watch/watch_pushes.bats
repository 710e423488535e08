#!/usr/bin/env bats
# watch_pushes - seep watch --push pushes from a process of its own, which never holds up the history.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/watch.bash
load ../../lib/push.bash

# the process that pushes, a child of watch
pusher() { pgrep -P "$WATCH" -x 'seep push'; }
has_pusher() { [[ -n $(pusher) ]]; }

@test "every sum arrives, and the history is there as well" {
	server 503 reset
	watching --push "$AT" --every 1s --label team=a
	eventually has_pusher
	sleep 0.5
	allocating 100
	eventually accepted 2
	exec 8>&-
	wait "$HOST"
	eventually in_history 'len(p) == 1'
	unwatch # before that its chapter may have an earlier state
	read -r blocks bytes _ <<<"$(by_report "$H/$(ls "$H")")"
	in_got "sums('alloc_objects') == $blocks and sums('alloc_space') == $bytes"
	in_got 'all(g["labels"]["team"] == "a" for g in got)'
	# the same names as the folders of the history
	in_got "got[0]['labels']['service_name'] == '$(ls "$H")'"
	refute has_pusher
}

@test "children that come and go: none is pushed twice, none is missed, and all segments go" {
	server
	watching --push "$AT" --every 2s
	eventually has_pusher
	sleep 1
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$HOSTS/many_children" 100 40 100 64 _exit >"$T/children" 3>&- 7>&-
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$HOSTS/many_children" 20 40 100 64 kill >"$T/children" 3>&- 7>&-
	# the directory is empty as soon as all is safe, and was read
	is_empty() { ! compgen -G "$DIR/*.seg" >/dev/null; }
	eventually is_empty
	unwatch
	in_history 'len(p) == 122'
	local service blocks bytes all_blocks=0 all_bytes=0
	for service in "$H"/*/; do
		read -r blocks bytes _ <<<"$(by_report "$service")"
		all_blocks=$((all_blocks + blocks))
		all_bytes=$((all_bytes + bytes))
	done
	in_got "sums('alloc_objects') == $all_blocks and sums('alloc_space') == $all_bytes"
}

@test "how it goes is in /metrics" {
	server 503
	local port metrics
	port=$("$PYTHON" -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
	watching --push "$AT" --every 1s --listen "127.0.0.1:$port"
	allocating 100
	eventually accepted 2
	metrics() { curl -sS "http://127.0.0.1:$port/metrics" >"$T/metrics"; }
	has_two() { metrics && grep -qE '^seep_push_accepted_total ([2-9]|[0-9]{2,})$' "$T/metrics"; }
	eventually has_two
	promtool check metrics <"$T/metrics"
	grep -q '^seep_push_failures_total 1$' "$T/metrics"
	grep -q '^seep_push_last_status 200$' "$T/metrics"
	grep -qE '^seep_push_last_success_timestamp_seconds [1-9][0-9]{9}' "$T/metrics"
	grep -qE '^seep_push_waiting_bytes [1-9]' "$T/metrics"
	# the labels of both are the same name
	in_got "'service=\"' + got[0]['labels']['service_name'] + '\"' in open('$T/metrics').read()"
	unwatch
}

@test "a server that hangs holds up nothing: looks go on, and the end comes" {
	server
	mode hang
	watching --push "$AT" --every 1s
	allocating 100
	eventually came 1
	# somebody comes and ends meanwhile, and is written down
	background "$HOSTS/grows" 100 1
	wait "$HOST"
	eventually in_history 'any(x["program"] == "grows" for x in p.values())'
	local begin=$SECONDS
	unwatch
	[[ $((SECONDS - begin)) -le 25 ]]
}

@test "a pusher that is killed is missed, and watch goes on" {
	server
	watching --push "$AT" --every 1s
	allocating 100
	eventually accepted 1
	kill -KILL "$(pusher)"
	eventually grep -q 'the process that pushes has ended' "$T/watch.err"
	background "$HOSTS/grows" 100 1
	wait "$HOST"
	eventually in_history 'any(x["program"] == "grows" for x in p.values())'
	unwatch
}

@test "watch that is killed leaves no pusher behind" {
	local child
	server
	watching --push "$AT" --every 1s
	eventually has_pusher
	child=$(pusher)
	kill -KILL "$WATCH"
	gone() { [[ ! -d /proc/$child ]] || grep -q '^State:.Z' "/proc/$child/status"; }
	eventually gone
}

@test "dozens of hosts, a server with bad days: every sum arrives" {
	local i n
	n=$(full_or 60 24)
	server
	mode 503
	for ((i = 0; i < n; i++)); do
		mkdir -m 700 "$DIR/$i"
		"$SEEP" push "$AT" --every 2s --label instance="host$i" "$DIR/$i" 2>>"$T/push.err" 3>&- 7>&- &
		echo $! >>"$T/pushers"
		PIDS+=($!)
	done
	sleep 1
	for ((i = 0; i < n; i++)); do
		env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR/$i" "$HOSTS/grows" $((100 + i)) 3000 >/dev/null 2>&1 3>&- 7>&- &
		echo $! >>"$T/hosts"
	done
	sleep 2
	mode reset
	eventually came 1 reset
	mode 429:1
	eventually came 1 429:1
	mode ok
	# shellcheck disable=SC2046 # several words
	wait $(cat "$T/hosts")
	eventually accepted "$n"
	# shellcheck disable=SC2046 # several words
	kill -TERM $(cat "$T/pushers")
	# shellcheck disable=SC2046 # several words
	wait $(cat "$T/pushers")
	for ((i = 0; i < n; i++)); do
		read -r blocks bytes _ <<<"$(by_report "$DIR/$i")"
		echo "host$i $blocks $bytes"
	done >"$T/expected"
	"$PYTHON" -c '
import collections, glob, json, sys
got = collections.defaultdict(lambda: [0, 0])
for f in glob.glob(sys.argv[1] + "/*.json"):
    g = json.load(open(f))
    host = got[g["labels"]["instance"]]
    host[0] += g["sums"]["alloc_objects"]
    host[1] += g["sums"]["alloc_space"]
for line in open(sys.argv[2]):
    host, blocks, size = line.split()
    assert got[host] == [int(blocks), int(size)], (line, got[host])' "$GOT" "$T/expected"
}
