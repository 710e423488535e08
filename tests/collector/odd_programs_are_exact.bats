#!/usr/bin/env bats
# odd_programs_are_exact - counts are exact with deep recursion, tiny stacks and many loads and unloads.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

@test "60,000 frames deep: exact, in no time" {
	LIMIT=10
	traced_well "$HOSTS/deep"
	equals_ledger
	[[ $(from_report 'p[0]["lost"]["truncated_stacks"] > 0') == True ]]
}

@test "I6 2 KiB of stack are enough for us" {
	traced_well "$HOSTS/small_stacks"
	equals_ledger
}

@test "I4 exceptions while others load and unload: exact, no hang" {
	traced_well "$HOSTS/loader_storm"
	equals_ledger
}

@test "I3 a process that may call nothing but what malloc calls: exact" {
	traced_well "$HOSTS/sandboxed"
	equals_ledger
}

@test "T66 if frees bypass the collector, the report says what may be the cause" {
	export HOSTS
	traced_well "$HOSTS/deepbind_shares_the_heap"
	"$SEEP" report --no-symbols "$DIR" >"$T/said"
	grep -q 'frees found out late' "$T/said"
	grep -q 'RTLD_DEEPBIND' "$T/said"
	rm "$DIR"/*
	traced_well "$HOSTS/small_stacks"
	"$SEEP" report --no-symbols "$DIR" >"$T/said"
	[[ $(grep -c RTLD_DEEPBIND "$T/said") -eq 0 ]]
}

# linked CASE FLAG...: a program whose stacks must reach main, and its report
linked() {
	local name=$1
	shift
	cat >"$T/linked.c" <<-'C'
		#include <stdlib.h>
		void *(*volatile take)(size_t);
		__attribute__((noipa)) void *inner(size_t n)
		{
			char *p = take(n);
			p[0] = 1;
			return p;
		}
		__attribute__((noipa)) void *outer(size_t n)
		{
			char *p = inner(n);
			p[1] = 1;
			return p;
		}
		int main(void)
		{
			take = malloc;
			for (int i = 0; i < 200; i++)
				outer(100);
			return 0;
		}
	C
	cc -O1 -g "$@" "$T/linked.c" -o "$T/$name"
	rm -f "$T/r.seep"
	"$SEEP" record -q -o "$T/r.seep" -- "$T/$name" 2>"$T/err"
	cat "$T/err"
	"$SEEP" report --format json "$T/r.seep" >"$T/report.json" 2>>"$T/err"
}

@test "executables with gaps between their segments: whole stacks, a build-id" {
	local gaps=-Wl,-z,max-page-size=0x200000
	local way
	for way in "-pie -fPIE" "-no-pie -fno-pie"; do
		# shellcheck disable=SC2086
		linked gaps $way "$gaps" -Wl,-z,separate-code -Wl,--build-id
		readelf -lW "$T/gaps" | grep LOAD
		from_report '{k: v for k, v in p[0]["lost"].items() if v}'
		[[ $(from_report 'sum(p[0]["lost"][k] for k in ("cut_no_info", "cut_rule", "cut_bounds", "cut_switched"))') -eq 0 ]]
		[[ $(from_report 'sum(s["live_blocks"] for s in p[0]["sites"] if [f["function"] for f in s["frames"]][:3] == ["inner", "outer", "main"])') -eq 200 ]]
		[[ ! -s $T/err ]]
	done
}

@test "an executable that takes malloc's address has no malloc of its own" {
	linked address -no-pie -fno-pie
	readelf --dyn-syms -W "$T/address" | grep -w 'UND malloc@.*' | grep -vw 0000000000000000
	[[ ! -s $T/err ]]
}

@test "a stack that ends with its first frame is no fault of the file" {
	# its code is in no object: found by nobody
	cat >"$T/bare.c" <<-'C'
		#include <stdlib.h>
		#include <string.h>
		#include <sys/mman.h>
		int main(void)
		{
			/* push rbp; mov edi, 64; call rsi (in rax); pop; ret */
			static const unsigned char code[] = {0x55, 0x48, 0x89, 0xf8,
			    0xbf, 64, 0, 0, 0, 0xff, 0xd0, 0x5d, 0xc3};
			unsigned char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			void *(*f)(void *);
			memcpy(p, code, sizeof(code));
			mprotect(p, 4096, PROT_READ | PROT_EXEC);
			memcpy(&f, &p, sizeof(f));
			for (int i = 0; i < 100; i++)
				f((void *)malloc);
			return 0;
		}
	C
	cc -w -O1 "$T/bare.c" -o "$T/bare"
	"$SEEP" record -q --no-guess -o "$T/r.seep" -- "$T/bare"
	"$SEEP" report "$T/r.seep" >"$T/said" 2>"$T/err"
	cat "$T/said" "$T/err"
	[[ ! -s $T/err ]]
	grep -q 'stacks\? cut at code without unwind information' "$T/said"
}

# recorded PROGRAM...: its report, as JSON; what was cut
recorded() {
	rm -f "$T/r.seep"
	"$SEEP" record -q -o "$T/r.seep" -- "$@" 2>"$T/err"
	cat "$T/err"
	[[ ! -s $T/err ]]
	"$SEEP" report --format json "$T/r.seep" >"$T/report.json"
	from_report '{k: v for k, v in p[0]["lost"].items() if v}'
}

@test "frames of 100 MiB are walked through, and the pages in them left alone" {
	cat >"$T/big.c" <<-'C'
		#include <pthread.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		static __attribute__((noinline)) void *leaf(char *room)
		{
			__asm__ volatile("" ::"r"(room) : "memory");
			void *p = malloc(100);
			__asm__ volatile("" ::"r"(p) : "memory");
			return p;
		}
		static __attribute__((noinline)) void *large(void)
		{
			char room[100 << 20];
			void *p = leaf(room);
			__asm__ volatile("" ::"r"(room) : "memory");
			return p;
		}
		static __attribute__((noinline)) void *larger(size_t n)
		{
			char *room = __builtin_alloca(n); /* by rbp */
			void *p = leaf(room);
			__asm__ volatile("" ::"r"(room) : "memory");
			return p;
		}
		static void *run(void *arg)
		{
			for (int i = 0; i < 100; i++) {
				large();
				larger(150 << 20);
			}
			return arg;
		}
		int main(void)
		{
			pthread_attr_t a;
			pthread_t t;
			char line[256];
			long kib = 0;
			pthread_attr_init(&a);
			pthread_attr_setstacksize(&a, 400 << 20);
			if (pthread_create(&t, &a, run, NULL))
				return 1;
			pthread_join(t, NULL);
			FILE *f = fopen("/proc/self/status", "r");
			while (fgets(line, sizeof(line), f))
				sscanf(line, "VmHWM: %ld", &kib);
			return kib > 50 << 10;
		}
	C
	cc -w -O1 -g "$T/big.c" -o "$T/big" -pthread
	recorded "$T/big"
	[[ $(from_report 'sum(p[0]["lost"][k] for k in ("cut_no_info", "cut_rule", "cut_bounds", "cut_switched"))') -eq 0 ]]
	for way in large larger; do
		[[ $(from_report 'sum(s["live_blocks"] for s in p[0]["sites"] if [f["function"] for f in s["frames"]][:3] == ["leaf", "'$way'", "run"])') -eq 100 ]]
	done
}

@test "an allocation while a symbol is bound has its whole stack" {
	cat >"$T/chosen.c" <<-'C'
		#include <stdlib.h>
		void *kept;
		static int answer(void) { return 0; }
		static __attribute__((noinline)) int (*choose(void))(void)
		{
			kept = malloc(4321);
			__asm__ volatile("" ::: "memory");
			return answer;
		}
		int chosen(void) __attribute__((ifunc("choose")));
	C
	cat >"$T/lazy.c" <<-'C'
		int chosen(void);
		static __attribute__((noinline)) int caller(int n)
		{
			int sum = chosen();
			__asm__ volatile("" : "+r"(sum), "+r"(n));
			return sum;
		}
		int main(int argc, char **argv) { return caller(argc) + caller(7); }
	C
	cc -w -O2 -g -shared -fPIC -Wl,-z,lazy "$T/chosen.c" -o "$T/libchosen.so"
	cc -w -O1 -g -Wl,-z,lazy "$T/lazy.c" -o "$T/lazy" -L"$T" -lchosen -Wl,-rpath,"$T"
	recorded "$T/lazy"
	[[ $(from_report 'sum(p[0]["lost"][k] for k in ("cut_no_info", "cut_rule", "cut_bounds", "cut_switched"))') -eq 0 ]]
	from_report '[[f["function"] for f in s["frames"]] for s in p[0]["sites"] if s["live_bytes"] == 4321]'
	[[ $(from_report 'sum(1 for s in p[0]["sites"] if s["live_bytes"] == 4321 and [f["function"] for f in s["frames"] if f["function"] in ("chosen", "caller", "main")] == ["chosen", "caller", "main"])') -eq 1 ]]
}

@test "a stack that goes on elsewhere is cut, and the reason is true" {
	cat >"$T/split.c" <<-'C'
		#include <stdlib.h>
		static __attribute__((noinline)) void *leaf(int depth)
		{
			char room[4096];
			__asm__ volatile("" ::"r"(room) : "memory");
			if (depth == 0)
				return malloc(10);
			void *p = leaf(depth - 1);
			__asm__ volatile("" ::"r"(room) : "memory");
			return p;
		}
		int main(void)
		{
			for (int i = 0; i < 10; i++)
				leaf(10);
			return 0;
		}
	C
	cc -w -O1 -g -fsplit-stack "$T/split.c" -o "$T/split"
	recorded "$T/split"
	[[ $(from_report 'p[0]["lost"]["cut_switched"]') -gt 0 ]]
	[[ $(from_report 'p[0]["lost"]["cut_bounds"]') -eq 0 ]]
	"$SEEP" report "$T/r.seep" >"$T/said"
	grep -q 'cut where the caller is on another stack' "$T/said"
}
