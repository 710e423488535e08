#!/usr/bin/env bats
# ls_finds_all_that_run - seep ls lists processes wherever they are, by the pid outside and the name that they were started by, quickly, also as JSON.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

# namespaced OPTION... -- VARIABLE=VALUE...: toggled in new namespaces, with a /dev/shm of its own; its pid out here in $HOST
namespaced() {
	local -a options=(--mount)
	[[ $(id -u) -eq 0 ]] || options+=(--user --map-root-user)
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	shift
	unshare "${options[@]}" true 2>/dev/null || skip "no mount and pid namespaces here"
	mkfifo "$T/lines"
	env -u SEEP_DIR unshare "${options[@]}" sh -c "
		mount -t tmpfs -o size=16m,mode=1777 tmpfs /dev/shm || exit 77
		env LD_PRELOAD='$COLLECTOR' $* '$HOSTS/toggled'" <"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
	PIDS+=("$!")
	exec 9>"$T/lines"
	answered ready
	HOST=$(find_host)
	[[ -n $HOST ]]
}

# the youngest process below ours that runs toggled
find_host() {
	local pid
	for pid in $(descendants "${PIDS[0]}"); do
		[[ $(cat "/proc/$pid/comm" 2>/dev/null) != toggled ]] || echo "$pid"
	done | tail -n 1
}
descendants() {
	local child
	for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
		echo "$child"
		descendants "$child"
	done
	echo "$1"
}

@test "a process in another mount namespace, with a /dev/shm of its own" {
	need jq
	namespaced --
	env -u SEEP_DIR "$SEEP" ls >"$T/list" 2>"$T/list.err"
	grep -E "^ +$HOST +running .*toggled" "$T/list"
	grep -A1 -E "^ +$HOST " "$T/list" | grep "/proc/$HOST/root/dev/shm/seep-"
	env -u SEEP_DIR "$SEEP" ls --pids | grep -x "$HOST	toggled"
	env -u SEEP_DIR "$SEEP" ls --format json >"$T/list.json"
	jq -e --argjson p "$HOST" '[.processes[] | select(.pid == $p) | .program] == ["toggled"]' "$T/list.json"
	# SEEP_DIR means this directory, and no other
	[[ $(SEEP_DIR=$DIR "$SEEP" ls) == "no segments" ]]
	printf '\n\n\n\n' >&9
}

@test "in another pid namespace: the pid outside first, then the one inside" {
	need jq
	namespaced --pid --fork --mount-proc --
	local inner
	inner=$(awk '/^NSpid/ {print $NF}' "/proc/$HOST/status")
	[[ $inner -ne $HOST ]]
	env -u SEEP_DIR "$SEEP" ls >"$T/list"
	grep -E "^ +$HOST +running .*\(pid $inner inside\) .*toggled" "$T/list"
	env -u SEEP_DIR "$SEEP" ls --format json >"$T/list.json"
	jq -e --argjson p "$HOST" --argjson i "$inner" '[.processes[] | select(.pid == $p) | .inner_pid] == [$i]' "$T/list.json"
	"$SEEP" report "$HOST" >"$T/said"
	printf '\n\n\n\n' >&9
}

@test "a program behind a link has the name that it was started by" {
	need jq
	cp "$HOSTS/toggled" "$T/redis-check-rdb"
	ln -s redis-check-rdb "$T/redis-server"
	mkfifo "$T/lines"
	LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR "$T/redis-server" <"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	exec 9>"$T/lines"
	answered ready
	export SEEP_DIR=$DIR
	"$SEEP" ls --pids | grep -x "$HOST	redis-server"
	[[ $("$SEEP" ls --format json | jq -r '.processes[0].program') == redis-server ]]
	[[ $("$SEEP" report "$HOST" --format json | jq -r '.processes[0].program') == redis-server ]]
	[[ $("$SEEP" report "$HOST" --format json | jq -r '.processes[0].exe') == */redis-check-rdb ]]
	"$SEEP" report "$HOST" | grep -q '^redis-server (pid'
	ends_well
}

@test "the totals of the list are those of the report" {
	need jq
	local keys='{pid, allocations, allocated_bytes, frees, freed_bytes, live_blocks, live_bytes, peak_bytes}'
	for sample in 0 1000; do
		rm -f "$T/lines" "$T/out"
		waiting SEEP_SAMPLE=$sample
		printf '\n\n\n' >&9
		answered third
		kill -STOP "$HOST"
		SEEP_DIR=$DIR "$SEEP" ls --format json >"$T/list.json"
		report "$HOST"
		jq -S ".processes[] | $keys" "$T/list.json" | tee "$T/a"
		jq -S ".processes[] | ({pid} + .totals) | $keys" "$T/report.json" >"$T/b"
		diff "$T/a" "$T/b"
		jq -e '.schema == 1 and .kind == "ls" and .complete and .processes[0].state == "running"' "$T/list.json"
		kill -CONT "$HOST"
		echo >&9
		exec 9>&-
		wait "$HOST"
		SEEP_DIR=$DIR "$SEEP" ls --prune >/dev/null
	done
	SEEP_DIR=$DIR "$SEEP" ls --prune --format json >"$T/list.json"
	jq -e '.removed_files == 0 and .freed_slots == 0 and .processes == []' "$T/list.json"
	complains 2 "$SEEP" ls --pids --format json
	complains 2 "$SEEP" ls --format xml
}

@test "ls DIR lists the segments in DIR, without SEEP_DIR" {
	traced_well "$HOSTS/known_answer"
	SEEP_DIR=$DIR "$SEEP" ls | cut -c1-40 >"$T/by_variable"
	(
		unset SEEP_DIR
		"$SEEP" ls "$DIR" | cut -c1-40 >"$T/by_name"
		complains 3 "$SEEP" ls "$T/by_name"
	)
	diff "$T/by_variable" "$T/by_name"
	[[ $(wc -l <"$T/by_name") -eq 3 ]]
}

@test "snapshot --help names the file that it writes, and the command prints it" {
	local name
	"$SEEP" snapshot --help | tr -s ' \n' ' ' >"$T/help"
	grep -q 'to the working directory as PROGRAM-PID-NUMBER.seep-snap' "$T/help"
	grep -q -e '--output FILE write to FILE, .*default: PROGRAM-PID-NUMBER.seep-snap, here' "$T/help"
	waiting
	name=$(cd "$T" && "$SEEP" snapshot "$HOST" 2>&1)
	[[ $name == *"toggled-$HOST-1.seep-snap"* && -s $T/toggled-$HOST-1.seep-snap ]]
	ends_well
}

@test "many processes are listed quickly" {
	local n
	n=$(full_or 1000 200)
	SEEP_DIR=$DIR "$PYTHON" "$LIB/list_cost.py" "$SEEP" "$COLLECTOR" "$n" "$T/cost"
	cat "$T/cost"
}
