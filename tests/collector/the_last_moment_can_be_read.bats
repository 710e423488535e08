#!/usr/bin/env bats
# the_last_moment_can_be_read - SEEP_LEAKS=1: a process waits at its end, while somebody reads.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

# begun WORDS...: the host, which ends when descriptor 9 is closed; $HOST is what was
# started, $ENDS what will end; VARIABLES: of its environment
begun() {
	mkfifo "$T/lines"
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "${VARIABLES[@]}" \
		"$HOSTS/ends" "$@" <"$T/lines" >"$T/out" 2>"$T/err" 3>&- 9>&- &
	HOST=$!
	PIDS+=("$HOST")
	exec 9>"$T/lines"
	answered READY
	ENDS=$(sed -n 's/^PID //p' "$T/out")
	PIDS+=("$ENDS")
}

# reader WORD: see tests/tools/at_exit.c; its pid is in $READER
reader() {
	"$BUILD/tools/at_exit" "$ENDS" "$1" >"$T/reader" 2>&1 3>&- 9>&- &
	READER=$!
	PIDS+=("$READER")
	eventually grep -q BEATS "$T/reader"
}

now_ms() { echo $(($(date +%s%N) / 1000000)); }

# ended: its status in $status, milliseconds from being told in $took
ended() {
	local begin
	begin=$(now_ms)
	exec 9>&-
	status=0
	wait "$HOST" || status=$?
	took=$(($(now_ms) - begin))
	echo "status $status after $took ms; $(tail -n 1 "$T/reader" 2>/dev/null)"
}

@test "a reader lets it go: it has waited, and ends as it would" {
	VARIABLES=(SEEP_LEAKS=1)
	begun main
	reader read
	ended
	[[ $status -eq 5 && $took -lt 5000 ]]
	wait "$READER"
	grep -E '^WAITS tick [0-9]+ threads 0$' "$T/reader"
	[[ ! -s $T/err ]]
}

@test "no reader: it does not wait at all" {
	VARIABLES=(SEEP_LEAKS=1)
	begun main
	ended
	[[ $status -eq 5 && $took -lt 2000 ]]
	[[ $("$PYTHON" -c '
import glob, struct, sys
print(struct.unpack_from("<I", open(glob.glob(sys.argv[1] + "/*.seg")[0], "rb").read(1024), 512)[0])' "$DIR") -eq 0 ]]
}

@test "a reader, but no SEEP_LEAKS=1: it does not wait" {
	VARIABLES=(SEEP_LEAKS=0)
	begun main
	reader beat
	ended
	[[ $status -eq 5 && $took -lt 2000 ]]
	! grep WAITS "$T/reader"
}

@test "the reader is killed while it waits: it ends within 3 s" {
	VARIABLES=(SEEP_LEAKS=1)
	begun main
	reader beat
	exec 9>&-
	eventually grep -q WAITS "$T/reader"
	kill -KILL "$READER"
	ended
	[[ $status -eq 5 && $took -lt 3000 && $took -gt 500 ]]
}

@test "the reader beats without end: it waits as long as SEEP_LEAKS_WAIT says" {
	VARIABLES=(SEEP_LEAKS=1 SEEP_LEAKS_WAIT=1)
	begun main
	reader beat
	ended
	[[ $status -eq 5 && $took -lt 3000 && $took -gt 900 ]]
	grep WAITS "$T/reader"
}

# bats test_tags=full
@test "the reader beats without end: 10 s unless said otherwise" {
	VARIABLES=(SEEP_LEAKS=1)
	begun main
	reader beat
	ended
	[[ $status -eq 5 && $took -lt 13000 && $took -gt 9000 ]]
}

@test "SIGTERM while it waits: the default action ends it" {
	VARIABLES=(SEEP_LEAKS=1 SEEP_LEAKS_WAIT=60)
	begun main
	reader beat
	exec 9>&-
	eventually grep -q WAITS "$T/reader"
	kill -TERM "$HOST"
	ended
	[[ $status -eq 143 && $took -lt 5000 ]]
}

@test "SIGTERM while it waits: its handler runs" {
	VARIABLES=(SEEP_LEAKS=1 SEEP_LEAKS_WAIT=60)
	begun main handler
	reader beat
	exec 9>&-
	eventually grep -q WAITS "$T/reader"
	kill -TERM "$HOST"
	ended
	[[ $status -eq 7 && $took -lt 5000 ]]
}

@test "exit in a thread while another runs: that is said" {
	VARIABLES=(SEEP_LEAKS=1)
	begun thread
	reader read
	ended
	[[ $status -eq 5 && $took -lt 5000 ]]
	wait "$READER"
	grep -E '^WAITS tick [0-9]+ threads 1$' "$T/reader"
}

@test "a forked child in a slot waits, and its parent does not" {
	VARIABLES=(SEEP_LEAKS=1 SEEP_CHILD_FILES=0)
	begun child
	reader read
	ended
	[[ $status -eq 5 && $took -lt 5000 ]]
	wait "$READER"
	grep WAITS "$T/reader"
}

@test "a forked child with a file of its own waits" {
	VARIABLES=(SEEP_LEAKS=1 SEEP_CHILD_FILES=1)
	begun child
	reader read
	ended
	[[ $status -eq 5 && $took -lt 5000 ]]
	wait "$READER"
	grep WAITS "$T/reader"
}

@test "a value of SEEP_LEAKS_WAIT that is none is told" {
	VARIABLES=(SEEP_LEAKS=1 SEEP_LEAKS_WAIT=soon)
	begun main
	ended
	report
	[[ $(from_report 'p[0]["lost"]["settings_ignored"]') -eq 1 ]]
}
