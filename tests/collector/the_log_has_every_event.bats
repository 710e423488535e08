#!/usr/bin/env bats
# the_log_has_every_event - the event log agrees with the counters of each site; no free lacks its allocation.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

# logged [OPTIONS of eventlog.py]: the log against the counters, by a second reader
logged() { "$PYTHON" "$LIB/eventlog.py" "$@" "$DIR" >"$T/logged"; }

setup_file() { export SEEP_LOG=1 SEEP_LOG_POOL=128MiB; }

@test "eight threads that free and realloc each other's blocks" {
	traced_well "$HOSTS/threads" "$(full_or 400000 40000)"
	equals_ledger
	logged
	[[ $(cut -d' ' -f4 "$T/logged") -ge 8 ]]
}

@test "128 threads, most of them with an array that they share, and addresses" {
	export SEEP_LOG=addresses SEEP_LOG_POOL=200MiB
	traced_well "$HOSTS/threads" 2000 64
	equals_ledger
	logged
}

@test "short threads, whose blocks go to later ones" {
	traced_well "$HOSTS/short_threads" "$(full_or 20000 2000)"
	equals_ledger
	logged
}

@test "handlers that interrupt a hook and allocate, or jump out of it" {
	traced_well "$HOSTS/signals" allocate 400000
	grep '^# handled=[1-9]' "$T/out"
	equals_ledger
	logged
	rm -rf "${DIR:?}"/*
	traced_well "$HOSTS/signals" jump 300000
	equals_ledger
}

@test "forked children have a log each: in slots, in files of their own, after clone" {
	local files
	export SEEP_LOG_POOL=8MiB
	for files in 0 1; do
		export SEEP_CHILD_FILES=$files
		rm -rf "${DIR:?}"/*
		traced_well "$HOSTS/forks" threads 20
		equals_ledger
		logged --lost
		[[ $(wc -l <"$T/logged") -gt 12 ]]
	done
	export SEEP_CHILD_FILES=0
	rm -rf "${DIR:?}"/*
	traced_well "$HOSTS/forks" bare 20
	equals_ledger
	logged --lost
	rm -rf "${DIR:?}"/*
	traced_well "$HOSTS/forks" exec 10
	equals_ledger
	logged --lost
}

@test "I8 SIGKILL at random instants: one event of each thread is in doubt" {
	local i pid
	for ((i = 0; i < $(full_or 100 3); i++)); do
		rm -rf "${DIR:?}"/*
		traced "$HOSTS/killed" kill "$T/progress" "$((RANDOM + 500))" "$((i % 3 + 2))"
		[[ $status -eq 137 ]]
		pid=$(sed -n 's/^PID //p' "$T/out")
		report
		"$PYTHON" "$LIB/inflight.py" "$T/progress" "$pid" "$T/report.json"
		logged --killed
	done
}

@test "nobody reads: the host is unharmed, and what is lost is counted" {
	export SEEP_LOG_POOL=1MiB
	traced_well "$HOSTS/threads" 60000
	equals_ledger
	logged --lost
	[[ $(cut -d' ' -f5 "$T/logged") -gt 100000 ]]
}

@test "no report takes the log for an input, and ls --prune removes it" {
	traced_well "$HOSTS/peak"
	equals_ledger
	"$SEEP" report "$DIR" >"$T/text" 2>&1
	SEEP_DIR=$DIR "$SEEP" ls --prune >"$T/ls"
	[[ -z $(ls "$DIR") ]]
}

@test "a log that cannot be made is named, and all else goes on" {
	export SEEP_LOG_POOL=100k
	traced_well "$HOSTS/peak"
	equals_ledger
	[[ -z $(ls "$DIR" | grep log) ]]
	export SEEP_LOG=nonsense
	traced_well "$HOSTS/peak"
	report
	[[ $(from_report 'sum(x["lost"]["settings_ignored"] for x in p)') -eq 1 ]]
}
