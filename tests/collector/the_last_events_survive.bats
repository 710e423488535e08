#!/usr/bin/env bats
# the_last_events_survive - SEEP_LOG=last: of each thread the last events, as the program itself has noted them.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

setup_file() { export SEEP_LOG=last:1000; }

# flown MODE NUMBER THREADS [fork]: the host, whose notes are in $T/noted
flown() { traced "$HOSTS/flown" "$1" "$T/noted" "${@:2}"; }

# kept [OPTIONS of flown.py]: what the recorder has, against the notes
kept() {
	"$SEEP" dump --last "$DIR" --format jsonl --no-symbols >"$T/dump"
	"$PYTHON" "$LIB/flown.py" "$@" "$T/noted" "$T/dump"
}

again() { rm -rf "${DIR:?}"/*; }

@test "I8 SIGKILL at random instants: the last events of each thread, and one that had no time to be noted" {
	local i
	for ((i = 0; i < $(full_or 100 10); i++)); do
		again
		flown kill "$((RANDOM + 100))" "$((i % 3 + 2))"
		[[ $status -eq 137 ]]
		kept --killed --events 1000
	done
}

@test "rings that go round many times, and one that does not" {
	flown end 12000 3
	kept --events 1000 --threads 3
	again
	SEEP_LOG=last:16 flown end 9001 3
	kept --events 16 --threads 3
	again
	SEEP_LOG=last flown end 5000 2
	kept --events 5000 --threads 2
	again
	SEEP_LOG=last:500,frees flown end 9000 2
	kept --events 500 --threads 2
	# of the oldest event the entry with the stack may be overwritten
	jq -es 'map(select(.tid != .pid)) | group_by(.tid) | map(.[1:]) | flatten | map(select(.event == "free")) |
		length > 0 and all(.freed_by > 0)' "$T/dump"
}

@test "ended threads are kept until their rings are needed, the longest ended go first" {
	# five rings: one is the main thread's
	SEEP_LOG_POOL=90k flown rounds 700 12
	[[ $status -eq 0 ]]
	kept --events 700 --threads 4
	[[ $(jq -s 'map(select(.tid != .pid) | .thread) | unique | min' "$T/dump") -eq 10 ]]
}

@test "more threads than rings are counted, and the others have theirs" {
	SEEP_LOG_POOL=90k flown end 3000 12
	[[ $status -eq 0 ]]
	kept --events 1000 --threads 4
	report
	[[ $(from_report 'sum(x["counts"]["log_threads"] for x in p)') -eq 8 ]]
	"$SEEP" dump --last "$DIR" --top 1 --no-symbols 2>&1 >"$T/text" | grep -q '^seep: 8 threads found no room'
}

@test "forked children have their own, from their first event on; and so has a program after exec" {
	local files
	for files in 0 1; do
		again
		SEEP_CHILD_FILES=$files flown end 40 2 fork
		[[ $status -eq 0 ]]
		kept --events 40 --threads 2
		again
		SEEP_CHILD_FILES=$files flown end 3000 2 fork
		kept --events 1000 --threads 2
	done
	again
	traced sh -c 'exec "$@"' sh "$HOSTS/flown" end "$T/noted" 2000 2
	[[ $status -eq 0 ]]
	kept --events 1000 --threads 2
}

@test "handlers that interrupt a hook and allocate have a ring of their own, or jump out" {
	traced_well "$HOSTS/signals" allocate 200000
	grep '^# handled=[1-9]' "$T/out"
	equals_ledger
	"$SEEP" dump --last "$DIR" --format jsonl --no-symbols >"$T/dump"
	jq -es 'map(select(.thread == 0)) | length > 0 and all(.tid == .pid and .address > 0)' "$T/dump"
	again
	traced_well "$HOSTS/signals" jump 100000
	equals_ledger
	"$SEEP" dump --last "$DIR" --top 3 --no-symbols >"$T/text"
}

@test "counters, ages and the live map are as without it" {
	traced_well "$HOSTS/threads" "$(full_or 200000 10000)"
	equals_ledger
	again
	SEEP_LOG=last,frees traced_well "$HOSTS/threads" 10000
	equals_ledger
	"$PYTHON" - "$LIB" "$DIR" <<-'END'
		import glob, sys
		sys.path.insert(0, sys.argv[1])
		from segment import decode
		with open(glob.glob(sys.argv[2] + "/*.seg")[0], "rb") as file:
		    header = decode("seg_header", file.read(8192), 0)
		assert header["live_cell_version"] == 2 and header["log_state"] == 3 and header["log_last"] == 8192
		assert header["log_births"] == 0
	END
}

@test "other values are ignored and counted, and a pool without room is named" {
	local value
	for value in last: last:x last:15 last:2000000 last,free last:100,frees,x lastly; do
		SEEP_LOG=$value traced_well "$HOSTS/peak"
	done
	report
	[[ $(from_report 'sum(x["lost"]["settings_ignored"] for x in p)') -eq 7 ]]
	complains 2 "$SEEP" dump --last "$DIR"
	again
	SEEP_LOG=last SEEP_SAMPLE=4096 traced_well "$HOSTS/peak"
	complains 2 "$SEEP" dump --last "$DIR"
	again
	SEEP_LOG=last SEEP_LOG_POOL=100k traced_well "$HOSTS/peak"
	[[ -z $(find "$DIR" -name "*.log*") ]]
	equals_ledger
}

@test "a thread with few events: each of them has its own time" {
	traced_well "$HOSTS/slow_steps"
	"$SEEP" dump --last "$DIR" --format jsonl --no-symbols >"$T/dump"
	jq -r 'select((.event == "alloc" or .event == "realloc-to" or .event == "free") and (.size == 5000 or .size == 10000)) |
		"\(.event | sub("-to"; "")) \(.size) \(.time_ms)"' "$T/dump" >"$T/logged"
	at_their_time 8
}
