#!/usr/bin/env bats
# reports_from_events - report --at, diff --at, --lifetimes and --within say what the events of a log say.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/host.bash

logs() { SEEP_DIR=$DIR "$SEEP" record -q --log -o "$1" -- "${@:2}" >"$T/out" 2>"$T/err"; }

events() { "$SEEP" dump "$1" --format jsonl --no-symbols >"$T/dump"; }

moments() { "$PYTHON" "$LIB/moments.py" "$@"; }

# at FILE MS|100%: the report of this moment in $T/at.json
at() { "$SEEP" report "$1" --no-symbols --format json --at "$2" >"$T/at.json"; }

# times FILE: five times in ms, from the first event to the last
times() {
	"$PYTHON" - "$T/dump" <<-'END'
		import json, sys
		last = max(json.loads(line)["time_ms"] for line in open(sys.argv[1]))
		print(*sorted({last * k // 4 // 10 * 10 for k in range(5)}))
	END
}

# at_all FILE: reports of several moments against the events
at_all() {
	local ms
	events "$1"
	for ms in $(times); do
		at "$1" "${ms}ms"
		moments at "$T/dump" "$T/at.json" "$ms"
	done
	at "$1" 100%
	moments at "$T/dump" "$T/at.json" all
}

@test "between the phases of a program: what the program itself holds" {
	logs "$T/r.seep" "$HOSTS/moments" 3
	"$SEEP" dump "$T/r.seep" --format jsonl >"$T/dump"
	moments phases "$T/dump" "$T/out" "$SEEP" "$T/r.seep"
}

@test "eight threads that free and realloc each other's blocks: every moment, the end, lifetimes, --within" {
	local n
	logs "$T/r.seep" "$HOSTS/threads" "$(full_or 100000 3000)"
	at_all "$T/r.seep"
	# the end by the log is the end by the counters
	"$SEEP" report "$T/r.seep" --no-symbols --format json |
		jq -S '[.processes[].sites[] | {id, live_blocks, live_bytes, allocations, frees}]' >"$T/counted"
	jq -S '[.processes[].sites[] | {id, live_blocks, live_bytes, allocations, frees}]' "$T/at.json" >"$T/logged"
	diff "$T/counted" "$T/logged"
	"$SEEP" report "$T/r.seep" --no-symbols --lifetimes --format json >"$T/lives.json"
	moments lifetimes "$T/dump" "$T/lives.json"
	for n in 0 2; do
		"$SEEP" report "$T/r.seep" --no-symbols --temporary --within "$n" --format json >"$T/within.json"
		moments within "$n" "$T/dump" "$T/within.json"
	done
}

@test "forked children, recorded and in a directory" {
	logs "$T/r.seep" "$HOSTS/many_children" 10 200 300 100 exit
	at_all "$T/r.seep"
	[[ $(jq '[.processes[] | select(.log)] | length' "$T/at.json") -eq 11 ]]
	# nobody knows what the peaks were by then
	"$SEEP" report "$T/r.seep" --at 100% | awk '/live bytes +peak bytes/ { rows = 1; next } rows && NF == 0 { exit } rows' >"$T/rows"
	[[ $(wc -l <"$T/rows") -gt 1 ]]
	! awk '$5 != "-"' "$T/rows" | grep . || false
	SEEP_LOG=1 traced_well "$HOSTS/many_children" 10 200 300 100 exit
	at_all "$DIR"
}

@test "the table of lifetimes fits the terminal, if need be without histogram and allocations" {
	local columns
	logs "$T/r.seep" "$HOSTS/threads" 3000
	for columns in 60 80 120; do
		COLUMNS=$columns "$SEEP" report "$T/r.seep" --lifetimes --color=never >"$T/text"
		[[ $(LC_ALL=C.UTF-8 wc -L <"$T/text") -le $columns ]] || { cat "$T/text" && false; }
		[[ $(grep -c 'allocations apart' "$T/text") -eq $((columns >= 80)) ]]
		[[ $(grep -c '10 ms, x2' "$T/text") -eq $((columns >= 80)) ]]
	done
	# as long as --table, which has its figures on a narrow one, too
	COLUMNS=40 "$SEEP" report "$T/r.seep" --lifetimes --threshold 20 --color=never >"$T/text"
	grep -q 'blocks freed in [2-9] more sites' "$T/text"
	[[ $(LC_ALL=C.UTF-8 wc -L <"$T/text") -le 50 ]] || { cat "$T/text" && false; }
	"$SEEP" report "$T/r.seep" --lifetimes | grep -q 'allocations apart *10 ms, x2 *site  where'
}

@test "lifetimes that are known by construction" {
	local f='[.processes[0].sites[] | select(any(.frames[]; .function == $name)) | .lifetimes]'
	life() { jq -e --arg name "$1" "$f | $2" "$T/lives.json" >/dev/null || { echo "$1: $2"; jq --arg name "$1" "$f" "$T/lives.json"; return 1; }; }
	logs "$T/r.seep" "$HOSTS/known_lives" 500 300
	"$SEEP" report "$T/r.seep" --lifetimes --format json >"$T/lives.json"
	events "$T/r.seep"
	moments lifetimes "$T/dump" "$T/lives.json"
	life at_once '.[0].allocations_between == {quartiles: [0, 0, 0], counts: [500]}'
	life after_three '.[0].allocations_between == {quartiles: [3, 3, 3], counts: [0, 0, 500]}'
	life filler 'map(.allocations_between.quartiles[1]) | sort == [0, 1, 2]'
	life passed_on '.[0] | .freed == 500 and .freed_by_other_threads == 500 and .ms.quartiles[0] >= 270'
	life kept '.[0].freed == 0 and .[0].ms == {quartiles: null, counts: []}'
	life grown 'map(.freed) | add == 500'
	life grown 'map(.resized) | add == 1000'
	life old '.[0].freed == 1 and .[0].ms.quartiles[1] >= 270'
	"$SEEP" report "$T/r.seep" --lifetimes --include at_once >"$T/text"
	grep -q 'No event is missing in its event log' "$T/text"
	grep -Eq '^ +500 +0 .* 0, 0, 0 .* malloc in at_once ' "$T/text"
	"$SEEP" report "$T/r.seep" --temporary --within 0 --table --include '^(at_once|after_three)$' >"$T/text"
	grep -q 'freed before its next allocation' "$T/text"
	grep -Eq '100\.0% +50,000 +500 .* at_once ' "$T/text"
	"$SEEP" report "$T/r.seep" --temporary --within 3 --include after_three >"$T/text"
	grep -q 'at most 3 allocations in between' "$T/text"
	grep -Eq '32,000 +500 ' "$T/text"
	id=$("$SEEP" report "$T/r.seep" --lifetimes --format json |
		jq '.processes[0].sites[] | select(any(.frames[]; .function == "passed_on")) | .id')
	"$SEEP" report "$T/r.seep" --lifetimes --site "$id" >"$T/text"
	grep -q '^500 blocks freed by another thread' "$T/text"
}

@test "tree, table and filters of a moment, and the difference of two" {
	logs "$T/r.seep" "$HOSTS/known_lives" 500 400
	"$SEEP" report "$T/r.seep" --at 200ms >"$T/tree"
	grep -q 'had run for [12]00 ms at that moment. It had made' "$T/tree"
	grep -Eq ' 24,000 +500  passed_on ' "$T/tree"
	"$SEEP" report "$T/r.seep" --at 0.2 --table --sort blocks --include kept >"$T/table"
	grep -Eq '100\.0% +16,000 +500 ' "$T/table"
	"$SEEP" report "$T/r.seep" --at 50% --allocs --sort calls >"$T/calls"
	grep -q ' grown ' "$T/calls"
	"$SEEP" report "$T/r.seep" --at 200ms --format html -o "$T/page.html"
	"$SEEP" diff "$T/r.seep" --at 200ms --at 100% --table >"$T/diff"
	grep -Eq '\-24,000 +-500 .* gone .*passed_on' "$T/diff"
	grep -Eq '\-500 +-1 .* gone .*old' "$T/diff"
	[[ $(grep -c kept "$T/diff") -eq 0 ]]
	"$SEEP" diff "$T/r.seep" --at 100% --at 200ms --format json |
		jq -e '[.sites[] | select(any(.frames[]; .function == "passed_on"))] | length == 1'
}

@test "a moment has no verdict: looks are of the end" {
	SEEP_DIR=$DIR "$SEEP" record -q --log --leaks -o "$T/r.seep" -- "$HOSTS/moments" 3 >"$T/out"
	"$SEEP" report "$T/r.seep" | grep -Eq '^(No leak|LEAK)'
	"$SEEP" report "$T/r.seep" --at 0.1 >"$T/at"
	[[ $(grep -Ec '^(No leak|LEAK|Not judged)' "$T/at") -eq 0 ]]
	grep -q 'at that moment' "$T/at"
}

@test "an index by time: entries before the moment are not read, and the answer is the same" {
	local late base
	base=$T/r.seep
	logs "$base" "$HOSTS/indexed" 10000 3 1050
	"$PYTHON" "$LIB/logentries.py" list "$base" >"$T/list"
	[[ $(grep -c '^index' "$T/list") -ge 1 ]]
	late=$(awk '$1 == "log" && $4 > last {last = $4} END {print last - 10}' "$T/list")
	"$PYTHON" "$LIB/logentries.py" without "$base" "$T/without"
	[[ $("$PYTHON" "$LIB/logentries.py" damage "$base" "$T/damaged" "$late") -ge 1 ]]
	at "$base" "${late}ms"
	cp "$T/at.json" "$T/with.json"
	at "$T/without" "${late}ms"
	diff "$T/with.json" "$T/at.json"
	at "$T/damaged" "${late}ms"
	diff "$T/with.json" "$T/at.json"
	events "$base"
	moments at "$T/dump" "$T/with.json" "$late"
	"$SEEP" dump "$base" --no-symbols --from "${late}ms" >"$T/from"
	"$SEEP" dump "$T/without" --no-symbols --from "${late}ms" | diff "$T/from" -
	"$SEEP" dump "$T/damaged" --no-symbols --from "${late}ms" | diff "$T/from" -
	[[ $(wc -l <"$T/from") -gt 1 ]]
	grep -q ' free ' "$T/from"
	# who reads everything notices the damage
	run "$SEEP" report "$T/damaged" --lifetimes
	[[ $status -eq 3 && $output == *"a part of the event log is missing or damaged"* ]]
	# an index that is not that of its entry is not used, and one that lies is noticed
	"$PYTHON" "$LIB/logentries.py" swap "$base" "$T/swapped"
	at "$T/swapped" "${late}ms"
	jq 'del(.notes)' "$T/at.json" | diff <(jq 'del(.notes)' "$T/with.json") -
	"$PYTHON" "$LIB/logentries.py" lie "$base" "$T/lies"
	run "$SEEP" report "$T/lies" --no-symbols --at 0ms
	[[ $status -eq 3 && $output == *"does not fit its events"* ]]
}

@test "events that were lost are named in the first paragraph" {
	SEEP_LOG=1 SEEP_LOG_POOL=1MiB traced_well "$HOSTS/threads" 20000
	"$SEEP" report "$DIR" --at 100% >"$T/text"
	grep -Eq '[0-9,]+ events are not in the event log, so the figures' <(tr '\n' ' ' <"$T/text")
	"$SEEP" report "$DIR" --lifetimes >"$T/text"
	grep -Eq '[0-9,]+ events are not in the event log' <(tr '\n' ' ' <"$T/text")
	# a pool that nobody reads may be full within the first 10 ms, and then nothing is later
	"$SEEP" report "$DIR" --at 0ms --format json | jq -e '.processes[0].log | .lost_events + .lost_events_later > 0'
	# the limit ends the log with the first of two programs
	SEEP_DIR=$DIR "$SEEP" record -q --log=64KiB -o "$T/r.seep" -- \
		sh -c '"$0" 5000 && "$0" 5000' "$HOSTS/threads" >"$T/out" 2>"$T/err"
	"$SEEP" report "$T/r.seep" --at 100% --format json |
		jq -e '[.processes[] | select(.log and (.exe | endswith("threads"))) | .log.lost_events] | min == 0 and max > 1000'
}

@test "a running process, by its pid" {
	waiting SEEP_LOG=1
	echo >&9
	answered first
	"$SEEP" report "$HOST" --at 100% >"$T/text"
	tr '\n' ' ' <"$T/text" | grep -q 'at that moment. It had made 1,0[0-9][0-9] allocations'
	grep -Eq ' 100,000 +1,000  alloc_first ' "$T/text"
	"$SEEP" report "$HOST" --lifetimes >"$T/text"
	"$SEEP" report "$HOST" --temporary --within 0 >"$T/text"
	printf '\n\n\n' >&9
	wait "$HOST"
	[[ ! -s $T/err ]]
}

# has_run_for SECONDS: the newest process in $DIR
has_run_for() { [[ $("$SEEP" report "$DIR" --format json 2>/dev/null | jq "[.processes[].duration_ms] | max >= $1 * 1000") == true ]]; }

@test "a running process whose log a recorder reads: what is not in its pool any more is missing in a moment" {
	(cd "$T" && SEEP_DIR=$DIR exec "$SEEP" record -q --log -o "$T/r.seep" -- "$HOSTS/paced" 1000000 4) >"$T/out" 2>"$T/err" &
	local recorder=$!
	PIDS+=("$recorder")
	eventually has_run_for 1
	"$SEEP" report "$DIR" --at 900ms --format json | jq -e '.processes[0].log.lost_events > 100000'
	"$SEEP" report "$DIR" --at 900ms | tr '\n' ' ' | grep -q 'events are not in the event log, so the figures below are not exact'
	"$SEEP" dump "$DIR" 2>&1 >/dev/null | grep -q 'events were not in the log: .* or another reader has them'
	wait "$recorder"
	"$SEEP" report "$T/r.seep" --at 900ms --format json | jq -e '.processes[0].log | .lost_events == 0'
}

@test "chapters: a log goes on from one to the next" {
	SEEP_DIR=$DIR "$SEEP" record -q --log --rotate 1s -o "$T/c" -- "$HOSTS/indexed" 3000 2 1200 >"$T/out" 2>"$T/err"
	at_all "$T/c"
}

@test "no log, a moment outside, options that do not go together: one line, exit 2" {
	SEEP_DIR=$DIR "$SEEP" record -q -o "$T/none" -- "$HOSTS/peak" >"$T/out"
	complains 2 "$SEEP" report "$T/none" --at 1
	complains 2 "$SEEP" report "$T/none" --at 100%
	complains 2 "$SEEP" report "$T/none" --lifetimes
	complains 2 "$SEEP" report "$T/none" --temporary --within 0
	complains 2 "$SEEP" diff "$T/none" --at 0 --at 100%
	logs "$T/r.seep" "$HOSTS/peak"
	complains 2 "$SEEP" report "$T/r.seep" --at 1000
	complains 2 "$SEEP" report "$T/r.seep" --at -1y
	complains 2 "$SEEP" report "$T/r.seep" --at ''
	complains 2 "$SEEP" report "$T/r.seep" --at 1970-01-02
	complains 2 "$SEEP" report "$T/r.seep" --at 1 --peak
	complains 2 "$SEEP" report "$T/r.seep" --at 1 --growth
	complains 2 "$SEEP" report "$T/r.seep" --at 1 --lifetimes
	complains 2 "$SEEP" report "$T/r.seep" --within 1
	complains 2 "$SEEP" report "$T/r.seep" --lifetimes --format html -o "$T/page"
	complains 2 "$SEEP" report "$T/r.seep" "$T/r.seep" --at 1
	complains 2 "$SEEP" diff "$T/r.seep" --at 1
	complains 2 "$SEEP" diff "$T/r.seep" "$T/r.seep" --at 0 --at 100%
	complains 3 "$SEEP" report "$T/nothing" --at 1
	complains 3 "$SEEP" report "$T/r.seep" --lifetimes --site 4000000
}

@test "cut and damaged recordings end in what is sound, or a clean error" {
	logs "$T/r.seep" "$HOSTS/indexed" 8000 2 10
	"$PYTHON" "$LIB/damage.py" "$T/r.seep" 45 "$SEEP" report --no-symbols BAD --at 50% or \
		"$SEEP" report --no-symbols BAD --lifetimes or "$SEEP" report --no-symbols BAD --temporary --within 1
}
