#!/usr/bin/env bats
# header_is_harmless - seep.h: compiles everywhere, reaches the collector, does nothing without it.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

write_source() {
	cat >"$T/try.c" <<-'END'
		#include "seep.h"
		#include <stdio.h>
		int main(void)
		{
			int (*by_pointer)(const char *) = seep_snapshot;
			int sum = seep_snapshot("one") + by_pointer("two");
			seep_mark("mark");
			seep_pause();
			seep_resume();
			seep_alloc("pool", &sum, sizeof(sum));
			seep_realloc("pool", &sum, &by_pointer, 2);
			seep_free("pool", &by_pointer);
			seep_free_all("pool");
			seep_ignore("a block");
			printf("%d\n", sum);
			return 0;
		}
	END
}

# says EXPECTED FLAGS...: bare it prints 0, traced EXPECTED
says() {
	local expected=$1
	shift
	"$@" -I"$repo/include" "$T/try.c" -o "$T/try" || return
	rm -f "$DIR"/*
	[[ $("$T/try") == 0 ]] || return
	[[ $(LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR "$T/try") == "$expected" ]] || {
		echo "wrong: $*"
		return 1
	}
}

strict="-Wall -Wextra -Wpedantic -Werror"

# shellcheck disable=SC2086 # words of their own
@test "gcc: C and C++, PIE or not, static, LTO, strict" {
	need gcc
	write_source
	says 3 gcc -O0
	says 3 gcc -O2 -fno-plt
	says 3 gcc -O0 -fno-pie -no-pie
	says 3 gcc -O2 -fno-pie -no-pie -masm=intel
	says 3 gcc -O2 -flto
	says 3 gcc -std=c89 -O2 $strict -Wcast-qual -Wundef
	says 3 gcc -x c++ -std=c++98 -O2 $strict -Wold-style-cast
	says 0 gcc -static
	says 0 gcc -static-pie
}

# shellcheck disable=SC2086
@test "clang: the same" {
	need clang
	write_source
	says 3 clang -O0 -fno-pie -no-pie
	says 3 clang -O2 -masm=intel
	says 3 clang -x c++ -std=c++20 -O2 $strict -Wold-style-cast
	says 0 clang -static-pie
}

@test "other linkers make of it the same" {
	write_source
	local linker
	need ld.gold
	need ld.lld
	for linker in gold lld; do
		says 3 gcc -O2 -fno-pie -no-pie -fuse-ld=$linker
		says 3 gcc -O2 -fuse-ld=$linker
	done
}

@test "aarch64: it assembles" {
	need clang
	echo 'int f(void); int f(void) { seep_mark("x"); return seep_snapshot("y"); }' >"$T/f.c"
	clang -target aarch64-linux-gnu -O2 -ffreestanding -I"$repo/include" \
		-include seep.h -c "$T/f.c" -o "$T/f.o"
}

@test "memtrail_snapshot and the rest can be looked up by name" {
	SEEP_SNAPSHOTS=9 traced_well "$PYTHON" -c '
import ctypes
me = ctypes.CDLL(None)
me.memtrail_snapshot()
print(me.seep_snapshot(b"by name"))'
	[[ $(cat "$T/out") == 2 ]]
	report "$(find "$DIR" -name '*-2.seep-snap')"
	[[ $(from_report 'p[0]["snapshot_info"]["label"]') == "by name" ]]
}

@test "I6 a snapshot signal needs 2 KiB of stack beyond the kernel's frame" {
	SEEP_SIGNAL=USR2 traced_well "$HOSTS/altstack"
	[[ $(cat "$T/out") == alive ]]
	[[ $(find "$DIR" -name '*.seep-snap' | wc -l) -eq 3 ]]
	# also where it removes an older one, and counts them for it
	rm -f "$DIR"/*
	SEEP_SIGNAL=USR2 SEEP_SNAPSHOTS=2 traced_well "$HOSTS/altstack"
	[[ $(cat "$T/out") == alive ]]
	[[ $(find "$DIR" -name '*.seep-snap' | wc -l) -eq 2 ]]
}
