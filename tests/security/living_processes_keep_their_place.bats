#!/usr/bin/env bats
# living_processes_keep_their_place - no file or slot of a process that lives is given away, whoever prunes, and from wherever.
# threat: if root points seep at a process, file or directory of a hostile user, that user must not be able to make it read or write other files than it was told to; if seep cannot read something completely, it says so
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

# brood [VARIABLE=VALUE...]: the host brood, which obeys lines on descriptor 9
brood() {
	mkfifo "$T/lines"
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$@" "$HOSTS/brood" <"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	exec 9>"$T/lines"
	answered ready
}

child() {
	sed -n 's/^child //p' "$T/out" | sed -n "$1p"
}

# prune_elsewhere: from another pid namespace; $T/list
prune_elsewhere() {
	in_namespace env SEEP_DIR="$DIR" "$SEEP" ls --prune >"$T/list" 2>&1
	cat "$T/list"
}

@test "a child without an event of a parent that has exited: its file stays, also seen from another pid namespace" {
	local files before
	setup_namespace
	for files in 0 1; do
		rm -f "$T/lines" "$T/out"
		brood SEEP_CHILD_FILES=$files
		echo idle >&9
		answered child
		PIDS+=("$(child 1)")
		echo leave >&9
		wait "$HOST"
		exec 9>&-
		find "$DIR" -type f -exec touch -d '1 minute ago' {} +
		before=$(find "$DIR" -name '*.seg' -printf '%i %f\n' | sort)
		prune_elsewhere
		[[ $files -eq 1 ]] || grep -qx "0 files removed" "$T/list"
		SEEP_DIR=$DIR "$SEEP" ls --prune
		# of the parent with children of their own files its own file may go
		[[ $files -eq 1 ]] || [[ $before == "$(find "$DIR" -name '*.seg' -printf '%i %f\n' | sort)" ]]
		[[ $files -eq 0 ]] || [[ -n $(find "$DIR" -name 'brood-*-0.seg') ]]
		kill -KILL "${PIDS[-1]}"
		find "$DIR" -type f -delete
	done
}

@test "a process whose container has another boot id runs, and its segment stays" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	setup_namespace
	echo 01234567-89ab-cdef-0123-456789abcdef >"$T/boot"
	mkfifo "$T/lines"
	unshare -m sh -c "mount --bind '$T/boot' /proc/sys/kernel/random/boot_id || exit 77
		LD_PRELOAD='$COLLECTOR' SEEP_DIR='$DIR' exec '$HOSTS/brood'" <"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	exec 9>"$T/lines"
	answered ready
	prune_elsewhere
	grep -q "out of sight .*brood" "$T/list"
	grep -qx "0 files removed" "$T/list"
	SEEP_DIR=$DIR "$SEEP" ls --prune >"$T/list"
	cat "$T/list"
	grep -Eq "^ +$HOST +running .*brood" "$T/list"
	grep -qx "0 files removed" "$T/list"
	echo leave >&9
	wait "$HOST"
	SEEP_DIR=$DIR "$SEEP" ls --prune | grep -qx "1 file removed"
}

@test "an ended process that its recorder has not read yet stays" {
	need jq
	local recorder n
	cd "$T"
	mkfifo lines
	SEEP_DIR=$DIR "$SEEP" record -q -o r.seep "$HOSTS/brood" <lines >out 2>err 3>&- &
	recorder=$!
	PIDS+=("$recorder")
	exec 9>lines
	answered ready
	echo fork 500 >&9
	answered child
	sleep 0.3 # the recorder has seen the session begin
	kill -STOP "$recorder"
	echo "kill $(child 1)" >&9
	answered gone
	echo leave >&9
	exec 9>&-
	eventually lacks brood <(tr '\0' '\n' </proc/"$(sed -n 's/^ready //p' out)"/cmdline 2>/dev/null)
	n=$(find "$DIR" -name '*.seg' | wc -l)
	SEEP_DIR=$DIR "$SEEP" ls --prune >list
	cat list
	grep -qx "0 files removed" list
	[[ $(find "$DIR" -name '*.seg' | wc -l) -eq $n ]]
	kill -CONT "$recorder"
	wait "$recorder"
	"$SEEP" report --format json r.seep >report.json
	jq -c '.processes[] | [.pid, .totals.live_blocks]' report.json
	jq -e --argjson c "$(child 1)" '[.processes[] | select(.pid == $c) | .totals.live_blocks] == [500]' report.json
}

@test "slots of dead children are given back, and those that live keep theirs" {
	need jq
	drop_privileges
	AS_HOST=("${AS[@]}")
	mkfifo "$T/lines"
	"${AS[@]}" env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$HOSTS/brood" <"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	exec 9>"$T/lines"
	answered ready
	for i in 500 600 700 20; do echo "fork $i" >&9; done
	eventually sh -c "[ \$(grep -c child '$T/out') -eq 4 ]"
	echo "kill $(child 1)" >&9
	echo "kill $(child 4)" >&9
	eventually sh -c "[ \$(grep -c gone '$T/out') -eq 2 ]"
	"${AS_HOST[@]}" env SEEP_DIR="$DIR" "$SEEP" ls --prune >"$T/list" 2>&1
	cat "$T/list"
	grep -qx "0 files removed" "$T/list"
	grep -qx "2 slots of ended children given back" "$T/list"
	report
	jq -c '[.processes[] | [.pid, .end, .totals.live_blocks]]' "$T/report.json"
	jq -e '[.processes[].totals.live_blocks] | sort == [100, 600, 700]' "$T/report.json"
	# the next child takes a slot that was given back, and counts from zero
	echo "fork 900" >&9
	eventually sh -c "[ \$(grep -c child '$T/out') -eq 5 ]"
	report
	jq -e '[.processes[].totals.live_blocks] | sort == [100, 600, 700, 900]' "$T/report.json"
	"${AS_HOST[@]}" env SEEP_DIR="$DIR" "$SEEP" ls --prune >"$T/list"
	grep -qx "0 files removed" "$T/list"
	lacks "given back" "$T/list"
	for i in 2 3 5; do echo "kill $(child $i)" >&9; done
	eventually sh -c "[ \$(grep -c gone '$T/out') -eq 5 ]"
	# root does it for a user, too, in a directory that is that user's own
	SEEP_DIR=$DIR "$SEEP" ls --prune >"$T/list"
	grep -qx "3 slots of ended children given back" "$T/list"
	echo leave >&9
	wait "$HOST"
}

@test "a model of who lives: children come and go while several prune, here and in other pid namespaces" {
	setup_namespace
	drop_privileges
	"$PYTHON" "$BATS_TEST_DIRNAME/living_model.py" "$SEEP" "$COLLECTOR" "$HOSTS/brood" "$DIR" "$(full_or 600 15)" "${AS[@]}"
}

@test "a service that has used up its slots: report PID says so, and after ls --prune new children are traced" {
	need jq
	local n last
	drop_privileges
	mkfifo "$T/lines"
	"${AS[@]}" env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$HOSTS/brood" <"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	exec 9>"$T/lines"
	answered ready
	# children that end at once keep their slots: nobody has read them
	echo "use 1030 100" >&9
	answered used
	echo "fork 100" >&9
	answered child
	last=$(child 1)
	complains 3 "${AS[@]}" "$SEEP" report "$last"
	cat "$T/complaint"
	grep -q "all 1024 slots for forked children of its family are taken, and [0-9]* found none; seep ls --prune" "$T/complaint"
	"${AS[@]}" env SEEP_DIR="$DIR" "$SEEP" ls --prune >"$T/list" 2>/dev/null
	tail -n 2 "$T/list"
	grep -qx "1,024 slots of ended children given back" "$T/list"
	# it gets none any more, which is true, and not "try again later"
	complains 3 "${AS[@]}" "$SEEP" report "$last"
	grep -q "it has had no event yet, or it is one of [0-9]* forked children of its family that found no free slot" "$T/complaint"
	echo "fork 300" >&9
	eventually sh -c "[ \$(grep -c child '$T/out') -eq 2 ]"
	"${AS[@]}" "$SEEP" report "$(child 2)" --format json >"$T/report.json"
	jq -e '.processes[0].totals.live_blocks == 300' "$T/report.json"
	# tmpfs: the pages of the dead are gone
	[[ $(stat -c %b "$(echo "$DIR"/brood-"$HOST"-*.seg)") -lt 4000 ]]
	for n in 1 2; do echo "kill $(child $n)" >&9; done
	echo leave >&9
	wait "$HOST"
}
