#!/usr/bin/env bats
# dump_speaks_other_formats - seep dump as memtrail, mmleak and heaptrack write events: their readers find the report's figures.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/host.bash

logs() { rm -f "$T/r.seep" && SEEP_DIR=$DIR "$SEEP" record --log -q -o "$T/r.seep" -- "$@" >"$T/out" 2>"$T/err"; }

# dump FORMAT [ARGS...]: of $T/r.seep into $T/FORMAT, with nothing on stderr
dump() {
	local format=$1
	shift
	"$SEEP" dump "$T/r.seep" --format "$format" "$@" >"$T/$format" 2>"$T/$format.err"
	[[ ! -s $T/$format.err ]] || { cat "$T/$format.err" && false; }
}

# total NAME: of the report
total() { jq "[.processes[].totals.$1] | add" "$T/report.json"; }

@test "one thread: allocations, peak and leaked bytes as the report has them" {
	logs "$HOSTS/many_stacks" 11
	report "$T/r.seep"
	dump memtrail
	"$PYTHON" "$LIB/memtrail.py" "$T/memtrail" >"$T/sums"
	[[ $(head -n 1 "$T/sums") == "$(total allocations) $(total peak_bytes) $(total live_bytes)" ]]
	# what lives: malloc below the function that called it, with its line
	grep -Eq $'^\tmalloc$' "$T/memtrail"
	grep -Eq $'^\talloc_leaf \\[.*many_stacks\\.c:[0-9]+\\]$' "$T/memtrail"
	dump mmleak
	"$PYTHON" "$LIB/mmleak.py" any <"$T/mmleak" >"$T/any"
	sort -s -k1,1 "$T/mmleak" | "$PYTHON" "$LIB/mmleak.py" sorted >"$T/sorted"
	diff "$T/any" "$T/sorted"
	[[ $(head -n 1 "$T/any") == "0 $(total live_blocks) $(total live_bytes)" ]]
	# callers are those of export --format mmleak, with which maps go
	"$SEEP" export "$T/r.seep" --format mmleak --no-suppress -o "$T/table"
	diff <(tail -n +2 "$T/any" | sort) <(tail -n +3 "$T/table" | awk '{print $2, $4, $1}' | sort)
}

@test "heaptrack_print finds allocations, peak and leaked bytes, of dump and of export" {
	need heaptrack_print
	local what
	logs "$HOSTS/peak"
	report "$T/r.seep"
	dump heaptrack
	"$SEEP" export "$T/r.seep" --format heaptrack --no-suppress -o "$T/exported"
	grep -q '^X .*from its event log\]$' "$T/exported"
	# the same events; only stacks are written with other names
	diff <(grep '^[-+c]' "$T/heaptrack") <(grep '^[-+c]' "$T/exported")
	for what in allocations:allocations leaked:live_bytes peak:peak_bytes; do
		heaptrack_print -F "$T/stacks" --flamegraph-cost-type "${what%:*}" "$T/heaptrack" \
			>"$T/printed" 2>"$T/printed.err"
		[[ $(awk '{n += $NF} END {print n + 0}' "$T/stacks") -eq $(total "${what#*:}") ]]
	done
	grep -q "^calls to allocation functions: $(total allocations) " "$T/printed"
}

@test "eight threads that free and realloc each other's blocks, by name and by address" {
	local setting format
	for setting in 1 addresses; do
		SEEP_LOG=$setting logs "$HOSTS/threads" "$(full_or 100000 5000)"
		report "$T/r.seep"
		for format in memtrail mmleak heaptrack; do
			dump "$format"
		done
		"$PYTHON" "$LIB/memtrail.py" "$T/memtrail" >"$T/sums"
		read -r count _ size <"$T/sums"
		[[ "$count $size" == "$(total allocations) $(total live_bytes)" ]]
		"$PYTHON" "$LIB/mmleak.py" any <"$T/mmleak" >"$T/any"
		sort -s -k1,1 "$T/mmleak" | "$PYTHON" "$LIB/mmleak.py" sorted >"$T/sorted"
		diff "$T/any" "$T/sorted"
		[[ $(head -n 1 "$T/any") == "0 $(total live_blocks) $(total live_bytes)" ]]
		[[ $(grep -c '^+' "$T/heaptrack") -eq $(total allocations) ]]
		[[ $(grep -c '^-' "$T/heaptrack") -eq $(total frees) ]]
		! grep -q '^1: 0x00' "$T/memtrail" || [[ $setting == 1 ]]
	done
}

@test "filters: a free is written if its allocation is" {
	logs "$HOSTS/threads" 2000
	local thread
	thread=$("$SEEP" dump "$T/r.seep" --format csv --no-symbols | awk -F, 'NR > 1 {print $4; exit}')
	"$SEEP" dump "$T/r.seep" --format memtrail --thread "$thread" >"$T/part" 2>"$T/part.err"
	"$PYTHON" "$LIB/memtrail.py" "$T/part" >"$T/sums"
	"$SEEP" dump "$T/r.seep" --format mmleak --min-size 1000 >"$T/large"
	[[ -s $T/large && $(awk 'NF == 3 && $3 < 1000' "$T/large" | wc -l) -eq 0 ]]
	"$SEEP" dump "$T/r.seep" --format heaptrack --from 1h >"$T/none"
	[[ $(grep -c '^[-+]' "$T/none") -eq 0 ]]
	grep -q '^v ' "$T/none"
}

@test "several processes: the largest, or --pid; a closed pipe ends it; --stacks is refused" {
	logs "$HOSTS/many_children" 5 200 300 100 exit
	"$SEEP" dump "$T/r.seep" --format mmleak >"$T/one" 2>"$T/one.err"
	grep -q '^seep: --format mmleak holds one process: ' "$T/one.err"
	report "$T/r.seep"
	local pid
	for pid in $(jq '.processes[].pid' "$T/report.json"); do
		"$SEEP" dump "$T/r.seep" --format mmleak --pid "$pid" >"$T/one" 2>"$T/one.err"
		[[ $(awk 'NF == 3' "$T/one" | wc -l) -eq \
			$(jq --argjson p "$pid" '.processes[] | select(.pid == $p) | .totals.allocations' "$T/report.json") ]]
	done
	complains 2 "$SEEP" dump "$T/r.seep" --format mmleak --stacks
	for format in memtrail mmleak heaptrack; do
		{ "$SEEP" dump "$T/r.seep" --format "$format" --pid "$pid" 2>"$T/pipe.err"; echo $? >"$T/status"; } | head -n 1 >/dev/null
		[[ ! -s $T/pipe.err ]]
		[[ $(cat "$T/status") -eq 0 || $(cat "$T/status") -eq 141 ]]
	done
}

@test "export uses sums where the log is not complete" {
	SEEP_LOG=1 SEEP_LOG_POOL=512KiB traced_well "$HOSTS/threads" 10000 # and nobody reads
	report
	"$SEEP" export "$DIR" --format heaptrack --no-suppress -o "$T/exported"
	grep -q '^X .*events are made up of sums' "$T/exported"
	[[ $(grep -c '^+' "$T/exported") -eq $(total allocations) ]]
}
