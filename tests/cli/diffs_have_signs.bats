#!/usr/bin/env bats
# diffs_have_signs - comparisons of two inputs and of a series of snapshots have signs.
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

setup_file() {
	need jq
	cp "$repo/tests/hosts/tour.c" "$BATS_FILE_TMPDIR/tour.c"
	(cd "$BATS_FILE_TMPDIR" &&
		"${CC:-gcc}" -O0 -g -I"$repo/include" -o tour tour.c &&
		# the same, with other lines and addresses
		{ yes '' | head -n 20; cat tour.c; } >rebuilt.c &&
		"${CC:-gcc}" -O0 -g -I"$repo/include" -o rebuilt rebuilt.c)
	export TOUR=$BATS_FILE_TMPDIR/tour REBUILT=$BATS_FILE_TMPDIR/rebuilt
}

# tour NAME ARGS...: its segment in $DIR/NAME, its snapshots in $DIR/NAME.snaps
tour() {
	local name=$1 program=$TOUR
	shift
	[[ $name != rebuilt* ]] || program=$REBUILT
	mkdir -p "$DIR/$name" "$DIR/$name.snaps"
	chmod 700 "$DIR/$name" "$DIR/$name.snaps"
	LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR/$name SEEP_SNAPSHOT_DIR=$DIR/$name.snaps \
		"$program" "$@"
}

# change FUNCTION JQ: of the sites in $T/diff that FUNCTION allocates
change() {
	jq -c "[.sites[] | select(.frames[0].function == \"$1\") | $2]" "$T/diff"
}

@test "grown, shrunk, new and gone places, by name" {
	tour old 100 10
	tour rebuilt 130 0
	"$SEEP" diff "$DIR/old" "$DIR/rebuilt" --skip-wrappers --format json >"$T/diff"
	[[ $(change cache_put '[.change, .bytes, .blocks]') == '[["grown",1920,30]]' ]]
	[[ $(change open_session '[.change, .bytes, .blocks, .after.live_blocks]') == '[["gone",-220,-10,0]]' ]]
	[[ $(jq -c '[.kind, .metric, .bytes, .blocks, .changes.unchanged]' "$T/diff") == '["diff","live",1700,20,1]' ]]
	# and back: the same with other signs
	"$SEEP" diff "$DIR/rebuilt" "$DIR/old" --skip-wrappers --format json >"$T/diff"
	[[ $(change cache_put '[.change, .bytes]') == '[["shrunk",-1920]]' ]]
	[[ $(change open_session '[.change, .bytes]') == '[["new",220]]' ]]
	[[ $(jq -c '[.old.processes[0].totals.live_bytes + .bytes] == [.new.processes[0].totals.live_bytes]' "$T/diff") == true ]]
}

@test "all metrics, in text too" {
	tour old 100 10
	tour new 130 0
	"$SEEP" diff "$DIR/old" "$DIR/new" --allocs --format json >"$T/diff"
	[[ $(jq '.bytes' "$T/diff") == 1700 ]]
	"$SEEP" diff "$DIR/old" "$DIR/new" >"$T/text"
	grep -qE '^Difference: \+1,700 bytes, \+20 blocks; 0 places new, 1 gone, 1 grown, 0 shrunk, 1 unchanged\.$' "$T/text"
	grep -qE '^ \+89\.7% +\+1,920 +\+30  cache_put' "$T/text"
	grep -qE '^ -10\.3% +-220 +-10  ' "$T/text"
	"$SEEP" diff "$DIR/old" "$DIR/new" --table >"$T/text"
	grep -qE '\+30 +6,400 +8,320 +grown  malloc in cache_put' "$T/text"
	"$SEEP" diff "$DIR/old" "$DIR/old" >"$T/text"
	grep -q '^Nothing has changed\.$' "$T/text"
}

@test "the largest change is first, whichever way; one share in text and JSON" {
	tour old 130 10
	tour new 100 30
	"$SEEP" diff "$DIR/old" "$DIR/new" >"$T/text"
	# what was mended leads, though something else grew
	[[ $(grep -A1 'callers$' "$T/text" | tail -n 1) =~ ^\ +-81\.4%\ +-1,920\ +-30\ \ cache_put ]]
	grep -qE '^ \+18\.6% +\+440 +\+20  open_session' "$T/text"
	"$SEEP" diff "$DIR/old" "$DIR/new" --table --sort blocks >"$T/text"
	[[ $(grep -A1 ' before ' "$T/text" | tail -n 1) =~ ^\ +-60\.0% ]]
	"$SEEP" diff "$DIR/old" "$DIR/new" --top-down >"$T/text"
	grep -qE '^ +-62\.7% +-1,480 +-10  main' "$T/text"
	"$SEEP" diff "$DIR/old" "$DIR/new" --format json >"$T/diff"
	[[ $(jq -c '[.changed_bytes, (.sites | map([.bytes, (.share * 1000 | round)]))]' "$T/diff") == \
		'[2360,[[-1920,-814],[440,186]]]' ]]
}

@test "recordings, snapshots and a running process can be compared" {
	record -q -o one.seep "$TOUR" 100 10
	tour old 100 10
	"$SEEP" diff "$T/one.seep" "$DIR/old" --format json >"$T/diff"
	[[ $(jq -c '[.bytes, .changes.new, .changes.gone]' "$T/diff") == '[0,0,0]' ]]
	"$SEEP" diff "$DIR"/old.snaps/*-2.seep-snap "$DIR/old" --format json >"$T/diff"
	[[ $(jq -c '[.old.processes[0].label, .bytes]' "$T/diff") == '["half",5468]' ]]
	complains 2 "$SEEP" diff "$DIR/old"
	complains 3 "$SEEP" diff "$DIR/old" "$T/none"
	complains 3 "$SEEP" diff "$DIR/old" "$DIR/old" --pid 1
}

@test "snapshots in a row, and two of them compared" {
	tour run 100 10
	"$SEEP" report --snapshots "$DIR/run.snaps" >"$T/text"
	grep -qE ', 4 moments:$' "$T/text"
	grep -qE '^ +2 .* 3,200 +50 +\+3,200 +\+3,200  half$' "$T/text"
	grep -qE '^ +4 .* -5,000 .*  over$' "$T/text"
	[[ $(grep -c 'function that allocates' "$T/text") -eq 3 ]] # the first is empty
	"$SEEP" report --snapshots "$DIR/run.snaps" "$DIR/run" >"$T/text"
	grep -qE ', 5 moments:$' "$T/text"
	grep -qE '^#4, over, after .*:$' "$T/text"
	"$SEEP" diff "$DIR"/run.snaps/*-{3,4}.seep-snap >"$T/text"
	grep -qE '^-100\.0% +-5,000 +-1  main' "$T/text"
	"$SEEP" diff "$DIR"/run.snaps/*-{1,4}.seep-snap >"$T/text"
	grep -qE '^ +\+[0-9.]+% +\+6,400 +\+100  cache_put' "$T/text"
	"$SEEP" report --snapshots "$DIR/run.snaps" --format json >"$T/diff"
	[[ $(jq -c '[.kind, (.processes[0].moments | map([.label, .since, .totals.live_bytes]))]' "$T/diff") == \
		'["snapshots",[["empty",null,0],["half",null,3200],["full",null,13668],["over",null,8668]]]' ]]
}

@test "report takes one INPUT, and growth is not of snapshots" {
	tour run 10 1
	complains 2 "$SEEP" report "$DIR/run" "$DIR/run.snaps"
	complains 2 "$SEEP" report --growth --snapshots "$DIR/run"
	complains 2 "$SEEP" report --growth --peak "$DIR/run"
}

@test "the later moment of a process in the place of OLD is said" {
	tour slow 100 10 300
	"$SEEP" diff "$DIR"/slow.snaps/*-1.seep-snap "$DIR/slow" >"$T/text" 2>"$T/err"
	[[ ! -s $T/err ]]
	"$SEEP" diff "$DIR/slow" "$DIR"/slow.snaps/*-1.seep-snap >"$T/text" 2>"$T/err"
	grep -q 'diff: the old input is later than the new one' "$T/err"
	"$SEEP" export "$DIR"/slow.snaps/*-1.seep-snap --since "$DIR/slow" --format collapsed >"$T/text" 2>"$T/err"
	grep -q 'export: the old input is later' "$T/err"
}
