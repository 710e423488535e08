#!/usr/bin/env bats
# counts_hold_in_threads - counts are exact with frees and reallocs across threads, and with short-lived threads.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

@test "eight threads free and realloc each other's blocks: exact" {
	traced_well "$HOSTS/threads" "$(full_or 2000000 200000)"
	equals_ledger
}

@test "128 threads, most of them beyond the first sixteen arrays: exact" {
	traced_well "$HOSTS/threads" "$(full_or 100000 4000)" 64
	equals_ledger
	# rows of the arrays from 64 on are there, and every reader adds them up
	PYTHONPATH=$LIB "$PYTHON" - "$DIR" <<-'END'
		import glob, segment, sys
		[path] = glob.glob(sys.argv[1] + "/*.seg")
		[one] = segment.segments(open(path, "rb").read(), [])
		owners = {owner for kind, owner in one.tables if kind == 6}
		assert len([o for o in owners if 64 <= o < 64 + 112]) > 60, owners
	END
	SEEP_DIR=$DIR "$SEEP" ls --format json >"$T/ls.json"
	"$PYTHON" - "$T/ls.json" "$T/report.json" <<-'END'
		import json, sys
		[full] = json.load(open(sys.argv[2]))["processes"]
		all = json.load(open(sys.argv[1]))["processes"]
		[brief] = [p for p in all if p["uuid"] == full["uuid"]]
		assert brief["allocations"] == full["totals"]["allocations"], brief
	END
}

@test "short threads, frees after death and in TSD destructors: exact" {
	traced_well "$HOSTS/short_threads" "$(full_or 100000 8000)"
	equals_ledger
}

@test "the peak of eight threads is right within half a per cent" {
	traced_well "$HOSTS/peak_threads"
	equals_ledger
}
