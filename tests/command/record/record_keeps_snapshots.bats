#!/usr/bin/env bats
# record_keeps_snapshots - the snapshots of a run are beside its recording, and ls lists them.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

@test "snapshots are moved to FILE.snapshots, and report finds them there" {
	record "$HOSTS/snapshots"
	[[ $status -eq 0 ]]
	grep -qx 'seep: snapshots: 3 in seep.data.snapshots' "$T/err"
	ls -la "$T/seep.data.snapshots"
	[[ $(find "$T/seep.data.snapshots" -name '*.seep-snap' -perm 600 | wc -l) -eq 3 ]]
	[[ $(stat -c %a "$T/seep.data.snapshots") == 700 ]]
	[[ -z $(ls -A "$DIR") ]]
	report "$T/seep.data"
	[[ $(from_report 'len(p)') -eq 1 ]]
	[[ $(from_report '[x["number"] for x in d["snapshots"]]') == '[1, 2, 3]' ]]
	[[ $(from_report '[m["label"] for m in p[0]["marks"]]') == \
		"['one ä mark', 'first', 'second, a label that is too long for a mark', 'third']" ]]
	"$SEEP" report --snapshots "$T/seep.data" | tee "$T/shown"
	grep -q '4 moments' "$T/shown"
}

@test "a second run adds to them and mixes nothing up; -q is quiet" {
	record -q "$HOSTS/snapshots"
	[[ ! -s $T/err ]]
	record -q "$HOSTS/cpp_api"
	[[ $(find "$T/seep.data.snapshots" -name '*.seep-snap' | wc -l) -eq 5 ]]
	report "$T/seep.data"
	[[ $(from_report 'len(d["snapshots"])') -eq 2 ]]
}

@test "without snapshots there is no such folder; /dev/null leaves them where they are" {
	record -q "$HOSTS/family"
	[[ ! -e $T/seep.data.snapshots ]]
	record -q -o /dev/null "$HOSTS/snapshots"
	[[ $(find "$DIR" -name '*.seep-snap' | wc -l) -eq 3 ]]
	[[ ! -e /dev/null.snapshots ]]
}

@test "if the directory cannot be made, snapshots stay where they are and record says so" {
	touch "$T/seep.data.snapshots"
	record -q "$HOSTS/snapshots"
	[[ $status -eq 0 ]]
	cat "$T/err"
	grep -q '^seep: 3 snapshots could not be moved to seep.data.snapshots and were left in' "$T/err"
	[[ $(find "$DIR" -name '*.seep-snap' | wc -l) -eq 3 ]]
}

@test "ls shows snapshots as such, --prune keeps them and removes half-written ones" {
	traced_well "$HOSTS/snapshots"
	touch -d '2 minutes ago' "$DIR/.x-1-00000000-9.seep-snap.tmp"
	touch "$DIR/.x-1-00000000-8.seep-snap.tmp"
	SEEP_DIR=$DIR "$SEEP" ls | tee "$T/list"
	[[ $(grep -c ' snapshot ' "$T/list") -eq 3 ]]
	grep -q ' snapshot .*599,500 .*#1 first: ' "$T/list"
	SEEP_DIR=$DIR "$SEEP" ls --prune | tee "$T/list"
	grep -q '2 files removed' "$T/list"
	[[ $(find "$DIR" -name '*.seep-snap' | wc -l) -eq 3 ]]
	[[ $(find "$DIR" -name '*.tmp' | wc -l) -eq 1 ]]
	SEEP_DIR=$DIR "$SEEP" ls
}

@test "marks are in the time line, also where the recorder is killed" {
	local i host
	record_behind -q "$HOSTS/grows" 1000 30000
	appears "$T/seep.data"
	for ((i = 0; i < 100; i++)); do
		report "$T/seep.data" 2>/dev/null || [[ $? -eq 3 ]] # it grows
		[[ $(from_report 'len(p[0]["marks"])') -eq 0 ]] || break
		sleep 0.2
	done
	host=$(from_report 'p[0]["pid"]')
	kill -KILL "$recorder" "$host"
	report "$T/seep.data" || [[ $? -eq 3 ]]
	[[ $(from_report '[(m["kind"], m["label"]) for m in p[0]["marks"]]') == "[(2, 'a tenth')]" ]]
}
