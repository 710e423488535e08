#!/usr/bin/env bats
# record_guards_its_output - the output file is checked before CMD starts, and an existing file is never overwritten.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

@test "-o refuses an existing file, --force replaces it" {
	echo precious >"$T/have"
	record -o have touch "$T/ran"
	[[ $status -eq 125 ]]
	[[ $(wc -l <"$T/err") -eq 1 ]]
	grep -q -- '--force' "$T/err"
	[[ $(<"$T/have") == precious && ! -e $T/ran ]]
	record -q --force -o have touch "$T/ran"
	[[ $status -eq 0 && -e $T/ran ]]
	"$SEEP" report "$T/have" --format json >"$T/report.json"
}

@test "seep.data becomes seep.data.old" {
	record -q true
	cp "$T/seep.data" "$T/first"
	record -q true
	cmp "$T/first" "$T/seep.data.old"
	"$SEEP" report "$T/seep.data" --format json >"$T/report.json"
	[[ $(ls "$T"/seep.data*) == "$T/seep.data
$T/seep.data.old" ]]
}

@test "a directory that cannot be written is found before the start" {
	record -o "$T/no/such/directory/x" touch "$T/ran"
	[[ $status -eq 125 && ! -e $T/ran ]]
	[[ $(wc -l <"$T/err") -eq 1 ]]
	unprivileged test -x "$SEEP" || skip "nobody cannot come here"
	mkdir "$T/closed"
	chmod 555 "$T/closed"
	chmod 711 "$T"
	status=0
	(
		cd "$T/closed" || exit
		unset SEEP_DIR
		unprivileged "$SEEP" record touch "$T/ran" 2>&1
	) >"$T/said" || status=$?
	[[ $status -eq 125 && ! -e $T/ran ]]
}

@test "-o takes no directory" {
	record -o "$T" touch "$T/ran"
	[[ $status -eq 125 && ! -e $T/ran ]]
}

@test "-o /dev/null is a device, not a file to replace" {
	record -o /dev/null true
	[[ $status -eq 0 && -c /dev/null ]]
}

@test "a recording is 0600 whatever the umask" {
	(
		umask 000
		record -q true
	)
	[[ $(stat -c %a "$T/seep.data") == 600 ]]
}

@test "no room is found before the start where it can be" {
	[[ -c /dev/full ]]
	record -o /dev/full touch "$T/ran"
	[[ $status -eq 125 && ! -e $T/ran ]]
}

# kept: 125 after CMD did its work; its segments are still there to report
kept() {
	[[ $status -eq 125 && -e $T/ran ]]
	grep -q '^seep: cannot write .*segments are left' "$T/err"
	lacks '^seep: recorded' "$T/err"
	[[ $(segments) -gt 0 ]]
	"$SEEP" report "$DIR" --format json >"$T/report.json"
	[[ $(jq '.processes | length' "$T/report.json") -gt 0 ]]
}

@test "a name for which another recorder is at work: refused with its pid before CMD starts, and its recording is whole" {
	local before
	record_behind -o new sh -c 'sleep 1.5; ls'
	claimed() { [[ $(find "$DIR" -name 'rec-*.ctl' | wc -l) -eq 2 ]]; }
	eventually claimed
	for before in "" "appears $T/new"; do # no name yet; and when it has one
		$before
		(
			cd "$T" || exit
			export SEEP_DIR=$DIR
			complains 125 "$SEEP" record -o new touch ran
			grep -F "new: another seep record (pid $recorder) is writing this file" "$T/complaint"
			complains 125 "$SEEP" record --force -o ./new touch ran
			grep -F "(pid $recorder)" "$T/complaint"
		)
	done
	# with segments elsewhere it is seen by the file, and another name is free
	mkdir -m 700 "$T/elsewhere"
	SEEP_DIR=$T/elsewhere complains 125 "$SEEP" record --force -o "$T/new" touch "$T/ran"
	SEEP_DIR=$DIR "$SEEP" record -q -o "$T/other" true
	[[ ! -e $T/ran ]]
	wait "$recorder"
	"$SEEP" report "$T/new" --format json | jq -e '.complete and (.processes | length) > 1'
	[[ -z $(ls -A "$DIR") ]]
}

@test "two recorders for one new name at the same time: one of them runs its command" {
	local i one
	for i in 1 2 3 4 5; do
		record_behind -q -o "race$i" touch "$T/ran.$i.a"
		one=$recorder
		(cd "$T" && SEEP_DIR=$DIR exec "$SEEP" record -q -o "race$i" touch "$T/ran.$i.b" 2>"$T/err2") || true
		wait "$one" || true
		[[ $(find "$T" -name "ran.$i.*" | wc -l) -eq 1 ]]
		"$SEEP" report "$T/race$i" --format json | jq -e .complete
	done
	[[ -z $(ls -A "$DIR") ]]
}

@test "a recorder that was killed claims nothing any more" {
	record_behind -o new sleep 0.3
	claimed() { [[ $(find "$DIR" -name 'rec-*.ctl' | wc -l) -eq 2 ]]; }
	eventually claimed
	kill -KILL "$recorder"
	wait "$recorder" || true
	rm -f "$T/new"
	record -q -o new true
	[[ $status -eq 0 && -s $T/new ]]
	[[ -z $(find "$DIR" -name 'rec-*.ctl') ]]
}

@test "a file that appears meanwhile is kept, and so are the segments" {
	need jq
	record -o new sh -c 'echo precious >new; : >ran'
	kept
	[[ $(<"$T/new") == precious ]]
}

@test "no room while it is written: the old recording and the segments are kept" {
	need jq
	echo precious >"$T/seep.data"
	status=0
	(
		cd "$T" || exit
		# 700 processes do not fit into 1 MiB, a segment does
		# shellcheck disable=SC2016 # for the shell with the limit
		SEEP_DIR=$DIR bash -c 'ulimit -f 1024; exec "$@"' bash \
			"$SEEP" record sh -c ': >ran; i=0
			while [ $i -lt 700 ]; do /bin/ls / >/dev/null; i=$((i + 1)); done' \
			2>err
	) || status=$?
	kept
	# the new one got the name when it had something in it
	[[ $(<"$T/seep.data.old") == precious ]]
	"$SEEP" report "$T/seep.data" --format json >"$T/report.json" || [[ $? -eq 3 ]]
	[[ $(jq -c '[.complete, (.processes | length > 100)]' "$T/report.json") == '[false,true]' ]]
}

@test "CMD may remove the recording, or write a file of that name" {
	need jq
	record -q sh -c 'sleep 0.5; rm -f seep.data; sleep 0.2'
	[[ $status -eq 0 ]]
	"$SEEP" report "$T/seep.data" --format json | jq -e .complete
	rm -f "$T"/seep.data*
	record sh -c 'sleep 0.5; echo precious >seep.data; sleep 0.2; : >ran'
	kept
	[[ $(<"$T/seep.data") == precious ]]
}

@test "the session directory must be ours alone" {
	chmod 777 "$DIR"
	record touch "$T/ran"
	[[ $status -eq 125 && ! -e $T/ran ]]
	[[ $(wc -l <"$T/err") -eq 1 ]]
	chmod 700 "$DIR"
	ln -s "$DIR" "$T/link"
	(
		cd "$T" || exit
		export SEEP_DIR=$T/link
		complains 125 "$SEEP" record touch "$T/ran"
		export SEEP_DIR=/proc/self
		complains 125 "$SEEP" record touch "$T/ran"
	)
	[[ ! -e $T/ran ]]
}

@test "a collector that others may write is refused" {
	mkdir "$T/b"
	cp "$SEEP" "$COLLECTOR" "$T/b/"
	chmod 664 "$T/b/libseep.so"
	cd "$T"
	SEEP_DIR=$DIR complains 125 "$T/b/seep" record true
	rm "$T/b/libseep.so"
	SEEP_DIR=$DIR complains 125 "$T/b/seep" record true
}

@test "an installed collector is found in ../lib/seep" {
	mkdir -p "$T/p/bin" "$T/p/lib/seep"
	cp "$SEEP" "$T/p/bin/"
	cp "$COLLECTOR" "$T/p/lib/seep/"
	chmod 644 "$T/p/lib/seep/libseep.so"
	(cd "$T" && SEEP_DIR=$DIR "$T/p/bin/seep" record -q true)
	[[ -e $T/seep.data ]]
}

@test "a run that records nothing leaves no older result in its place" {
	printf 'int main(void) { return 0; }\n' >"$T/still.c"
	cc -static -o "$T/still" "$T/still.c"
	record -q -o run.data true
	[[ -s $T/run.data ]]
	record --force -o run.data ./still
	[[ $status -eq 0 && ! -e $T/run.data ]]
	record -q true
	record ./still
	[[ ! -e $T/seep.data && -s $T/seep.data.old ]]
}

@test "--require: exit 125 when nothing was recorded, CMD's status otherwise" {
	printf 'int main(void) { return 0; }\n' >"$T/still.c"
	cc -static -o "$T/still" "$T/still.c"
	record --require -o run.data ./still
	[[ $status -eq 125 && ! -e $T/run.data ]]
	record --require -o run.data sh -c 'exit 7'
	[[ $status -eq 7 && -s $T/run.data ]]
}
