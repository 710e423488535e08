#!/usr/bin/env bats
# siblings_cannot_harm_each_other - other children of the same process cannot reach the memory that a forked child relies on.
# threat: nobody may harm the host by means of seep who could not harm it without seep; this includes the host's own less privileged children
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

# attack HOW EVENTS WHEN [VARIABLE=VALUE...]: on a small medium of its own, until it is full
attack() {
	local how=$1 events=$2 when=$3
	shift 3
	mkdir -p "$T/medium"
	# shellcheck disable=SC2016 # for the inner shell
	own_mounts sh -c '
		mount -t tmpfs -o size=24m,mode=755 none "$1/medium" &&
		mkdir -m 700 "$1/medium/dir" && touch "$1/medium/ballast" &&
		medium=$1 && shift && exec "$@" "$medium"' sh "$T" \
		env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$T/medium/dir" "$@" \
		sh -c 'exec "$0" "$4/medium/ballast" "$1" "$2" "$3"' \
		"$HOSTS/hostile_siblings" "$how" "$events" "$when" \
		>"$T/out" 2>"$T/err" || {
		echo "$how $events $when $*"
		cat "$T/out" "$T/err"
		return 1
	}
	[[ $(grep -cE '^(later )?(small )?sibling 0$' "$T/out") -eq 4 ]]
	grep -qx "the master lives" "$T/out"
}

@test "children of another user take every page away that they can reach: master, siblings and grandchildren live" {
	local how events when
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	for how in fork _Fork clone; do
		for events in 0 10 200; do
			for when in before after; do
				# a child without libc's fork() and without an event: see SECURITY.md
				[[ $how == fork || $events -gt 0 ]] || continue
				attack "$how" "$events" "$when"
				# it did try
				[[ $events -eq 0 ]] || grep -E '^# [1-9][0-9]* taken' "$T/err"
			done
		done
	done
}

@test "with a file for each child the same user cannot do it either, through us" {
	own_mounts true 2>/dev/null || skip "no mount namespace here"
	attack fork 10 never SEEP_CHILD_FILES=1
	grep -E '^# [1-9][0-9]* taken' "$T/err"
}

@test "SEEP_PRIVATE: nothing is shared, so that children of clone and _Fork without an event can do nothing" {
	local how events when=after
	own_mounts true 2>/dev/null || skip "no mount namespace here"
	[[ $(id -u) -eq 0 ]] || when=never
	for how in fork _Fork clone; do
		for events in 0 200; do
			attack "$how" "$events" "$when" SEEP_PRIVATE=1
			grep -x '# 0 taken away' "$T/err"
		done
	done
}
