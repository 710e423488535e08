#!/usr/bin/env bats
# odd_programs_are_exact - deep recursion, tiny stacks, a storm of the loader.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

@test "60,000 frames deep: exact, in no time" {
	LIMIT=10
	traced_well "$HOSTS/deep"
	equals_ledger
	[[ $(from_report 'p[0]["lost"]["truncated_stacks"] > 0') == True ]]
}

@test "I6 2 KiB of stack are enough for us" {
	traced_well "$HOSTS/small_stacks"
	equals_ledger
}

@test "I4 exceptions while others load and unload: exact, no hang" {
	traced_well "$HOSTS/loader_storm"
	equals_ledger
}

@test "I3 a process that may call nothing but what malloc calls: exact" {
	traced_well "$HOSTS/sandboxed"
	equals_ledger
}

@test "T66 frees past the collector: the report says what may be the cause" {
	export HOSTS
	traced_well "$HOSTS/deepbind_shares_the_heap"
	"$SEEP" report --no-symbols "$DIR" >"$T/said"
	grep -q 'frees found out late' "$T/said"
	grep -q 'RTLD_DEEPBIND' "$T/said"
	rm "$DIR"/*
	traced_well "$HOSTS/small_stacks"
	"$SEEP" report --no-symbols "$DIR" >"$T/said"
	[[ $(grep -c RTLD_DEEPBIND "$T/said") -eq 0 ]]
}
