#!/usr/bin/env bats
# dump_lists_every_event - record --log and seep dump: all events, each free after its allocation, as the counters say.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/host.bash

# dumped INPUT [OPTIONS of dumped.py]: its dump against its report
dumped() {
	local input=$1
	shift
	"$SEEP" dump "$input" --format jsonl >"$T/dump" 2>"$T/dump.err"
	report "$input"
	"$PYTHON" "$LIB/dumped.py" "$@" "$T/dump" "$T/report.json"
}

has_files() { [[ -n $(ls "$DIR") ]]; }

logs() { SEEP_DIR=$DIR "$SEEP" record --log "$@" >"$T/out" 2>"$T/err"; }

@test "eight threads that free and realloc each other's blocks, recorded" {
	logs -o "$T/r.seep" -- "$HOSTS/threads" "$(full_or 400000 20000)"
	grep -q '^seep: logged: [0-9,]* events, ' "$T/err"
	dumped "$T/r.seep"
	[[ ! -s $T/dump.err ]]
	[[ -z $(ls "$DIR") ]]
}

@test "forked children, recorded and in a directory" {
	logs -o "$T/r.seep" -- "$HOSTS/many_children" 40 200 300 100 exit
	dumped "$T/r.seep" | grep -q '^41 processes'
	SEEP_LOG=1 traced_well "$HOSTS/many_children" 40 200 300 100 exit
	dumped "$DIR" | grep -q '^41 processes'
}

@test "a running process, by its pid: others may look, and one drains" {
	waiting SEEP_LOG=1
	echo >&9
	answered first
	"$SEEP" dump "$HOST" >"$T/first"
	[[ $(grep -c ' alloc .* 100 .* alloc_first$' "$T/first") -eq 1000 ]]
	"$SEEP" dump "$HOST" >"$T/second"
	diff "$T/first" "$T/second"
	printf '\n\n\n' >&9
	wait "$HOST"
	[[ ! -s $T/err ]]
	"$PYTHON" "$LIB/eventlog.py" "$DIR"
}

@test "a recorder that stands still: the host goes on, and lost + logged = counted" {
	mkfifo "$T/go"
	SEEP_LOG_POOL=1MiB SEEP_DIR=$DIR "$SEEP" record --log -o "$T/r.seep" -- \
		sh -c 'read -r line <"$0"; "$1" 40000; exit $?' "$T/go" "$HOSTS/threads" >"$T/out" 2>"$T/err" &
	local recorder=$! lost
	PIDS+=("$recorder")
	eventually has_files
	kill -STOP "$recorder"
	echo go >"$T/go"
	eventually grep -q 'SITE' "$T/out"
	kill -CONT "$recorder"
	wait "$recorder"
	lost=$("$SEEP" report "$T/r.seep" --format json |
		jq '[.processes[] | select(.exe | endswith("threads")) | .counts.log_lost] | add')
	[[ $lost -gt 0 ]]
	dumped "$T/r.seep" --lost "$lost"
	grep -q ' not in the log' "$T/dump.err"
}

@test "a recorder that is killed leaves the pool to seep dump" {
	mkfifo "$T/go"
	SEEP_DIR=$DIR "$SEEP" record --log -o "$T/r.seep" -- \
		sh -c 'read -r line <"$0"; exec "$1" 2000' "$T/go" "$HOSTS/threads" >"$T/out" 2>"$T/err" &
	local recorder=$!
	PIDS+=("$recorder")
	eventually has_files
	kill -KILL "$recorder"
	echo go >"$T/go"
	eventually grep -q 'SITE' "$T/out"
	eventually "$SEEP" dump "$DIR" --format csv -o "$T/csv"
	[[ $(wc -l <"$T/csv") -gt 1000 ]]
}

@test "filters, formats and stacks" {
	logs -o "$T/r.seep" -- "$HOSTS/peak"
	"$SEEP" dump "$T/r.seep" >"$T/all"
	"$SEEP" dump "$T/r.seep" --top 5 >"$T/top"
	[[ $(wc -l <"$T/top") -eq 6 ]]
	diff "$T/top" <(head -n 6 "$T/all")
	"$SEEP" dump "$T/r.seep" --min-size 1000 --format jsonl >"$T/large"
	jq -e -s 'length > 0 and all(.size >= 1000 or .old_size >= 1000)' "$T/large"
	"$SEEP" dump "$T/r.seep" --include alloc_ --stacks --format jsonl >"$T/included"
	jq -e -s 'length > 0 and all(.event == "free" or .event == "realloc" or (.stack | map(select(. != null and contains("alloc_"))) | length > 0))' "$T/included"
	"$SEEP" dump "$T/r.seep" --format csv >"$T/csv"
	"$PYTHON" - "$T/csv" "$T/all" <<-'END'
		import csv, sys
		rows = list(csv.DictReader(open(sys.argv[1])))
		assert len(rows) == len(open(sys.argv[2]).readlines()) - 1
		assert all(row["event"] in ("alloc", "free", "realloc") for row in rows)
	END
	"$SEEP" dump "$T/r.seep" --from 1h --no-symbols >"$T/none"
	# a time as reports print it: seconds
	"$SEEP" dump "$T/r.seep" --from 0.01 --to 4000 --no-symbols >"$T/seconds"
	"$SEEP" dump "$T/r.seep" --from 10ms --to 4000s --no-symbols | diff "$T/seconds" -
	complains 2 "$SEEP" dump "$T/r.seep" --from 1.2.3
	[[ $(wc -l <"$T/none") -eq 1 ]]
	complains 3 "$SEEP" dump "$T/r.seep" --pid 1
	complains 3 "$SEEP" dump "$T/r.seep" --pid 1 --format heaptrack
	grep -q 'the input has no process 1' "$T/complaint"
	complains 3 "$SEEP" dump "$T/r.seep" --max-output 100
	grep -q -e '--max-output SIZE allows more' "$T/complaint"
	"$SEEP" dump "$T/r.seep" --site 4000000 2>&1 >/dev/null | grep -q 'no event is shown'
	"$SEEP" dump "$T/r.seep" --format memtrail --from 1h 2>&1 >/dev/null | grep -q 'no event is shown'
	[[ -z $("$SEEP" dump "$T/r.seep" --top 1 2>&1 >/dev/null) ]]
}

@test "a block that is resized to what a filter leaves out does not seem to live on" {
	local site filter format
	logs -o "$T/r.seep" -- "$HOSTS/shrinks"
	site=$("$SEEP" dump "$T/r.seep" --format jsonl | jq 'select(.function == "alloc_large") | .site' | head -n 1)
	for filter in "--min-size 1000" "--include alloc_large" "--site $site"; do
		# shellcheck disable=SC2086 # words
		"$SEEP" dump "$T/r.seep" $filter --format jsonl | jq -s -e 'map([.event, .size, .old_size]) ==
			[["alloc", 100000, null], ["realloc", 10, 100000]]'
		# the small block is not wanted, and what it was is freed
		# shellcheck disable=SC2086 # words
		"$SEEP" dump "$T/r.seep" $filter --format mmleak | awk 'NF == 3 { n++; size = $3 } $2 == "(nil)" { n-- }
			END { exit !(NR == 2 && n == 0 && size == 100000) }'
	done
	"$SEEP" dump "$T/r.seep" --include shrink --format jsonl | jq -s -e 'map([.event, .size]) == [["realloc", 10], ["free", 10]]'
}

# missing_in COMMAND...: how many events a log lacks, as the command says on stderr
missing_in() { "$@" 2>&1 >/dev/null | sed -n 's/^seep: \([0-9,]*\) events were not in the log.*/\1/p' | tr -d ,; }

@test "a closed pipe ends it, and a limit ends the log" {
	local format lacks
	# many events that all look the same need a few bytes in one part, and more in small ones
	SEEP_DIR=$DIR "$SEEP" record --log=64KiB -o "$T/r.seep" -- "$HOSTS/paced" 1000000 1 >"$T/out" 2>"$T/err"
	! grep -q 'because of its limit' "$T/err" || false
	SEEP_DIR=$DIR "$SEEP" record --force --log=64KiB -o "$T/r.seep" -- "$HOSTS/paced" 1000000 1 mixed >"$T/out" 2>"$T/err"
	grep -q 'the log ends there, because of its limit' "$T/err"
	# about there: not after the second that the events may wait for
	[[ $(sed -n 's/,//g; s/^seep: logged: \([0-9]*\) events.*/\1/p' "$T/err") -lt 700000 ]]
	# what it lacks is said, and is what the counters have more
	lacks=$("$SEEP" report "$T/r.seep" --format json | jq "[.processes[].totals | .allocations + .frees] | add -
		$(sed -n 's/,//g; s/^seep: logged: \([0-9]*\) events.*/\1/p' "$T/err")")
	[[ $lacks -gt 1000 ]]
	for format in text jsonl mmleak heaptrack; do
		[[ $(missing_in "$SEEP" dump "$T/r.seep" --format "$format") -eq $lacks ]]
	done
	"$SEEP" replay "$T/r.seep" --runs 1 --allocator glibc --format json | jq -e ".left_out.lost_events == $lacks"
	"$SEEP" replay "$T/r.seep" --runs 1 --allocator glibc --format json --events 5 | jq -e '.left_out.lost_events == 0'
	"$SEEP" report "$T/r.seep" --at 0 --format json | jq -e ".processes[0].log | .lost_events + .lost_events_later == $lacks"
	"$SEEP" dump "$T/r.seep" | head -n 2 >"$T/two"
	[[ $(wc -l <"$T/two") -eq 2 ]]
}

@test "no log, a sampled recording, a wrong limit: one line, exit 2" {
	SEEP_DIR=$DIR "$SEEP" record -q -o "$T/r.seep" -- "$HOSTS/peak" >"$T/out"
	complains 2 "$SEEP" dump "$T/r.seep"
	complains 2 "$SEEP" record --log --sample 1M -- true
	complains 2 "$SEEP" record --log=1k -- true
	complains 2 "$SEEP" dump "$T/r.seep" --from 2s --to 1s
	complains 3 "$SEEP" dump "$T/nothing"
	# the log's file is removed, or the recorder did not ask for it
	SEEP_LOG=1 traced_well "$HOSTS/peak"
	rm "$DIR"/*.seg.log
	complains 2 "$SEEP" dump "$DIR"
	grep -q "had an event log, but .* is gone" "$T/complaint"
	rm -r "${DIR:?}"/*
	# a program that never calls malloc
	SEEP_DIR=$DIR "$SEEP" record --log -q -o "$T/true.seep" -- /bin/true
	for command in dump "report --at 0" "report --lifetimes" "report --temporary --within 0"; do
		# shellcheck disable=SC2086 # words
		complains 2 "$SEEP" $command "$T/true.seep"
		grep -q 'has no events, because the program made none' "$T/complaint"
	done
}

@test "a log that is cut, or beside damaged files: what is there, and exit 3" {
	local log status
	SEEP_LOG=1 SEEP_LOG_POOL=1MiB traced_well "$HOSTS/threads" 2000
	"$SEEP" dump "$DIR" --no-symbols >"$T/whole"
	log=$(echo "$DIR"/*.seg.log)
	chmod 600 "$log"
	truncate -s 300000 "$log"
	for command in dump "report --at 100%" "report --lifetimes" "replay --runs 1 --allocator glibc"; do
		status=0
		# shellcheck disable=SC2086 # words
		"$SEEP" $command "$DIR" >"$T/part" 2>"$T/err" || status=$?
		[[ $status -eq 3 && -s $T/part ]]
		grep -q 'a part of the \(event \)\?log is missing or damaged' "$T/err"
	done
	status=0
	"$SEEP" dump "$DIR" --no-symbols >"$T/part" 2>"$T/err" || status=$?
	[[ $status -eq 3 && $(wc -l <"$T/part") -gt 1000 && $(wc -l <"$T/part") -lt $(wc -l <"$T/whole") ]]
	# a recording that is cut, in the same directory
	rm -r "${DIR:?}"/*
	SEEP_DIR=$DIR "$SEEP" record --log -q -o "$T/r.seep" -- "$HOSTS/peak" >"$T/out"
	mkdir "$T/all"
	cp "$T/r.seep" "$T/all/sound.seep"
	SEEP_LOG=last SEEP_DIR=$DIR "$SEEP" record -q -o "$T/all/last.seep" -- "$HOSTS/peak" >"$T/out"
	head -c 2000 "$T/r.seep" >"$T/all/cut.seep"
	for command in dump "dump --last" "replay --runs 1 --allocator glibc" "who 0x1000"; do
		status=0
		# shellcheck disable=SC2086 # words
		"$SEEP" $command "$T/all" >"$T/part" 2>"$T/err" || status=$?
		[[ $status -eq 3 ]]
	done
}

@test "cut and damaged logs end in what is sound, or a clean error" {
	logs -o "$T/r.seep" -- "$HOSTS/peak"
	"$PYTHON" "$LIB/damage.py" "$T/r.seep" 60 "$SEEP" dump BAD
}
