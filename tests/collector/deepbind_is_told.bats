#!/usr/bin/env bats
# deepbind_is_told - I7: if modules call libc directly (RTLD_DEEPBIND), all reports say that figures are incomplete.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

@test "I7 a load with RTLD_DEEPBIND is counted and marked, and check does not trust leaks" {
	export HOSTS
	traced_well "$HOSTS/deepbind"
	# shellcheck disable=SC2119
	report
	[[ $(from_report 'p[0]["lost"]["deepbind_loads"]') -eq 1 ]]
	[[ $(from_report '[m["label"].endswith("deepbind_plugin.so") for m in p[0]["marks"] if m["kind"] == 4]') == "[True]" ]]
	"$SEEP" report "$DIR" >"$T/said"
	grep -q '1 module loaded with RTLD_DEEPBIND' "$T/said"
	tr '\n' ' ' <"$T/said" | grep -q 'frees looks live.*--no-deepbind'
	! grep -q 'No event is lost' "$T/said" || false
	run "$SEEP" check "$DIR"
	[[ $status -eq 3 && $output == UNKNOWN* && $output == *RTLD_DEEPBIND* ]]
}

@test "I7 a forked child has the modules of its parent, and the mark" {
	export HOSTS
	traced_well "$HOSTS/deepbind" child
	# shellcheck disable=SC2119
	report
	[[ $(from_report 'len(p)') -eq 2 ]]
	[[ $(from_report '[q["lost"]["deepbind_loads"] for q in p]') == "[1, 1]" ]]
}

@test "I7 if the flag is cleared on request, counts are exact and nothing leaks" {
	export HOSTS
	SEEP_DEEPBIND=clear traced_well "$HOSTS/deepbind"
	"$SEEP" report "$DIR" | grep -q 'No event is lost'
	"$SEEP" check "$DIR"
	"$SEEP" record -q --no-deepbind -o "$T/run.data" "$HOSTS/deepbind" child
	"$SEEP" check "$T/run.data"
	"$SEEP" report "$T/run.data" --format json >"$T/report.json"
	[[ $(from_report 'sum(s["frees"] for q in p for s in q["sites"] if s["frames"] and s["frames"][0]["function"] == "block_alloc")') -eq 100 ]]
}

@test "I7 a value of SEEP_DEEPBIND that means nothing is counted" {
	export HOSTS
	SEEP_DEEPBIND=please traced_well "$HOSTS/deepbind"
	# shellcheck disable=SC2119
	report
	[[ $(from_report 'p[0]["lost"]["settings_ignored"]') -eq 1 ]]
	[[ $(from_report 'p[0]["lost"]["deepbind_loads"]') -eq 1 ]]
}
