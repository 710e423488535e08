#!/usr/bin/env bats
# watch_survives_kills - whoever is killed, watch, host or both: nothing that was in a segment or a chapter is lost.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/watch.bash

# Adds what the segments have now to $T/seen: uuid, allocations, is it over?
note_segments() {
	"$SEEP" report --format json --no-suppress "$DIR" >"$T/now.json" 2>/dev/null || return 0
	"$PYTHON" -c '
import json, sys
for p in json.load(open(sys.argv[1]))["processes"]:
    print(p["uuid"], p["totals"]["allocations"], p["end"] != "running")' "$T/now.json" >>"$T/seen"
}

# The same for the chapters, finished or not.
note_chapters() {
	local service
	for service in "$H"/*/; do
		"$SEEP" report --format json --no-suppress "$service" >"$T/now.json" 2>/dev/null ||
			[[ $? -eq 3 ]] || continue
		"$PYTHON" -c '
import json, sys
try:
    d = json.load(open(sys.argv[1]))
except ValueError:
    sys.exit()
for p in d["processes"]:
    print(p["uuid"], p["totals"]["allocations"], False)' "$T/now.json" >>"$T/seen"
	done
}

# Every process that was ever seen is in the history, with what it had or more.
nothing_is_lost() {
	in_history '{u: x["totals"]["allocations"] for u, x in p.items()}' >"$T/have"
	"$PYTHON" - "$T/seen" "$T/have" <<-'PY'
	import sys
	have = eval(open(sys.argv[2]).read())
	bad = n = 0
	for line in open(sys.argv[1]):
	    uuid, count, over = line.split()
	    n += 1
	    if uuid not in have or have[uuid] < int(count) or \
	       (over == "True" and have[uuid] != int(count)):
	        print("lost:", line.strip(), "history has", have.get(uuid))
	        bad += 1
	print(n, "notes,", len(have), "processes,", bad, "lost")
	sys.exit(bad > 0 or n == 0)
	PY
}

# A parent with children; stopped, so that what is noted is what there was.
start_host() {
	mkfifo "$T/in.$1"
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$HOSTS/many_children" 0 "$((50 + RANDOM % 200))" \
		"$((80 + RANDOM % 80))" 48 _exit <"$T/in.$1" >/dev/null 2>&1 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	exec 9>"$T/in.$1"
}

pause() { sleep "0.$((RANDOM % 4))$((RANDOM % 10))"; }

@test "kills of watch, of the host, and of both" {
	rounds=$(full_or 200 9)
	H=$T/history
	: >"$T/seen"
	for ((i = 0; i < rounds; i++)); do
		watching
		start_host "$i"
		pause
		kill -STOP "$HOST"
		note_segments
		case $((i % 3)) in
		0) kill -KILL "$WATCH" ;;
		1) kill -KILL "$HOST" ;;
		2) kill -KILL "$WATCH" "$HOST" ;;
		esac
		pause
		note_chapters
		kill -KILL "$HOST" "$WATCH" 2>/dev/null || true
		exec 9>&-
		wait "$HOST" "$WATCH" 2>/dev/null || true
		PIDS=()
	done
	# children outlive a host that was killed, for a moment
	for ((i = 0; i < 50; i++)); do
		watch_once
		! is_empty || break
		sleep 0.1
	done
	is_empty
	[[ -z $(find "$H" -name '*.part') ]]
	nothing_is_lost
	# whole, but of who was in a chapter when watch was killed, the end is in another
	for chapter in "$H"/*/*.seep; do
		run "$SEEP" report "$chapter"
		[[ $status -eq 0 || ($status -eq 3 && $output == *"the end of process"*) ]]
		[[ $output != *"cut off"* ]]
	done
}

@test "the part that a killed watch left is completed, with names" {
	waiting
	printf '\n' >&9
	answered first
	watching
	eventually has_part
	sleep 0.3
	kill -KILL "$WATCH"
	wait "$WATCH" || true
	part=$(compgen -G "$H/*/*.seep.part")
	run "$SEEP" report "$part"
	[[ $status -eq 3 ]]
	goes_on_to_its_end
	watch_once
	[[ ! -e $part && -e ${part%.part} ]]
	run "$SEEP" report --no-suppress "${part%.part}"
	[[ $output == *alloc_first* ]]
	# cut at any place it is completed, or removed if nobody is in it
	size=$(stat -c %s "${part%.part}")
	for at in 0 7 31 40 100 $((size / 3)) $((size / 2)) $((size - 20)); do
		H=$T/cut.$at
		mkdir -m 700 "$H" "$H/x"
		cp "$T"/history/.version "$H"
		head -c "$at" "${part%.part}" >"$H/x/$(basename "$part")"
		watch_once
		[[ -z $(find "$H" -name '*.part') ]]
		[[ ! -e $H/x/$(basename "${part%.part}") ]] || {
			run "$SEEP" report "$H/x/$(basename "${part%.part}")"
			[[ $status -eq 0 || $status -eq 3 ]]
		}
	done
	# what is no chapter stays
	echo mine >"$H/x/20200101T000000Z-0007.seep.part.mine"
	watch_once
	grep mine "$H/x/20200101T000000Z-0007.seep.part.mine"
}

@test "no segment or slot of a living process is ever freed" {
	rounds=$(full_or 40 4)
	export SEEP_CHILD_FILES=0
	waiting
	"$SEEP" report --format json "$HOST" >"$T/report.json"
	was=$(from_report 'p[0]["totals"]')
	first=$HOST
	for ((i = 0; i < rounds; i++)); do
		watch_once
		# from a pid namespace that sees nobody, too
		if unshare -Urpf --mount-proc true 2>/dev/null; then
			H=$T/inside
			unshare -Urpf --mount-proc "$SEEP" watch --once --history "$H" "$DIR"
			H=$T/history
		fi
		env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$HOSTS/many_children" 5 500 100 48 _exit >/dev/null
	done
	"$SEEP" report --format json "$first" >"$T/report.json"
	[[ $(from_report 'p[0]["totals"]') == "$was" ]]
	ends_well
	watch_once
	is_empty
	[[ $(in_history 'len(p)') -eq $((rounds * 6 + 1)) ]]
}
