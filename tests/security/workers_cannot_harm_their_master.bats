#!/usr/bin/env bats
# workers_cannot_harm_their_master - children that have dropped their privileges cannot reach the memory that their parent relies on.
# threat: nobody may harm the host by means of seep who could not harm it without seep; this includes the host's own less privileged children
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

@test "a worker of another user takes every page away that it can reach: its master lives" {
	local how events
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	for how in fork clone; do
		for events in 0 10 200; do
			mkdir -p "$T/medium"
			unshare -m sh -c "
				mount -t tmpfs -o size=12m,mode=700 none '$T/medium' &&
				mkdir -m 700 '$T/medium/dir' && touch '$T/medium/ballast' &&
				exec env LD_PRELOAD='$COLLECTOR' SEEP_DIR='$T/medium/dir' \
					'$HOSTS/hostile_worker' '$T/medium/ballast' $how $events" \
				>"$T/out" 2>"$T/err" || { echo "$how $events"; cat "$T/out" "$T/err"; false; }
			cat "$T/err"
			grep -x "worker 0" "$T/out"
			grep -x "the master lives" "$T/out"
			# it did try
			grep -E '^# [1-9][0-9]* mappings' "$T/err"
		done
	done
}
