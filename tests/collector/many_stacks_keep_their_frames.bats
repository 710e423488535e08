#!/usr/bin/env bats
# many_stacks_keep_their_frames - stacks that take turns are sites of their own, with all frames, also a million of them.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

@test "each of 4,000 stacks is one site, and none lacks a frame" {
	traced "$HOSTS/turns" 4000
	"$SEEP" report --full --format json "$DIR" >"$T/report.json"
	[[ $(jq '.processes[0].totals.sites' "$T/report.json") -eq 4000 ]]
	[[ $(jq '.processes[0].lost | add' "$T/report.json") -eq 0 ]]
	# the same number of frames, each stack once
	jq -c '.processes[0].sites[].frames' "$T/report.json" >"$T/frames"
	[[ $(jq length "$T/frames" | sort -u | wc -l) -eq 1 ]]
	[[ $(head -n 1 "$T/frames" | jq length) -ge 17 ]]
	[[ $(sort -u "$T/frames" | wc -l) -eq 4000 ]]
}

# bats test_tags=full
@test "a million stacks fit the default budget" {
	traced "$HOSTS/turns" 1048576
	"$SEEP" report "$DIR" >"$T/report"
	head -n 30 "$T/report"
	grep -q "made 1,048,576 allocations" "$T/report"
	[[ $(grep -c "outer frames were dropped\|outer frames dropped\|no memory" "$T/report") -eq 0 ]]
}
