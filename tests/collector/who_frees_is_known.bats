#!/usr/bin/env bats
# who_frees_is_known - of each place that allocates, who frees its blocks.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

freers() { "$BUILD/tools/site_facts" "${1:-$DIR}" >"$T/freers"; }

# share SITE FREER: percent of what was seen at this site
share() {
	awk -v site="$1" -v freer="$2" '
		$1 == "SITE" { here = index($2, site) }
		$1 == "FREER" && here { all += $3; if (index($2, freer)) its += $3 }
		END { printf "%d\n", all ? 100 * its / all + 0.5 : -1 }' "$T/freers"
}

# 62.5, 31 and 6 percent, in a loop of 32 events
shares_are_right() {
	local by=6
	cat "$T/freers"
	[[ $(share make_block often) -ge $((62 - by)) && $(share make_block often) -le $((63 + by)) ]]
	[[ $(share make_block at_times) -ge $((31 - by)) && $(share make_block at_times) -le $((32 + by)) ]]
	[[ $(share make_block seldom) -ge 1 && $(share make_block seldom) -le $((6 + by)) ]]
	# libstdc++'s operator new is the innermost frame of make_object's blocks
	[[ $(share operator delete_object) -eq 100 ]]
	[[ $(share make_kept free) -eq -1 ]]
}

@test "three that free in known shares, and operator delete's caller" {
	traced_well "$HOSTS/freers" 40000
	freers
	shares_are_right
}

@test "counts that are more than 16 bits are halved together" {
	traced_well "$HOSTS/freers" 600000
	freers
	shares_are_right
	[[ $(awk '$1 == "FREER" && $3 > 65535' "$T/freers" | wc -l) -eq 0 ]]
}

@test "a recording has it, too" {
	env SEEP_DIR="$DIR" "$SEEP" record -o "$T/r.seep" -- "$HOSTS/freers" 40000 >"$T/out" 2>"$T/err"
	freers "$T/r.seep"
	shares_are_right
}

@test "sampled: each sampled free is looked at" {
	traced_well SEEP_SAMPLE=4K "$HOSTS/freers" 40000
	freers
	shares_are_right
}

@test "jemalloc's operator delete: its caller is named by libseep-cxx.so" {
	PRELOAD_MORE=$(ldconfig -p | awk 'index($1, "libjemalloc.so") == 1 { print $NF; exit }')
	[[ -n $PRELOAD_MORE ]] || lacking libjemalloc
	COLLECTOR="$BUILD/libseep-cxx.so $BUILD/libseep.so"
	traced_well "$HOSTS/freers" 40000
	freers
	[[ $(share make_object delete_object) -eq 100 ]]
}
