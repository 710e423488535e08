#!/usr/bin/env bats
# births_of_the_living_are_told - when the blocks of a place that still live were born.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

# born FROM TO: blocks of make_kept that were born in these slots
born() {
	awk -v from="$1" -v to="$2" '
		$1 == "SITE" { here = $2 == "make_kept" }
		$1 == "BIRTH" && here && $2 >= from && $2 <= to { n += $3 }
		END { print n + 0 }' "$T/facts"
}

# the middle is somewhere between, on a machine that may stand still for a while
right() {
	cat "$T/facts"
	[[ $(born 0 31) -eq 200 ]]
	[[ $(born 0 0) -ge 100 && $(born 0 2) -lt 200 ]]
	[[ $(born 31 31) -ge "$1" ]]
	[[ $(born 3 29) -ge 70 ]]
}

# the same in both forms of JSON: all sites of make_kept together, and the time of all slots
right_in_json() { # INPUT [OPTION...]
	"$SEEP" report "$@" --format json >"$T/report.json"
	from_report '[sum(s["live_births"][i] for s in p[0]["sites"] if any("make_kept" in str(f) for f in s["frames"]) and "live_births" in s) for i in range(32)]' >"$T/slots"
	cat "$T/slots"
	[[ $(from_report "sum($(cat "$T/slots"))") -eq 200 ]]
	[[ $(from_report "$(cat "$T/slots")[0]") -ge 100 ]]
	[[ $(from_report "sum($(cat "$T/slots")[3:30])") -ge 70 ]]
	[[ $(from_report 'p[0]["live_births_ms"]') -ge 3200 ]]
	[[ $(from_report 'p[0]["live_births_ms"] - p[0]["duration_ms"]') -le 1000 ]]
}

@test "a process that ended: in its segment, and in a recording" {
	traced_well "$HOSTS/births" </dev/null
	"$BUILD/tools/site_facts" "$DIR" >"$T/facts"
	right 30
	right_in_json "$DIR"
	right_in_json "$DIR" --frames shared
	rm -rf "${DIR:?}"/*
	env SEEP_DIR="$DIR" "$SEEP" record -o "$T/r.seep" -- "$HOSTS/births" >"$T/out" 2>"$T/err" </dev/null
	"$BUILD/tools/site_facts" "$T/r.seep" >"$T/facts"
	right 30
	# JSON and the text of the site have the same
	"$SEEP" report "$T/r.seep" --format json >"$T/json"
	jq -e '[.processes[].sites[] | select(.live_births) | .live_blocks == (.live_births | add) and
		(.live_births | length) == 32] | length >= 3 and all' "$T/json"
	id=$(jq '.processes[].sites[] | select(.live_blocks == 100) | .id' "$T/json")
	"$SEEP" report "$T/r.seep" --site "$id" >"$T/site"
	cat "$T/site"
	tr '\n' ' ' <"$T/site" | grep -Eq 'Of the live blocks half were allocated in the last ([0-9.]+ m?s), nine tenths in the last \1, of \1\.'
}

@test "a process that runs: in its memory" {
	mkfifo "$T/lines"
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$HOSTS/births" <"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
	PIDS+=($!)
	exec 9>"$T/lines"
	answered MADE
	"$BUILD/tools/site_facts" "$DIR" >"$T/facts"
	exec 9>&-
	right 0
}

@test "a thread with few events: a block is not born at the time of the one before" {
	traced_well "$HOSTS/slow_steps"
	"$SEEP" report "$DIR" --format json >"$T/report.json"
	from_report '[sum(s["live_births"][i] for s in p[0]["sites"] if any("main" in str(f) for f in s["frames"]) and "live_births" in s) for i in range(32)]' >"$T/slots"
	cat "$T/out" "$T/slots"
	# five blocks, of 0.2 to 1.2 s in 1.4 s
	[[ $(from_report "sum($(cat "$T/slots"))") -eq 5 ]]
	[[ $(from_report "sum($(cat "$T/slots")[:2])") -eq 0 ]]
	[[ $(from_report "sum($(cat "$T/slots")[22:])") -eq 1 ]]
}
