#!/usr/bin/env bats
# top_refuses_bad_input - one line, and the exit status of the design.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/top.bash
load ../../lib/terminal.bash

@test "no such process, not traced, no such file, a file without a process" {
	local free=4194303
	while [[ -e /proc/$free ]]; do free=$((free - 1)); done
	complains 3 "$SEEP" top "$free"
	grep -q 'no such process' "$T/complaint"
	complains 3 "$SEEP" top $$
	grep -q 'not traced' "$T/complaint"
	complains 3 "$SEEP" top "$T/no-such-file"
	echo nonsense >"$T/file"
	complains 3 "$SEEP" top "$T/file"
	start_host
	echo exit 0 >&9
	wait "$HOST" || true
	complains 3 "$SEEP" top "$DIR"/on_show-*.seg
	grep -q 'none of its processes runs' "$T/complaint"
}

@test "a process of another user" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	start_host
	complains 3 setpriv --reuid=65534 --regid=65534 --clear-groups "$SEEP" top "$HOST"
	grep -q 'may not look at it' "$T/complaint"
}

@test "a process and a directory together" {
	start_host
	complains 2 "$SEEP" top "$HOST" "$DIR"
}

@test "no terminal for keys; a terminal that nobody knows" {
	start_host
	on_terminal SEEP_DIR="$DIR" TERM=no-such-terminal top "$HOST"
	[[ $got -eq 2 ]]
	[[ $(wc -l <"$T/screen") -eq 1 ]]
	grep -q '^seep: top: the terminal "no-such-terminal" (from TERM) is unknown' "$T/screen"
	in_tmux 80 24 "SEEP_DIR='$DIR' '$SEEP' top $HOST </dev/null; echo status \$?; exec sleep 1000"
	shows 'seep: top: stdin is no terminal'
	shows 'status 2'
}

@test "ncurses is loaded by a screen alone; without it one line says so, and --plain works" {
	LD_TRACE_LOADED_OBJECTS=1 "$SEEP" >"$T/libraries"
	grep -q libdw "$T/libraries"
	[[ $(grep -c 'ncurses\|tinfo' "$T/libraries") -eq 0 ]]
	mkdir "$T/lib"
	: >"$T/lib/libncursesw.so.6"
	start_host
	top 80 24 LD_LIBRARY_PATH="$T/lib" "$HOST"
	shows 'top: libncursesw.so.6 cannot be loaded; install it, or'
	shows 'status 2'
	LD_LIBRARY_PATH=$T/lib "$SEEP" top --plain --once --interval 100ms "$HOST" | grep -q on_show
}

@test "a full disk is called by its name" {
	start_host
	for format in text json; do
		"$SEEP" top --once --interval 100ms --format "$format" "$HOST" >/dev/full 2>"$T/err" || [[ $? -eq 3 ]]
		grep -qx 'seep: standard output: cannot be written: No space left on device' "$T/err"
	done
	# whoever reads no more ends it, without a word
	"$SEEP" top --format json --interval 100ms "$HOST" 2>"$T/err" | head -c 10 >/dev/null
	[[ ! -s $T/err ]]
}
