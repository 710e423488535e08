#!/bin/bash
# run.sh - runs each fuzzer for a while; a crash leaves its input behind.
# SPDX-License-Identifier: Apache-2.0
# usage: run.sh SECONDS FUZZER...
# A corpus grows in build/fuzz/corpus/NAME; seeds are in tests/fuzz/seeds/NAME.
set -u
cd "$(dirname "$0")/../.." || exit 1

seconds=$1
shift
[[ $# -gt 0 ]] || {
	echo "seep: no fuzzers in tests/fuzz" >&2
	exit 1
}

bad=0
for fuzzer; do
	name=$(basename "$fuzzer")
	corpus=build/fuzz/corpus/$name
	crashes=build/fuzz/crashes/$name
	mkdir -p "$corpus" "$crashes"
	dirs=("$corpus")
	[[ -d tests/fuzz/seeds/$name ]] && dirs+=("tests/fuzz/seeds/$name")
	echo "== $name, $seconds s"
	if ! "$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
		-artifact_prefix="$crashes/" -print_final_stats=1 "${dirs[@]}" \
		>"build/fuzz/$name.log" 2>&1; then
		echo "FAIL $name: input in $crashes" >&2
		tail -n 40 "build/fuzz/$name.log" >&2
		bad=1
	fi
	grep -E '^stat::(number_of_executed|peak_rss)' "build/fuzz/$name.log"
done
exit $bad
