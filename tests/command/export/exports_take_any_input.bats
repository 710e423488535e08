#!/usr/bin/env bats
# exports_take_any_input - segments, PIDs, samples and pools can be exported, and no partial file is left.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/exports.bash

formats=(callgrind collapsed csv dhat dot heaptrack json massif pprof speedscope)

setup_file() { make_recordings; }

# every_format INPUT [OPTION...]: each in $T/FORMAT, with every site; those with
# a reader here are read
every_format() {
	local input=$1 format
	shift
	for format in "${formats[@]}"; do
		"$SEEP" export "$input" --format "$format" --full-names --force \
			-o "$T/$format" --no-suppress "$@" 2>"$T/err"
		[[ -s $T/$format || $format == collapsed ]]
	done
	"$PYTHON" - "$LIB" "$T" <<-'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		import exports_read as read
		for name in "pprof", "csv_rows", "dhat", "speedscope", "callgrind", "dot", "massif", "heaptrack":
		    getattr(read, name)(sys.argv[2] + "/" + name.split("_")[0])
	END
}

@test "a segment, without a time line; a running process; a directory" {
	traced_well "$E/exported"
	segment=$(echo "$DIR"/*.seg)
	every_format "$segment"
	"$SEEP" report "$segment" --format json >"$T/report.json"
	for format in pprof callgrind massif heaptrack; do
		equals "$format" "$T/$format" live "$T/report.json"
	done
	every_format "$DIR"
	LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR sleep 60 3>&- &
	PIDS+=($!)
	for _ in {1..100}; do
		"$SEEP" report $! >/dev/null 2>&1 && break
		sleep 0.05
	done
	every_format $!
}

@test "a recording that is cut off is exported up to its last complete part, with exit 3" {
	local format status
	head -c $(($(stat -c %s "$E/one.data") * 3 / 4)) "$E/one.data" >"$T/cut.data"
	for format in "${formats[@]}"; do
		status=0
		"$SEEP" export "$T/cut.data" --format "$format" -o "$T/cut.$format" 2>"$T/err" || status=$?
		[[ $status -eq 3 ]]
	done
}

@test "exports of samples are estimates and contain the sampling distance" {
	record -q --sample 4096 -o s.data "$E/exported"
	every_format "$T/s.data"
	"$SEEP" report "$T/s.data" --format json >"$T/report.json"
	for format in pprof callgrind csv; do
		equals "$format" "$T/$format" live "$T/report.json"
	done
	"$PYTHON" - "$LIB" "$T/pprof" <<-'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		import exports_read as read
		p = read.pprof(sys.argv[2])
		assert p["period"] == 4096, p["period"]
		assert any("samples" in c for c in p["comments"]), p["comments"]
		assert p["default_type"] == "inuse_space" and p["duration_ns"] > 0
	END
}

@test "filters apply, and exports say what they leave out" {
	every_format "$E/one.data" --include 'app::leak'
	[[ $(sed -n 's/.* \([0-9]*\)$/\1/p' "$T/collapsed") == 1470 ]]
	grep -q 'left out by filters' "$T/callgrind"
	grep -q 'in places that are left out' "$T/massif"
	[[ $(wc -l <"$T/csv") -eq 3 ]]
	# of a massif file the whole stays the whole
	"$PYTHON" - "$LIB" "$T/massif" "$E/one.json" <<-'END'
		import json, sys
		sys.path.insert(0, sys.argv[1])
		import exports_read as read
		totals = json.load(open(sys.argv[3], encoding="utf-8"))["processes"][0]["totals"]
		end = read.massif(sys.argv[2])[-1]
		assert end["bytes"] == totals["live_bytes"]
		assert sum(n[1] for n in end["nodes"] if n[0] == 1) == end["bytes"]
	END
	every_format "$E/one.data" --include 'no such function'
	[[ ! -s $T/collapsed ]]
}

@test "--depth cuts stacks" {
	every_format "$E/one.data" --depth 2
	grep -q '^(callers beyond --depth);app::middle;app::inner 1470$' "$T/collapsed"
	[[ $("$PYTHON" -c '
import sys
sys.path.insert(0, sys.argv[1])
import exports_read as read
print(max(n[0] for s in read.massif(sys.argv[2]) for n in s["nodes"]))' "$LIB" "$T/massif") -eq 2 ]]
}

@test "several processes: one for massif, by its peak or by --pid" {
	local pids
	export_to "$T/out" "$E/tree.data" --format massif 2>"$T/err"
	grep -q '^seep: --format massif holds one process: this is [0-9]* (exported), .*--pid' "$T/err"
	mapfile -t pids < <(jq '.processes[].pid' "$E/tree.json")
	export_to "$T/out" "$E/tree.data" --format massif --pid "${pids[1]}" 2>"$T/err"
	[[ ! -s $T/err ]]
	grep -q "pid ${pids[1]} " "$T/out"
	complains 3 "$SEEP" export "$E/tree.data" --format massif --pid 1
	# and with --merge no format tells them apart
	export_to "$T/apart" "$E/tree.data" --format collapsed
	export_to "$T/merged" "$E/tree.data" --format collapsed --merge
	grep -q '^exported (pid ' "$T/apart"
	lacks 'pid ' "$T/merged"
	[[ $(awk '{ n += $NF } END { print n }' "$T/apart") == $(awk '{ n += $NF } END { print n }' "$T/merged") ]]
}

@test "pools of the program: in CSV and JSON, never among the heap" {
	record -q -o p.data "$HOSTS/pools"
	every_format "$T/p.data"
	grep -q ',"user",.*"buffers"' "$T/csv"
	lacks buffers "$T/collapsed"
}

@test "export writes to stdout, replaces no existing file, and leaves no partial file" {
	local format
	"$SEEP" export "$E/one.data" --format csv -o "$T/out"
	"$SEEP" export "$E/one.data" --format csv >"$T/said"
	"$SEEP" export "$E/one.data" --format csv -o - | diff - "$T/said"
	diff "$T/out" "$T/said"
	mkdir "$T/dir"
	for format in "${formats[@]}"; do
		echo mine >"$T/dir/here"
		complains 3 "$SEEP" export "$E/one.data" --format "$format" -o "$T/dir/here"
		[[ $(cat "$T/dir/here") == mine ]]
		rm "$T/dir/here"
		(
			ulimit -f 1
			complains 3 env --ignore-signal=XFSZ "$SEEP" export "$E/one.data" --format "$format" -o "$T/dir/full" &&
				[[ -z $(ls "$T/dir") ]]
		) || [[ -s $T/dir/full && $(stat -c %s "$T/dir/full") -le 1024 ]]
		rm -f "$T/dir/full"
		complains 3 "$SEEP" export "$E/one.data" --format "$format" -o /dev/full
	done
}

@test "--full: nothing is left out for being small" {
	every_format "$E/one.data" --full
	record -q -o many.data "$HOSTS/page" many
	export_to "$T/some" "$T/many.data" --format massif
	export_to "$T/all" "$T/many.data" --format massif --full
	grep -q "below massif's threshold" "$T/some"
	lacks "below massif's threshold" "$T/all"
	export_to "$T/some" "$T/many.data" --format dot
	export_to "$T/all" "$T/many.data" --format dot --full
	[[ $(grep -c ' -> ' "$T/all") -gt $(grep -c ' -> ' "$T/some") ]]
	# others have all of it anyway
	export_to "$T/some" "$T/many.data" --format csv
	export_to "$T/all" "$T/many.data" --format csv --full
	cmp "$T/some" "$T/all"
	complains 2 "$SEEP" export "$E/one.data" --format dot --top 5 --full
}

@test "a request that a format does not support is refused with a reason" {
	complains 2 "$SEEP" export "$E/one.data" --format nosuch
	# heaptrack_print would unpack it, find nothing, and not complain
	complains 2 "$SEEP" export "$E/one.data" --format heaptrack -o "$T/heap.gz"
	complains 2 "$SEEP" export "$E/one.data" --format csv -o "$T/heap.csv.zst"
	[[ ! -e $T/heap.gz && ! -e $T/heap.csv.zst ]]
	"$SEEP" export "$E/one.data" --format pprof -o "$T/heap.pb.gz"
	complains 2 "$SEEP" export "$E/one.data"
	complains 2 "$SEEP" export "$E/one.data" --format pprof --top 5
	complains 2 "$SEEP" export "$E/one.data" --format dhat --peak
	complains 2 "$SEEP" export "$E/one.data" --format massif --since "$E/one.data"
	for format in "${formats[@]}"; do
		"$SEEP" export --list | grep -q "^$format "
	done
}

@test "pprof is not for a terminal" {
	local got=0
	"$PYTHON" "$LIB/on_terminal.py" "$SEEP" export "$E/one.data" --format pprof >"$T/screen" || got=$?
	[[ $got -eq 2 ]]
	grep -q 'not for a terminal' "$T/screen"
}

@test "dot shows the largest functions, with dashed lines over those left out" {
	export_to "$T/out" --format dot --allocs --top 3
	[[ $(grep -c 'tooltip=' "$T/out") -eq 3 ]]
	export_to "$T/out" "$E/tree.data" --format dot --since "$E/one.data"
	grep -q '+100,000 bytes' "$T/out"
	export_to "$T/out" "$E/one.data" --format dot --since "$E/tree.data"
	grep -q -- '-100,000 bytes' "$T/out"
	need dot
	dot -Tsvg "$T/out" >"$T/svg"
	[[ -s $T/svg ]]
}
