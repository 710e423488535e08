#!/usr/bin/env bats
# unseen_memory_is_named - memory that is not from malloc is shown in a line with the likely reason.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

@test "a recording: what was resident at most, beside what malloc gave" {
	"$SEEP" record -q --force -o "$T/r.data" /usr/bin/python3 -c 'x = [str(i) for i in range(800000)]'
	COLUMNS=200 "$SEEP" report "$T/r.data" >"$T/text"
	grep -E '^Its resident memory reached [0-9.]+ MiB, of which seep sees [0-9.]+ MiB' "$T/text"
	grep -F 'PYTHONMALLOC=malloc' "$T/text"
}

@test "a running process: what is resident now" {
	cat >"$T/maps.c" <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/mman.h>
		int main(void)
		{
			void *volatile kept = malloc(1000);
			char *p = mmap(NULL, 100 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			memset(p, 1, 100 << 20);
			puts("ready");
			fflush(stdout);
			getchar();
			return !kept;
		}
	END
	cc -o "$T/maps" "$T/maps.c"
	mkfifo "$T/in"
	LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR "$T/maps" <"$T/in" >"$T/out" &
	PIDS+=($!)
	local pid=$!
	exec 9>"$T/in"
	for _ in $(seq 200); do
		! grep -q ready "$T/out" || break
		sleep 0.05
	done
	COLUMNS=200 "$SEEP" report "$pid" >"$T/text"
	exec 9>&-
	wait "$pid"
	grep -E '^Its resident memory is 10[0-9.]+ MiB, of which seep sees [0-9.]+ (KiB|bytes)' "$T/text"
	grep -F "mmap" "$T/text"
}

@test "an ordinary program gets no such line" {
	"$SEEP" record -q --force -o "$T/r.data" ls / >/dev/null
	! "$SEEP" report "$T/r.data" | grep -F "resident"
}
