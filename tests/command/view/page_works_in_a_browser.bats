# A page in a real headless Chromium does what its controls say.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

# old_blocks BUILD: old.data of a program with 100 bytes older than 1.6 seconds
# in old() and 10 that are not in late()
old_blocks() {
	cat >"$BATS_FILE_TMPDIR/old.c" <<-'END'
		#include <stdlib.h>
		#include <unistd.h>
		#define OWN __attribute__((noinline, noclone))
		void *volatile last;
		OWN void events(void) { for (int i = 0; i < 200; i++) { last = malloc(1); free(last); } }
		OWN void old(void) { last = malloc(100); }
		OWN void late(void) { last = malloc(10); }
		int main(void) { events(); old(); usleep(1900000); events(); late(); return 0; }
	END
	gcc -g -O1 -o "$BATS_FILE_TMPDIR/old" "$BATS_FILE_TMPDIR/old.c"
	SEEP_DIR=$BATS_FILE_TMPDIR "$1/seep" record -q -o "$BATS_FILE_TMPDIR/old.data" \
		"$BATS_FILE_TMPDIR/old"
}

# One browser for all: the cases run once, each test looks at its line.
setup_file() {
	cd "$BATS_TEST_DIRNAME/../../.." || return
	local build=${SEEP_BUILD:-$PWD/build}
	old_blocks "$build" &
	for run in "page" "page many" "page tidy" "forks"; do
		# shellcheck disable=SC2086
		SEEP_DIR=$BATS_FILE_TMPDIR "$build/seep" record -q \
			-o "$BATS_FILE_TMPDIR/${run// /-}.data" -- build/hosts/$run \
			>/dev/null
	done
	mv "$BATS_FILE_TMPDIR/page-many.data" "$BATS_FILE_TMPDIR/many.data"
	mv "$BATS_FILE_TMPDIR/page-tidy.data" "$BATS_FILE_TMPDIR/tidy.data"
	mv "$BATS_FILE_TMPDIR/forks.data" "$BATS_FILE_TMPDIR/tree.data"
	cp tests/golden/inputs/verdicts.seep "$BATS_FILE_TMPDIR/verdicts.data"
	wait
	timeout 240 python3 tests/lib/page_cases.py "$build/seep" "$BATS_FILE_TMPDIR" \
		>"$BATS_FILE_TMPDIR/answers" 2>&1 || true
}

# outcome NAME...: what became of these cases
outcome() {
	local name
	need chromium
	for name; do
		grep -qx "ok $name" "$BATS_FILE_TMPDIR/answers" || {
			echo "$name:"
			grep -E "^#|$name" "$BATS_FILE_TMPDIR/answers" ||
				cat "$BATS_FILE_TMPDIR/answers"
			return 1
		}
	done
}

@test "the page loads and shows summary, totals and flame graph" {
	outcome load flame_is_drawn boxes_add_up
}
@test "a box shows its figures; a click or a key zooms, and the table follows" {
	outcome hover_tells zoom flame_by_keys
}
@test "search finds stacks and shows their share" { outcome search; }
@test "metric, direction and merging can be switched" {
	outcome metric invert merge pools help_opens
}
@test "the table sorts; a site shows stack, sizes, ages and births; it can be copied" {
	outcome sort site histograms steps births copied
}
@test "a range of the time line, drawn or typed, filters the rest" {
	outcome range range_by_keys
}
@test "hostile names stay text; no complaint, no request" {
	outcome hostile_names_stay_text silent
}
@test "light and dark, a phone, paper" { outcome dark phone paper; }
@test "at 400 pixels nothing overflows" { outcome nothing_overflows; }
@test "the peak is on the curve" { outcome peak_is_on_the_curve; }
@test "two inputs open as a comparison of both sides" { outcome two_inputs_open_compared; }
@test "processes can be chosen, and compared; two inputs too" {
	outcome processes_can_be_chosen inputs_can_be_compared
}
@test "very many sites are fast, their rows are made as needed" {
	outcome many_stacks_are_fast
}
@test "if nothing is live the page opens at the peak, and says so" {
	outcome nothing_lives
}
@test "--older-than adds a tile, and the page says which ages are not known" {
	outcome older_than nothing_is_that_old
}
@test "verdicts: a paragraph, a column with filter, the evidence" { outcome verdicts; }
@test "damaged data gives a message" { outcome broken_data_is_told; }
