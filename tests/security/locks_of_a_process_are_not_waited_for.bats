#!/usr/bin/env bats
# locks_of_a_process_are_not_waited_for - files of /proc/PID that are read under a lock which the process holds for ever.
# threat: root's seep, pointed at a hostile user's process, file or directory, must not be made to hang
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

setup_hostile() {
	[[ $(id -u) -eq 0 ]] || skip "needs root, for the lock and to read another user's process"
	[[ -c /dev/fuse ]] || skip "not permitted here: no /dev/fuse"
	[[ -x $HOSTS/holds_its_lock ]] # not having it is no reason to skip
	mkdir -p "$T/mount"
	# start COUNT SECONDS: descendants that hold locks and outlive the command
	cat >"$T/start" <<-END
		for i in \$(seq "\$1"); do
			"$HOSTS/holds_its_lock" "$T/mount" >>"$T/ready" 2>>"$T/hostile.err" &
			echo \$! >>"$T/pids"
		done
		sleep "\$2"
	END
	: >"$T/ready"
	: >"$T/pids"
}

# all_hold COUNT: so many processes have said that they are ready
all_hold() {
	local n=0
	for _ in {1..200}; do
		n=$(grep -c ready "$T/ready") || true
		[[ $n -lt $1 ]] || return 0
		sleep 0.05
	done
	[[ ! -s $T/hostile.err ]] || skip "not permitted here: $(head -n 1 "$T/hostile.err")"
	return 1
}

# Their file systems end first: the others may wait beyond SIGKILL.
end_hostile() {
	local pid
	while read -r pid; do
		PIDS+=("$pid")
		kill -KILL "$pid" 2>/dev/null || true
	done < <(
		sed -n 's/^ready //p' "$T/ready"
		cat "$T/pids"
	)
}

# record_limited ARGS...: as record, ended by SIGKILL
record_limited() {
	local begin=$SECONDS
	status=0
	(cd "$T" && SEEP_DIR=$DIR exec timeout -s KILL 40 "$SEEP" record "$@") \
		>"$T/out" 2>"$T/err" 3>&- || status=$?
	echo "status $status after $((SECONDS - begin)) s"
	took=$((SECONDS - begin))
}

@test "record: a descendant of another user holds the lock of its memory map" {
	setup_hostile
	record_limited -q -o r.seep sh "$T/start" 1 3
	all_hold 1
	end_hostile
	[[ $status -eq 0 && $took -lt 20 ]]
	"$SEEP" report "$T/r.seep" | grep -q 'sh (pid'
}

@test "record, ls: many processes of another user that hold such locks cost seconds, not minutes" {
	local begin
	setup_hostile
	sh "$T/start" 10 0 3>&-
	all_hold 10
	record_limited -q -o r.seep sh "$T/start" 10 3
	begin=$SECONDS
	SEEP_DIR=$DIR timeout -s KILL 40 "$SEEP" ls || status=$?
	echo "ls: $((SECONDS - begin)) s"
	end_hostile
	[[ $status -eq 0 && $took -lt 25 && $((SECONDS - begin)) -lt 20 ]]
}
