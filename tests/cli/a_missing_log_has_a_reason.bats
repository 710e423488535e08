#!/usr/bin/env bats
# a_missing_log_has_a_reason - seep dump, record --log and doctor say why a process has no event log.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

# lacks TEXT [VARIABLE=VALUE...]: the host has no log, and dump says TEXT
lacks() {
	local text=$1
	shift
	rm -rf "${DIR:?}"/*
	traced_well env "$@" "$HOSTS/peak"
	complains 2 "$SEEP" dump "$DIR"
	grep -q "$text" "$T/complaint" || { cat "$T/complaint" && false; }
	[[ -z $(find "$DIR" -name '*.log*') ]]
}

@test "settings: a small pool, a wrong word, sampling, private memory" {
	lacks 'has no event log; record one with seep record --log' SEEP_LOG=0
	lacks 'SEEP_LOG_POOL is below 256KiB' SEEP_LOG=1 SEEP_LOG_POOL=1
	lacks 'SEEP_LOG_POOL is below 256KiB' SEEP_LOG=addresses SEEP_LOG_POOL=255KiB
	lacks 'SEEP_LOG has a value that seep does not know' SEEP_LOG=nonsense
	lacks 'because SEEP_SAMPLE was set' SEEP_LOG=1 SEEP_SAMPLE=1000
}

@test "absurd settings are ignored and counted, or bounded" {
	local value
	for value in last:0 last:-1 last:1e9 1,frees LAST last: last:1048577; do
		lacks 'SEEP_LOG has a value that seep does not know' SEEP_LOG="$value"
	done
	for value in -1 10E "16 MiB" '' 99999999999999999999; do
		rm -rf "${DIR:?}"/*
		traced_well env SEEP_LOG=1 SEEP_LOG_POOL="$value" "$HOSTS/peak"
		"$SEEP" dump "$DIR" >"$T/dump"
		"$SEEP" report "$DIR" --format json --no-symbols >"$T/json"
		# a number is taken as one, however large, and bounded
		grep -q "\"settings_ignored\":$([[ $value == 9* ]] && echo 0 || echo 1)\b" "$T/json"
	done
}

@test "a medium with too little room" {
	own_mounts true 2>/dev/null || skip "no mount namespace here"
	mkdir "$T/small"
	# shellcheck disable=SC2016 # for the inner shell
	own_mounts sh -c 'mount -t tmpfs -o size=1m,mode=700 none "$1/small" && shift &&
		SEEP_DIR=$1 SEEP_LOG=1 LD_PRELOAD=$2 "$3" >"$4" && ! "$5" dump "$1"' \
		sh "$T" "$T/small" "$COLLECTOR" "$HOSTS/peak" "$T/out" "$SEEP" >"$T/said" 2>"$T/complaint"
	grep -q 'too little room for its pool' "$T/complaint"
}

@test "record --log says it in its summary, and keeps the reason in the recording" {
	SEEP_LOG_POOL=1 SEEP_DIR=$DIR "$SEEP" record --log -o "$T/r.seep" -- "$HOSTS/peak" >"$T/out" 2>"$T/err"
	grep -q '^seep: no event log of 1 process: SEEP_LOG_POOL is below 256KiB' "$T/err"
	complains 2 "$SEEP" dump "$T/r.seep"
	grep -q 'SEEP_LOG_POOL is below 256KiB' "$T/complaint"
	complains 2 "$SEEP" dump "$T/r.seep" --format heaptrack
	grep -q 'SEEP_LOG_POOL is below 256KiB' "$T/complaint"
}

@test "a running process: dump and doctor say it" {
	waiting SEEP_LOG=1 SEEP_LOG_POOL=100KiB
	complains 2 "$SEEP" dump "$HOST"
	grep -q 'SEEP_LOG_POOL is below 256KiB' "$T/complaint"
	"$SEEP" doctor "$HOST" >"$T/doctor" || true
	grep -q 'event log.*SEEP_LOG_POOL is below 256KiB' "$T/doctor"
	ends_well
}
