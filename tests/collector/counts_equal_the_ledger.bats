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
