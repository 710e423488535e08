#!/usr/bin/env bats
# check_baseline_outlives_rebuilds - after a rebuild only leaks that are new or have grown fail.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/leaks.bash

known() { # what is known of: add 2, copy 1, recurse 1
	run_leaky app add add copy recurse
	check data --write-baseline base
	[[ $status -eq 0 ]]
	grep -q '^seep-baseline 1$' "$T/base"
	[[ $(grep -c '^[0-9a-f]\{16\} ' "$T/base") -eq 3 ]]
}

@test "moved lines, other options, another directory and ASLR do not change fingerprints" {
	leaky app
	known
	cp "$T/base" "$T/first"
	for flags in "-O0" "-O2 -fno-pie -no-pie" "-O1 -fcf-protection=none"; do
		# shellcheck disable=SC2086 # words
		leaky app 17 $flags
		run_leaky app add add copy deeper
		check data --baseline base --write-baseline again
		[[ $status -eq 0 ]]
		grep -q 'In the baseline: 310 bytes in 4 blocks of 3 sites' "$T/said"
		cmp "$T/first" "$T/again"
	done
	mkdir "$T/elsewhere"
	mv "$T/app" "$T/elsewhere/app"
	run_leaky elsewhere/app add add copy recurse
	check data --baseline base
	[[ $status -eq 0 ]]
}

@test "a tail call takes its caller off the stack: docs/CHECK.md says so, and how to keep it" {
	cat >"$T/tail.c" <<-'END'
		#include <stdlib.h>
		#ifndef OWN
		#define OWN __attribute__((noinline, noclone))
		#endif
		void *volatile last;
		OWN int store(int n) { last = malloc(n); return n; }
		OWN int put(int n) { return store(n * 10); }
		OWN void *make(int n) { return malloc(n + 5); }
		OWN int fill(int n) { last = make(n); return n + 1; }
		int main(void) { return put(10) + fill(2) < 0; }
	END
	build() { gcc -g "$@" -o "$T/app" "$T/tail.c" && record -q --force -o data ./app; }
	build -O1
	check data --write-baseline base
	grep -q ' store < put < main$' "$T/base"
	grep -q ' make < fill < main$' "$T/base"
	build -O2
	check data --baseline base --write-baseline again
	[[ $status -eq 1 ]]
	# exactly the functions that end with the call are missing
	grep -q ' store < main$' "$T/again"
	grep -q ' fill < main$' "$T/again"
	[[ $(grep -c '^[0-9a-f]\{16\} ' "$T/again") -eq 2 ]]
	build -O2 -fno-optimize-sibling-calls
	check data --baseline base --tolerance 0
	[[ $status -eq 0 ]]
	# inlined functions are there with debug information, and only then
	inlined="-DOWN=static inline __attribute__((always_inline))"
	build -O2 "$inlined"
	check data --baseline base --tolerance 0
	[[ $status -eq 0 ]]
	build -O2 "$inlined" -g0
	check data --baseline base
	[[ $status -eq 1 ]]
	grep -q 'malloc by main' "$T/said"
}

@test "only new leaks fail" {
	leaky app
	run_leaky app add
	check data --write-baseline base
	run_leaky app add copy
	check data --baseline base
	[[ $status -eq 1 ]]
	grep -q '^FAIL: 10 bytes in 1 block more than the baseline has was not freed, by 1 site' "$T/said"
	grep -q '^10 bytes in 1 block, not in the baseline; malloc by copy' "$T/said"
	lacks 'malloc by add' "$T/said"
	check data --baseline base --max-leaked 10
	[[ $status -eq 0 ]]
	check data --baseline base --max-leaked 9
	[[ $status -eq 1 ]]
}

@test "growth fails beyond the tolerance" {
	leaky app
	known
	run_leaky app add add add copy recurse
	check data --baseline base
	[[ $status -eq 1 ]]
	grep -q '300 bytes in 3 blocks, of 300 bytes in 3 blocks now; the baseline has 200 bytes in 2 blocks' "$T/said"
	check data --baseline base --tolerance 49
	[[ $status -eq 1 ]]
	check data --baseline base --tolerance 50
	[[ $status -eq 0 ]]
	check data --baseline base --tolerance-bytes 100
	[[ $status -eq 0 ]]
	check data --baseline base --tolerance-bytes 99
	[[ $status -eq 1 ]]
}

@test "leaks that are gone are listed, and a new baseline does not contain them" {
	leaky app
	known
	run_leaky app add
	check data --baseline base --write-baseline base
	[[ $status -eq 0 ]]
	grep -q 'Gone since the baseline was written: 2 sites' "$T/said"
	grep -q 'copy < handle < main' "$T/said"
	[[ $(grep -c '^[0-9a-f]\{16\} ' "$T/base") -eq 1 ]]
}

@test "C++: lambdas, templates and clones keep their fingerprint" {
	local lines
	for lines in 0 9; do
		{
			for ((i = 0; i < lines; i++)); do echo; done
			[[ $lines -eq 0 ]] || echo 'auto another = [](int) { return 0; };'
			cat <<-'END'
				#include <functional>
				#include <vector>
				#include <string>
				void *volatile last;
				namespace {
				template <class T> __attribute__((noinline)) void keep(T n) { last = new char[n]; }
				}
				int main(int argc, char **argv)
				{
					auto first = [](int) { return 1; };
					std::function<void(int)> f = [&](int n) { keep(n); keep(long(n)); };
					for (int i = 0; i < 3; i++) f(100 + first(i));
					auto *v = new std::vector<std::string>;
					for (int i = 0; i < 100; i++) v->push_back(std::string(100, 'x'));
					last = v;
				}
			END
		} >"$T/cxx.cpp"
		g++ -g -O1 -o "$T/cxx" "$T/cxx.cpp"
		record -q --force -o data ./cxx
		if [[ $lines -eq 0 ]]; then
			check data --write-baseline base
			[[ $status -eq 0 && $(wc -l <"$T/base") -ge 4 ]]
		else
			check data --baseline base --tolerance 0
			[[ $status -eq 0 ]]
			lacks Gone "$T/said"
		fi
	done
}
