#!/usr/bin/env bats
# recording_survives_kills - a recording can be read after the program, record, or both were killed at any instant.
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # $recorder is lib/record.bash's
load ../../lib/record.bash

# times: 200 kills in the full form, of which each test takes its share
times() { full_or 67 4; }

# starts the host behind record; it works for ten seconds unless killed
begin() {
	need jq
	rm -rf "${DIR:?}"/* "$T"/seep.data* "$T/progress" "$T/out"
	record_behind -q --interval 20ms "$HOSTS/killed" kill "$T/progress" 10000000 "$1"
	for ((k = 0; k < 400; k++)); do
		! grep -qs '^PID ' "$T/out" || break
		sleep 0.02
	done
	pid=$(sed -n 's/^PID //p' "$T/out")
	PIDS+=("$pid")
	sleep "0.$(printf %03d $((RANDOM % 700)))"
}

# within: no figure of the recording is beyond what the host had begun, frees
# never exceed allocations, and what was left out is told
within() {
	local answer=0
	"$SEEP" report "$T/seep.data" --format json \
		>"$T/report.json" 2>"$T/notes" || answer=$?
	[[ $answer -eq 0 || $answer -eq 3 ]]
	"$PYTHON" - "$T/progress" "$pid" "$T/report.json" "$answer" <<-'END'
		import json, struct, sys
		words = struct.unpack("<32Q", open(sys.argv[1], "rb").read(256))
		d = json.load(open(sys.argv[3], encoding="utf-8"))
		p = [p for p in d["processes"] if p["pid"] == int(sys.argv[2])]
		assert len(p) == 1, "pid %s: %d times" % (sys.argv[2], len(p))
		assert d["complete"] == (sys.argv[4] == "0"), "complete?"
		p = p[0]
		keys = ("allocations", "allocated_bytes", "frees", "freed_bytes")
		for t in range(4):
		    mine = [s for s in p["sites"] if any(
		        f["function"] == "thread_%d" % t for f in s["frames"])]
		    got = [sum(s[k] for s in mine) for k in keys]
		    begun = words[t * 8:t * 8 + 4]
		    for k, a, b in zip(keys, got, begun):
		        assert a <= b, "thread_%d: %s %d > %d" % (t, k, a, b)
		    assert got[0] >= got[2] and got[1] >= got[3], "live < 0"
		    print("thread_%d: %d live" % (t, got[0] - got[2]))
		if not p["end_state"]:
		    assert not d["complete"] and p["as_of_us"] > 0
		    assert any("is missing" in n for n in d["notes"])
		# killed before the first look: no time line
		line = p["timeline"] or {"allocations": [0], "times_us": []}
		assert line["allocations"] == sorted(line["allocations"])
		assert line["times_us"] == sorted(line["times_us"])
		assert p["totals"]["allocations"] >= line["allocations"][-1] or \
		    not p["end_state"]
	END
}

@test "after SIGKILL of the program the final state is exact to one event" {
	local i
	for ((i = 0; i < $(times); i++)); do
		begin $((i % 3 + 2))
		kill -KILL "$pid"
		wait "$recorder" || [[ $? -eq 137 ]]
		within
		[[ $(jq .complete "$T/report.json") == true ]]
		"$PYTHON" "$LIB/inflight.py" "$T/progress" "$pid" "$T/report.json"
	done
}

@test "after SIGKILL of record the file can be read, and the report says up to which moment" {
	local i
	for ((i = 0; i < $(times); i++)); do
		begin $((i % 3 + 2))
		appears "$T/seep.data"
		kill -KILL "$recorder"
		wait "$recorder" || true
		kill -0 "$pid" # the host goes on
		kill -KILL "$pid"
		within
		[[ $(jq .complete "$T/report.json") == false ]]
		grep -q 'is cut off: its end is missing; it is complete up to' "$T/notes"
	done
}

@test "after SIGKILL of both the file can be read, and the segment is complete" {
	local i
	for ((i = 0; i < $(times); i++)); do
		begin $((i % 3 + 2))
		appears "$T/seep.data"
		if ((i % 2)); then
			kill -KILL "$recorder" "$pid"
		else
			kill -KILL "$pid" "$recorder"
		fi
		wait "$recorder" || true
		within
		# unless record came to its end before it was killed
		[[ $(jq .complete "$T/report.json") == false ]] || continue
		for ((k = 0; k < 200; k++)); do
			[[ -e /proc/$pid/exe ]] || break
			sleep 0.02
		done
		"$SEEP" report "$DIR" --format json >"$T/report.json"
		"$PYTHON" "$LIB/inflight.py" "$T/progress" "$pid" "$T/report.json"
	done
}

@test "a recording that is still being written is not reported as cut off" {
	"$SEEP" record -q --force -o "$T/w.data" sleep 3 &
	local pid=$!
	for _ in $(seq 100); do
		[[ ! -s $T/w.data ]] || break
		sleep 0.05
	done
	"$SEEP" report "$T/w.data" >"$T/text" 2>"$T/err"
	kill -TERM "$pid" 2>/dev/null || true
	wait "$pid" || true
	cat "$T/err"
	grep -F "is being written" "$T/err"
	[[ -z $(grep -E "cut off|is missing" "$T/err") ]]
	"$SEEP" report "$T/w.data" 2>&1 >/dev/null | { ! grep -F "being written"; }
}
