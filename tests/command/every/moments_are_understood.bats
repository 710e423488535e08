#!/usr/bin/env bats
# moments_are_understood - report, diff and view take moments as seconds, shares, ages and dates.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

# complains CODE PLACE COMMAND...: one line on stderr, with this text, and CODE
complains() {
	local code=$1 text=$2 answer=0
	shift 2
	"$@" >"$T/said" 2>"$T/complaint" || answer=$?
	[[ $answer -eq $code ]]
	[[ $(wc -l <"$T/complaint") -eq 1 ]]
	grep -F -- "$text" "$T/complaint"
}

# recorded: $T/out.d, chapters of three seconds; $START, $END in UTC
recorded() {
	START=$(date -u +%Y-%m-%dT%H:%M:%SZ)
	record -q --rotate 1s --interval 50ms -o out.d "$HOSTS/grows" 3000 3000
	[[ $status -eq 0 ]]
	END=$(date -u +%Y-%m-%dT%H:%M:%SZ)
}

# blocks: how many more blocks are live, of a text
blocks() { sed -nE 's/^ *\+[0-9.]+% +\+[0-9,]+ +\+([0-9,]+) .*/\1/p' "$1" | tr -d , | awk '{ sum += $1 } END { print sum + 0 }'; }

@test "ages and dates name the same moments as seconds" {
	recorded
	"$SEEP" report "$T/out.d" --growth 0.. >"$T/all"
	"$SEEP" report "$T/out.d" --growth "$START.." >"$T/date"
	"$SEEP" report "$T/out.d" --growth "$START..now" >"$T/now"
	"$SEEP" report "$T/out.d" --growth -2h.. >"$T/ago"
	"$SEEP" report "$T/out.d" --growth=-1d..-0s >"$T/long"
	for other in date now ago long; do
		diff <(grep % "$T/all") <(grep % "$T/$other")
	done
	# a second of it is a part of it
	"$SEEP" report "$T/out.d" --growth 1..2 >"$T/part"
	[[ $(blocks "$T/part") -gt 300 && $(blocks "$T/part") -lt 2500 ]]
	TZ=XXX-5 "$SEEP" report "$T/out.d" --growth "$(TZ=XXX-5 date -d "$START" +%Y-%m-%dT%H:%M:%S).." >"$T/zone"
	diff <(grep % "$T/all") <(grep % "$T/zone")
}

@test "diff and view compare two moments of one input" {
	recorded
	"$SEEP" report "$T/out.d" --growth 1..2 >"$T/report"
	"$SEEP" diff --growth 1..2 "$T/out.d" >"$T/diff"
	[[ $(blocks "$T/diff") -eq $(blocks "$T/report") ]]
	grep -E '^OLD: .*out.d at 20..-..-..T' "$T/diff"
	"$SEEP" diff --growth "$START..$END" --format json "$T/out.d" >"$T/diff.json"
	grep -q '"kind":"diff"' "$T/diff.json"
	"$SEEP" diff --growth -1h.. --format html -o "$T/diff.html" "$T/out.d"
	"$SEEP" view --growth 1..2 --no-open -o "$T/view.html" "$T/out.d"
	[[ -s $T/view.html && -s $T/diff.html ]]
	# a recording will do
	record -q -o one.data "$HOSTS/grows" 500 500
	"$SEEP" diff --growth -1h..now "$T/one.data" >"$T/diff"
	[[ $(blocks "$T/diff") -ge 500 ]]
}
