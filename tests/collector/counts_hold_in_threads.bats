#!/usr/bin/env bats
# counts_hold_in_threads - counts are exact with frees and reallocs across threads, and with short-lived threads.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

@test "eight threads free and realloc each other's blocks: exact" {
	traced_well "$HOSTS/threads" "$(full_or 2000000 200000)"
	equals_ledger
}

@test "short threads, frees after death and in TSD destructors: exact" {
	traced_well "$HOSTS/short_threads" "$(full_or 100000 8000)"
	equals_ledger
}

@test "the peak of eight threads is right within half a per cent" {
	traced_well "$HOSTS/peak_threads"
	equals_ledger
}
