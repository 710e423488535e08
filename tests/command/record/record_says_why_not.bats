#!/usr/bin/env bats
# record_says_why_not - I18: programs that cannot be traced run as usual, and record gives the reason.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash
load ../../lib/hello.bash

ran_untraced() { # WORD: one line says why, the program did its work
	[[ $status -eq 9 && $(<"$T/out") == hello ]]
	grep -q "^seep: .*$1" "$T/err"
	grep -q '^seep: nothing was recorded' "$T/err"
	[[ ! -e $T/seep.data ]]
	[[ -z $(ls -A "$DIR") ]]
}

@test "I18 static" {
	compile static -static
	record "$T/static"
	ran_untraced 'statically linked'
	compile static-pie -static-pie
	record "$T/static-pie"
	ran_untraced 'statically linked'
}

@test "I18 static, with traceable children: they are recorded" {
	need jq
	compile dynamic
	cat >"$T/parent.c" <<-'END'
		#include <stdlib.h>
		#include <sys/wait.h>
		int main(int argc, char **argv) {
			return argc > 1 ? WEXITSTATUS(system(argv[1])) : 1;
		}
	END
	"${CC:-gcc}" -static -o "$T/parent" "$T/parent.c"
	record "$T/parent" "$T/dynamic; exit 9"
	[[ $status -eq 9 && $(<"$T/out") == hello ]]
	grep -q '^seep: .*statically linked' "$T/err"
	"$SEEP" report "$T/seep.data" --format json >"$T/report.json"
	[[ $(jq '[.processes[] | select(.exe | endswith("/dynamic"))] | length' \
		"$T/report.json") == 1 ]]
	[[ $(jq '[.processes[] | select(.exe | endswith("/parent"))] | length' \
		"$T/report.json") == 0 ]]
}

@test "I18 ASan: refused before the start" {
	compile asan -fsanitize=address
	record "$T/asan"
	[[ $status -eq 125 && ! -s $T/out ]]
	[[ $(wc -l <"$T/err") -eq 1 ]]
	grep -q 'sanitizer' "$T/err"
}

@test "I18 ASan linked statically, and TSan: refused" {
	compile asan -fsanitize=address -static-libasan
	record "$T/asan"
	[[ $status -eq 125 ]]
	compile tsan -fsanitize=thread
	record "$T/tsan"
	[[ $status -eq 125 ]]
}

@test "I18 the executable brings its own malloc" {
	cat >"$T/own.c" <<-'END'
		#include <stddef.h>
		static char pool[1 << 20];
		static size_t used;
		void *malloc(size_t n) {
			void *p = pool + used;
			used += (n + 31) & ~(size_t)15;
			return used <= sizeof(pool) ? p : NULL;
		}
		void *calloc(size_t a, size_t b) { return malloc(a * b); }
		void *realloc(void *p, size_t n) { (void)p; return malloc(n); }
		void free(void *p) { (void)p; }
	END
	compile own "$T/own.c"
	record "$T/own"
	[[ $status -eq 9 && $(<"$T/out") == hello ]]
	grep -q '^seep: .*its own malloc' "$T/err"
	# behind a script, as browsers are
	printf '#!/bin/sh\nexec "%s"\n' "$T/own" >"$T/script"
	chmod +x "$T/script"
	record "$T/script"
	grep -q '^seep: .*hardly traced, or not at all: the executable brings its own malloc' "$T/err"
	"$SEEP" report "$T/seep.data" >"$T/said"
	grep -q 'own (not traced: the executable brings its own malloc)$' "$T/said"
}

@test "I18 musl: runs unharmed" {
	need musl-gcc
	hello
	musl-gcc -o "$T/musl" "$T/hello.c"
	record "$T/musl"
	ran_untraced 'another C library'
}

@test "I18 32 bits" {
	# no 32-bit libc is needed for write(1, "hello\n", 6), exit(9)
	cat >"$T/small.s" <<-'END'
		.globl _start
		_start:
			movl $4, %eax
			movl $1, %ebx
			movl $text, %ecx
			movl $6, %edx
			int $0x80
			movl $1, %eax
			movl $9, %ebx
			int $0x80
		.data
		text: .ascii "hello\n"
	END
	as --32 -o "$T/small.o" "$T/small.s"
	ld -m elf_i386 -o "$T/small" "$T/small.o"
	[[ $("$T/small") == hello ]] || skip "this kernel runs no 32-bit programs"
	record "$T/small"
	ran_untraced '32-bit'
}

@test "I18 setuid for another user" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	compile setuid
	chmod 755 "$T"
	chown 65534 "$T/setuid"
	chmod 4755 "$T/setuid"
	record "$T/setuid"
	! grep -q '^seep: recorded' "$T/err" || skip "mounted nosuid"
	ran_untraced 'is setuid'
}

@test "I18 a script is judged by its interpreter" {
	compile static -static
	printf '#!%s\n' "$T/static" >"$T/script"
	chmod 755 "$T/script"
	record "$T/script"
	ran_untraced 'statically linked'
	printf '#!/usr/bin/env %s\n' "$T/static" >"$T/script"
	record "$T/script"
	[[ $status -eq 9 ]]
	grep -q '^seep: .*statically linked' "$T/err"
}

@test "a wrapper that clears the environment is noticed after a second" {
	record env -i /bin/sleep 1.5
	[[ $status -eq 0 ]]
	grep -q '^seep: .*environment' "$T/err"
}

@test "a limit that leaves no room is named" {
	status=0
	(
		cd "$T" || exit
		# shellcheck disable=SC2016 # for the shell with the limit
		SEEP_DIR=$DIR bash -c 'ulimit -f 64; exec "$@"' bash \
			"$SEEP" record -q sh -c 'exit 9' 2>err
	) || status=$?
	[[ $status -eq 9 ]]
	grep -q 'ulimit -f' "$T/err"
}

@test "an ordinary program gives no warning" {
	compile dynamic
	record "$T/dynamic"
	[[ $status -eq 9 && $(<"$T/out") == hello ]]
	[[ $(wc -l <"$T/err") -eq 4 ]]
	[[ $(grep -c '^seep: ' "$T/err") -eq 4 ]]
	grep -q '^seep: next: seep report seep.data' "$T/err"
}

# the executable defines free alone, and hands blocks on by $1
own_free() {
	cat >"$T/free.c" <<-END
		#include <dlfcn.h>
		#include <stdio.h>
		#include <stdlib.h>
		extern void __libc_free(void *);
		static void (*next)(void *);
		void free(void *p) { $1; }
		int main(void) {
			for (int i = 0; i < 500; i++) {
				char *volatile p = malloc(1000);
				p[0] = 1;
				free(p);
			}
			puts("hello");
			return 9;
		}
	END
	"${CC:-gcc}" -fno-builtin -D_GNU_SOURCE -o "$T/own_free" "$T/free.c" -ldl
}

@test "an executable with its own free is reported, and no other cause is named" {
	need jq
	own_free '__libc_free(p)'
	record "$T/own_free"
	[[ $status -eq 9 && $(<"$T/out") == hello ]]
	[[ $(grep -c 'own free' "$T/err") -eq 1 ]]
	lacks untraced "$T/err"
	"$SEEP" report --no-symbols "$T/seep.data" | tr -s ' \n' ' ' >"$T/said"
	grep -q 'Maybe only a part was traced: the executable brings its own free' "$T/said"
	grep -q 'frees found out late' "$T/said"
	grep -q "Such frees occur if the executable has malloc functions of its own" "$T/said"
	lacks DEEPBIND "$T/said"
	# its blocks only look live: that is no verdict
	status=0
	"$SEEP" check --no-symbols "$T/seep.data" >"$T/said" 2>&1 || status=$?
	[[ $status -eq 3 ]]
	tr -s ' \n' ' ' <"$T/said" | grep -q 'the executable brings its own free'
}

@test "its own free that calls the next one: all is seen, and nothing is missed" {
	need jq
	own_free 'if (!next) *(void **)&next = dlsym(RTLD_NEXT, "free"); next(p)'
	record "$T/own_free"
	[[ $status -eq 9 ]]
	"$SEEP" report --no-symbols "$T/seep.data" --format json >"$T/report.json"
	[[ $(jq '[.processes[0].totals | .missed_frees, .unknown_frees] | add' "$T/report.json") -eq 0 ]]
	[[ $(jq '[.processes[0].sites[] | select(.allocations == 500) | .live_blocks] | add' "$T/report.json") -eq 0 ]]
}

@test "an executable with only its own realloc is reported as well" {
	cat >"$T/r.c" <<-'END'
		#include <stdlib.h>
		extern void *__libc_realloc(void *, size_t);
		void *realloc(void *p, size_t n) { return __libc_realloc(p, n); }
		int main(void) { char *volatile p = realloc(NULL, 100); free(p); return 9; }
	END
	"${CC:-gcc}" -fno-builtin -o "$T/r" "$T/r.c"
	record "$T/r"
	[[ $status -eq 9 ]]
	grep -q '^seep: .*its own realloc inside the executable' "$T/err"
}

@test "a sampled process of which no block was met: the figures are called estimates" {
	printf '%s\n' '#include <stdlib.h>' 'void *volatile k;' 'int main(void) { k = malloc(9); return 0; }' |
		gcc -w -x c - -o "$T/small"
	record -q --sample 1T --force -o data "$T/small"
	(cd "$T" && COLUMNS=200 "$SEEP" report data >out)
	grep -q 'It made 0 allocations of 0 bytes in all (an estimate: of one block in about 1.0 TiB none was met)' "$T/out"
}
