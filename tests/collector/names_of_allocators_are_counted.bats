#!/usr/bin/env bats
# names_of_allocators_are_counted - mallocx, tc_malloc and their kin, with the library that hooks them and without.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

COMPANIONS="$BUILD/libseep-cxx.so $BUILD/libseep-jemalloc.so $BUILD/libseep-tcmalloc.so"

library() { # PATTERN
	PRELOAD_MORE=$(ldconfig -p | awk -v p="$1" 'index($1, p) == 1 { print $NF; exit }')
	[[ -n $PRELOAD_MORE ]] || lacking "$1"
}

lost() { from_report "[x['lost'].get('$1', 0) for x in p]"; }

@test "a process that inherits the libraries without the allocator finds functions that work" {
	COLLECTOR="$COLLECTOR $COMPANIONS" traced_well "$HOSTS/weak_names"
	cat "$T/out"
	[[ $(cat "$T/out") == $'mallocx works\ntc_malloc works\nend' ]]
	report
	# what was allocated so was freed so: a buffer of stdio and a message of dlerror are left
	[[ $(from_report 'p[0]["totals"]["allocations"] - p[0]["totals"]["frees"]') -le 3 ]]
	[[ $(from_report 'p[0]["totals"]["allocations"]') -gt 1000 ]]
	[[ $(lost own_names) == "[0]" ]]
}

@test "a process without them finds none" {
	bare "$HOSTS/weak_names"
	[[ $(cat "$T/bare") == end ]]
	traced_well "$HOSTS/weak_names"
	[[ $(cat "$T/out") == end ]]
}

@test "with the allocator they come from it, and work" {
	library libjemalloc.so
	COLLECTOR="$COLLECTOR $BUILD/libseep-jemalloc.so" traced_well "$HOSTS/weak_names"
	[[ $(cat "$T/out") == $'mallocx works\nend' ]]
	rm -rf "${DIR:?}"/*
	library libtcmalloc_minimal.so
	COLLECTOR="$COLLECTOR $BUILD/libseep-tcmalloc.so" traced_well "$HOSTS/weak_names"
	[[ $(cat "$T/out") == $'tc_malloc works\nend' ]]
}

# PATTERN COMPANION HOST...: each host's own counts are those of the trace
exact_with() {
	local host
	library "$1"
	for host in "${@:3}"; do
		rm -rf "${DIR:?}"/*
		COLLECTOR="$BUILD/libseep.so $BUILD/libseep-cxx.so $BUILD/$2" \
			traced_well "$HOSTS/$host"
		equals_ledger --no-total
	done
}

# operator new may call mallocx, operator delete calls sdallocx
@test "jemalloc's functions that call each other are counted once, at the user's frame" {
	exact_with libjemalloc.so libseep-jemalloc.so operators sizes
}

# valloc, pvalloc and posix_memalign jump to tc_memalign
@test "tcmalloc's functions that call each other are counted once, at the user's frame" {
	exact_with libtcmalloc_minimal.so libseep-tcmalloc.so operators family sizes
}

@test "calls that nothing hooks are counted as missing, by module" {
	traced_well "$HOSTS/jemalloc_has_names_of_its_own"
	report
	[[ $(lost own_names) == "[1, 1]" ]]
	"$SEEP" report "$DIR" >"$T/text"
	cat "$T/text"
	grep -q '1 module with calls of functions that only their allocator has (such as mallocx), which are not seen' "$T/text"
	rm -rf "${DIR:?}"/*
	traced_well "$HOSTS/tcmalloc_has_names_of_its_own"
	report
	[[ $(lost own_names) == "[1]" ]]
}

@test "an allocator whose own functions nobody calls is no loss" {
	library libjemalloc.so
	traced_well "$HOSTS/sizes"
	report
	[[ $(lost own_names) == "[0]" ]]
}
