#!/usr/bin/env bats
# addresses_of_blocks_are_exact - the live map says where each block begins.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

# every block that the host has is in its live map, at its address and with its
# size; what else is there, the C library has allocated
exact_addresses() { # [WORD for the host]
	mkfifo "$T/lines"
	env LD_PRELOAD="$COLLECTOR${PRELOAD_MORE:+ $PRELOAD_MORE}" SEEP_DIR="$DIR" \
		"$HOSTS/addresses" "$@" <"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
	PIDS+=($!)
	exec 9>"$T/lines"
	eventually grep -q '^READY' "$T/out"
	local pid
	pid=$(sed -n 's/^PID //p' "$T/out")
	PIDS+=("$pid")
	"$BUILD/tools/blocks_of" "$pid" >"$T/map"
	exec 9>&-
	grep -x EXACT "$T/map"
	grep ^BLOCK "$T/out" | sort >"$T/said"
	grep ^BLOCK "$T/map" | sort >"$T/seen"
	[[ $(wc -l <"$T/said") -gt 10000 ]]
	[[ -z $(uniq -d "$T/seen") ]]
	comm -23 "$T/said" "$T/seen" | head -n 5 | tee "$T/missing"
	[[ ! -s $T/missing ]]
	[[ $(comm -13 "$T/said" "$T/seen" | wc -l) -lt 100 ]]
}

behind_us() { # PATTERN
	PRELOAD_MORE=$(ldconfig -p | awk -v p="$1" 'index($1, p) == 1 { print $NF; exit }')
	[[ -n $PRELOAD_MORE ]] || lacking "$1"
}

@test "glibc: every block is at its address, at either half of a granule" {
	exact_addresses
	# the test says nothing where all blocks begin at the same half
	[[ $(grep -c '^BLOCK [0-9a-f]*[02468ace]0 ' "$T/said") -gt 1000 ]]
	[[ $(grep -c '^BLOCK [0-9a-f]*[13579bdf]0 ' "$T/said") -gt 1000 ]]
}

@test "a forked child: inherited blocks have their addresses, too" {
	exact_addresses fork
}

@test "jemalloc: blocks of 8 bytes between others are at their addresses" {
	behind_us libjemalloc.so
	exact_addresses
	grep -q '^BLOCK [0-9a-f]*8 ' "$T/said"
}

@test "tcmalloc: blocks of 8 bytes between others are at their addresses" {
	behind_us libtcmalloc_minimal.so
	exact_addresses
	grep -q '^BLOCK [0-9a-f]*8 ' "$T/said"
}

@test "mimalloc: every block is at its address" {
	behind_us libmimalloc.so
	exact_addresses
}
