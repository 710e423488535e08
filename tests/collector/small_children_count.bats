#!/usr/bin/env bats
# small_children_count - every event of every forked child counts, however few there are.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

figures() { # INPUT: blocks and bytes, live and in all, of all processes but exec'd ones
	"$SEEP" report --format json --no-suppress "$1" >"$T/json"
	python3 -c '
import json, sys
p = [x for x in json.load(open(sys.argv[1]))["processes"] if x["end"] != "exec"]
print(*(sum(x["totals"][k] for x in p) for k in
    ("live_blocks", "live_bytes", "allocations", "allocated_bytes")))' "$T/json"
}

record_children() { # ARGS of early_children
	rm -f "$T/run.data"
	"$SEEP" record -q -o "$T/run.data" "$HOSTS/early_children" "$@"
}

@test "children that end in any way leave what they leaked" {
	local how
	for how in exit _exit kill clone nested; do
		record_children "$how" 3 10 1337
		echo "$how: $(figures "$T/run.data")"
		[[ $(figures "$T/run.data") == "30 40110 30 40110" ]]
		run "$SEEP" check "$T/run.data"
		[[ $status -eq 1 ]]
	done
}

@test "stacks are kept if a child calls exit, and counted as lost otherwise" {
	record_children exit 2 10 1337
	"$SEEP" report "$T/run.data" | grep -F "leave_blocks"
	"$SEEP" report "$T/run.data" | grep -F "No event is lost"
	record_children _exit 2 10 1337
	"$SEEP" report "$T/run.data" | grep -F "(stack not kept: forked child that ended early)"
	! "$SEEP" report "$T/run.data" | grep -A1 "10 allocations" | grep -F "No event is lost"
}

@test "stacks are kept if few events have many bytes" {
	record_children _exit 3 30 2000000
	[[ $(figures "$T/run.data") == "90 180000000 90 180000000" ]]
	"$SEEP" report "$T/run.data" | grep -F "leave_blocks"
}

@test "a child that becomes another program leaks nothing" {
	record_children exec 3 10 1337
	"$SEEP" check "$T/run.data"
	"$SEEP" report --format json "$T/run.data" >"$T/report.json"
	[[ $(from_report 'd["early_exec"]["processes"], d["early_exec"]["allocations"]') == "(3, 30)" ]]
	[[ $(from_report 'len(p)') -eq 4 ]]
}

@test "what is freed does not count as live" {
	record_children _exit 3 20 100 15
	[[ $(figures "$T/run.data") == "15 1500 60 6000" ]]
}

@test "children with a file of their own: all that there are, and nothing is left over" {
	export SEEP_CHILD_FILES=1
	traced "$HOSTS/early_children" _exit "$(full_or 3000 1200)" 1 10
	[[ $(figures "$DIR") == "$(full_or "3000 30000 3000 30000" "1200 12000 1200 12000")" ]]
	rm -rf "${DIR:?}"/*
	traced "$HOSTS/early_children" _exit 500 0 10
	# children without an event use one file, in turn
	[[ $(find "$DIR" -name '*.seg' | wc -l) -le 4 ]]
	export SEEP_DIR=$DIR
	for how in exit exec nested clone; do
		record_children "$how" 20 "$((RANDOM % 2))" 10
		[[ -z $(find "$DIR" -name '*.seg*' -newer "$T/run.data") ]]
	done
}

@test "without the command: the file of the parent has them" {
	traced "$HOSTS/early_children" kill 3 10 1337
	[[ $(figures "$DIR") == "30 40110 30 40110" ]]
}

@test "children without a line are counted as a loss, and check does not pass" {
	# root's children have a file each, unless told otherwise
	export SEEP_CHILD_FILES=0
	traced "$HOSTS/early_children" _exit "$(full_or 3000 1200)" 1 10
	"$SEEP" report --format json "$DIR" >"$T/json"
	python3 -c '
import json, sys
p = json.load(open(sys.argv[1]))["processes"]
seen = sum(x["totals"]["allocations"] for x in p)
lost = max(x["lost"]["children_early"] for x in p)
print(seen, lost)
assert seen + lost == int(sys.argv[2]), (seen, lost)' "$T/json" "$(full_or 3000 1200)"
	run "$SEEP" check "$DIR"
	[[ $status -ne 0 ]]
	grep -F "without room for a record" <<<"$output"
}

@test "a child that sandboxes itself before its first event is not killed for a call of ours" {
	local bytes
	"$HOSTS/seccomp_filters_of_all_kinds" >"$T/bare"
	for bytes in 524288 16384; do
		SEEP_CHILD_FILES=1 SEEP_SAMPLE=$bytes SEEP_DIR=$DIR LD_PRELOAD=$COLLECTOR \
			"$HOSTS/seccomp_filters_of_all_kinds" >"$T/traced"
		diff "$T/bare" "$T/traced"
	done
}
