#!/usr/bin/env bats
# peers_agree_on_what_is_left - small leaks, modelled on the tests of heaptrack, valgrind and LeakSanitizer: all find the same blocks at exit.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

programs=(small_leaks small_leaks_cxx)

# agree TOOL LEDGER FILE: it counts what the program itself does, case by case
agree() { "$PYTHON" "$LIB/left_at_exit.py" "$2" "$1" "$3"; }

# by_seep PROGRAM [CASE]: names of the output begin with $T/PROGRAM.CASE
by_seep() {
	local to=$T/$1.${2:-all}
	mkdir -m 700 "$to.dir"
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$to.dir" "$HOSTS/$1" ${2:+"$2"} >"$to.ledger"
	"$SEEP" report "$to.dir" --format json --frames shared >"$to.json"
	agree seep "$to.ledger" "$to.json"
}

# by_valgrind PROGRAM [CASE]: after by_seep; also all that is in use at exit, the
# runtime's own blocks included
by_valgrind() {
	local to=$T/$1.${2:-all}
	valgrind --leak-check=full --show-leak-kinds=all --leak-resolution=high --num-callers=50 \
		--run-libc-freeres=no --run-cxx-freeres=no --child-silent-after-fork=yes \
		"$HOSTS/$1" ${2:+"$2"} >"$to.theirs" 2>"$to.valgrind"
	cmp "$to.ledger" "$to.theirs"
	agree valgrind "$to.ledger" "$to.valgrind"
	sed -n 's/,//g; s/.* in use at exit: \([0-9]*\) bytes in \([0-9]*\) blocks$/\1 \2/p' \
		"$to.valgrind" >"$to.use"
	[[ -s $to.use ]]
	# a thread's table of TLS modules has 16 bytes more for the collector's
	diff "$to.use" <(jq -r '.frames as $f | .processes[] | select(.parent == null) |
		([.sites[] | select(any(.frames[]; $f[.].function == "_dl_allocate_tls")) |
			.live_blocks // 0] | add // 0) as $threads |
		.totals | "\(.live_bytes - 16 * $threads) \(.live_blocks)"' "$to.json")
}

@test "seep counts what the programs themselves count" {
	local program
	for program in "${programs[@]}"; do
		by_seep "$program"
		[[ $(wc -l <"$T/$program.all.ledger") -ge 7 ]]
	done
	! grep -vE '^case_[a-z_]+ [0-9]+ [0-9]+$' "$T"/*.ledger
}

@test "a comparison fails where a block is missing" {
	by_seep small_leaks tree
	sed 's/ 62 / 61 /' "$T/small_leaks.tree.ledger" >"$T/other"
	! agree seep "$T/other" "$T/small_leaks.tree.json"
}

@test "valgrind counts the same, and has as many in use at exit in all" {
	local program
	need valgrind
	for program in "${programs[@]}"; do
		by_seep "$program"
		by_valgrind "$program"
	done
}

@test "heaptrack leaks the same bytes" {
	local program
	need heaptrack
	need heaptrack_print
	for program in "${programs[@]}"; do
		(cd "$T" && heaptrack -o "$T/$program.track" "$HOSTS/$program") >"$T/said" 2>&1
		grep '^case_' "$T/said" >"$T/$program.ledger"
		heaptrack_print -f "$T/$program.track".* -F "$T/$program.folded" \
			--flamegraph-cost-type leaked >/dev/null 2>&1
		agree heaptrack "$T/$program.ledger" "$T/$program.folded"
	done
}

# bats test_tags=full
@test "each case in a process of its own" {
	local program case
	need valgrind
	for program in "${programs[@]}"; do
		while read -r case _; do
			by_seep "$program" "${case#case_}"
			by_valgrind "$program" "${case#case_}"
		done < <("$HOSTS/$program")
	done
}
