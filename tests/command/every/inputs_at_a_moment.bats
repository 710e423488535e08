#!/usr/bin/env bats
# inputs_at_a_moment - INPUT@MOMENT is a recording at its last reading at or before a moment.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

# complains CODE TEXT COMMAND...: one line on stderr, with this text, and CODE
complains() {
	local code=$1 text=$2 answer=0
	shift 2
	"$@" >"$T/said" 2>"$T/complaint" || answer=$?
	[[ $answer -eq $code ]]
	[[ $(wc -l <"$T/complaint") -eq 1 ]]
	grep -F -- "$text" "$T/complaint"
}

# A recording with three readings: after 0.5 s, 1.3 s and 1.6 s.
prepared() {
	export TZ=UTC
	cp "$repo/tests/golden/inputs/old.seep" "$T/app.seep"
	cd "$T" || return
}

live() { "$SEEP" report "$1" --format json 2>/dev/null | jq -c '[.processes[0].totals | .live_bytes, .live_blocks]'; }

@test "the last reading at or before the moment counts, and the title names it" {
	prepared
	"$SEEP" report app.seep@1.2 >text 2>said
	[[ $(head -n 1 text) =~ ^app\.seep\ at\ 20[0-9-]+T[0-9:]+\+0000,\ after\ (.*):$ ]]
	local when=${BASH_REMATCH[1]}
	grep -qF ", after $when" said
	grep -q ' at that moment\. It had made ' text
	[[ $(live app.seep@1.2) == "$(live "app.seep@$((${when% ms} + 1))ms")" ]]
	[[ $(live app.seep@1.2) != "$(live app.seep@100%)" ]]
	# beyond the end it is the last one
	[[ $(live app.seep@1h) == "$(live app.seep@now)" && $(live app.seep@now) == "$(live app.seep)" ]]
	[[ $("$SEEP" report app.seep@1.2 --format json 2>said | jq -r .reading) == "$(head -n 1 text | sed 's/:$//')" ]]
	"$SEEP" diff app.seep@1.2 app.seep@100% >text 2>said
	grep -qE '^OLD: app\.seep at 20.*, after ' text
	grep -qE '^NEW: app\.seep at 20.*, after 1\.6 s' text
	# the short form has the same figures
	"$SEEP" diff app.seep --growth 1.2..100% >short
	diff <(grep % text) <(grep % short)
}

@test "every command that takes a recording takes one at a moment; a directory of chapters, too" {
	prepared
	"$SEEP" export app.seep@1.2 --format csv -o one.csv
	"$SEEP" export app.seep --since app.seep@1.2 --format collapsed -o since.txt
	"$SEEP" view --no-open -o page.html app.seep@1.2
	"$SEEP" report --format html -o pair.html app.seep@1.2
	[[ -s one.csv && -s since.txt && -s page.html && -s pair.html ]]
	[[ $("$SEEP" check app.seep@1.2 --format json 2>said | jq -r .exit_status) -eq 1 ]]
	record -q --rotate 1s --interval 50ms -o out.d "$HOSTS/grows" 1500 1500
	[[ $status -eq 0 ]]
	[[ $(live out.d@100%) == "$(live out.d)" && $(live out.d@30%) != "$(live out.d)" ]]
	[[ $(live "out.d@$(date -u +%Y-%m-%dT%H:%M:%SZ -d '1 hour')") == "$(live out.d)" ]]
}

@test "a file of that name is meant, and the last @ counts" {
	prepared
	cp app.seep app.seep@1.2
	[[ $(live app.seep@1.2) == "$(live app.seep)" ]]
	"$SEEP" report app.seep@1.2 >text 2>said
	[[ ! -s said ]]
	"$SEEP" report app.seep@1.2@1.2 >text 2>said
	grep -q '^app\.seep@1\.2 at 20' text
}

@test "what a reading lacks is left out, and said" {
	prepared
	"$SEEP" report app.seep@1.2 >text 2>said
	[[ $(wc -l <said) -eq 1 ]]
	grep -q 'a reading has no peaks, ages, verdicts and resident memory; they are left out$' said
	[[ $(<text) != *peak* ]]
	for options in --peak --temporary '--older-than 1s' --rss '--at 1' --lifetimes --mappings --snapshots; do
		# shellcheck disable=SC2086 # words
		complains 2 'and nothing else' "$SEEP" report app.seep@1.2 $options
	done
	complains 2 'and nothing else' "$SEEP" report app.seep@1.2 --growth 0..
	complains 2 'and nothing else' "$SEEP" diff --peak app.seep@1.2 app.seep
	complains 2 'and nothing else' "$SEEP" view --peak --no-open app.seep@1.2
	complains 2 'and nothing else' "$SEEP" export app.seep@1.2 --format seep -o copy.seep
	complains 2 'and nothing else' "$SEEP" leaks app.seep@1.2
}

@test "running processes, segments, snapshots and logs refuse in one line" {
	prepared
	complains 2 'a process that runs has one state' "$SEEP" report "$$@5s"
	traced_well "$HOSTS/page"
	SEGMENT=$(find "$DIR" -name "*.seg")
	complains 2 'has one state' "$SEEP" report "$SEGMENT@5s"
	complains 2 'has one state' "$SEEP" report "$DIR@5s"
	for command in 'dump' 'who 0x10' 'replay'; do
		# shellcheck disable=SC2086 # words
		complains 2 'no events' "$SEEP" $command app.seep@5s
	done
}

@test "a moment that means nothing or is too early is refused, with its place" {
	prepared
	complains 2 'at character 3: a unit' "$SEEP" report app.seep@10x
	complains 2 'at character 1: a number' "$SEEP" report app.seep@
	complains 2 'the first reading is later, after ' "$SEEP" report app.seep@0
	complains 2 'the first reading is later, after ' "$SEEP" report app.seep@2000-01-01
	complains 3 'no such file or directory' "$SEEP" report none.seep@10s
}
