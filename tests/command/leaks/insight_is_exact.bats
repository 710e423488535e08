#!/usr/bin/env bats
# insight_is_exact.bats - seep leaks --insight: copies, zeros at the end and pages never written, against a host that knows.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/verdicts.bash

@test "copies, zeros at the end and pages never written are those that the host has made" {
	begin spare
	leaks --insight --format json
	cat "$T/leaks.err"
	[[ $status -eq 0 ]]
	"$PYTHON" "$LIB/known_spare.py" "$T/out" "$T/leaks"
	end_host
}

@test "the text has the same figures, and never a byte of the heap" {
	begin spare
	leaks --insight
	cat "$T/leaks"
	[[ $status -eq 0 ]]
	grep -q '^COPIES   95 blocks 18.8 KiB: equal to other blocks$' "$T/leaks"
	grep -A 1 '^COPIES   95 ' "$T/leaks" | grep -q '^         copies spare.c:[0-9]* <- main$'
	grep -q '^ZEROS    100 blocks 195.4 KiB: zeros at the end$' "$T/leaks"
	grep -q '^RESERVED 1 block 4.0 MiB: pages never written$' "$T/leaks"
	grep -q 'take no memory' "$T/leaks"
	end_host
}

@test "filters leave places out" {
	begin spare
	leaks --insight --include '^more_copies$' --format json
	jq -e '[.insight[].frames[0].function] == ["more_copies"]' "$T/leaks"
	leaks --insight --top 1
	[[ $(grep -c '^\(COPIES\|ZEROS\|RESERVED\) ' "$T/leaks") -eq 1 ]]
	grep -q 'places more not shown' "$T/leaks"
	end_host
}

@test "a recording, and options of verdicts, are refused with a reason" {
	begin spare
	leaks --insight --stop
	[[ $status -eq 2 ]]
	grep -q 'are for verdicts' "$T/leaks.err"
	leaks --format html
	[[ $status -eq 2 ]]
	end_host
	record -q -o data true
	status=0
	(cd "$T" && "$SEEP" leaks --types data) >"$T/leaks" 2>"$T/leaks.err" || status=$?
	says_why 'process that runs'
}

@test "a census costs no more than one and a half looks" {
	"$PYTHON" "$LIB/census_cost.py" "$SEEP" "$COLLECTOR" "$HOSTS/look_cost" "$DIR" "$(full_or 1000000 100000)"
}
