#!/usr/bin/env bats
# other_allocators_are_counted - I19: jemalloc, tcmalloc and mimalloc behind the collector.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

behind_us() { # PATTERN
	PRELOAD_MORE=$(ldconfig -p | awk -v p="$1" 'index($1, p) == 1 { print $NF; exit }')
	[[ -n $PRELOAD_MORE ]] || lacking "$1"
}

exact() {
	behind_us "$1"
	traced_well "$HOSTS/sizes"
	equals_ledger --no-total
	rm -rf "${DIR:?}"/*
	traced_well "$HOSTS/threads" 50000
	equals_ledger
}

# the operators are served by the allocator itself: libseep-cxx.so counts them
exact_operators() { # PATTERN [WORD for the host]
	behind_us "$1"
	[[ -e $BUILD/libseep-cxx.so ]]
	LD_PRELOAD=$PRELOAD_MORE "$HOSTS/operators" "${@:2}" >/dev/null # survives alone
	COLLECTOR="$BUILD/libseep-cxx.so $BUILD/libseep.so"
	traced_well "$HOSTS/operators" "${@:2}"
	equals_ledger
}

@test "I19 jemalloc: exact, blocks under 9 bytes too" {
	exact libjemalloc.so
}

@test "I19 tcmalloc: exact, blocks under 9 bytes too" {
	exact libtcmalloc_minimal.so
}

@test "I19 mimalloc: exact, blocks under 9 bytes too" {
	exact libmimalloc.so
}

@test "I19 jemalloc's own operators are counted once, at the user's frame" {
	exact_operators libjemalloc.so
}

@test "I19 tcmalloc's own operators are counted once, at the user's frame" {
	exact_operators libtcmalloc_minimal.so
}

@test "I19 mimalloc's own operators are counted once, at the user's frame" {
	exact_operators libmimalloc.so "no failures"
}
