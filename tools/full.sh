#!/bin/bash
# full.sh - everything in its long form: `make check-full`. Hours, not for CI.
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/full.sh [PART ...]     or: make check-full PARTS="fuzz fresh"
#   check   SEEP_FULL=1 make check: all tests, also those that have no short form,
#           all real programs, `make verify`
#   real    of these the real programs alone
#   verify  of these the stacks against _Unwind_Backtrace alone
#   fuzz    every fuzzer for FUZZ_SECONDS (600), two at a time
#   fresh   tools/fresh.sh: the README on a Debian that has nothing (needs root)
#   mutants tools/refactor/mutants: 300 small errors in src/, how many do the tests
#           notice? At most 3 hours; fails if fewer than MUTANTS_LEAST percent (needs root)
# Without PART: check fuzz fresh mutants, which has everything.
#
# Each part's output is shown and kept in build/full/PART.log. A part that does
# not end with its totals counts as one failure. The last line is the sum,
# "N passed, N failed, N skipped".
set -u
cd "$(dirname "$0")/.." || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL # called by make, too: no lines of its own
logs=build/full
passed=0 failed=0 skipped=0

run_part() { # PART
	case $1 in
	check) SEEP_FULL=1 make check ;;
	real) SEEP_FULL=1 make check GROUP=real ;;
	verify) make verify ;;
	fuzz) make fuzz FUZZ_SECONDS="${FUZZ_SECONDS:-600}" ;;
	fresh) tools/fresh.sh ;;
	mutants) tools/refactor/mutants --hours 3 --least "${MUTANTS_LEAST:-0}" ;;
	esac
}

add_up() { # PART: its verdict is the last line of its log that has this form
	local line p=0 f=1 s=0
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$logs/$1.log" | tail -n 1)
	[[ -z $line ]] || read -r p f s <<<"${line//[^0-9]/ }"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + ${s:-0}))
	echo "$1: ${line:-did not come to its totals, see $logs/$1.log}" >>"$logs/totals"
}

[[ $# -gt 0 ]] || set -- check fuzz fresh mutants
for part; do
	[[ $part == @(check|real|verify|fuzz|fresh|mutants) ]] || {
		echo "full.sh: no part '$part' (check real verify fuzz fresh mutants)" >&2
		echo "0 passed, 1 failed"
		exit 2
	}
done
mkdir -p "$logs"
: >"$logs/totals"
for part; do
	run_part "$part" 2>&1 </dev/null | tee "$logs/$part.log"
	# a part that reports no failure, and yet ends with one, has failed
	status=${PIPESTATUS[0]}
	before=$failed
	add_up "$part"
	[[ $status -eq 0 || $failed -gt $before ]] || failed=$((failed + 1))
done
echo
cat "$logs/totals"
echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed -eq 0 && $passed -gt 0 ]]
