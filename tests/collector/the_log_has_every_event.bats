#!/usr/bin/env bats
# the_log_has_every_event - the event log agrees with the counters of each site; no free lacks its allocation.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

# logged [OPTIONS of eventlog.py]: the log against the counters, by a second reader
logged() { "$PYTHON" "$LIB/eventlog.py" "$@" "$DIR" >"$T/logged"; }

setup_file() { export SEEP_LOG=1 SEEP_LOG_POOL=128MiB; }

@test "eight threads that free and realloc each other's blocks" {
	traced_well "$HOSTS/threads" "$(full_or 400000 20000)"
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
	traced_well "$HOSTS/short_threads" 2000
	equals_ledger
	logged
	# each of them goes on in the chunk of one that has ended: nobody returns chunks, and there are 2,048
	rm -rf "${DIR:?}"/*
	traced_well "$HOSTS/short_threads" "$(full_or 300000 5000)"
	equals_ledger
	logged
	[[ $(cut -d' ' -f4 "$T/logged") -gt 4000 ]]
}

@test "handlers that interrupt a hook and allocate, or jump out of it" {
	traced_well "$HOSTS/signals" allocate 200000
	grep '^# handled=[1-9]' "$T/out"
	equals_ledger
	logged
	rm -rf "${DIR:?}"/*
	traced_well "$HOSTS/signals" jump 150000
	equals_ledger
	logged --jumps
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

# children NUMBER...: forked children, one after the other, the last one in the slot of the first ones, which were given back
children() {
	local n=0 pairs
	mkfifo "$T/requests"
	LD_PRELOAD=$COLLECTOR SEEP_CHILD_FILES=0 SEEP_DIR=$DIR "$HOSTS/on_request" <"$T/requests" >"$T/out" 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	exec 9>"$T/requests"
	for pairs in "$@"; do
		SEEP_DIR=$DIR "$SEEP" ls --prune >"$T/ls"
		blocks[n]=$(stat -c %b "$DIR"/*.seg.log 2>/dev/null || echo 0)
		echo "$pairs" >&9
		n=$((n + 1))
		eventually has_done "$n"
	done
	exec 9>&-
	wait "$HOST"
	rm "$T/requests"
}
has_done() { [[ $(grep -c DONE "$T/out") -eq $1 ]]; }

@test "a child in the slot of one that is gone: its own events alone, and the memory of the other was given back" {
	local blocks=() pid
	export SEEP_LOG_POOL=16MiB
	children 50000 300
	# 100,000 words are 800 KB, and blocks have 512 bytes
	[[ ${blocks[1]} -lt 600 ]]
	logged
	[[ $(wc -l <"$T/logged") -eq 2 ]]
	rm -rf "${DIR:?}"/*
	SEEP_LOG=last:1000 children 5000 300
	pid=$(sed -n '$s/^DONE //p' "$T/out")
	"$SEEP" dump --last "$DIR" --pid "$pid" --format jsonl --no-symbols >"$T/dump"
	# 600 events of each thread, and what the start of the thread took
	jq -es 'group_by(.tid) | length == 2 and all(length >= 600 and length < 620)' "$T/dump"
}

@test "every other program with a ledger of its own" {
	local host
	# storm has a bound, because the pool has room for 8 million pairs
	while read -r host; do
		rm -rf "${DIR:?}"/*
		# shellcheck disable=SC2086 # a program and its arguments
		traced_well "$HOSTS/"$host
		equals_ledger
		logged
	done <<-END
		deep
		family
		many_stacks 11
		$(full_or million peak)
		peak_threads
		pools
		sandboxed
		sizes
		small_stacks
		storm call 50 100000
		twins
	END
}

@test "what happened while recording was off or paused is in neither of the two" {
	waiting SEEP_LOG=1 SEEP_LOG_POOL=8MiB
	echo >&9
	answered first
	"$SEEP" off "$HOST" >/dev/null
	echo >&9
	answered second
	"$SEEP" on "$HOST" >/dev/null
	printf '\n\n' >&9
	wait "$HOST"
	logged
	rm -rf "${DIR:?}"/*
	traced_well "$HOSTS/pauses"
	logged
}

@test "I8 SIGKILL at random instants: one event of each thread is in doubt" {
	local i pid
	for ((i = 0; i < $(full_or 100 10); i++)); do
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

@test "nobody reads, and handlers interrupt a hook, threads come and go, or children are forked: what is lost is counted" {
	local host
	export SEEP_LOG_POOL=256KiB
	while read -r host; do
		rm -rf "${DIR:?}"/*
		# shellcheck disable=SC2086 # words
		traced_well "$HOSTS/"$host
		logged --lost
		[[ $(cut -d' ' -f5 "$T/logged" | sort -n | tail -n 1) -gt 1000 ]]
	done <<-END
		signals allocate 60000
		short_threads 4000
		forks threads 20
		threads 4000 64
	END
	# what a hook did that a handler has left is in doubt, and no more than that
	rm -rf "${DIR:?}"/*
	traced_well "$HOSTS/signals" jump 150000
	logged --lost --jumps
	[[ $(cut -d' ' -f5 "$T/logged") -gt 1000 ]]
}

# bats test_tags=full
@test "two million events a second from one thread, on a machine with a free CPU: none is lost" {
	SEEP_LOG_POOL=16MiB SEEP_DIR=$DIR "$SEEP" record --log -o "$T/r.seep" -- "$HOSTS/paced" 2000000 10 >"$T/out" 2>"$T/err"
	grep '^seep: logged: ' "$T/err"
	! grep -q 'lost [0-9]' "$T/err"
}

@test "a process ends while most of its log has not been read: record reads all of it" {
	local events logged lost
	SEEP_LOG_POOL=64MiB SEEP_DIR=$DIR "$SEEP" record --log -o "$T/r.seep" -- "$HOSTS/paced" 4000000000 1 >"$T/out" 2>"$T/err"
	events=$(cut -d' ' -f1 "$T/out")
	logged=$(sed -n 's/,//g; s/^seep: logged: \([0-9]*\) events.*/\1/p' "$T/err")
	lost=$(sed -n 's/,//g; s/.*lost \([0-9]*\) events.*/\1/p' "$T/err")
	# its first 1,000 frees are of NULL
	((logged + ${lost:-0} >= events - 1000))
}

# bats test_tags=full
@test "real programs: at most a byte for each event in a recording, and none is lost" {
	SEEP_DIR=$DIR "$PYTHON" -B "$LIB/log_sizes.py" "$SEEP" "$T" sqlite3 python3 cc1
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
	[[ -z $(find "$DIR" -name "*.log*") ]]
	export SEEP_LOG=nonsense
	traced_well "$HOSTS/peak"
	report
	[[ $(from_report 'sum(x["lost"]["settings_ignored"] for x in p)') -eq 1 ]]
}

@test "a thread with few events: each of them has its own time" {
	traced_well "$HOSTS/slow_steps"
	"$SEEP" dump "$DIR" --format jsonl --no-symbols >"$T/dump"
	jq -r 'select(.size == 5000 or .size == 10000) | "\(.event) \(.size) \(.time_ms)"' "$T/dump" >"$T/logged"
	at_their_time 8
}
