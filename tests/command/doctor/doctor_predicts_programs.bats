#!/usr/bin/env bats
# doctor_predicts_programs - seep doctor CMD says before the start what seep record then meets.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash
load ../../lib/hello.bash
load ../../lib/doctor.bash

# untraced CHECK WORDS FILE: doctor says so, and record leaves it untraced
untraced() {
	doctor 1 "$3"
	found fail program "$1" "$2"
	record "$3"
	[[ $status -eq 9 && $(<"$T/out") == hello ]]
	grep -q '^seep: nothing was recorded' "$T/err"
}

@test "an ordinary program: nothing fails, and it is traced" {
	compile plain -g
	doctor 0 "$T/plain"
	found ok program linkage
	found ok program libc
	found ok program malloc
	[[ $(jq '[.checks[] | select(.group == "program" and .state != "ok")] | length' "$T/doctor.json") -eq 0 ]]
	record "$T/plain"
	[[ $status -eq 9 && -s $T/seep.data ]]
}

@test "the text has the same lines as the JSON, one each" {
	compile plain
	doctor 0 "$T/plain"
	SEEP_DIR=$DIR "$SEEP" doctor "$T/plain" >"$T/text"
	[[ $(($(wc -l <"$T/text") - 1)) -eq $(jq '.checks | length' "$T/doctor.json") ]]
	[[ $(jq '.ok + .warn + .fail' "$T/doctor.json") -eq $(jq '.checks | length' "$T/doctor.json") ]]
	grep -qE '^ok    program.linkage  +dynamically linked$' "$T/text"
	grep -qE '^0 failures, [0-9,]+ warnings?$' "$T/text"
	SEEP_DIR=$DIR "$SEEP" doctor -q "$T/plain" >"$T/text"
	! grep -q '^ok' "$T/text"
}

@test "static, static-pie" {
	compile static -static
	untraced linkage 'statically linked:' "$T/static"
	compile static-pie -static-pie
	untraced linkage 'statically linked (static-pie)' "$T/static-pie"
}

@test "musl" {
	need musl-gcc
	hello
	musl-gcc -o "$T/musl" "$T/hello.c"
	untraced libc 'another C library' "$T/musl"
}

@test "32 bits, and another machine" {
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
	compile alien
	printf '\xb7' | dd of="$T/alien" bs=1 seek=18 conv=notrunc 2>/dev/null # AArch64
	doctor 1 "$T/alien"
	found fail program machine 'machine 183'
	doctor 1 "$T/small"
	found fail program machine '32-bit'
	[[ $("$T/small") == hello ]] || skip "this kernel runs no 32-bit programs"
	untraced machine '32-bit' "$T/small"
}

@test "setuid for another user" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	compile setuid
	chmod 755 "$T"
	chown 65534 "$T/setuid"
	chmod 4755 "$T/setuid"
	record "$T/setuid"
	! grep -q '^seep: recorded' "$T/err" || skip "mounted nosuid"
	untraced privileges 'is setuid' "$T/setuid"
}

@test "file capabilities: not traced as a user, traced as root" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	need setcap
	compile able
	chmod 755 "$DIR" # where nobody can come to
	cp "$T/able" "$DIR"
	"$DIR/able" >"$T/out" || [[ $? -eq 9 ]] || skip "mounted nosuid"
	setcap cap_net_raw+ep "$DIR/able" 2>/dev/null || skip "no file capabilities here"
	doctor 0 "$DIR/able"
	can_be_nobody
	AS=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	doctor 1 "$DIR/able"
	found fail program privileges 'has file capabilities'
	# the loader does as doctor said: it drops LD_PRELOAD
	"${AS[@]}" env LD_PRELOAD="$T/none.so" "$DIR/able" >"$T/out" 2>"$T/err" || true
	[[ $(<"$T/out") == hello && ! -s $T/err ]] || skip "mounted nosuid"
	"${AS[@]}" env LD_PRELOAD="$T/none.so" /bin/true 2>"$T/err"
	grep -q 'none.so' "$T/err"
}

@test "sanitizers: doctor fails, record refuses" {
	compile asan -fsanitize=address
	compile inside -fsanitize=address -static-libasan
	compile tsan -fsanitize=thread
	for one in asan inside tsan; do
		doctor 1 "$T/$one"
		found fail program sanitizer sanitizer
		record "$T/$one"
		[[ $status -eq 125 && ! -s $T/out ]]
	done
}

own_malloc() {
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
}

@test "its own malloc, and a malloc of a known allocator" {
	own_malloc
	compile own "$T/own.c"
	doctor 1 "$T/own"
	found fail program malloc 'its own malloc inside'
	record "$T/own"
	grep -q '^seep: .*its own malloc' "$T/err"
	echo 'void *mi_malloc(unsigned long n) { return n ? 0 : "x"; }' >>"$T/own.c"
	compile named "$T/own.c"
	doctor 1 "$T/named"
	found fail program malloc 'its own malloc (mimalloc) inside'
}

@test "an allocator under other names: a warning, because the rest is seen" {
	echo 'void *_rjem_malloc(unsigned long n) { return n ? 0 : "x"; }' >"$T/other.c"
	compile other "$T/other.c"
	doctor 0 "$T/other"
	found warn program malloc 'has jemalloc inside, under names of its own (_rjem_malloc)'
	record "$T/other"
	[[ $status -eq 9 && -s $T/seep.data ]]
}

@test "only free of its own: a warning" {
	echo '#include <stddef.h>
	void free(void *p) { (void)p; }' >"$T/free.c"
	compile part "$T/free.c"
	doctor 0 "$T/part"
	found warn program malloc 'its own free inside'
}

@test "an allocator with its own operator new: record brings the companions" {
	compile jem -Wl,--no-as-needed -l:libjemalloc.so.2
	doctor 0 "$T/jem"
	found ok program allocator 'libseep-cxx.so and libseep-jemalloc.so'
	record "$T/jem"
	[[ $status -eq 9 && -s $T/seep.data ]]
}

@test "Go: a static program fails, and its heap is explained" {
	need go
	mkdir "$T/go"
	printf 'package main\nfunc main() { println("hello") }\n' >"$T/go/main.go"
	(cd "$T/go" && HOME=$T GOCACHE=$T/cache GOFLAGS=-mod=mod GO111MODULE=off CGO_ENABLED=0 go build -o "$T/gone" main.go)
	doctor 1 "$T/gone"
	found fail program linkage 'statically linked'
	found warn program language 'written in Go'
}

# old_libc: a libc.so.6 without the newest versions, first in the search path
old_libc() { # VERSION...: those that it defines
	local v map=
	for v; do
		map+="$v { global: f_${v//./_}; };"
		echo "void f_${v//./_}(void) { }" >>"$T/libc.c"
	done
	echo "$map" >"$T/libc.map"
	mkdir -p "$T/lib"
	"${CC:-gcc}" -shared -fPIC -nostdlib -Wl,-soname,libc.so.6 -Wl,--version-script="$T/libc.map" \
		-o "$T/lib/libc.so.6" "$T/libc.c"
}

@test "an old glibc: the collector stays out, or the program would not start" {
	compile old -Wl,-rpath,"$T/lib"
	old_libc GLIBC_2.2.5 GLIBC_2.3 GLIBC_2.3.2 GLIBC_2.3.4 GLIBC_2.4 GLIBC_2.14 GLIBC_2.16 GLIBC_2.17 GLIBC_2.34
	doctor 1 "$T/old"
	found fail program libc 'older than 2.35'
	rm "$T/libc.c"
	old_libc GLIBC_2.2.5
	doctor 1 "$T/old"
	found fail program libc 'would not start'
	# what it reports as missing is what libseep.so asks for
	missing=$(jq -r '.checks[] | select(.check == "libc") | .text' "$T/doctor.json" |
		sed -E 's/.*without ([A-Z0-9_.]+),.*/\1/')
	objdump -p "$COLLECTOR" | grep -w "$missing"
}

@test "a script: its interpreter counts" {
	compile static -static
	printf '#!/bin/sh\n:\n' >"$T/script"
	printf '#!%s\n' "$T/static" >"$T/bad"
	chmod +x "$T/script" "$T/bad"
	doctor 0 "$T/script"
	found ok program script 'interpreter /bin/sh'
	doctor 1 "$T/bad"
	found fail program linkage 'statically linked'
	record "$T/bad"
	grep -q 'statically linked' "$T/err"
	printf '#!/usr/bin/env -S sh\n' >"$T/script"
	doctor 0 "$T/script"
}

@test "no such command, not executable, a directory: one line, 3" {
	: >"$T/file"
	complains 3 "$SEEP" doctor no-such-command-here
	complains 3 "$SEEP" doctor "$T/file"
	complains 3 "$SEEP" doctor "$T"
	complains 2 "$SEEP" doctor ls ls
}
