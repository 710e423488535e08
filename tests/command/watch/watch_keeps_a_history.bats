#!/usr/bin/env bats
# watch_keeps_a_history - seep watch writes down whoever is traced, and gives back what the dead have taken.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/watch.bash

mode() { stat -c %a "$1"; }

@test "whoever died unwatched is gathered at the start" {
	for _ in 1 2 3; do traced_well "$HOSTS/many_children" 2 1000 100 48 exit; done
	watch_once
	[[ $(in_history 'len(p), services') == "(9, ['many_children'])" ]]
	[[ $(in_history 'sorted({x["totals"]["allocations"] for x in p.values() if x["parent"]})') == "[100]" ]]
	is_empty
	# there is nothing to do any more
	before=$(find "$H" -name '*.seep' | wc -l)
	watch_once
	[[ $(find "$H" -name '*.seep' | wc -l) -eq $before ]]
}

@test "a process that runs is followed, and its end is in the same chapter" {
	waiting
	watching
	eventually has_part
	"$SEEP" report --format json "$HOST" >"$T/report.json"
	was=$(from_report 'p[0]["totals"]["allocations"]')
	ends_well
	eventually is_empty
	unwatch
	[[ $(in_history 'len(p)') -eq 1 ]]
	[[ $(in_history 'list(p.values())[0]["totals"]["allocations"]') -ge $was ]]
	[[ $(in_history 'list(p.values())[0]["end"]') == exited ]]
	[[ $(find "$H" -name '*.seep' | wc -l) -eq 1 ]]
	[[ -z $(find "$H" -name '*.part') ]]
	# a time line, and names, are in it
	"$SEEP" report "$H"/*/*.seep | grep -F alloc_third
	[[ $(in_history 'list(p.values())[0]["timeline"] is not None') == True ]]
}

@test "a killed process leaves its last counters" {
	waiting
	watching
	eventually has_part
	"$SEEP" report --format json "$HOST" >"$T/report.json"
	was=$(from_report 'p[0]["totals"]')
	kill -KILL "$HOST"
	exec 9>&-
	eventually is_empty
	unwatch
	[[ $(in_history 'list(p.values())[0]["totals"]') == "$was" ]]
	[[ $(in_history 'list(p.values())[0]["end"]') != running ]]
}

@test "when watch ends, the state of those that run is in the chapter, and they run on" {
	waiting
	watching
	eventually has_part
	unwatch
	[[ $(in_history 'list(p.values())[0]["end"]') == running ]]
	[[ -n $(find "$DIR" -name '*.seg') ]]
	kill -0 "$HOST"
	# the next watch goes on, in a chapter of its own
	watching
	eventually has_part 0002
	ends_well
	eventually is_empty
	unwatch
	[[ $(in_history 'len(p), list(p.values())[0]["end"]') == "(1, 'exited')" ]]
}

@test "the history is private, or of a group" {
	traced_well "$HOSTS/many_children" 1 100 100 48 exit
	watch_once
	[[ $(mode "$H") == 700 && $(mode "$H/many_children") == 700 ]]
	[[ $(mode "$H"/many_children/*.seep) == 600 ]]
	H=$T/shared
	traced_well "$HOSTS/many_children" 1 100 100 48 exit
	watch_once --group "$(id -g)"
	[[ $(mode "$H") == 750 && $(mode "$H/many_children") == 750 ]]
	[[ $(mode "$H"/many_children/*.seep) == 640 ]]
	complains 2 "$SEEP" watch --once --history "$T/x" --group no-such-group "$DIR"
}

@test "a second watch on a history is refused" {
	watching
	complains 3 "$SEEP" watch --history "$H" "$DIR"
	grep -F "process $WATCH" "$T/complaint"
	unwatch
	watch_once
}

@test "what is no history of ours is refused" {
	mkdir "$T/full"
	touch "$T/full/mine"
	complains 3 "$SEEP" watch --once --history "$T/full" "$DIR"
	mkdir "$T/other"
	echo "seep history 2" >"$T/other/.version"
	complains 3 "$SEEP" watch --once --history "$T/other" "$DIR"
	grep -F version "$T/complaint"
	mkdir -m 0777 "$T/open"
	chmod 0777 "$T/open"
	complains 3 "$SEEP" watch --once --history "$T/open" "$DIR"
	touch "$T/file"
	complains 3 "$SEEP" watch --once --history "$T/file" "$DIR"
	complains 3 "$SEEP" watch --once --history "$T/no/such/place" "$DIR"
	[[ $(id -u) -ne 0 ]] || {
		mkdir "$T/theirs"
		chown 65534 "$T/theirs"
		complains 3 "$SEEP" watch --once --history "$T/theirs" "$DIR"
	}
}

@test "bad options and inputs are one line" {
	complains 2 "$SEEP" watch --size 1 --history "$T/h" "$DIR"
	complains 2 "$SEEP" watch --keep 1s --history "$T/h" "$DIR"
	complains 2 "$SEEP" watch --keep forever --history "$T/h" "$DIR"
	complains 3 "$SEEP" watch --history "$T/h" 2147483646
	complains 3 "$SEEP" watch --history "$T/h" "$T/nowhere"
	complains 2 "$SEEP" watch --history "$T/h" "$SEEP"
	complains 3 "$SEEP" watch --history "$T/h" $$
	[[ ! -e $T/h ]]
}

@test "READY, WATCHDOG and STOPPING reach the service manager" {
	"$PYTHON" -c '
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
with open(sys.argv[2], "a", buffering=1) as told:
    while True:
        told.write(s.recv(4096).decode() + "\n")' "$T/notify" "$T/told" 3>&- &
	PIDS+=("$!")
	eventually test -S "$T/notify"
	export NOTIFY_SOCKET=$T/notify WATCHDOG_USEC=400000
	watching
	unset NOTIFY_SOCKET
	eventually grep -q READY=1 "$T/told"
	eventually eval '[[ $(grep -o WATCHDOG=1 "$T/told" | wc -l) -ge 3 ]]'
	unwatch
	eventually grep -q STOPPING=1 "$T/told"
}

@test "a segment whose recorder lives is left to that" {
	export SEEP_DIR=$DIR
	"$SEEP" record -q -o "$T/run.data" "$HOSTS/many_children" 40 40 100 48 _exit >"$T/out" 3>&- &
	PIDS+=("$!")
	recorder=$!
	eventually grep -q PID "$T/out"
	watching
	wait "$recorder"
	unwatch
	[[ $("$SEEP" report --format json --no-suppress "$T/run.data" |
		"$PYTHON" -c 'import json,sys
p = [x["totals"]["allocations"] for x in json.load(sys.stdin)["processes"] if x["parent"]]
print(len(p), set(p))') == "40 {100}" ]]
}

@test "segments of others are copied once, and left to them" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	drop_privileges
	traced_well "$HOSTS/many_children" 3 100 100 48 exit
	before=$(ls "$DIR")
	watch_once
	[[ $(ls "$DIR") == "$before" ]]
	[[ $(in_history 'len(p), services') == "(4, ['many_children%u65534'])" ]]
	watch_once
	[[ $(ls "$DIR") == "$before" ]]
	[[ $(find "$H" -name '*.seep' | wc -l) -eq 1 ]]
}

@test "a process by its pid: nobody else is written down or removed" {
	traced_well "$HOSTS/many_children" 3 100 100 48 exit
	before=$(ls "$DIR")
	waiting
	H=$T/history
	"$SEEP" watch --history "$H" "$HOST" 2>"$T/watch.err" 3>&- &
	WATCH=$!
	PIDS+=("$WATCH")
	eventually has_part
	ends_well
	sleep 1.5
	unwatch
	[[ $(in_history 'len(p)') -eq 1 ]]
	for f in $before; do [[ -e $DIR/$f ]]; done
}
