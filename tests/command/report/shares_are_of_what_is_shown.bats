#!/usr/bin/env bats
# shares_are_of_what_is_shown - sites that are left out are not part of 100 %.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

# 72,704 bytes of libstdc++ beside 250 of its own
setup_file() {
	cat >"$BATS_FILE_TMPDIR/small.cpp" <<-'END'
		#include <cstdio>
		char *volatile last;
		__attribute__((noinline)) void leak() { last = new char[50]; }
		__attribute__((noinline)) void keep() { last = new char[200]; }
		int main() { leak(); keep(); }
	END
	g++ -g -O1 -o "$BATS_FILE_TMPDIR/small" "$BATS_FILE_TMPDIR/small.cpp"
	export SMALL=$BATS_FILE_TMPDIR/small
}

@test "suppressed bytes hide nothing below the threshold" {
	record -q -o data "$SMALL"
	(cd "$T" && "$SEEP" report data >text)
	grep -q '^72,704 bytes in 1 start-up remainder suppressed' "$T/text"
	grep -qE '^ +80\.0% +200 +1  keep' "$T/text"
	grep -qE '^ +20\.0% +50 +1  leak' "$T/text"
	lacks 'below 1%' "$T/text"
	(cd "$T" && "$SEEP" report data --table >text)
	grep -qE '^ +20\.0% +50 +1 .*in leak' "$T/text"
	# with them the whole is another
	(cd "$T" && "$SEEP" report data --no-suppress >text)
	grep -qE '^ +99\.7% +72,704 ' "$T/text"
}

@test "filtered bytes hide nothing below the threshold" {
	record -q -o data "$SMALL"
	(cd "$T" && "$SEEP" report data --no-suppress --include leak >text)
	grep -q '^The filters leave 0\.1% of the live bytes: 50 of 72,954' "$T/text"
	grep -qE '^ *100\.0% +50 +1  leak' "$T/text"
}

@test "record counts what the report shows, and says what it leaves out" {
	record -o data "$SMALL"
	cat "$T/err"
	grep -q '^seep: live at exit: 2 blocks, 250 bytes (without 1 start-up remainder, 71\.0 KiB)$' "$T/err"
	# the heap of a program that became another went with it
	record --force -o data sh -c "exec $SMALL"
	grep -q '^seep: live at exit: 2 blocks, 250 bytes (without ' "$T/err"
	record --force -o data true
	grep -q '^seep: live at exit: 0 blocks, 0 bytes$' "$T/err"
}
