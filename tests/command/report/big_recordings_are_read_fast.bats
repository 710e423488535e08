#!/usr/bin/env bats
# big_recordings_are_read_fast - a recording with 100,000 sites shows its first line within 2 s, in 500 MB.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

# within FIRST_MS PEAK_MB ARGS...: of CPU time, seep report ARGS...
within() {
	local first all memory lines most=$1 room=$2
	shift 2
	read -r first all memory lines < <("$PYTHON" "$LIB/first_line.py" "$SEEP" report "$@")
	echo "$*: first line after $first ms, all after $all ms, $memory MB, $lines lines"
	[[ $lines -gt 1 && $first -lt $most && $memory -lt $room ]]
}

@test "131,072 sites of 38 frames" {
	record -q "$HOSTS/many_stacks" 17
	[[ $status -eq 0 ]]
	within 2000 500 "$T/seep.data" --allocs
	within 2000 500 "$T/seep.data" --allocs --table
	within 2000 500 "$T/seep.data" --allocs --top-down
	within 2000 500 "$T/seep.data" --format json
}

# bats test_tags=full
@test "100,000 sites that have nothing in common" {
	"$PYTHON" - >"$T/walks.c" <<-'END'
		n = 3000
		print("#include <stdint.h>\n#include <stdlib.h>")
		print("static uint64_t x = 88172645463325252u; void *volatile keep; extern void (*table[])(int);")
		print("static unsigned next(void) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; return x >> 20; }")
		for i in range(n):
		    print("__attribute__((noinline)) void function_%d(int d) {\n"
		          "\tif (d == 0)\n\t\tkeep = malloc(%d);\n\telse\n\t\ttable[next() %% %d](d - 1);\n"
		          "\t__asm__ volatile(\"\" ::: \"memory\");\n}" % (i, 16 + i % 500, n))
		print("void (*table[])(int) = {%s};" % ",".join("function_%d" % i for i in range(n)))
		print("int main(void) { for (int i = 0; i < 100000; i++) table[next() %% %d](29); }" % n)
	END
	"${CC:-gcc}" -O1 -g -o "$T/walks" "$T/walks.c"
	record -q "$T/walks"
	[[ $status -eq 0 ]]
	within 2000 500 "$T/seep.data"
	within 2000 500 "$T/seep.data" --table --top 0 --threshold 0
	within 3000 500 "$T/seep.data" --format json
}
