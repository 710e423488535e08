#!/usr/bin/env bats
# reports_look_as_written - text and JSON of the recordings in tests/golden are as expected.
# SPDX-License-Identifier: Apache-2.0
#
# Nothing of this machine is in them: the recordings bring their names along.
# After a change that is meant: GOLDEN=write TESTS=reports_look tests/run cli,
# then look at each difference.
load ../lib/record.bash

# show COLUMNS WORDS...: what the command prints
show() {
	local columns=$1
	shift
	[[ $columns -eq 0 ]] || export COLUMNS=$columns
	cd "$repo/tests/golden" || return
	if [[ " $* " == *" json "* ]]; then
		"$SEEP" "$@" --no-cache >"$T/json"
		"$PYTHON" "$LIB/golden_json.py" <"$T/json"
	else
		"$SEEP" "$@" --no-cache
	fi
}

# Which debug package is missing, and its name, is this machine's matter.
without_notes() { sed '/^Note: /,/\.$/d' "$1"; }

# compare PATTERN: all cases whose name matches
compare() {
	local name columns words bad=0 count=0
	while read -r name columns words; do
		[[ $name != \#* && $name =~ $1 ]] || continue
		count=$((count + 1))
		# shellcheck disable=SC2086 # several words
		(show "$columns" $words) >"$T/now" 2>&1
		if [[ ${GOLDEN:-} == write ]]; then
			cp "$T/now" "$repo/tests/golden/$name.$columns.txt"
		elif ! diff -u <(without_notes "$repo/tests/golden/$name.$columns.txt") \
			<(without_notes "$T/now"); then
			bad=$((bad + 1))
		fi
		[[ $columns -eq 0 ]] || fits "$columns" "$T/now" || bad=$((bad + 1))
	done <"$repo/tests/golden/cases"
	echo "$count cases, $bad differ"
	[[ $bad -eq 0 && $count -gt 0 ]]
}

# fits COLUMNS FILE: no line is longer, counted in characters
fits() {
	sed 's/\x1b\[[0-9]*m//g' "$2" | LC_ALL=C.UTF-8 awk -v most="$1" \
		'{ gsub(/…/, ".") } length > most { print "longer than " most ": " $0; bad = 1 } END { exit bad }'
}

setup() {
	locale -a | grep -qi '^C.utf-\?8$'
	T=$BATS_TEST_TMPDIR
	export LC_ALL=C.UTF-8 TERM=xterm TZ=UTC XDG_CACHE_HOME=$T/cache
	unset NO_COLOR COLUMNS
}
teardown() { :; }

@test "live: tree, table, filters" { compare '^live'; }
@test "peak, allocations, short-lived" { compare '^(peak|allocs|temporary)'; }
@test "over time" { compare '^(growth|snapshots|at_)'; }
@test "one site, a pool" { compare '^(site|pool)'; }
@test "samples with their error" { compare '^sampled'; }
@test "several processes" { compare '^family'; }
@test "two inputs compared" { compare '^diff'; }
@test "verdicts" { compare '^verdicts'; }
@test "JSON" { compare '^json'; }

@test "no colour where NO_COLOR says so, blocks as digits without UTF-8" {
	cd "$repo/tests/golden"
	NO_COLOR=1 "$SEEP" report old.seep >"$T/text"
	lacks $'\x1b' "$T/text"
	LC_ALL=C COLUMNS=80 "$SEEP" report old.seep >"$T/text"
	grep -q '^Live bytes over .*: [0-9]*9 up to ' "$T/text"
	[[ $(LC_ALL=C tr -d '\0-\177' <"$T/text" | wc -c) -eq 0 ]]
}
