#!/usr/bin/env bats
# storms_pass - I4, I5: forks, loads, signals and ending threads at the same time.
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

# half a minute in make check, ten minutes in the long form
@test "I4 a storm of events, exact: no hang, no crash, exact counts" {
	LIMIT=1200
	traced_well "$HOSTS/tempest" "$(full_or 300 18)"
	grep '^# handled=[1-9]' "$T/out"
	# in ten minutes there are more children than slots: counted, no more
	equals_ledger --allow children_untraced
	[[ $(from_report 'max(x["lost"]["children_untraced"] for x in p)') -eq 0 ]] || full
}

@test "I4 a storm, sampled: no hang, no crash" {
	LIMIT=1200
	SEEP_SAMPLE=4096 traced_well "$HOSTS/tempest" "$(full_or 100 5)"
	report
	[[ $(from_report 'sum(x["totals"]["missed_frees"] for x in p)') -eq 0 ]]
	[[ $(from_report 'sum("do not agree" in n for n in d["notes"])') -eq 0 ]]
}

@test "I4 a storm of events, recorded: no hang, no crash, exact counts" {
	LIMIT=1200
	record -q -o "$T/r.seep" "$HOSTS/tempest" "$(full_or 200 7)"
	[[ $status -eq 0 && ! -s $T/err ]]
	"$SEEP" report "$T/r.seep" --format json >"$T/report.json"
	"$PYTHON" "$LIB/compare.py" "$T/out" "$T/report.json"
}
