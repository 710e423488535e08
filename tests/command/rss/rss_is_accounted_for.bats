#!/usr/bin/env bats
# rss_is_accounted_for.bats - report --rss says where resident memory is, and which site keeps it.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/verdicts.bash

# pinned LAYOUT [COUNT]: the host of that name, traced, once it is ready
pinned() {
	rm -f "$T/lines" "$T/out"
	mkfifo "$T/lines"
	env LD_PRELOAD="${LIBRARY:-$COLLECTOR}${PRELOAD_MORE:+ $PRELOAD_MORE}" SEEP_DIR="$DIR" "${SETTINGS[@]}" \
		"$HOSTS/pinned" "$@" <"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	exec 9>"$T/lines"
	answered ready
}
SETTINGS=()

# begin_bash: a host that becomes pinned when a line comes
begin_bash() {
	rm -f "$T/lines" "$T/out"
	mkfifo "$T/lines"
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" bash -c 'echo ready; read -r _; exec "$0" notes' "$HOSTS/pinned" \
		<"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	exec 9>"$T/lines"
	answered ready
}

# ended: the host has noticed nothing
ended() {
	exec 9>&-
	wait "$HOST"
	[[ ! -s $T/err ]]
}

# accounted LAYOUT WORDS...: the report equals what the host has counted
accounted() {
	pinned "$1"
	"$SEEP" report "$HOST" --rss --format json >"$T/report.json"
	"$PYTHON" "$LIB/rss.py" "$T/out" "$T/report.json" "${@:2}"
	ended
}

@test "blocks far from each other hold their pages, and advice names them" {
	accounted notes advice=pinned
	accounted pairs advice=free,pinned free=20480000
}

@test "free pages between blocks and at the top are not returned" {
	accounted checkerboard advice=free free=6144000
	accounted top advice=free free=20160000
}

@test "pages with blocks of two sites belong to both, also over their borders" {
	accounted halves advice= free=0
	accounted borders advice= free=0
}

@test "blocks with mappings of their own hold what is resident of them" {
	accounted mapped advice= free=0
}

@test "arenas of threads are heap; many of them with free memory are pointed out" {
	accounted threads advice= arenas=4
	pinned threads 12
	"$SEEP" report "$HOST" --rss --format json >"$T/report.json"
	"$PYTHON" "$LIB/rss.py" "$T/out" "$T/report.json" advice=arenas arenas=12
	"$SEEP" report "$HOST" --rss >"$T/text"
	tr '\n' ' ' <"$T/text" | grep -q "use 12 arenas of 64 MiB, with .* free in them: MALLOC_ARENA_MAX=2"
	ended
}

@test "a dense heap gets no advice" {
	accounted dense advice= free=0
}

@test "the text has the same figures, and sorts by holds and pins" {
	pinned notes
	"$SEEP" report "$HOST" --rss --sort pins --table >"$T/text"
	cat "$T/text"
	grep -q '^RSS .* in swap; read .* after its start, in ' "$T/text"
	grep -q ' 200,000  .*living blocks, as requested$' "$T/text"
	grep -q 'share .* holds *pins ' "$T/text"
	grep -q '100.0% 200,000  5,000 20,480,000 20,280,000 ' "$T/text"
	tr '\n' ' ' <"$T/text" | grep -q 'site_note (195.3 KiB live) holds 19.5 MiB of them'
	"$SEEP" report "$HOST" --sort holds >"$T/tree"
	grep -q '100.0% 200,000  5,000 20,480,000 20,280,000  site_note' "$T/tree"
	"$SEEP" report "$HOST" >"$T/plain"
	! grep -q 'holds\|^RSS' "$T/plain"
}

@test "exports have the pages that a site holds" {
	pinned notes
	"$SEEP" export --rss --format csv -o "$T/csv" "$HOST"
	"$PYTHON" -c '
import csv, sys
rows = [r for r in csv.DictReader(open(sys.argv[1], newline="")) if r["function"] == "site_note"]
assert len(rows) == 1 and rows[0]["holds_bytes"] == "20480000" and rows[0]["pins_bytes"] == "20280000", rows' "$T/csv"
	"$SEEP" export --rss --format pprof -o "$T/pprof" "$HOST"
	gzip -dc <"$T/pprof" | grep -aq held_space
	"$SEEP" export --format pprof -o "$T/plain" "$HOST"
	! gzip -dc <"$T/plain" | grep -aq held_space
}

@test "a snapshot keeps the account; two of them can be compared" {
	pinned notes
	"$SEEP" snapshot -o "$T/one" "$HOST" >/dev/null
	"$SEEP" snapshot --names -o "$T/two" "$HOST" >/dev/null
	ended
	for i in one two; do
		"$SEEP" report "$T/$i" --rss --format json >"$T/report.json"
		"$PYTHON" "$LIB/rss.py" "$T/out" "$T/report.json" advice=pinned
	done
	pinned notes 2500
	"$SEEP" snapshot -o "$T/three" "$HOST" >/dev/null
	"$SEEP" diff "$T/one" "$T/three" --sort holds >"$T/diff" || [[ $? -eq 1 ]]
	cat "$T/diff"
	grep -q -e '-100,000 *-2,500 -10,240,000 -10,140,000  site_note' "$T/diff"
	ended
	run "$SEEP" diff "$T/one" "$DIR" --sort holds
	[[ $status -eq 2 && $output == *"no reading of pages"* ]]
}

@test "other allocators need no knowledge of their insides" {
	local library layout
	for library in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2; do
		library=$(ldconfig -p | awk -v name="$library" '$1 == name { print $NF; exit }')
		[[ -n $library ]]
		for layout in dense halves; do
			PRELOAD_MORE=$library pinned $layout
			"$SEEP" report "$HOST" --rss --format json >"$T/report.json"
			"$PYTHON" "$LIB/rss.py" "$T/out" "$T/report.json" advice=
			ended
		done
	done
}

@test "the verdict has one line on where the rest is" {
	pinned notes
	leaks --wait 200ms
	tr '\n' ' ' <"$T/leaks" | grep -q 'RSS .* = 195.3 KiB live + 39.1 KiB rounding + 19.4 MiB free inside the heap (19.3 MiB pinned by site_note) + .* of seep + .* files, stacks and other mappings'
}

@test "what a site pins is not more than what is free" {
	local layout
	for layout in dense halves; do
		pinned $layout
		leaks --wait 200ms
		tr -s ' \n' ' ' <"$T/leaks" >"$T/line"
		"$PYTHON" - "$T/line" <<-'END'
			import re, sys
			units = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
			line = open(sys.argv[1]).read()
			free = re.search(r"([0-9.]+) (\w+) free inside the heap(?: \(([0-9.]+) (\w+) pinned by)?", line)
			print(free.group(0))
			if free.group(3):
			    assert float(free.group(3)) * units[free.group(4)] <= float(free.group(1)) * units[free.group(2)]
		END
		ended
	done
}

@test "without a reading, or without the right to read, one line says so" {
	pinned notes
	"$SEEP" report "$HOST" --format json >/dev/null
	ended
	run "$SEEP" report "$DIR" --rss
	[[ $status -eq 2 && ${#lines[@]} -eq 1 && $output == *"no reading of pages"* ]]
	run "$SEEP" report "$DIR" --sort pins
	[[ $status -eq 2 && ${#lines[@]} -eq 1 ]]
	run "$SEEP" export --format dot --rss "$DIR"
	[[ $status -eq 2 && ${#lines[@]} -eq 1 ]]
}

@test "a sampled process has the account alone, with the reason" {
	SETTINGS=(SEEP_SAMPLE=64K)
	pinned notes
	"$SEEP" report "$HOST" --rss --format json >"$T/report.json"
	account_alone sample
	"$SEEP" report "$HOST" --rss >"$T/text"
	tr '\n' ' ' <"$T/text" | grep -q 'Note: the pages of the heap are not split'
}

# covered NAME FILE COMMAND...: in a mount namespace in which FILE is on top of the host's /proc/PID/NAME
covered() {
	unshare -m sh -c 'mount --bind "$0" "$1" && shift && exec "$@"' "$2" "/proc/$HOST/$1" "${@:3}"
}
can_cover() {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	unshare -m true 2>/dev/null || skip "no mount namespace here"
}

# account_alone WORD: the report has the account, and a reason with this word in place of the split
account_alone() {
	jq -e --arg word "$1" '.processes[0].rss | .split == false and .classes.heap > 20000000 and .classes.living == 0 and
		(.why | contains($word)) and .advice == [] and
		(([.classes[]] | add) + .moved_bytes == .rss_bytes)' "$T/report.json"
	jq -e '[.processes[0].sites[] | has("holds_bytes")] | any | not' "$T/report.json"
}

@test "where pagemap is closed there is the account alone, with the way out" {
	can_cover
	pinned notes
	covered pagemap /dev/null "$SEEP" report "$HOST" --rss --format json >"$T/report.json"
	account_alone CAP_SYS_PTRACE
	covered pagemap /dev/null "$SEEP" report "$HOST" --rss >"$T/text"
	tr '\n' ' ' <"$T/text" | grep -q 'Note: the pages of the heap are not split'
	grep -q ' heap, not split$' "$T/text"
	ended
	! grep -q ' holds  *pins ' "$T/text"
}

@test "where the list of blocks may not be read, as with Yama, there is the account alone, too" {
	can_cover
	pinned notes
	# what kernel.yama.ptrace_scope forbids: /proc/PID/mem and process_vm_readv; smaps and pagemap can be read
	covered mem /dev/null "$BUILD/tools/without_peeking" "$SEEP" report "$HOST" --rss --format json >"$T/report.json"
	account_alone CAP_SYS_PTRACE
	ended
}

@test "if a part of the list of blocks is in swap, the report says that blocks are missing" {
	rm -f "$T/out"
	mkfifo "$T/lines"
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$HOSTS/map_in_swap" <"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	exec 9>"$T/lines"
	answered ready
	! grep -q 'ready not' "$T/out" || skip "the CPU or kernel has no marks of userfaultfd on absent pages"
	"$SEEP" report "$HOST" --rss --format json >"$T/report.json"
	# one MiB of 20 has no blocks now, and looks free
	jq -e '.processes[0].rss | .split and .partial and .advice == [] and
		.classes.living > 18000000 and .classes.living < 19200000 and .classes.free > 900000' "$T/report.json"
	"$SEEP" report "$HOST" --rss >"$T/text"
	tr '\n' ' ' <"$T/text" | grep -q 'Note: some blocks are missing, because parts of the list of blocks are in swap'
	ended
}

# fed STEP: report --rss of $HOST reads the kernel's sum last, and gets it from a FIFO, after STEP. JSON in
# $T/report.json, $T/report.err, $answer. STEP is sh and finds the pid in $HOST.
fed() {
	local reader
	rm -f "$T/sum"
	mkfifo "$T/sum"
	covered smaps_rollup "$T/sum" "$SEEP" report "$HOST" --rss --format json >"$T/report.json" 2>"$T/report.err" 3>&- &
	reader=$!
	PIDS+=("$reader")
	HOST=$HOST T=$T timeout 60 sh -c 'cp "/proc/$HOST/smaps_rollup" "$T/rollup" && exec 8>"$T/sum" && eval "$0" && cat "$T/rollup" >&8' "$1"
	answer=0
	wait "$reader" || answer=$?
	cat "$T/report.err"
}

@test "a process that ends or becomes another program in the middle of a reading is one line" {
	can_cover
	pinned notes
	# shellcheck disable=SC2016 # sh expands it
	fed 'kill -KILL "$HOST"; while grep -q "^State:.[^Z]" "/proc/$HOST/status" 2>/dev/null; do sleep 0.01; done'
	[[ $answer -eq 3 && $(wc -l <"$T/report.err") -eq 1 && ! -s $T/report.json ]]
	exec 9>&-
	begin_bash
	# shellcheck disable=SC2016
	fed 'echo >&9; while ! grep -q "^SITE" "$T/out"; do sleep 0.01; done'
	[[ $answer -eq 3 && $(wc -l <"$T/report.err") -eq 1 && ! -s $T/report.json ]]
	grep -q 'become another program' "$T/report.err"
	ended
}

@test "what a process unmaps in the middle of a reading has moved" {
	can_cover
	pinned top
	# shellcheck disable=SC2016
	fed 'echo >&9; while ! grep -q trimmed "$T/out"; do sleep 0.01; done; cp "/proc/$HOST/smaps_rollup" "$T/rollup"'
	[[ $answer -eq 0 ]]
	jq -e '.processes[0].rss | ([.classes[]] | add) + .moved_bytes == .rss_bytes and
		.moved_bytes < -19000000 and .moved_bytes > -21000000 and .classes.free > 19000000' "$T/report.json"
	"$SEEP" report "$HOST" --rss --format json >"$T/report.json"
	jq -e '.processes[0].rss | .moved_bytes == 0 and .classes.free < 1000000' "$T/report.json"
	ended
}

@test "pages of hugetlbfs, which the kernel leaves out of RSS, are beside it" {
	can_cover
	pinned notes
	sed -E 's/^(Private_Hugetlb: +)[0-9]+/\14096/; s/^(Shared_Hugetlb: +)[0-9]+/\12048/' "/proc/$HOST/smaps_rollup" >"$T/rollup"
	grep -q Hugetlb "$T/rollup"
	covered smaps_rollup "$T/rollup" "$SEEP" report "$HOST" --rss --format json >"$T/report.json"
	jq -e '.processes[0].rss | .hugetlb_bytes == 6291456 and .moved_bytes == 0' "$T/report.json"
	covered smaps_rollup "$T/rollup" "$SEEP" report "$HOST" --rss >"$T/text"
	tr '\n' ' ' <"$T/text" | grep -q 'in swap, 6.0 MiB in pages of hugetlbfs, which RSS does not contain; read '
	"$SEEP" report "$HOST" --rss >"$T/text"
	lacks hugetlbfs "$T/text"
	ended
}

@test "the account says how much of the heap is in huge pages" {
	local huge
	grep -q '\[never\]' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null && skip "the CPU or kernel has no huge pages"
	SETTINGS=(GLIBC_TUNABLES=glibc.malloc.hugetlb=1)
	pinned dense 40000
	huge=$(awk '/^[0-9a-f]+-/ { is_heap = / \[heap\]$/ } is_heap && /^AnonHugePages:/ { sum += $2 } END { print sum * 1024 }' "/proc/$HOST/smaps")
	[[ $huge -gt 0 ]] || skip "the CPU or kernel has no huge pages"
	"$SEEP" report "$HOST" --rss --format json >"$T/report.json"
	jq -e --argjson huge "$huge" '.processes[0].rss.huge_bytes == $huge' "$T/report.json"
	"$PYTHON" "$LIB/rss.py" "$T/out" "$T/report.json" advice=
	"$SEEP" report "$HOST" --rss >"$T/text"
	tr '\n' ' ' <"$T/text" | grep -q 'of the heap is in huge pages: each is kept resident as a whole by a single block'
	ended
}

@test "blocks of a parent are held by it, not by sites of the child" {
	pinned fork
	answered CHILD
	"$SEEP" report "$(awk '/^CHILD/ { print $2 }' "$T/out")" --rss --format json >"$T/report.json"
	jq -e '.processes[0] | .rss.split and .rss.inherited.live_bytes == 200000 and
		.rss.inherited.holds_bytes > 20000000 and .rss.inherited.holds_bytes < 21000000 and
		([.sites[].live_bytes] | add) >= 10000000 and ([.sites[].holds_bytes] | add) < 11000000' "$T/report.json"
}

@test "of a process that hides its mappings there are sums, of one of another user one line" {
	unprivileged test -x "$SEEP" -a -r "$COLLECTOR" || skip "nobody cannot come here"
	mkdir "$DIR/of-nobody"
	if [[ $(id -u) -eq 0 ]]; then
		chown 65534 "$DIR/of-nobody"
		chmod 755 "$DIR"
	fi
	chmod 700 "$DIR/of-nobody"
	mkfifo "$T/lines"
	unprivileged env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR/of-nobody" "$HOSTS/pinned" hidden \
		<"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	exec 9>"$T/lines"
	answered ready
	# its segment is found by its directory: which file it maps is hidden, too
	unprivileged "$SEEP" report "$DIR/of-nobody" --rss --format json >"$T/report.json"
	account_alone 'not dumpable'
	jq -e --argjson rss "$(awk '/^VmRSS/ { print $2 * 1024 }' "/proc/$(jq '.processes[0].pid' "$T/report.json")/status")" '.processes[0].rss |
		.rss_bytes > $rss * 0.99 and .rss_bytes < $rss * 1.01 and .classes.files > 0' "$T/report.json"
	unprivileged "$SEEP" report "$DIR/of-nobody" --rss >"$T/text"
	grep -q ' heap, stacks and other private memory, not split$' "$T/text"
	tr '\n' ' ' <"$T/text" | grep -q 'no site has held pages: the system does not let seep see the mappings'
	# another user's process
	status=0
	unprivileged "$SEEP" report 1 --rss >"$T/leaks" 2>"$T/leaks.err" || status=$?
	[[ $(id -u) -ne 0 ]] || says_why "process 1"
}

@test "a process that ends while it is read is one line, or was whole" {
	local i answer
	for i in 1 2 3 4 5; do
		pinned notes
		(sleep "0.0$i"; kill -KILL "$HOST") 3>&- &
		answer=0
		"$SEEP" report "$HOST" --rss --format json >"$T/report.json" 2>"$T/report.err" || answer=$?
		if [[ $answer -eq 0 ]]; then
			"$PYTHON" "$LIB/rss.py" "$T/out" "$T/report.json"
		else
			cat "$T/report.err"
			[[ $answer -eq 3 && $(wc -l <"$T/report.err") -eq 1 && ! -s $T/report.json ]]
		fi
		exec 9>&-
	done
}

@test "a process that becomes another program while it is read is one line, or was whole" {
	local i answer
	for i in 0 1 2 3 4; do
		begin_bash
		(sleep "0.00$i"; echo >&9) 3>&- &
		answer=0
		"$SEEP" report "$HOST" --rss --format json >"$T/report.json" 2>"$T/report.err" || answer=$?
		cat "$T/report.err"
		if [[ $answer -eq 0 ]]; then
			jq -e '.processes[0].rss | ([.classes[]] | add) + .moved_bytes == .rss_bytes' "$T/report.json"
		else
			[[ $answer -eq 3 && $(wc -l <"$T/report.err") -eq 1 && ! -s $T/report.json ]]
		fi
		ended
	done
}

# costs: faults, system calls that wait, and memory of the host
costs() {
	awk '{ print $10, $12 }' "/proc/$HOST/stat"
	grep -E '^(VmRSS|VmSize|VmSwap|voluntary_ctxt_switches)' "/proc/$HOST/status"
}

@test "a process that is read notices nothing" {
	local i
	pinned borders
	"$SEEP" report "$HOST" --rss --format json >/dev/null
	costs >"$T/before"
	for ((i = 0; i < $(full_or 1000 20); i++)); do
		"$SEEP" report "$HOST" --rss --format json >/dev/null
	done
	costs >"$T/after"
	diff "$T/before" "$T/after"
	ended
}

# calls READINGS: names of the system calls of a host that is read so often while strace watches it
calls() {
	local i tracer
	pinned borders
	strace -f -o "$T/calls" -p "$HOST" 2>"$T/strace" 3>&- 9>&- &
	tracer=$!
	PIDS+=("$tracer")
	eventually grep -q '^TracerPid:.[1-9]' "/proc/$HOST/status"
	eventually grep -q '^State:.S' "/proc/$HOST/status"
	for ((i = 0; i < $1; i++)); do
		"$SEEP" report "$HOST" --rss --format json >/dev/null
	done
	ended
	wait "$tracer"
	sed -E 's/^[0-9]+ +//; s/[( ].*//' "$T/calls" >"$T/calls.$1"
	grep -qx exit_group "$T/calls.$1"
}

@test "a process that is read makes no system call" {
	need strace
	calls 0
	calls "$(full_or 1000 5)"
	diff "$T/calls.0" "$T/calls.$(full_or 1000 5)"
}

@test "many blocks take little memory to read" {
	pinned dense "$(full_or 1000000 100000)"
	/usr/bin/time -f '%M %e' -o "$T/time" "$SEEP" report "$HOST" --rss --format json >"$T/report.json"
	cat "$T/time"
	"$PYTHON" "$LIB/rss.py" "$T/out" "$T/report.json" advice=
	[[ $(cut -d' ' -f1 "$T/time") -le 65536 ]]
	! full || [[ $(cut -d' ' -f2 "$T/time" | cut -d. -f1) -lt 1 ]]
}

# bats test_tags=full
@test "ten million blocks take at most ten times of a million" {
	[[ $(awk '/^MemAvailable/ { print $2 }' /proc/meminfo) -gt 14000000 ]] || skip "no room for 14 GiB"
	pinned dense 10000000
	/usr/bin/time -f '%M %e' -o "$T/time" "$SEEP" report "$HOST" --rss --format json >"$T/report.json"
	cat "$T/time"
	"$PYTHON" "$LIB/rss.py" "$T/out" "$T/report.json" advice=
	[[ $(cut -d' ' -f1 "$T/time") -le 655360 ]]
	[[ $(cut -d' ' -f2 "$T/time" | cut -d. -f1) -lt 10 ]]
}

@test "the page has the account and the pages that sites hold" {
	pinned notes
	"$SEEP" report "$HOST" --rss --format json >"$T/report.json"
	"$SEEP" report "$HOST" --rss --format html -o "$T/page.html"
	PYTHONPATH=$LIB "$PYTHON" - "$T/page.html" <<-'END'
		import page, sys
		p = page.Page(sys.argv[1])
		head, columns = p.head, p.columns
		assert head["processes"][0]["rss"]["classes"]["living"] == 200000
		assert 20480000 in columns["site.holds_bytes"], columns["site.holds_bytes"]
		assert 20280000 in columns["site.pins_bytes"]
	END
}
