#!/usr/bin/env bats
# lost_blocks_are_leaks.bats - seep leaks finds what nothing points to, and nothing else.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/verdicts.bash

jemalloc=/usr/lib/x86_64-linux-gnu/libjemalloc.so.2

@test "of a program that waits every lost block is a leak, and no other" {
	begin known_answer
	judged --wait 200ms
	end_host
}

@test "of a busy program as well" {
	begin known_answer busy spin
	judged --wait 200ms
	end_host
}

@test "with all threads stopped, what a register holds is no leak" {
	begin known_answer busy spin
	judged --stop -- stopped
	grep -q '"pause_ns":[1-9]' "$T/leaks"
	end_host
}

@test "with jemalloc" {
	[[ -e $jemalloc ]]
	PRELOAD_MORE=$jemalloc begin known_answer
	judged --wait 200ms
	end_host
}

@test "of a forked child, blocks of its parent are named by the parent" {
	begin known_answer fork private
	judged --wait 200ms -- inherited
	end_host
}

@test "of a forked child that has allocated nothing, or little, as well" {
	local how
	for how in quiet few; do
		PIDS=()
		begin known_answer fork private "$how"
		judged --wait 200ms -- inherited
		leaks --wait 50ms
		grep -q "known_answer (pid $HOST)" "$T/leaks"
		grep -q 'allocated before the fork' "$T/leaks"
		end_host
	done
}

@test "shared memory that a forked child has not touched may hold what it inherits" {
	begin known_answer fork
	judged --wait 200ms -- inherited doubtful
	end_host
}

@test "pointers that move without pause are no leaks" {
	for ((i = 0; i < $(full_or 20 1); i++)); do
		PIDS=()
		begin moving_pointers "$(full_or 512 32)"
		judged --wait 100ms
		end_host
	done
}
