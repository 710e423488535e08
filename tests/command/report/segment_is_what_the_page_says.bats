#!/usr/bin/env bats
# segment_is_what_the_page_says - a second reader, from docs/FORMAT.md alone, finds what the report shows.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

# second_reader CMD...: traces CMD and compares; prints what was compared
second_reader() {
	traced "$@"
	"$SEEP" report --full --format json "$DIR" >"$T/report.json"
	"$PYTHON" "$LIB/segment.py" "$T/report.json" "$DIR"/*.seg
}

# compared CMD...: the same; shows what differs
compared() {
	run second_reader "$@"
	echo "$output"
}

@test "stacks, modules, counts and totals of a program" {
	compared ls /
	[[ $status -eq 0 && $output =~ "1 processes with "[1-9][0-9]+" sites" ]]
}

@test "stacks whose outer frames are in runs" {
	compared "$HOSTS/turns" 200
	[[ $status -eq 0 && $output =~ with\ 20[0-9]\ sites ]]
	# the version says that there may be runs, and infos of sites that were freed
	[[ $(od -An -tu4 -j8 -N4 "$DIR"/*.seg) -eq 3 ]]
}

@test "figures over several threads" {
	compared "$HOSTS/threads" 20000
	[[ $status -eq 0 && $output =~ with\ [1-9] ]]
}

@test "ages at which blocks are freed" {
	compared "$HOSTS/lifetimes" steps
	[[ $status -eq 0 && $output =~ with\ [1-9] ]]
	[[ $(jq '[.processes[0].sites[].ages_fine[1:][]] | add' "$T/report.json") -gt 0 ]]
}

@test "pools and marks that the program reports" {
	compared "$HOSTS/pools"
	[[ $status -eq 0 ]]
	[[ $(jq '[.processes[].pools[]] | length' "$T/report.json") -gt 0 ]]
}

@test "forked children in slots, and those that end early" {
	compared env SEEP_CHILD_FILES=0 "$HOSTS/forks" bare 20
	[[ $status -eq 0 && $output =~ \ [1-9][0-9]*" early children" ]]
	[[ $(jq '.processes | length' "$T/report.json") -gt 2 ]]
}

@test "forked children in files of their own" {
	compared env SEEP_CHILD_FILES=1 "$HOSTS/forks" threads 20
	[[ $status -eq 0 && $output == *" processes "* ]]
	[[ $(find "$DIR" -name '*-0.seg' | wc -l) -ge 1 ]]
}

@test "the second reader notices a difference" {
	second_reader ls /
	jq '.processes[0].sites[0].allocated_bytes += 1' "$T/report.json" >"$T/wrong.json"
	run "$PYTHON" "$LIB/segment.py" "$T/wrong.json" "$DIR"/*.seg
	[[ $status -ne 0 && $output == *allocated_bytes* ]]
}
