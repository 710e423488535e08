#!/usr/bin/env bats
# temporary_is_two_tenths_of_a_second - ages of freed blocks in steps of 0.1 to 1.6 s.
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

golden=$repo/tests/golden/inputs

# ages_hold OUT REPORT [LATE]: each line of the host lifetimes is in the steps
# that its ages allow; LATE: share of blocks that may be in others
ages_hold() {
	"$PYTHON" - "$@" <<-'END'
		import json, sys
		report = json.load(open(sys.argv[2]))
		late = float(sys.argv[3]) if len(sys.argv) > 3 else 0
		lines = [l.split() for l in open(sys.argv[1]) if l[0].islower()]
		assert lines, "no lines"
		[process] = [p for p in report["processes"] if any(
		    f["function"] == lines[0][0] for s in p["sites"] for f in s["frames"])]
		assert process["temporary_within_ms"] == 200, "within"
		for s in process["sites"]:
		    fine = s["ages_fine"]
		    assert len(fine) == 5 and sum(fine) == s["ages"][0], s
		    assert sum(s["ages"]) == s["frees"], s
		    assert s["temporary_blocks"] == fine[0] + fine[1], s
		for name, count, youngest, oldest in lines:
		    sites = [s for s in process["sites"]
		             if any(f["function"] == name for f in s["frames"])]
		    all_ = [sum(n) for n in zip(*(s["ages_fine"] + s["ages"][1:] for s in sites))]
		    # an age is the difference of two ticks; the clock is a coarse one
		    low = max(0, (int(youngest) - 15) // 100)
		    high = (int(oldest) + 15) // 100 + 1
		    may = range(low.bit_length(), high.bit_length() + 1)
		    astray = sum(n for i, n in enumerate(all_) if i not in may)
		    print(name, count, youngest, oldest, all_[:7], list(may), astray)
		    assert abs(sum(all_) - int(count)) <= 1, "deaths"
		    assert astray <= late * int(count), "astray"
	END
}

# lifetimes NAME WORD [VARIABLE=VALUE...]: in the background; its pid in $HOST
lifetimes() {
	local name=$1 word=$2
	shift 2
	mkdir "$DIR/$name"
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR/$name" "$@" "$HOSTS/lifetimes" "$word" \
		>"$T/$name.out" 3>&- &
	HOST=$!
	PIDS+=("$HOST")
}

# told NAME: its report is in $T/NAME.json
told() { "$SEEP" report "$DIR/$1" --format json >"$T/$1.json"; }

@test "each way to record has the steps: exact, sampled, off, bursts, threads, a fork" {
	local pids=() off name
	lifetimes exact steps
	pids+=("$HOST")
	lifetimes sampled bursts SEEP_SAMPLE=10
	pids+=("$HOST")
	lifetimes bursts bursts
	pids+=("$HOST")
	lifetimes steady steady
	pids+=("$HOST")
	lifetimes threads threads
	pids+=("$HOST")
	lifetimes forked forked
	pids+=("$HOST")
	lifetimes off steps
	pids+=("$HOST")
	off=$HOST
	appears "$T/off.out" # the blocks are there
	SEEP_DIR=$DIR/off "$SEEP" off "$off"
	wait "${pids[@]}"
	for name in exact sampled bursts steady threads forked off; do
		told "$name"
		echo "$name:"
		ages_hold "$T/$name.out" "$T/$name.json"
	done
	jq -e '.processes | length == 2 and ([.[].inherited[].frees] | add) == 40' "$T/forked.json"
	# what died at once did so everywhere
	jq -e '[.processes[0].sites[] | select(any(.frames[]; .function == "at_once"))]
		| (map(.temporary_blocks) | add) >= (map(.frees) | add) * 0.98' "$T/exact.json"
}

@test "copies carry them: a recording, snapshots of the command and of a signal" {
	local pid i
	record_behind -o steps.data -- "$HOSTS/lifetimes" steps
	# of a process that runs: the first kinds are dead, the last ones live
	lifetimes running steps SEEP_SIGNAL=USR2 SEEP_SNAPSHOT_DIR="$T/made"
	pid=$HOST
	for ((i = 0; i < 200; i++)); do
		! grep -q half "$T/running.out" || break
		sleep 0.02
	done
	SEEP_DIR=$DIR/running "$SEEP" snapshot "$pid" -o "$T/command.seep-snap"
	kill -USR2 "$pid"
	told running
	wait "$pid" "$recorder"
	grep '^[a-z]' "$T/running.out" | head -2 >"$T/two"
	report "$T/command.seep-snap"
	ages_hold "$T/two" "$T/report.json"
	report "$T/made"
	ages_hold "$T/two" "$T/report.json"
	ages_hold "$T/two" "$T/running.json"
	sed -n '/^[a-z]/p' "$T/out" >"$T/lines"
	report "$T/steps.data"
	ages_hold "$T/lines" "$T/report.json"
}

@test "the time is in each form, and an old recording has its own" {
	lifetimes exact steps
	wait "$HOST"
	told exact
	"$SEEP" report "$DIR/exact" --temporary >"$T/text"
	grep -q '^Temporary: blocks freed within 200 ms of their allocation\.$' "$T/text"
	grep -q ' at_once ' "$T/text"
	lacks ' quarter ' "$T/text"
	"$SEEP" report "$DIR/exact" --temporary --table >"$T/text"
	grep -q '^Temporary: .* 200 ms' "$T/text"
	"$SEEP" report "$DIR/exact" --allocs --table >"$T/text"
	grep -qE ' (400|800) ms .* quarter ' "$T/text"
	grep -qE ' (800 ms|1\.6 s) .* half ' "$T/text"
	grep -qE ' 100 ms .* at_once ' "$T/text"
	"$SEEP" report "$DIR/exact" --site "$(jq '[.processes[0].sites[]
		| select(.frames[0].function == "half")][0].id' "$T/exact.json")" >"$T/text"
	grep -qE '^freed <200 ms +0 +0$' "$T/text"
	grep -qE '^ +from (400|800) ms ' "$T/text"
	"$SEEP" export "$DIR/exact" --format csv -o "$T/csv"
	head -1 "$T/csv" | grep -q ',temporary_within_ms'
	sed -n 2p "$T/csv" | grep -q ',200.$'
	"$SEEP" export "$DIR/exact" --format dot --temporary -o "$T/dot"
	grep -q 'freed within 200 ms: ' "$T/dot"
	"$SEEP" export "$DIR/exact" --format dhat -o "$T/dhat"
	"$PYTHON" - "$T/dhat" "$T/exact.json" <<-'END'
		import json, sys
		dhat, report = (json.load(open(p)) for p in sys.argv[1:])
		assert dhat["tuth"] == 200000
		def least(s): # how long its blocks lived, by the lower ends of steps
		    fine = [n * (100000 << i >> 1) for i, n in enumerate(s["ages_fine"]) if i]
		    return sum(fine) + sum(n * (1600000 << i >> 1) for i, n in enumerate(s["ages"]) if i)
		wanted = sorted(least(s) for s in report["processes"][0]["sites"] if s["live_blocks"] == 0)
		got = sorted(p["tl"] for p in dhat["pps"] if p["eb"] == 0)
		assert wanted == got and max(got) > 0, (wanted, got)
	END
	# nothing may claim more of what an older version recorded
	"$SEEP" report "$golden/version1.seep" --temporary >"$T/text"
	grep -q '^Temporary: blocks freed within 1\.6 s of their allocation\.' "$T/text"
	"$SEEP" report "$golden/version1.seep" --format json >"$T/old.json"
	jq -e '.processes[] | .temporary_within_ms == 1600 and all(.sites[]; has("ages_fine") | not)' "$T/old.json"
	"$SEEP" report "$golden/version1.seep" --allocs --table >"$T/text"
	lacks '[1248]00 ms  *[0-9]' "$T/text"
	# two versions: what both know
	"$SEEP" diff "$golden/version1.seep" "$DIR/exact" --temporary >"$T/text"
	grep -q '^Temporary: .* 1\.6 s' "$T/text"
	"$SEEP" diff "$golden/version1.seep" "$DIR/exact" --temporary --format json >"$T/diff.json"
	jq -e '.temporary_within_ms == 1600 and any(.sites[]; .after.temporary_blocks == 40)' "$T/diff.json"
	"$SEEP" diff "$DIR/exact" "$DIR/exact" --temporary --format json >"$T/diff.json"
	jq -e '.temporary_within_ms == 200' "$T/diff.json"
}

@test "a time line without an end has no ages, and says so" {
	record_behind -q --interval 20ms "$HOSTS/killed" kill "$T/progress" 30000000 1
	appears "$T/seep.data"
	sleep 1.5 # entries are written once a second
	kill -KILL "$recorder"
	wait "$recorder" || true
	PIDS+=("$(sed -n 's/^PID //p' "$T/out")")
	report "$T/seep.data" || [[ $? -eq 3 ]]
	jq -e '.processes[] | select(.end_state | not) | .temporary_within_ms == null and
		.totals.frees > 0 and all(.sites[]; .temporary_blocks == 0 and (has("ages_fine") | not))' "$T/report.json"
	"$SEEP" report "$T/seep.data" --temporary >"$T/text" || [[ $? -eq 3 ]]
	grep -q '^At which age blocks were freed was not recorded\.$' "$T/text"
	lacks 'died young' "$T/text"
}
