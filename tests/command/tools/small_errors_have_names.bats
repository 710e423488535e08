#!/usr/bin/env bats
# small_errors_have_names - tools/refactor/mutants chooses the same errors wherever a function lies and however it is laid out; tools/lint/unused.py.
# SPDX-License-Identifier: Apache-2.0
repo=$(cd "$BATS_TEST_DIRNAME/../../.." && pwd)

setup() {
	T=$BATS_TEST_TMPDIR
	mkdir -p "$T/tree/tools/lint" "$T/tree/src/one"
	cp -r "$repo/tools/refactor" "$T/tree/tools"
	cp "$repo/tools/lint/unused.py" "$T/tree/tools/lint"
	cd "$T/tree" || return
	cat >src/one/sum.c <<-'END'
		#include "one/sum.h"
		/* the sum, unless one of them is too large { */
		int
		sum(int a, int b)
		{
			if (a > 5 && b < 7)
				log_it("too { large");
			return a + b;
		}
		static bool
		is_odd(int a)
		{
			return a & 1;
		}
		int
		main(void)
		{
			return is_odd(sum(1, 2));
		}
	END
	printf '/build/\n' >.gitignore
	git init -q . && git add -A
}

choice() { tools/refactor/mutants --list --count 99 "$@" | cut -d' ' -f1; }

@test "a choice does not depend on path, order and layout" {
	choice >"$T/before"
	[[ $(wc -l <"$T/before") -eq 15 ]]
	for kind in compare logic constant negated skipped dropped return arithmetic; do
		grep -q "^[a-z_]*:$kind:" "$T/before"
	done
	mkdir src/two
	{
		printf 'static bool is_odd(int a) { return a\n& 1; } // }\n'
		sed -n '/^int$/,/^}/{/main/,$d;p;}' src/one/sum.c | head -n 8 | tr '\n' ' '
		printf '\nint main(void) { return is_odd(sum(1, 2)); }\n'
	} >src/two/odd.c
	git rm -qf src/one/sum.c
	choice >"$T/after"
	diff "$T/before" "$T/after"
}

@test "a renamed function has its former choice, another seed another one" {
	choice >"$T/before"
	sed -i 's/\bsum\b\([^.]\)/total\1/' src/one/sum.c
	[[ $(choice) != "$(cat "$T/before")" ]]
	echo "sum total" >"$T/renames"
	choice --renames "$T/renames" | diff "$T/before" -
	[[ $(choice --renames "$T/renames" --seed 2 | head -n 3) != "$(head -n 3 "$T/before")" ]]
	[[ -z $(choice --rooms '^two/') && $(choice --functions '^is_odd$' | wc -l) -eq 2 ]]
}

@test "a function that nothing reaches is named" {
	printf 'int left_over(void);\nint left_over(void) { return 1; }\nint only_tested(void) { return left_over(); }\n' >>src/one/sum.c
	mkdir -p tests && echo 'int t(void) { return only_tested(); }' >tests/t.c
	git add -A
	status=0
	tools/lint/unused.py --tests >"$T/out" 2>&1 || status=$?
	[[ $status -eq 1 ]]
	grep -qx 'src/one/sum.c:22: only_tested is used by tests alone' "$T/out"
	rm tests/t.c
	tools/lint/unused.py >"$T/out" 2>&1 || status=$?
	grep -qx 'src/one/sum.c:21: left_over is used nowhere' "$T/out"
	grep -qx 'src/one/sum.c:22: only_tested is used nowhere' "$T/out"
}
