#!/usr/bin/env bats
# bad_lines_are_refused - every wrong use of every command and option gives one
# line on stderr and the right status. The test takes the options from --help.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/host.bash

setup_file() {
	export R=$BATS_FILE_TMPDIR/r.data
	"${SEEP_BUILD:-build}/seep" record -q -o "$R" sh -c 'ls / >/dev/null'
}

sweep() {
	local status=0
	mkdir "$T/scratch"
	SEEP_DIR=$DIR "$PYTHON" "$LIB/sweep.py" "$SEEP" "$R" "$T/scratch" "$1" \
		>"$T/said" || status=$?
	cut -c 1-400 "$T/said"
	return "$status"
}

@test "unknown and misspelt options, and missing or wrong values, are refused" {
	sweep options
}

@test "missing, superfluous and wrong operands are refused" {
	sweep operands
}

@test "no combination of options causes a crash" {
	sweep flags
}

@test "full, closed and broken outputs, directories and missing directories are errors" {
	sweep output
}

@test "output to a symbolic link goes to its target, also for /dev/stdout" {
	echo old >"$T/target"
	ln -s target "$T/link"
	"$SEEP" report "$R" -o "$T/link"
	[[ -L $T/link ]]
	grep -q allocations "$T/target"
	"$SEEP" report "$R" -o - >"$T/dash"
	diff "$T/target" "$T/dash"
	echo first >"$T/log"
	"$SEEP" report "$R" -o /dev/stdout >>"$T/log"
	[[ -L /dev/stdout && $(head -n 1 "$T/log") == first ]]
	[[ $(wc -l <"$T/log") -gt 2 ]]
	complains 3 "$SEEP" export "$R" --format json -o "$T/link"
	grep -q allocations "$T/target"
}

@test "a signal leaves no partial output file" {
	need strace
	mkdir "$T/out"
	echo before >"$T/out/result"
	strace -qq -o "$T/trace" -e trace=write \
		-e inject=write:delay_enter=3000000 \
		"$SEEP" report "$R" -o "$T/out/result" 2>"$T/err" 3>&- &
	local tracer=$! child='' i
	PIDS+=("$tracer")
	for ((i = 0; i < 100; i++)); do
		child=$(pgrep -P "$tracer" -x seep) || true
		# open, with a name or without one
		! find "/proc/${child:-0}/fd" -lname "$T/out/*" 2>/dev/null | grep -q . || break
		sleep 0.05
	done
	[[ -n $child ]] || skip "strace may not trace here"
	PIDS+=("$child")
	kill -TERM "$child" # INT is ignored by what runs in the background
	wait "$tracer" || got=$?
	[[ $got -eq 143 ]]
	[[ $(ls -A "$T/out") == result && $(cat "$T/out/result") == before ]]
}

@test "closed stdin, stdout and stderr cause no crash" {
	local words
	for words in "report $R" "ls" "help" "check $R" "frobnicate" "report --frob"; do
		got=0
		# shellcheck disable=SC2086 # several words
		"$SEEP" $words <&- >&- 2>&- || got=$?
		echo "$words: $got"
		[[ $got -le 3 ]]
	done
}
