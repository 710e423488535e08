# A page in a real headless Chromium does what its controls say.
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

# One browser for all: the cases run once, each test looks at its line.
setup_file() {
	cd "$BATS_TEST_DIRNAME/../.." || return
	local build=${SEEP_BUILD:-$PWD/build}
	PYTHONPATH=tests/lib python3 -c 'import browser, sys; sys.exit(not browser.find())' ||
		return 0
	for run in "page" "page many" "forks"; do
		# shellcheck disable=SC2086
		SEEP_DIR=$BATS_FILE_TMPDIR "$build/seep" record -q \
			-o "$BATS_FILE_TMPDIR/${run// /-}.data" -- build/hosts/$run \
			>/dev/null
	done
	mv "$BATS_FILE_TMPDIR/page-many.data" "$BATS_FILE_TMPDIR/many.data"
	mv "$BATS_FILE_TMPDIR/forks.data" "$BATS_FILE_TMPDIR/tree.data"
	timeout 240 python3 tests/lib/page_cases.py "$build/seep" "$BATS_FILE_TMPDIR" \
		>"$BATS_FILE_TMPDIR/answers" 2>&1 || true
}

# case NAME: what became of it
outcome() {
	[[ -e $BATS_FILE_TMPDIR/answers ]] ||
		skip "no chromium here (make deps-page)"
	grep -E "^#|$1" "$BATS_FILE_TMPDIR/answers" || cat "$BATS_FILE_TMPDIR/answers"
	grep -qx "ok $1" "$BATS_FILE_TMPDIR/answers"
}

@test "it loads: summary, totals" { outcome load; }
@test "the flame graph is drawn" { outcome flame_is_drawn; }
@test "boxes of the flame graph add up" { outcome boxes_add_up; }
@test "a box tells its function and figures" { outcome hover_tells; }
@test "a click zooms, and the table follows" { outcome zoom; }
@test "the flame graph obeys keys" { outcome flame_by_keys; }
@test "search finds, and tells the share" { outcome search; }
@test "the metric can be switched" { outcome metric; }
@test "the tree can be turned round" { outcome invert; }
@test "frames can be merged by module, told by line" { outcome merge; }
@test "the table sorts" { outcome sort; }
@test "a site shows its stack, sizes and ages" { outcome site; }
@test "a stack can be copied" { outcome copied; }
@test "a range of the time line filters flame graph and table" { outcome range; }
@test "a range can be typed" { outcome range_by_keys; }
@test "pools of the program are apart" { outcome pools; }
@test "keys are explained" { outcome help_opens; }
@test "hostile names stay text" { outcome hostile_names_stay_text; }
@test "dark and light" { outcome dark; }
@test "nothing is wider than a phone" { outcome phone; }
@test "it prints" { outcome paper; }
@test "no complaint in the console, no request" { outcome silent; }
@test "processes can be chosen and compared" { outcome processes_can_be_chosen; }
@test "very many sites are fast, their rows are made as needed" { outcome many_stacks_are_fast; }
@test "damaged data is told" { outcome broken_data_is_told; }
