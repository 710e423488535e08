#!/usr/bin/env bats
# counts_equal_the_ledger - with one thread, totals, sites and peak equal the program's own counts to the byte.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

@test "I15 five call paths: totals, sites and shares of the peak are exact" {
	traced_well "$HOSTS/peak"
	equals_ledger
}

@test "sizes 0 to 200, powers of two and 5 GiB are exact" {
	traced_well "$HOSTS/sizes"
	equals_ledger
}

@test "I17 every function of the family, well and failing, is exact" {
	traced_well "$HOSTS/family"
	equals_ledger
}

@test "C++ operators are counted at the caller's frame" {
	traced_well "$HOSTS/operators"
	equals_ledger
}

@test "a million live blocks are exact" {
	traced_well "$HOSTS/million"
	equals_ledger
}

@test "ten thousand distinct stacks are exact" {
	traced_well "$HOSTS/many_stacks" 13
	equals_ledger
}

@test "the time of the peak, of a program that does little after a busy start" {
	cat >"$T/quiet.c" <<-'C'
		#include <stdlib.h>
		#include <unistd.h>
		static void *kept[40];
		int main(void) {
			for (int i = 0; i < 10000; i++)
				kept[i % 20] = (free(kept[i % 20]), malloc(100));
			usleep(1100000);
			for (int i = 20; i < 40; i++)
				kept[i] = malloc(100);
			usleep(200000);
			return kept[39] == NULL;
		}
	C
	cc -w -g "$T/quiet.c" -o "$T/quiet"
	local mode
	for mode in SEEP_LOG=0 SEEP_LOG=1 SEEP_LOG=last; do
		rm -rf "${DIR:?}"/*
		traced_well env "$mode" "$T/quiet"
		"$SEEP" report "$DIR" >"$T/text"
		grep -E '^quiet .* the peak was .* in 40 blocks, 1\.[0-9] s after its start\.' "$T/text"
	done
}
