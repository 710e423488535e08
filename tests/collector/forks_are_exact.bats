#!/usr/bin/env bats
# forks_are_exact - counts of parents, children and grandchildren are exact, however they were forked.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

@test "fork under four busy threads" {
	traced_well "$HOSTS/forks" threads "$(full_or 600 60)"
	equals_ledger
}

@test "fork by a process whose children have files of their own" {
	export SEEP_CHILD_FILES=1
	traced_well "$HOSTS/forks" threads "$(full_or 600 60)"
	equals_ledger
}

@test "_Fork and clone" {
	traced_well "$HOSTS/forks" bare "$(full_or 200 40)"
	equals_ledger
}

@test "vfork, posix_spawn and exec under four busy threads" {
	traced_well "$HOSTS/forks" exec "$(full_or 200 20)"
	equals_ledger
}

@test "fork in a handler that interrupted a hook: one event in doubt" {
	local forks
	forks=$(full_or 200 40)
	traced_well "$HOSTS/forks" handler "$forks"
	equals_ledger --doubt "alloc_doubtful=$forks" --doubt INHERITED=1
	[[ $(from_report 'max(x["counts"]["forked_inside"] for x in p)') -gt 0 ]]
}

@test "children without a free descriptor are counted or named as lost" {
	traced_well "$HOSTS/forks" bare 40 nofile
	equals_ledger
}

@test "I7 more children than there is room for: the rest are counted" {
	traced_well "$HOSTS/forks" bare 1500
	equals_ledger --no-clean
}
