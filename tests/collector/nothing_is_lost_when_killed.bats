#!/usr/bin/env bats
# nothing_is_lost_when_killed - I8: after SIGKILL at most one event per thread is in doubt.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

# dies HOW STATUS [fork]: several times, at random instants
dies() {
	local times=3 i pid
	! full || times=25
	for ((i = 0; i < times; i++)); do
		rm -rf "${DIR:?}"/*
		traced "$HOSTS/killed" "$1" "$T/progress" \
			"$((RANDOM * 3 + 500))" "$((i % 3 + 2))" "${@:3}"
		[[ $status -eq $2 ]]
		pid=$(sed -n 's/^PID //p' "$T/out")
		report
		"$PYTHON" "$LIB/inflight.py" "$T/progress" "$pid" "$T/report.json"
	done
}

@test "I8 SIGKILL at random instants" {
	dies kill 137
}

@test "I8 abort at random instants" {
	dies abort 134
}

@test "I8 _exit at random instants" {
	dies exit 0
}

@test "I8 SIGSEGV at random instants" {
	dies segv 139
}

@test "exit while other threads go on" {
	dies leave 0
}

@test "I8 a forked child, killed at random instants" {
	dies kill 0 fork
	dies segv 0 fork
}

@test "report PID of a process that is over finds what ls lists" {
	traced sh -c 'echo $$; exec "$0"' "$HOSTS/peak"
	local pid
	pid=$(head -n 1 "$T/out")
	SEEP_DIR=$DIR "$SEEP" report "$pid" >"$T/text"
	grep -F "(pid $pid)" "$T/text"
	complains 3 env SEEP_DIR="$DIR" "$SEEP" report 4194300
}
