#!/usr/bin/env bats
# foreign_programs_in_the_tree_run - I16, I18: programs with another libc, static programs and programs with ASan run as usual.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

hello() {
	printf '%s\n' '#include <stdio.h>' '#include <stdlib.h>' \
		'int main(void) { void *volatile p = malloc(100); free(p); puts("hello"); return 3; }'
}

@test "I16 a musl program in the tree runs as it does bare" {
	need musl-gcc
	local name=musl$$_$RANDOM
	hello | musl-gcc -w -x c - -o "$T/$name"
	bare sh -c "'$T/$name'; echo \$?"
	traced sh -c "'$T/$name'; echo \$?"
	rm -f "/dev/shm/seep-$(id -u)/$name"-*
	same_as_bare
	report
}

@test "I18 a static program in the tree runs as it does bare" {
	hello | cc -w -static -x c - -o "$T/static"
	bare sh -c "'$T/static'; echo \$?"
	traced sh -c "'$T/static'; echo \$?"
	same_as_bare
}

# gcc's ASan ends itself when any other library was preloaded before it; that
# limit is documented, and all that is asked here is that nobody else suffers
@test "I18 an ASan program in the tree harms nobody else" {
	hello | cc -w -fsanitize=address -x c - -o "$T/asan"
	traced sh -c "'$T/asan' >'$T/asan.out' 2>&1; '$HOSTS/family'"
	[[ $status -eq 0 && ! -s $T/err ]]
	grep -q -e hello -e 'ASan runtime does not come first' "$T/asan.out"
	equals_ledger
}

@test "I18 a program with its own malloc runs as it does bare" {
	cat >"$T/own.c" <<-'C'
	#include <stdio.h>
	#include <string.h>
	static char pool[1 << 20] __attribute__((aligned(16)));
	static unsigned long used;
	void *malloc(unsigned long n) { void *p = pool + used; used += (n + 31) & ~15ul; return p; }
	void free(void *p) { (void)p; }
	void *calloc(unsigned long k, unsigned long n) { return memset(malloc(k * n), 0, k * n); }
	void *realloc(void *p, unsigned long n) { void *q = malloc(n); if (p) memcpy(q, p, n); return q; }
	int main(void) { char *p = malloc(10); strcpy(p, "own"); puts(p); free(p); return 5; }
	C
	cc -w -fno-builtin "$T/own.c" -o "$T/own"
	bare "$T/own"
	traced "$T/own"
	same_as_bare
	traced_well "$HOSTS/family"
	"$SEEP" report --no-symbols "$DIR" >"$T/said"
	grep -q ' 0  own (not traced: the executable brings its own malloc)$' "$T/said"
	[[ $(grep -c 'not traced' "$T/said") -eq 1 ]]
}

# then dlsym answers with a place in the program, behind which is libc's
@test "I18 a program that only takes the address of malloc is traced" {
	cat >"$T/taker.c" <<-'C'
	#include <stdlib.h>
	void *(*volatile taken)(size_t) = malloc;
	int main(void) { return taken(100) == NULL; }
	C
	cc -w -O1 -fno-builtin -fno-pie -no-pie "$T/taker.c" -o "$T/taker"
	traced_well "$T/taker"
	report
	[[ $(from_report '(p[0]["inert_reason"], p[0]["totals"]["allocations"])') == "(None, 1)" ]]
}

@test "a chain of twenty execs: the last image is counted by itself" {
	# shellcheck disable=SC2016 # for the inner shell
	traced_well sh -c 'n=$1; [ "$n" -gt 0 ] || exec "$3"; exec sh -c "$2" sh $((n - 1)) "$2" "$3"' \
		sh 20 'n=$1; [ "$n" -gt 0 ] || exec "$3"; exec sh -c "$2" sh $((n - 1)) "$2" "$3"' "$HOSTS/family"
	equals_ledger
}
