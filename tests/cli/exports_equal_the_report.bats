#!/usr/bin/env bats
# exports_equal_the_report - one table: every figure of every format is JSON's.
# SPDX-License-Identifier: Apache-2.0
load ../lib/exports.bash

setup_file() { make_recordings; }

# format  options  what exports.py calls it  metric
table='
pprof --live pprof live
collapsed --live collapsed live
collapsed --peak collapsed peak
collapsed --allocs collapsed allocs
collapsed --temporary collapsed temporary
'

@test "one process: every figure of every format" {
	local format option kind metric failed=0
	while read -r format option kind metric; do
		[[ -n $format ]] || continue
		export_to "$T/out" --format "$format" "$option"
		equals "$kind" "$T/out" "$metric" || failed=1
	done <<<"$table"
	[[ $failed -eq 0 ]]
}

@test "two processes: the same" {
	local format option kind metric failed=0
	while read -r format option kind metric; do
		[[ -n $format ]] || continue
		export_to "$T/out" "$E/tree.data" --format "$format" "$option"
		equals "$kind" "$T/out" "$metric" "$E/tree.json" || failed=1
	done <<<"$table"
	[[ $failed -eq 0 ]]
}

@test "the comparison itself fails where a figure is another" {
	export_to "$T/out" --format collapsed
	sed -i '1s/[0-9]$/x/; 1s/x$/9/' "$T/out"
	echo 'main;other 1' >>"$T/out"
	if equals collapsed "$T/out" >"$T/said"; then
		return 1
	fi
	grep -q 'instead of' "$T/said"
}

@test "json: as the report has it" {
	export_to "$T/out" --format json
	diff "$T/out" "$E/one.json"
}

@test "go tool pprof agrees: -top, -traces, every type" {
	local type metric
	need go
	export HOME=$T
	export_to "$T/one.pb.gz" --format pprof
	for type in inuse:live alloc:allocs peak:peak; do
		metric=${type#*:}
		go tool pprof -top -nodecount=0 -nodefraction=0 -unit=B \
			-sample_index="${type%:*}_space" "$T/one.pb.gz" >"$T/top" 2>"$T/err"
		equals go-top "$T/top" "$metric"
		go tool pprof -traces -unit=B \
			-sample_index="${type%:*}_space" "$T/one.pb.gz" >"$T/traces" 2>"$T/err"
		equals go-traces "$T/traces" "$metric"
	done
	# without an index it is what lives
	go tool pprof -top -unit=B "$T/one.pb.gz" 2>"$T/err" | grep -q 'Type: inuse_space'
	export_to "$T/peak.pb.gz" --format pprof --peak
	go tool pprof -top -unit=B "$T/peak.pb.gz" 2>"$T/err" | grep -q 'Type: peak_space'
}

@test "differences: ours, and those of go tool pprof -diff_base" {
	export_to "$T/diff.pb.gz" "$E/tree.data" --format pprof --since "$E/one.data"
	equals pprof-since "$T/diff.pb.gz" "$E/one.json" "$E/tree.json"
	# the other way round all of it is less
	export_to "$T/less.pb.gz" "$E/one.data" --format pprof --since "$E/tree.data"
	equals pprof-since "$T/less.pb.gz" "$E/tree.json" "$E/one.json"
	need go
	export HOME=$T
	export_to "$T/one.pb.gz" --format pprof
	export_to "$T/tree.pb.gz" "$E/tree.data" --format pprof
	go tool pprof -top -nodecount=0 -nodefraction=0 -unit=B \
		-diff_base "$T/one.pb.gz" "$T/tree.pb.gz" >"$T/by-go" 2>"$T/err"
	go tool pprof -top -nodecount=0 -nodefraction=0 -unit=B \
		"$T/diff.pb.gz" >"$T/by-us" 2>"$T/err"
	diff <(awk '/leak|inner/ { print $1, $4 }' "$T/by-go") \
		<(awk '/leak|inner/ { print $1, $4 }' "$T/by-us")
	grep -q '[0-9]B .*inner' "$T/by-us"
}

@test "collapsed: two columns where it compares" {
	export_to "$T/out" "$E/tree.data" --format collapsed --since "$E/one.data"
	grep -qE ';app::inner 0 100000$' "$T/out"
}
