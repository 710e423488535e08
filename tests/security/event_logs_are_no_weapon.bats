#!/usr/bin/env bats
# event_logs_are_no_weapon - whatever is written into an event log, or taken away from it by a child, its host is unharmed and its counters are right.
# threat: nobody may harm the host by means of seep who could not harm it without seep; this includes the host's own less privileged children
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

setup_file() { export SEEP_LOG=1 SEEP_LOG_POOL=1MiB; }

# scribbled [COMMAND...]: the host, started by COMMAND, while somebody writes into its log
scribbled() {
	local host scribbler
	mkfifo "$T/go"
	# shellcheck disable=SC2016 # for the inner shell
	"$@" sh -c 'read -r line <"$0"; "$1" "$2"; exit $?' "$T/go" "$HOSTS/threads" "$(full_or 400000 60000)" \
		>"$T/out" 2>"$T/err" &
	host=$!
	PIDS+=("$host")
	"$PYTHON" "$LIB/scribble.py" "$DIR" "$host" "$RANDOM" >"$T/files" &
	scribbler=$!
	PIDS+=("$scribbler")
	eventually grep -q ready "$T/files"
	echo go >"$T/go"
	wait "$host"
	wait "$scribbler"
	[[ $(tail -n 1 "$T/files") -ge 2 ]]
}

@test "the host trusts nothing of its log, and of the control file one byte" {
	scribbled env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" SEEP_LOG=1 SEEP_LOG_POOL=2MiB
	[[ ! -s $T/err ]]
	equals_ledger
	# readers end, too
	status=0
	timeout 60 "$SEEP" dump "$DIR" >"$T/dump" 2>"$T/dump.err" || status=$?
	[[ $status -eq 0 || $status -eq 2 || $status -eq 3 ]]
}

@test "a recorder that reads such a log goes on, and the counters are right" {
	scribbled env SEEP_DIR="$DIR" SEEP_LOG_POOL=2MiB "$SEEP" record --log -q -o "$T/r.seep" --
	"$SEEP" report "$T/r.seep" --format json --frames shared >"$T/report.json"
	"$PYTHON" "$LIB/compare.py" "$T/out" "$T/report.json"
}

@test "children of another user take every page of every log away that they can reach: master and siblings live" {
	local how events
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	mkdir "$T/medium"
	for how in fork _Fork clone; do
		for events in 10 200; do
			# shellcheck disable=SC2016 # for the inner shell
			own_mounts sh -c '
				mount -t tmpfs -o size=24m,mode=755 none "$1/medium" &&
				mkdir -m 700 "$1/medium/dir" && touch "$1/medium/ballast" &&
				SEEP_DIR=$1/medium/dir && export SEEP_DIR &&
				LD_PRELOAD=$2 "$3" "$1/medium/ballast" "$4" "$5" after &&
				ls "$SEEP_DIR"/*.log >"$1/logs"' \
				sh "$T" "$COLLECTOR" "$HOSTS/hostile_siblings" "$how" "$events" \
				>"$T/out" 2>"$T/err" || { echo "$how $events"; cat "$T/out" "$T/err"; false; }
			[[ $(grep -cE '^(later )?(small )?sibling 0$' "$T/out") -eq 4 ]]
			grep -qx "the master lives" "$T/out"
			grep -E '^# [1-9][0-9]* taken' "$T/err" # it did try
			[[ -s $T/logs ]]
		done
	done
}
