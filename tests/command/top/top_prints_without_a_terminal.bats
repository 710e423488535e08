#!/usr/bin/env bats
# top_prints_without_a_terminal - tables and JSON for logs, pipes and dumb terminals.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/top.bash
load ../../lib/terminal.bash

@test "--once: one table of two looks, with the sites of a process that was named" {
	start_host
	tell grow 1000
	SEEP_DIR=$DIR "$SEEP" top --once --interval 200ms "$HOST" >"$T/said"
	[[ $(grep -c 'PID SERVICE' "$T/said") -eq 1 ]]
	grep -Eq "^ *$HOST on_show.* on .* 0 +0 " "$T/said"
	grep -q "^Sites of on_show ($HOST):" "$T/said"
	grep -q '977K .*leak_here on_show.c:' "$T/said"
	SEEP_DIR=$DIR "$SEEP" top --once --interval 200ms >"$T/said"
	grep -Eq "^ *$HOST on_show" "$T/said"
	if grep '^Sites of' "$T/said"; then false; fi
}

@test "--count N: N tables; a pipe needs no --plain" {
	start_host
	SEEP_DIR=$DIR "$SEEP" top --count 3 --interval 100ms "$HOST" | cat >"$T/said"
	[[ $(grep -c 'PID SERVICE' "$T/said") -eq 3 ]]
	SEEP_DIR=$DIR timeout -s INT 2 "$SEEP" top --interval 100ms "$HOST" >"$T/said" || true
	[[ $(grep -c 'PID SERVICE' "$T/said") -ge 3 ]]
}

@test "a reader that has seen enough ends it" {
	start_host
	SEEP_DIR=$DIR timeout 20 "$SEEP" top --interval 100ms "$HOST" | head -n 3 >"$T/said"
	[[ ${PIPESTATUS[0]} -ne 124 ]]
}

@test "tables on a dumb terminal, and with --plain" {
	start_host
	tell grow 100
	on_terminal TERM=dumb SEEP_DIR="$DIR" top --count 2 --interval 100ms "$HOST"
	[[ $got -eq 0 ]]
	[[ $(grep -c 'PID SERVICE' "$T/screen") -eq 2 ]]
	if grep $'\e' "$T/screen"; then false; fi
	on_terminal SEEP_DIR="$DIR" top --plain --count 1 --interval 100ms "$HOST"
	[[ $got -eq 0 ]]
	if grep $'\e' "$T/screen"; then false; fi
	# it is as wide as the terminal
	[[ $(wc -L <"$T/screen") -le 80 ]]
}

@test "--format json: one object a look, a line each" {
	start_host
	tell grow 100
	SEEP_DIR=$DIR "$SEEP" top --count 10 --interval 100ms --format json "$HOST" >"$T/top.json" &
	eventually grep -q '"look":0' "$T/top.json"
	tell drip 300
	wait $!
	[[ $(wc -l <"$T/top.json") -eq 10 ]]
	jq -se 'map(.look) == [range(10)] and all(.schema == 1 and .interval_ms == 100)' "$T/top.json"
	jq -se 'all(.processes[0] | .pid == '"$HOST"' and .mode == "on" and .program == "on_show" and
		.rss_bytes > 0 and (.sites | length) > 1)' "$T/top.json"
	jq -se 'any(.processes[0].growth_per_second > 0) and
		([.[].processes[0].sites[] | .function == "leak_here" and .since_bytes > 0] | any)' "$T/top.json"
	# a look that came late is not made up for by several at once
	jq -se '[.[].time_ns] | [.[1:], .[:-1]] | transpose | all(.[0] - .[1] > 20000000)' "$T/top.json"
	# nobody was named: processes, but not their sites
	SEEP_DIR=$DIR "$SEEP" top --once --interval 100ms --format json | jq -e '.processes[0].sites == null'
}

@test "filters and order hold here, too" {
	start_host
	tell hold 50
	tell grow 100
	SEEP_DIR=$DIR "$SEEP" top --once --interval 100ms --format json --include hold_here "$HOST" |
		jq -e '.processes[0].sites | map(.function) == ["hold_here"]'
	SEEP_DIR=$DIR "$SEEP" top --once --interval 100ms --format json --exclude hold_here "$HOST" |
		jq -e '.processes[0].sites | map(.function) | index("hold_here") == null'
	SEEP_DIR=$DIR "$SEEP" top --once --interval 100ms --format json --module no_such "$HOST" |
		jq -e '.processes[0].sites == []'
	SEEP_DIR=$DIR "$SEEP" top --once --interval 100ms --top 1 --sort function "$HOST" >"$T/said"
	grep -q 'hold_here' "$T/said"
	grep -q '^and [0-9]* more sites$' "$T/said"
}

@test "it ends when all processes that were named have ended" {
	start_host
	SEEP_DIR=$DIR timeout 60 "$SEEP" top --plain --interval 500ms "$HOST" >"$T/said" &
	eventually grep -q on_show "$T/said"
	echo exit 3 >&9
	wait "$HOST" || true
	wait $!
	grep -Eq "^ *$HOST .*(exit 3|exited|ended)" "$T/said"
}

@test "no process: a table without rows, and success" {
	SEEP_DIR=$DIR "$SEEP" top --once --interval 100ms >"$T/said"
	grep -q '0 processes$' "$T/said"
	SEEP_DIR=$DIR "$SEEP" top --once --interval 100ms --format json | jq -e '.processes == []'
}

@test "a directory, and a segment file, are INPUTs" {
	start_host
	"$SEEP" top --once --interval 100ms --format json "$DIR" | jq -e '.processes[0].pid == '"$HOST"
	"$SEEP" top --once --interval 100ms --format json "$DIR"/on_show-*.seg |
		jq -e '.processes[0].pid == '"$HOST"
}
