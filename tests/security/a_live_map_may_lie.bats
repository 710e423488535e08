#!/usr/bin/env bats
# threat: a process that is looked at may have written anything into its memory
# a_live_map_may_lie.bats - seep leaks comes to an end whatever a process says of its blocks.
# SPDX-License-Identifier: Apache-2.0
load ../lib/verdicts.bash

# looks HOW: at such a host, within time and memory; an answer or one line
looks() {
	begin hostile_live_map "$1"
	status=0
	(
		ulimit -v 4000000
		exec timeout 40 "$SEEP" leaks --looks 2 --wait 10ms --max-memory 200MB "$HOST"
	) >"$T/leaks" 2>"$T/leaks.err" || status=$?
	head -c 2000 "$T/leaks" "$T/leaks.err"
	[[ $status -eq 0 || $status -eq 1 || $status -eq 3 ]]
	[[ $(wc -l <"$T/leaks.err") -le 2 ]]
	exec 9>&-
}

# counts HOW: the same for a census of such a host
counts() {
	begin hostile_live_map "$1"
	status=0
	(
		ulimit -v 4000000
		exec timeout 40 "$SEEP" leaks --types --insight --max-memory 200MB "$HOST"
	) >"$T/leaks" 2>"$T/leaks.err" || status=$?
	head -c 2000 "$T/leaks" "$T/leaks.err"
	[[ $status -eq 0 || $status -eq 3 ]]
	[[ $(wc -l <"$T/leaks.err") -le 2 ]]
	exec 9>&-
}

@test "a census of tables that point anywhere, or of blocks of all sizes" {
	counts wild
	wait "${PIDS[0]}"
	PIDS=()
	counts sizes
}

@test "a census of more blocks than there is room for" {
	counts full
	[[ $status -eq 3 ]]
	grep -q 'its blocks are too many' "$T/leaks.err"
}

@test "tables in a circle" {
	looks circle
	[[ $status -eq 3 ]]
	grep -q 'no verdict: its list of blocks has no end' "$T/leaks.err"
}

@test "tables that point anywhere" {
	looks wild
}

@test "blocks of all sizes up to 2^63" {
	looks sizes
}

@test "more blocks than there is room for" {
	looks full
	[[ $status -eq 3 ]]
	grep -q 'its blocks are too many: more than 190 MiB would be needed' "$T/leaks.err"
}
