#!/usr/bin/env bats
# recording_is_what_the_page_says - a second reader, from docs/RECORDING.md alone, finds what the report shows.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

second_reader() {
	local answer=0
	"$SEEP" report "$T/seep.data" --format json \
		>"$T/report.json" 2>"$T/notes" || answer=$?
	[[ $answer -eq $1 ]]
	"$PYTHON" "$LIB/recording.py" "$T/seep.data" "$T/report.json"
}

@test "a whole recording: points and marks" {
	need zstd
	record -q sh -c 'for i in 1 2 3; do ls / >/dev/null; sleep 0.2; done'
	second_reader 0
}

@test "a recording without an end: every site" {
	need zstd
	record_behind -q --interval 20ms "$HOSTS/killed" kill "$T/progress" 30000000 1
	appears "$T/seep.data"
	sleep 2 # entries are written once a second
	kill -KILL "$recorder"
	wait "$recorder" || true
	PIDS+=("$(sed -n 's/^PID //p' "$T/out")")
	second_reader 3
	[[ $(jq '[.processes[] | select(.end_state | not)] | length' "$T/report.json") -ge 1 ]]
}
