#!/usr/bin/env bats
# memory_that_never_comes_is_not_waited_for - seep does not wait for a live map whose pages are in FUSE or userfaultfd and are never delivered.
# threat: if root points seep at a process, file or directory of a hostile user, that user must not be able to make it hang
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

# begin WAY WHERE: the host of another user runs; its pid is in $HOST
begin() {
	rm -f "$T/out" # of an earlier one, which has said "ready", too
	[[ $(id -u) -eq 0 ]] || skip "needs root, for the memory and to read another user's"
	[[ $1 != fuse || -c /dev/fuse ]] || skip "not permitted here: no /dev/fuse"
	mkdir -p "$T/mount"
	LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR "$HOSTS/never_comes" "$1" "$2" "$T/mount" >"$T/out" 2>"$T/err" 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	for _ in {1..200}; do
		! grep -q ready "$T/out" || return 0
		kill -0 "$HOST" 2>/dev/null || skip "not permitted here: $(head -n 1 "$T/err")"
		sleep 0.05
	done
	return 1
}

end() {
	kill -KILL "$HOST"
	wait "$HOST" || true
}

# in_time COMMAND...: with its words in $T/said. A process in D state cannot be
# killed, so it is not waited for.
in_time() {
	local child
	rm -f "$T/status"
	(
		status=0
		"$@" >"$T/said" 2>&1 3>&- || status=$?
		echo $status >"$T/status"
	) 3>&- &
	child=$!
	PIDS+=("$child")
	for _ in {1..400}; do
		[[ ! -s $T/status ]] || return 0
		sleep 0.05
	done
	echo "hangs: $*"
	return 1
}

# all_end: every command that looks at the process comes to its end
all_end() {
	in_time "$SEEP" report "$HOST"
	grep -q "(pid $HOST)" "$T/said"
	in_time "$SEEP" report --older-than 1s "$HOST"
	in_time env SEEP_DIR="$DIR" "$SEEP" ls
	grep -q "$HOST" "$T/said"
	in_time "$SEEP" check "$HOST"
	grep -q never_comes "$T/said"
	rm -f "$T/snapshot"
	in_time "$SEEP" snapshot -o "$T/snapshot" "$HOST"
	[[ -s $T/snapshot ]]
}

@test "a live map whose tables, leaves or spill table are pages of FUSE" {
	local where
	for where in root mid leaf spill; do
		echo "$where"
		begin fuse "$where"
		all_end
		# nobody has even asked for such a page
		! grep -q "waited for" "$T/err" || { cat "$T/err"; false; }
		end
	done
}

@test "a live map whose tables, leaves or spill table are missing pages of userfaultfd" {
	local where
	for where in $(full_or "root mid leaf spill" "root leaf"); do
		echo "$where"
		begin userfault "$where"
		all_end
		end
	done
}

@test "if a page disappears between check and read, the helper is left behind and the report says so" {
	local i
	begin fuse race
	for i in $(seq "$(full_or 300 60)"); do
		in_time "$SEEP" report "$HOST"
		grep -q "(pid $HOST)" "$T/said"
		! grep -q "waited for" "$T/err" || break
	done
	grep -q "waited for" "$T/err" || skip "the host found no room for its test: no page was gone at the right moment"
	cat "$T/said"
	grep -q "the memory of process $HOST was not read" "$T/said"
	grep -Eq "a page did not come; the helper process [0-9]+ hangs in the kernel and was left behind" "$T/said"
	end
}
