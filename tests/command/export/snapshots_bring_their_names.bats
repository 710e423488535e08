#!/usr/bin/env bats
# snapshots_bring_their_names - segments and snapshots can be exported with names, as one file.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/leaks.bash

# stacks INPUT: bytes and functions, without the cache of names
stacks() {
	"$SEEP" report "$@" --no-cache --format json |
		jq -c '[.processes[].sites[] | [.live_bytes, .api, [.frames[] | [.function, .file, .line]]]] | sort'
}

# The program as it was is gone; another one has its place.
upgrade() {
	mv "$T/$1" "$T/$1.gone"
	cp /bin/true "$T/$1"
}

@test "seep snapshot --names: the same after an upgrade" {
	leaky app
	serve app add copy wait add wait
	cd "$T"
	"$SEEP" snapshot "$PID" --names -o one.snap --label here
	"$SEEP" snapshot "$PID" -o plain.snap
	"$SEEP" snapshot "$PID" --names >"$T/said"
	[[ $(<"$T/said") == "app-$PID-1.seep-snap" && $(stat -c %a one.snap) == 600 ]]
	next
	ready 2
	"$SEEP" snapshot "$PID" --names -o two.snap
	stacks plain.snap >before
	next
	wait "$recorder"
	upgrade app
	stacks one.snap >after
	cmp before after
	grep -q '"add"' after
	grep -q 'app.c' after
	[[ $(stacks plain.snap) != *'"add"'* ]]
	# and it is a snapshot as any other
	"$SEEP" diff one.snap two.snap >said
	grep -qE '\+100 +.*add' said
	grep -q 'here' <("$SEEP" report --snapshots one.snap two.snap)
	[[ $("$SEEP" report one.snap --format json | jq -c '[.processes[] | [.end, .snapshot]]') == '[["running",true]]' ]]
	run "$SEEP" snapshot $$ --names -o other.snap
	[[ $status -eq 3 && ! -e other.snap ]]
}

@test "export --format seep: segments, a directory, a process, a recording" {
	leaky app
	# one file, with the child in a slot of it
	SEEP_CHILD_FILES=0 traced_well "$T/app" add copy child
	local segment
	segment=$(echo "$DIR"/*.seg)
	stacks "$DIR" >"$T/before"
	"$SEEP" export "$segment" --format seep -o "$T/file.data"
	"$SEEP" export "$DIR" --format seep -o "$T/folder.data"
	(cd "$T" && SEEP_DIR=$DIR "$SEEP" record -q --no-symbols -o bare.data ./app add copy twice)
	stacks "$T/bare.data" >"$T/recorded"
	"$SEEP" export "$T/bare.data" --format seep -o "$T/named.data"
	"$SEEP" export "$T/named.data" --format seep -o "$T/again.data"
	upgrade app
	for name in file folder; do
		stacks "$T/$name.data" | diff - "$T/before"
	done
	for name in named again; do
		stacks "$T/$name.data" | diff - "$T/recorded"
	done
	grep -q '"add"' "$T/recorded"
	# all else of the recording is there, its time line too
	diff <("$SEEP" report "$T/bare.data" --format json | jq 'del(.processes[].sites, .notes)') \
		<("$SEEP" report "$T/named.data" --format json | jq 'del(.processes[].sites, .notes)')
}

@test "export --format seep: one process, and what cannot be" {
	leaky app
	serve app add wait
	cd "$T"
	"$SEEP" export "$PID" --format seep -o '%e-%p-%n.data' >said
	[[ $(<said) == "app-$PID-1.data" ]]
	complains 3 "$SEEP" export "$PID" --format seep -o "app-$PID-1.data"
	"$SEEP" export "$PID" --format seep -o "app-$PID-1.data" --force
	complains 2 "$SEEP" export "$PID" --format seep
	complains 2 "$SEEP" export "$PID" --format seep -o x.data --include add
	complains 3 "$SEEP" export "$T/steps.none" --format seep -o x.data
	[[ ! -e x.data && -z $(find . -name 'x.data*') ]]
	next
	wait "$recorder"
	[[ $(stacks "app-$PID-1.data") == *'"add"'* ]]
	(cd "$T" && SEEP_DIR=$DIR "$SEEP" record -q -o tree.data ./app add child add)
	child=$("$SEEP" report tree.data --format json | jq '.processes[1].pid')
	"$SEEP" export tree.data --format seep --pid "$child" -o child.data
	[[ $("$SEEP" report child.data --format json | jq -c '[.processes[].pid]') == "[$child]" ]]
	head -c 300 tree.data >cut.data
	complains 3 "$SEEP" export cut.data --format seep -o x.data
	[[ ! -e x.data ]]
}
