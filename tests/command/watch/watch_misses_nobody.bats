#!/usr/bin/env bats
# watch_misses_nobody - children that come and go for long are all in the history, exact, and take little room.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/watch.bash

# most KiB that the segments took while PID ran
most_room() {
	local most=0 now
	while kill -0 "$1" 2>/dev/null; do
		now=$(du -sk "$DIR" 2>/dev/null | cut -f1)
		[[ $now -le $most ]] || most=$now
		sleep 0.1
	done
	echo "$most"
}

@test "all children are there, exact; segments never take 16 MiB" {
	count=$(full_or 10000 500)
	watching
	background "$HOSTS/many_children" "$count" 200 100 48 _exit
	most=$(most_room "$HOST")
	wait "$HOST"
	grep -x "CHILDREN $count" "$T/out"
	echo "most room: $most KiB"
	[[ $most -lt 16384 ]]
	eventually is_empty
	unwatch
	[[ ! -s $T/watch.err ]]
	[[ $(in_history 'len(p)') -eq $((count + 1)) ]]
	[[ $(in_history 'collections.Counter((x["totals"]["allocations"], x["totals"]["allocated_bytes"],
		x["totals"]["live_blocks"]) for x in p.values() if x["parent"])') == "Counter({(100, 4800, 50): $count})" ]]
}

@test "children in slots: dead ones are given back while the parent runs" {
	export SEEP_CHILD_FILES=0
	watching
	background "$HOSTS/many_children" 1500 300 100 48 exit
	wait "$HOST"
	eventually is_empty
	unwatch
	# more children than there are slots, and none of them was blind
	[[ $(in_history 'len(p)') -eq 1501 ]]
	[[ $(in_history '{x["totals"]["allocations"] for x in p.values() if x["parent"]}') == "{100}" ]]
	[[ $(in_history '[x["lost"]["children_untraced"] for x in p.values() if not x["parent"]]') == "[0]" ]]
}

@test "children that end in their first events are there, too" {
	watching
	background "$HOSTS/many_children" 300 200 6 48 _exit
	wait "$HOST"
	eventually is_empty
	unwatch
	[[ $(in_history 'sum(x["totals"]["allocations"] for x in p.values() if x["parent"])') -eq 1800 ]]
}

@test "what a dead child had is given back within 2 s, and the parent keeps its own" {
	watching
	mkfifo "$T/in"
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$HOSTS/many_children" 0 20 100 48 kill \
		<"$T/in" >"$T/out" 2>&1 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	exec 9>"$T/in"
	for _ in 1 2 3 4 5 6; do
		sleep 0.5
		# 20 a second: of the last two seconds at most, and of a busy machine
		[[ $(du -sk "$DIR" | cut -f1) -lt $((60 * 100)) ]]
	done
	exec 9>&-
	wait "$HOST"
	eventually is_empty
	unwatch
	children=$(sed -n 's/^CHILDREN //p' "$T/out")
	[[ $(in_history 'len(p)') -eq $((children + 1)) ]]
	[[ $(in_history '{x["totals"]["allocations"] for x in p.values() if x["parent"]}') == "{100}" ]]
}
