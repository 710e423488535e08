#!/usr/bin/env bats
# private_memory_is_written_at_the_end - SEEP_PRIVATE uses no shared memory: a segment at exit, and snapshots on request.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

@test "the segment at exit is exact, in threads, with many stacks and in children" {
	export SEEP_PRIVATE=1
	local program
	for program in family threads peak many_stacks; do
		rm -f "$DIR"/*
		traced_well "$HOSTS/$program"
		equals_ledger
	done
	rm -f "$DIR"/*
	traced_well "$HOSTS/early_children" exit 3 10 1337
	report
	[[ $(from_report 'sum(x["totals"]["live_bytes"] for x in p)') -eq 40110 ]]
	# it says what it could not keep
	[[ $(from_report 'max(x["lost"].get("private_forks", 0) for x in p)') -eq 3 ]]
	[[ $(find "$DIR" -type f ! -perm 0400 | wc -l) -eq 0 ]]
}

@test "nothing of it is a shared mapping, and no file is there while it runs" {
	waiting SEEP_PRIVATE=1
	! grep -qE 'rw-s.*seep|\.seg' "/proc/$HOST/maps" || false
	[[ -z $(find "$DIR" -name '*.seg*') ]]
	ends_well
	[[ $(find "$DIR" -name '*.seg' | wc -l) -eq 1 ]]
}

@test "the file is named after the program, its pid and a random number, as any segment is" {
	waiting SEEP_PRIVATE=1
	ends_well
	local file
	file=$(basename "$DIR"/*.seg)
	[[ $file =~ ^[a-z_]+-$HOST-[0-9a-f]{8}\.seg$ ]]
	[[ $file != *-00000000.seg ]]
}

@test "a snapshot can be requested; a killed process leaves nothing else" {
	waiting SEEP_PRIVATE=1 SEEP_SIGNAL=USR2
	kill -USR2 "$HOST"
	for _ in $(seq 100); do
		[[ -z $(find "$DIR" -name '*.seep-snap') ]] || break
		sleep 0.05
	done
	printf '\n' >&9
	kill -KILL "$HOST"
	exec 9>&-
	wait "$HOST" || true
	[[ $(find "$DIR" -name '*.seep-snap' | wc -l) -eq 1 ]]
	[[ -z $(find "$DIR" -name '*.seg') ]]
	"$SEEP" report --format json "$DIR"/*.seep-snap >"$T/json"
	grep -F '"sites"' "$T/json"
}

@test "record finds the segment of a command that ran so" {
	SEEP_PRIVATE=1 SEEP_DIR=$DIR "$SEEP" record -q -o "$T/run.data" "$HOSTS/early_children" exit 2 10 1337
	"$SEEP" report "$T/run.data" | grep -F leave_blocks
}
