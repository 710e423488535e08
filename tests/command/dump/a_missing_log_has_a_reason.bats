#!/usr/bin/env bats
# a_missing_log_has_a_reason - seep dump, record --log and doctor say why a process has no event log.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/host.bash

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

@test "a process that was not traced at all" {
	local command
	export SEEP_LOG=1
	(ulimit -d 1000 && traced_well "$HOSTS/shrinks")
	for command in dump "dump --last" "who 0x1000" "report --at 0" "report --lifetimes" "replay --runs 1"; do
		# shellcheck disable=SC2086 # words
		complains 2 "$SEEP" $command "$DIR"
		grep -q 'no process of .* was traced; [0-9]*: there is no memory for our tables' "$T/complaint"
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

# says TEXT COUNT [VARIABLE=VALUE...] -- [OPTION...]: so many lines of the summary of record have TEXT
says() {
	local text=$1 count=$2 set=()
	shift 2
	while [[ $1 != -- ]]; do
		set+=("$1")
		shift
	done
	shift
	SEEP_DIR=$DIR env "${set[@]}" "$SEEP" record --force -o "$T/r.seep" "$@" -- "$HOSTS/peak" >"$T/out" 2>"$T/err"
	[[ $(grep -c "^seep: .*$text" "$T/err") -eq $count ]] || { cat "$T/err" && false; }
}

@test "record says what became of SEEP_LOG and SEEP_LOG_POOL, in one line" {
	local value
	for value in last:0 last:abc last:1 last:99999999999999999999; do
		says 'no flight recorder of 1 process: SEEP_LOG has a value that seep does not know' 1 SEEP_LOG=$value --
		says 'ignored' 0 SEEP_LOG=$value -- --last
	done
	complains 2 "$SEEP" dump --last "$T/r.seep"
	grep -q 'no flight recorder: SEEP_LOG has a value' "$T/complaint"
	says 'no event log of 1 process: SEEP_LOG has a value that seep does not know' 1 SEEP_LOG=2 --
	says 'no event log of 1 process: .*because SEEP_SAMPLE was set' 1 SEEP_LOG=1 -- --sample 1k
	says 'the event log of 1 process is not in the recording: seep record --log keeps it' 1 SEEP_LOG=1 --
	says 'no flight recorder of 1 process: SEEP_LOG_POOL is below 256KiB' 1 SEEP_LOG_POOL=1 -- --last
	says 'no event log of 1 process: SEEP_LOG_POOL is below 256KiB' 1 SEEP_LOG_POOL=0 -- --log
	for value in garbage 1TB -1; do
		says '1 SEEP_ variable with a value that seep does not understand was ignored' 1 SEEP_LOG_POOL=$value -- --log
	done
	# what is right says nothing, and an empty value is none
	says 'no event log\|no flight recorder\|ignored\|not in the recording' 0 SEEP_LOG=0 SEEP_LOG_POOL=1MiB --
	says 'no event log\|no flight recorder\|ignored\|not in the recording' 0 SEEP_LOG=last:16,frees --
	says 'logged: [1-9]' 1 SEEP_LOG= -- --log
	says 'no flight recorder' 0 SEEP_LOG= -- --last
	"$SEEP" dump --last "$T/r.seep" >"$T/dump"
	# the program is not started if the environment asks for something else
	SEEP_LOG=last complains 2 "$SEEP" record --log -o "$T/none.seep" -- touch "$T/started"
	SEEP_LOG=1 complains 2 "$SEEP" record --last -o "$T/none.seep" -- touch "$T/started"
	[[ ! -e $T/started && ! -e $T/none.seep ]]
}

@test "a running process: dump and doctor say it" {
	waiting SEEP_LOG=1 SEEP_LOG_POOL=100KiB
	complains 2 "$SEEP" dump "$HOST"
	grep -q 'SEEP_LOG_POOL is below 256KiB' "$T/complaint"
	"$SEEP" doctor "$HOST" >"$T/doctor" || true
	grep -q 'event log.*SEEP_LOG_POOL is below 256KiB' "$T/doctor"
	ends_well
}
