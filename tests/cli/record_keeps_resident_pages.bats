#!/usr/bin/env bats
# record_keeps_resident_pages.bats - record --rss keeps which sites hold resident pages, over time.
# SPDX-License-Identifier: Apache-2.0
load ../lib/verdicts.bash

# now FILTER: what the recording says, while it is written or after it
now() {
	"$SEEP" report --format json "$T/r" >"$T/now.json" 2>/dev/null && [[ -s $T/now.json ]] || return 1
	jq -e ".processes[0] | $1" "$T/now.json" >/dev/null
}

# recorded OPTION...: holds_grow below seep record; it ends when descriptor 9 is closed
recorded() {
	rm -f "$T/lines" "$T/out"
	mkfifo "$T/lines"
	env SEEP_DIR="$DIR" "$SEEP" record -q "$@" -o "$T/r" "$HOSTS/holds_grow" <"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
	RECORD=$!
	PIDS+=("$RECORD")
	exec 9>"$T/lines"
	answered ready
}

@test "readings show that held pages grow while live bytes fall" {
	recorded --rss=1s
	eventually now '.rss.course | length > 0'
	echo free >&9
	eventually now '.rss.classes.partly_free > 20000000'
	exec 9>&-
	wait "$RECORD"
	[[ ! -s $T/err ]]
	now '.rss | .split and .rss_bytes > 20000000 and .classes.living < 1000000 and
		(.course | length >= 2 and .[0].live_bytes > 20000000 and .[-1].live_bytes < 1000000)'
	now '[.sites[] | select(.frames[0].function == "grow_note") | .holds_bytes] | add > 20000000'
	"$SEEP" report --rss "$T/r" >"$T/text"
	cat "$T/text"
	grep -q '^[0-9]* readings:$' "$T/text"
	"$SEEP" report --growth=0..100% --sort holds "$T/r" >"$T/growth"
	cat "$T/growth"
	grep -q '+2[0-9],[0-9,]* .*grow_note' "$T/growth"
	# a copy with names has all readings
	"$SEEP" export --format seep -o "$T/copy" "$T/r"
	"$SEEP" report --format json "$T/copy" | jq -e '.processes[0].rss.course | length >= 2' >/dev/null
}

@test "a recording without readings has none, and says so" {
	recorded
	exec 9>&-
	wait "$RECORD"
	now 'has("rss") | not'
	run "$SEEP" report --rss "$T/r"
	[[ $status -eq 2 && ${#lines[@]} -eq 1 && $output == *"no reading of pages"* ]]
}

@test "chapters have readings of their own, and are one course together" {
	rm -f "$T/lines" "$T/out"
	mkfifo "$T/lines"
	env SEEP_DIR="$DIR" "$SEEP" record -q --rss=1s --rotate 10s -o "$T/r" "$HOSTS/holds_grow" <"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
	RECORD=$!
	PIDS+=("$RECORD")
	exec 9>"$T/lines"
	answered ready
	eventually now '.rss.course | length > 0'
	exec 9>&-
	wait "$RECORD"
	now '.rss.course | length > 0'
}

@test "wrong times are refused in one line" {
	run "$SEEP" record --rss=1ms true
	[[ $status -eq 2 && ${#lines[@]} -eq 1 ]]
	run "$SEEP" record --rss=x true
	[[ $status -eq 2 && ${#lines[@]} -eq 1 ]]
}
