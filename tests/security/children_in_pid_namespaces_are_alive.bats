#!/usr/bin/env bats
# children_in_pid_namespaces_are_alive - forked children that were born into a pid namespace have its pids in their headers.
# threat: root's seep, pointed at a hostile user's process, file or directory, must not be made to read or write elsewhere; and what it cannot read completely it says
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

# start COMMAND...: its processes wait for a line on descriptor 9
start() {
	mkfifo "$T/lines"
	"$@" <"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	exec 9>"$T/lines"
	eventually four_are_ready
}

four_are_ready() {
	if ! kill -0 "$HOST" 2>/dev/null; then
		wait "$HOST" || [[ $? -ne 77 ]] || skip "not permitted here: pid namespaces"
		return 1
	fi
	[[ $(grep -c '^ready' "$T/out") -eq 4 ]]
}

finish() {
	echo >&9
	exec 9>&-
	wait "$HOST"
}

@test "ls: they run, and --prune leaves their segments" {
	start env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$HOSTS/inner_pids"
	SEEP_DIR=$DIR "$SEEP" ls --prune >"$T/list" 2>"$T/list.err"
	cat "$T/list"
	[[ $(grep -cE 'running .*\(pid [12] inside\)' "$T/list") -eq 4 ]]
	[[ $(grep -c running "$T/list") -eq 7 ]]
	grep -qx "0 files removed" "$T/list"
	# each by the pid that it has here
	while read -r pid; do
		"$SEEP" report "$pid" >"$T/report"
		grep -q '1,000 blocks' "$T/report"
	done < <(sed -n 's/^OUTER //p' "$T/out")
	finish
	SEEP_DIR=$DIR "$SEEP" ls >"$T/list"
	cat "$T/list"
	[[ $(grep -cE '^ +[12]  exited' "$T/list") -eq 4 ]]
	lacks running "$T/list"
}

@test "record: nothing of them is taken for dead while they run" {
	cd "$T"
	start env SEEP_DIR="$DIR" "$SEEP" record -q -o r.seep "$HOSTS/inner_pids"
	sleep 5 # two looks at who is dead
	finish
	cd - >/dev/null
	"$SEEP" report --format json "$T/r.seep" >"$T/report.json"
	jq -c '.processes[] | [.pid, .end, .totals.allocations]' "$T/report.json"
	# seven processes: the command, two that make a namespace, four in them
	jq -e '.processes | length == 7' "$T/report.json"
	jq -e '[.processes[] | select(.pid <= 2) | .end] | . == ["exited", "exited", "exited", "exited"]' "$T/report.json"
	jq -e '[.processes[].totals.allocations] | add == 10000' "$T/report.json"
}
