#!/usr/bin/env bats
# resized_blocks_hold_others.bats - what a block holds is no leak while realloc works on that block.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/verdicts.bash

jemalloc=/usr/lib/x86_64-linux-gnu/libjemalloc.so.2

# resizing LIBRARY ARG... [-- LEAKS_ARG...]: nothing that the holders of
# known_answer_realloc hold is a leak, and all that is lost is; several times
resizing() {
	local more=$1 args=() i
	shift
	while [[ $# -gt 0 && $1 != -- ]]; do
		args+=("$1")
		shift
	done
	for ((i = 0; i < $(full_or 20 2); i++)); do
		PIDS=()
		PRELOAD_MORE=$more begin known_answer_realloc "${args[@]}"
		judged --wait 50ms "${@:2}"
		end_host
	done
}

@test "of one holder that is resized without pause" {
	resizing "" 1 1 800
}

@test "of large holders, which glibc moves with mremap" {
	resizing "" 2 1 200000
}

@test "of many holders, by several threads" {
	resizing "" 2 64 1600
}

@test "with jemalloc, which copies more often" {
	[[ -e $jemalloc ]]
	resizing "$jemalloc" 1 1 800
	resizing "$jemalloc" 2 64 8000
}

@test "with all threads stopped, inside of realloc" {
	resizing "" 1 1 800 -- --stop
	resizing "$jemalloc" 2 1 80000 -- --stop
}

# Nobody ever puts these blocks back into the child's list. Threads that have
# made no event before share what the collector has for such ones.
@test "of a forked child whose parent was inside of realloc" {
	local point start
	for point in 1 2 3; do
		for start in 0 50000; do
			resizing "$HOSTS/known_answer_realloc_plugin.so" 4 1 800 $point $start -- -- inherited
		done
		resizing "$HOSTS/known_answer_realloc_plugin.so" 2 1 200000 $point 0 -- -- inherited
	done
}
