#!/usr/bin/env bats
# counts_hold_under_signals - counts are exact if signal handlers interrupt a hook.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

@test "handlers that interrupt a hook and allocate: exact" {
	traced_well "$HOSTS/signals" allocate "$(full_or 20000000 2000000)"
	grep '^# handled=[1-9]' "$T/out"
	equals_ledger
}

@test "handlers that jump out of a hook: all other sites are exact" {
	traced_well "$HOSTS/signals" jump "$(full_or 10000000 1000000)"
	grep ' jumps=[1-9]' "$T/out"
	equals_ledger
}
