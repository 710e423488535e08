#!/usr/bin/env bats
# leaks_agree_with_others.bats - the same source is judged by seep leaks, LeakSanitizer and valgrind; where they differ is known.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/verdicts.bash

@test "seep, LeakSanitizer and valgrind call the same blocks lost, but where that is explained" {
	need valgrind
	g++ -O2 -g -pthread -fsanitize=leak -o "$T/sanitized" "$BATS_TEST_DIRNAME/../../hosts/three_judges.cpp"
	LSAN_OPTIONS=max_leaks=0 "$T/sanitized" </dev/null >"$T/lsan" 2>&1
	valgrind --leak-check=no --show-leak-kinds=definite,indirect,possible \
		"$HOSTS/three_judges" </dev/null >"$T/valgrind" 2>&1
	begin three_judges
	leaks --wait 200ms --format json
	cat "$T/leaks.err"
	[[ $status -eq 1 ]]
	"$PYTHON" "$LIB/three_judges.py" "$T/leaks" "$T/lsan" "$T/valgrind"
	end_host
}
