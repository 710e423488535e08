#!/usr/bin/env bats
# snapshots_of_others_do_not_count - FILE.snapshots beside a recording may be anybody's directory, so only files of the recording's owner are read there.
# threat: if root points seep at a process, file or directory of a hostile user, that user must not be able to make it hang, use memory without bound, read or write other files than it was told to, send a signal, or execute anything; if seep cannot read something completely, it says so
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

mine=64321 theirs=64322 # of nobody

need_users() { [[ $(id -u) -eq 0 ]] || skip "needs root, for files of two users"; }

# a recording in a directory that anybody can write, without snapshots of its own
planted() {
	need_users
	record -q "$HOSTS/snapshots"
	mv "$T/seep.data.snapshots" "$T/true"
	mkdir -m 1777 "$T/everybody" "$T/everybody/seep.data.snapshots"
	chmod 1777 "$T/everybody" "$T/everybody/seep.data.snapshots"
	mv "$T/seep.data" "$T/everybody"
	FILE=$T/everybody/seep.data
}

@test "snapshots of another user are left out and named; those of the owner count" {
	planted
	local file
	for file in "$T/true"/*; do
		install -m 644 -o $theirs "$file" "$FILE.snapshots/planted-${file##*/}"
	done
	"$SEEP" report --format json "$FILE" >"$T/report.json" 2>"$T/err"
	cat "$T/err"
	[[ $(from_report 'len(d["snapshots"])') -eq 0 ]]
	[[ $(grep -c "seep.data.snapshots/planted-.*-1.seep-snap left out: it belongs to uid $theirs, the recording to uid 0" "$T/err") -eq 1 ]]
	[[ $(grep -c 'left out' "$T/err") -eq 3 ]]
	"$SEEP" report --snapshots "$FILE" >"$T/shown" 2>/dev/null
	grep -q '1 moment' "$T/shown"
	cp "$T/true"/*-2.seep-snap "$FILE.snapshots/own.seep-snap"
	"$SEEP" report --format json "$FILE" >"$T/report.json" 2>/dev/null
	[[ $(from_report '[x["number"] for x in d["snapshots"]]') == '[2]' ]]
	# the owner is that of the recording, not who reads
	chown $mine "$FILE" "$FILE.snapshots/own.seep-snap"
	"$SEEP" report --format json "$FILE" >"$T/report.json" 2>/dev/null
	[[ $(from_report '[x["number"] for x in d["snapshots"]]') == '[2]' ]]
	chown $theirs "$FILE"
	"$SEEP" report --format json "$FILE" >"$T/report.json" 2>"$T/err"
	[[ $(from_report '[x["number"] for x in d["snapshots"]]') == '[1, 2, 3]' ]]
	[[ $(grep -c "left out: it belongs to uid $mine, the recording to uid $theirs" "$T/err") -eq 1 ]]
}

@test "every reader of a recording does so: diff, export, view, check" {
	planted
	install -m 644 -o $theirs "$T/true"/*-1.seep-snap "$FILE.snapshots/planted.seep-snap"
	"$SEEP" diff "$FILE" "$FILE" 2>&1 >/dev/null | grep -q 'planted.seep-snap left out'
	"$SEEP" export --format json "$FILE" 2>&1 >"$T/report.json" | grep -q 'planted.seep-snap left out'
	[[ $(from_report 'len(d["snapshots"])') -eq 0 ]]
	"$SEEP" report --format html -o "$T/page.html" "$FILE" 2>&1 | grep -q 'planted.seep-snap left out'
	"$SEEP" check "$FILE" 2>&1 | grep -q 'planted.seep-snap left out'
}

@test "links, pipes and devices there are not opened; thousands of files take one line" {
	planted
	need strace
	local i
	install -m 600 -o $theirs "$T/true"/*-1.seep-snap "$T/elsewhere"
	ln -s "$T/elsewhere" "$FILE.snapshots/link.seep-snap"
	ln -s "$T/true/$(cd "$T/true" && echo *-1.seep-snap)" "$FILE.snapshots/mine.seep-snap"
	mkfifo "$FILE.snapshots/pipe.seep-snap"
	ln -s /dev/ptmx "$FILE.snapshots/device.seep-snap"
	for i in {1..300}; do
		: >"$FILE.snapshots/x$i.seep-snap"
	done
	chown -h $theirs "$FILE.snapshots"/{x*,link*,mine*,device*}
	timeout 20 strace -f -e trace=open,openat -o "$T/trace" \
		"$SEEP" report --format json "$FILE" >"$T/report.json" 2>"$T/err"
	cat "$T/err"
	[[ $(from_report 'len(d["snapshots"])') -eq 0 ]]
	[[ $(grep -c '\.seep-snap"' "$T/trace") -eq 0 ]]
	[[ $(grep -c 'left out' "$T/err") -le 6 ]]
	grep -q "29[0-9] more files in .*seep.data.snapshots left out" "$T/err"
}

@test "root records workers of other users: their snapshots become the recording's" {
	need_users
	setpriv --reuid=$theirs --clear-groups test -x "$HOSTS/snapshots" || skip "nobody cannot come here"
	[[ ! -e /dev/shm/seep-$theirs ]]
	# on the medium of the segments, where a file could be renamed with its owner
	record -q -o "$DIR/run.data" setpriv --reuid=$theirs --regid=$theirs --clear-groups "$HOSTS/snapshots"
	find "/dev/shm/seep-$theirs" -name '*.seep-snap' >"$T/left"
	rm -rf "/dev/shm/seep-$theirs"
	cat "$T/err" "$T/left"
	ls -ln "$DIR/run.data.snapshots"
	[[ $(find "$DIR/run.data.snapshots" -name '*.seep-snap' -uid 0 -perm 600 | wc -l) -eq 3 ]]
	[[ ! -s $T/left ]]
	report "$DIR/run.data"
	[[ $(from_report '[x["number"] for x in d["snapshots"]]') == '[1, 2, 3]' ]]
}

@test "snapshots are not moved into a directory of another user, and record says so" {
	need_users
	mkdir -m 777 "$T/seep.data.snapshots"
	chmod 777 "$T/seep.data.snapshots"
	chown $theirs "$T/seep.data.snapshots"
	record -q "$HOSTS/snapshots"
	cat "$T/err"
	grep -q '^seep: 3 snapshots could not be moved to seep.data.snapshots and were left in' "$T/err"
	[[ -z $(ls -A "$T/seep.data.snapshots") ]]
	[[ $(find "$DIR" -name '*.seep-snap' | wc -l) -eq 3 ]]
}
