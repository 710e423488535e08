#!/usr/bin/env bats
# mappings_are_exact - with libseep-map.so every page that a program maps by itself belongs to its caller, and the heap's figures stay the heap's.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

MAP=$BUILD/libseep-map.so
export SEEP_MAPPINGS=1

# mapped COMMAND...: traced, with mappings
mapped() { COLLECTOR="$COLLECTOR $MAP" traced_well "$@" </dev/null; }

as_printed() { # REPORT...
	"$PYTHON" "$LIB/mapped_ranges.py" "$T/out" "$@"
}

@test "random maps, cuts and moves of several threads are those of the program's own ledger" {
	local seed
	for seed in $(full_or "1 2 3 4 5 6 7 8" "1 2"); do
		rm -rf "${DIR:?}"/*
		mapped "$HOSTS/mapper" 4 "$(full_or 50000 5000)" "$seed"
		report
		as_printed "$T/report.json"
	done
}

@test "also of one thread, of sixteen, and in a sampled process" {
	mapped "$HOSTS/mapper" 1 5000 7
	report
	as_printed "$T/report.json"
	rm -rf "${DIR:?}"/*
	mapped "$HOSTS/mapper" 16 "$(full_or 20000 500)" 8
	report
	as_printed "$T/report.json"
	rm -rf "${DIR:?}"/*
	SEEP_SAMPLE=4096 mapped "$HOSTS/mapper" 4 1000 9
	report
	as_printed "$T/report.json"
}

@test "the heap's totals, sites and peak have nothing of them" {
	mapped "$HOSTS/mapper" 2 2000 3
	report
	[[ $(from_report 'p[0]["mappings"]["mapped_bytes"] > 10 ** 8') == True ]]
	[[ $(from_report 'p[0]["totals"]["allocated_bytes"] < 10 ** 7') == True ]]
	[[ $(from_report 'p[0]["totals"]["peak_bytes"] < 10 ** 7') == True ]]
	[[ $(from_report '[s for s in p[0]["sites"] if s["kind"] == "mapping"]') == "[]" ]]
	[[ $(from_report 'sum(s["live_bytes"] for s in p[0]["sites"]) == p[0]["totals"]["live_bytes"]') == True ]]
}

# the host waits for a line on descriptor 9
wait_for_host() {
	mkfifo "$T/lines"
	env LD_PRELOAD="$COLLECTOR $MAP" SEEP_DIR="$DIR" "$HOSTS/mapped_pages" <"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	exec 9>"$T/lines"
	eventually both_ready
}
both_ready() { [[ $(grep -c '^READY' "$T/out") -eq 2 ]]; }

@test "of a running process and of its child the resident part is exact, to the page" {
	local pid
	wait_for_host
	for pid in $(sed -n 's/^PID //p' "$T/out"); do
		"$SEEP" report "$pid" --mappings --format json >"$T/$pid.json"
	done
	as_printed "$T"/*.json
	"$SEEP" report "$HOST" --mappings >"$T/text"
	cat "$T/text"
	grep -q "^mapped_pages (pid $HOST): 4,296,278,016 bytes in 5 ranges, mapped by 4 callers; 622,592 bytes resident.\$" "$T/text"
	grep -qE '^ +4\.0 GiB +0 bytes +1 +map mapped_pages\.c' "$T/text"
	# a large reserve does not hide what is resident
	grep -qE '^ +1\.0 MiB +400\.0 KiB +1 +map mapped_pages\.c' "$T/text"
	printf '\n' >&9
	exec 9>&-
	wait "$HOST"
	# afterwards the sizes are still known, the pages are not
	report
	[[ $(from_report '[x["mappings"]["resident_bytes"] for x in p]') == "[None, None]" ]]
	"$SEEP" report "$DIR" --mappings | grep -qE '^ +4\.0 GiB +- +1 '
}

@test "a recording has them" {
	"$SEEP" record -q --mappings -o "$T/data" "$HOSTS/mapper" 3 3000 4 </dev/null >"$T/out"
	report "$T/data"
	as_printed "$T/report.json"
	"$SEEP" report "$T/data" --mappings | grep -q 'maker_0 mapper.c'
	"$SEEP" report "$T/data" | grep -q '^Mappings of its own: .* (--mappings shows by whom).$'
	# and so has its page
	"$SEEP" report "$T/data" --format html -o "$T/page.html"
	PYTHONPATH=$LIB "$PYTHON" - "$T/page.html" "$T/report.json" <<-'END'
		import json, page, sys
		here, there = page.Page(sys.argv[1]).head["processes"], json.load(open(sys.argv[2]))["processes"]
		assert len(here) == len(there) == 1
		for p in here + there: # the page has no frames before main
		    for c in p["mappings"]["callers"]:
		        c["frames"] = c["frames"][:1]
		assert here[0]["mappings"] == there[0]["mappings"] and here[0]["mappings"]["callers"]
	END
}

@test "mappings of an allocator are one class" {
	local library
	library=$(ldconfig -p | awk '/libjemalloc.so/ { print $NF; exit }')
	[[ -n $library ]] || lacking libjemalloc
	PRELOAD_MORE=$library mapped "$HOSTS/mapper" 2 1000 5
	report
	[[ $(from_report '[c["frames"] for c in p[0]["mappings"]["callers"] if c["class"] == "allocator"]') == "[[]]" ]]
	[[ $(from_report '[c["bytes"] > 0 for c in p[0]["mappings"]["callers"] if c["class"] == "allocator"]') == "[True]" ]]
	"$SEEP" report "$DIR" --mappings --threshold 0 | grep -q '(of the allocator)'
	sed -i "s/^MAPPED maker_0/MAPPED allocator $(from_report \
		'" ".join(str(c[k]) for c in p[0]["mappings"]["callers"] if c["class"] == "allocator" for k in ("bytes", "ranges"))')\n&/" "$T/out"
	as_printed "$T/report.json"
}

@test "without SEEP_MAPPINGS=1 or without libseep.so the library only forwards" {
	SEEP_MAPPINGS='' mapped "$HOSTS/mapper" 2 1000 5
	report
	[[ $(from_report '"mappings" in p[0]') == False ]]
	env LD_PRELOAD="$MAP" "$HOSTS/mapper" 2 1000 5 </dev/null | grep -q '^MAPPED maker_5'
	local format
	for format in text json; do
		run "$SEEP" report "$DIR" --mappings --format $format
		[[ $status -eq 2 && ${#lines[@]} -eq 1 && $output == *"no mappings by caller"* ]]
	done
	run "$SEEP" report "$DIR" --mappings --peak
	[[ $status -eq 2 ]]
}

@test "libraries that map before the collector is relocated, in any order" {
	local ours=$BUILD/libseep.so user=$HOSTS/mapped_early_plugin.so order
	for order in "$ours $MAP" "$MAP $ours" "$ours $MAP $user" "$ours $user $MAP" "$user $ours $MAP" "$MAP $user $ours" "$user $MAP $ours" "$MAP"; do
		rm -rf "${DIR:?}"/*
		COLLECTOR=$order traced_well "$HOSTS/mapped_early"
		echo "$order"
		[[ $(cat "$T/out") == right ]]
		[[ $order == *"$ours"* ]] || continue
		report
		[[ $(from_report '[(c["bytes"], c["frames"][0]["function"]) for c in p[0]["mappings"]["callers"] if c["bytes"]]') == "[(36864, 'early_map')]" ]]
	done
}
