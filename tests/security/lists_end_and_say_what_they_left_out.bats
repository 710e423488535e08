#!/usr/bin/env bats
# lists_end_and_say_what_they_left_out - lists of hundreds of full segments and of overfull directories are bounded, and say what they leave out.
# threat: if root points seep at a process, file or directory of a hostile user, that user must not be able to make it hang or use memory without bound; if seep cannot read something completely, it says so
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

# crowd NAMES [other]: mapped by a process of another user, where we are root
crowd() {
	drop_privileges
	[[ $(id -u) -ne 0 ]] || chmod 755 "$DIR"
	"${AS[@]}" env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$HOSTS/crowd" "$DIR" "$@" >"$T/out" 2>"$T/err" 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	answered ready
}

# seconds COMMAND...: how long it took, in $took, in tenths
seconds() {
	local begin
	begin=$(date +%s%N)
	"$@" >"$T/said" 2>"$T/warned"
	took=$((($(date +%s%N) - begin) / 100000000))
	echo "$* took $took tenths of a second"
}

@test "300 segments with 2,048 children each: ls and TAB end in time, and say what they have not read" {
	crowd 300
	export SEEP_DIR=$DIR
	seconds timeout 20 "$SEEP" ls --pids
	((took < 30))
	grep -qx "$HOST	crowd" "$T/said"
	grep -Eq "[0-9,]+ more files and [0-9,]+ more forked children were not read, because the list takes 0.5 s at most" "$T/warned"
	seconds timeout 30 "$SEEP" ls
	((took < 120))
	grep -q " running .*crowd" "$T/said"
	grep -Eq "[0-9]{2,3} more files and [0-9,]+ more forked children were not read, because the list takes 5 s at most" "$T/warned"
}

@test "thousands of processes that say they are one: a report of them takes no time that grows with their square" {
	crowd 8
	seconds timeout 60 "$SEEP" report "$DIR"
	((took < 80))
	[[ $(grep -c "crowd (pid $HOST)\|^ *$HOST " "$T/said") -gt 1000 ]]
}

@test "whose segment it is, where it is not ours" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	crowd 1
	SEEP_DIR=$DIR "$SEEP" ls >"$T/list"
	grep -q "user nobody: $DIR/crowd-$HOST-0.seg" "$T/list"
	cp "$DIR/crowd-$HOST-0.seg" "$T/mine.seg"
	mkdir -m 700 "$T/own"
	mv "$T/mine.seg" "$T/own"
	SEEP_DIR=$T/own "$SEEP" ls >"$T/list"
	grep -q "^ *$T/own/mine.seg" "$T/list"
	! grep user "$T/list" || false
}

@test "a directory with more files than are kept: the report says so, and so do JSON and check" {
	LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR "$HOSTS/twins" >/dev/null
	mkdir "$DIR/many"
	"$PYTHON" - "$DIR/many" <<-'END'
		import os, sys
		os.chdir(sys.argv[1])
		os.close(os.open("x", os.O_CREAT | os.O_WRONLY))
		for i in range(65536 + 9):
		    os.link("x", "x%d" % i)
	END
	mv "$DIR"/*.seg "$DIR/many/a.seg" # the newest come first on tmpfs
	status=0
	"$SEEP" report "$DIR/many" --format json >"$T/json" 2>"$T/warned" || status=$?
	[[ $status -eq 3 ]]
	grep -q '"complete":false' "$T/json"
	grep -Eq '"lost":\{"processes":0,"files":[1-9][0-9]*,' "$T/json"
	grep -q "more files not opened: the directory has more than 65,536" "$T/warned"
	full || return 0
	status=0
	"$SEEP" check "$DIR/many" >"$T/said" 2>&1 || status=$?
	[[ $status -eq 3 ]]
}

@test "devices and FIFOs are not even opened" {
	local file
	need strace
	mkfifo "$T/fifo.seg"
	for file in /dev/ptmx /dev/tty /dev/zero "$T/fifo.seg"; do
		[[ -e $file ]] || continue
		timeout 10 strace -f -e trace=open,openat -o "$T/calls" "$SEEP" report "$file" >"$T/said" 2>&1 || true
		grep -q "$file" "$T/said"
		grep -q "\"$file\"" "$T/calls"
		! grep "\"$file\"" "$T/calls" | grep -v O_PATH || false
	done
	mkdir -m 700 "$T/dir"
	mv "$T/fifo.seg" "$T/dir"
	SEEP_DIR=$T/dir timeout 10 "$SEEP" ls
	SEEP_DIR=$T/dir timeout 10 "$SEEP" ls --pids
	timeout 10 "$SEEP" report "$T/dir" >"$T/said" 2>&1 || [[ $? -ne 124 ]]
}
