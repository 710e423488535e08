#!/usr/bin/env bats
# plugins_at_one_address_are_told_apart - I12: dlclose, dlopen, same place.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

@test "I12 two plugins in turn at the same address keep their own blocks" {
	traced_well "$HOSTS/twins"
	grep '^# same address' "$T/out"
	equals_ledger
	# 100 loads, but who comes back to its place is who it was
	[[ $(from_report 'sum("twin_plugin" in m["path"] for m in p[0]["modules"]) < 20') == True ]]
}

@test "I11 stacks of two plugins in turn equal the unwinder's" {
	[[ -e $BUILD/libseep-verify.so ]] || skip "make libseep-verify.so first"
	COLLECTOR=$BUILD/libseep-verify.so SEEP_VERIFY_OUT=$T/verify
	export SEEP_VERIFY_OUT
	traced_well "$HOSTS/twins"
	cat "$T/verify"
	grep -q ' mismatches=0 ' "$T/verify"
}
