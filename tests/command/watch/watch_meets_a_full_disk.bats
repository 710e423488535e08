#!/usr/bin/env bats
# watch_meets_a_full_disk - it says so, keeps the segments, and goes on when there is room.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/watch.bash

# The script runs where $T/disk is a file system of 1 MiB.
on_a_small_disk() {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	mkdir -p "$T/disk"
	unshare -m true 2>/dev/null || skip "no mount namespace here"
	declare -f >"$T/functions"
	declare -p SEEP HOSTS COLLECTOR DIR T PYTHON LIB BUILD >"$T/variables"
	unshare -m bash -euc '
		mount -t tmpfs -o size=1m,mode=700 tmpfs "$1/disk"
		. "$1/functions"; . "$1/variables"
		PIDS=() H=$T/disk/history WATCH_AS=()
		trap "kill -KILL \"\${PIDS[@]}\" 2>/dev/null || true; cat \"$T/watch.err\"" EXIT
		. "$2"' - "$T" <(cat) 3>&-
}

@test "a full disk" {
	on_a_small_disk <<-'SH'
	head -c 1M /dev/zero >"$T/disk/big" || true
	mkdir -p "$H" || true
	rm "$T/disk/big"
	watching
	head -c 1M /dev/zero >"$T/disk/big" || true
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$HOSTS/many_children" 40 200 100 48 _exit >/dev/null
	eventually grep -q "cannot be written: No space" "$T/watch.err"
	sleep 3
	# nothing was removed, and it was said once
	[[ -n $(find "$DIR" -name "*.seg") ]]
	[[ $(grep -c "cannot be written" "$T/watch.err") -eq 1 ]]
	rm "$T/disk/big"
	eventually grep -q "can be written again" "$T/watch.err"
	eventually is_empty
	unwatch
	[[ $(in_history "len(p)") -eq 41 ]]
	[[ $(in_history "{x['totals']['allocations'] for x in p.values() if x['parent']}") == "{100}" ]]
	[[ -z $(find "$H" -name "*.part") ]]
	SH
}

@test "a disk that fills up while a process is followed" {
	on_a_small_disk <<-'SH'
	waiting
	watching
	eventually has_part
	head -c 1M /dev/zero >"$T/disk/big" 2>/dev/null || true
	printf "\n" >&9
	answered first
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$HOSTS/many_children" 20 200 100 48 _exit >/dev/null
	eventually grep -q "cannot be written" "$T/watch.err"
	rm "$T/disk/big"
	eventually grep -q "can be written again" "$T/watch.err"
	printf "\n\n\n" >&9
	wait "$HOST"
	eventually is_empty
	unwatch
	[[ $(in_history "len(p)") -eq 22 ]]
	[[ $(in_history "[x['totals']['allocations'] for x in p.values() if 'toggled' in x['exe']]") == "[3500]" ]]
	SH
}
