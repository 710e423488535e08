#!/usr/bin/env bats
# leaks_of_unusual_hosts.bats - seep leaks where pointers are in places, and hosts in states, that are seldom thought of.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/verdicts.bash

@test "pointers in files, moved memory, odd stacks, code and the program's own break hold blocks" {
	begin known_answer_places
	judged --wait 200ms
	grep -q '"unreadable_bytes":0,' "$T/leaks"
	end_host
}

@test "the same with jemalloc" {
	local jemalloc=/usr/lib/x86_64-linux-gnu/libjemalloc.so.2
	[[ -e $jemalloc ]]
	PRELOAD_MORE=$jemalloc begin known_answer_places
	judged --wait 200ms
	end_host
}

@test "a library in a namespace of its own holds blocks" {
	begin known_answer_places namespace
	judged --wait 200ms
	end_host
}

@test "a list that grows at its head while it is read is held" {
	begin known_answer_places growing
	judged --wait 100ms
	end_host
}

@test "what io_uring may hold is not called a leak" {
	begin known_answer_places ring
	leaks --wait 200ms
	cat "$T/leaks"
	if grep -q k_no_ring "$T/out"; then # the kernel has none: all is as usual
		[[ $status -eq 1 ]]
	else
		[[ $status -eq 0 ]]
		grep -q '^POSSIBLE 100 blocks ' "$T/leaks"
		grep -q 'io_uring' "$T/leaks"
	fi
	end_host
}

@test "a process whose first thread has ended is looked at through another one" {
	begin known_answer_places leaderless
	grep -q '^State:.Z' "/proc/$HOST/status"
	judged --wait 200ms
	judged --stop
	"$SEEP" report "$HOST" >"$T/report"
	grep -q "(pid $HOST)" "$T/report"
	SEEP_DIR=$DIR "$SEEP" ls >"$T/ls"
	grep -q "$HOST" "$T/ls"
	end_host
}

@test "hosts with many threads or mappings, locked, limited, confined, or that fork without end" {
	local what
	for what in "threads $(full_or 10000 500)" "mappings $(full_or 60000 5000)" locked limited huge deleted guarded lazy \
		strict forks new_threads; do
		echo "$what"
		PIDS=()
		# shellcheck disable=SC2086 # a word and a number
		begin known_answer_states $what
		judged --wait 50ms
		judged --stop
		exec 9>&-
		kill -KILL "$HOST" 2>/dev/null || true # one that may not exit as it would
		wait "$HOST" || true
	done
}

# doubtful WORDS: nothing is a LEAK, because what was not read may hold it
doubtful() {
	leaks --wait 50ms
	cat "$T/leaks" "$T/leaks.err"
	[[ $status -eq 0 ]]
	grep -q '^POSSIBLE ' "$T/leaks"
	grep -q "Not read: .*$1" "$T/leaks"
}

@test "what memory may hold that nobody else may read is not called a leak" {
	begin known_answer_states secret
	if grep -q k_no_secret "$T/out"; then # the kernel has none: all is as usual
		judged --wait 50ms
	else
		doubtful 'of other memory'
	fi
	end_host
}

@test "what the memory of a device may hold is not called a leak" {
	unshare -m true 2>/dev/null || return 0 # who may not mount
	# a file that has the name of a device: true ones need hardware
	truncate -s 64K "$T/memory"
	cat >"$T/with_device" <<-END
		#!/bin/sh
		exec unshare -m sh -c 'mount --bind "$T/memory" /dev/full && exec "$HOSTS/known_answer_states" file /dev/full'
	END
	chmod +x "$T/with_device"
	HOSTS=$T begin with_device
	doubtful 'of devices'
	end_host
}

@test "where seep itself has little: no /proc, few descriptors, little memory" {
	begin known_answer_states plain
	status=0
	(ulimit -n 6; exec timeout 60 "$SEEP" leaks "$HOST") >"$T/leaks" 2>"$T/leaks.err" || status=$?
	says_why 'Too many open files'
	status=0
	(ulimit -v 30000; exec timeout 60 "$SEEP" leaks "$HOST") >"$T/leaks" 2>"$T/leaks.err" || status=$?
	says_why 'memory'
	if unshare -m true 2>/dev/null; then
		status=0
		# shellcheck disable=SC2016 # for that shell
		unshare -m sh -c 'umount -l /proc; exec "$@"' - "$SEEP" leaks "$HOST" >"$T/leaks" 2>"$T/leaks.err" || status=$?
		says_why '/proc is not there'
	fi
	end_host
}
