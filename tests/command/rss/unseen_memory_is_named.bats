#!/usr/bin/env bats
# unseen_memory_is_named - memory that is not from malloc is shown in a line with the likely reason.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/host.bash

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

@test "memory of a heap that was larger, or of a parent, is not said to come from elsewhere" {
	cat >"$T/thin.c" <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>
		enum { COUNT = 15000, SIZE = 4000 };
		static char *all[COUNT];
		int main(void)
		{
			for (int i = 0; i < COUNT; i++) {
				all[i] = malloc(SIZE);
				memset(all[i], 1, SIZE);
			}
			if (fork() == 0) {
				for (int i = 0; i < 200; i++)
					all[i] = malloc(100);
				printf("CHILD %d\n", (int)getpid());
				fflush(stdout);
				pause();
			}
			for (int i = 0; i < COUNT; i++)
				if (i % 100)
					free(all[i]);
			puts("ready");
			fflush(stdout);
			pause();
			return 0;
		}
	END
	cc -o "$T/thin" "$T/thin.c"
	LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR "$T/thin" >"$T/out" 3>&- &
	PIDS+=($!)
	local pid=$! child
	eventually grep -q ready "$T/out"
	eventually grep -q CHILD "$T/out"
	child=$(awk '/^CHILD/ { print $2 }' "$T/out")
	PIDS+=("$child")
	COLUMNS=400 "$SEEP" report "$pid" >"$T/text"
	COLUMNS=400 "$SEEP" report "$child" >"$T/child"
	COLUMNS=400 "$SEEP" report --rss "$child" >"$T/rss"
	kill -KILL "$child" "$pid"
	grep -E '^Its resident memory .* the rest is freed memory that the heap keeps, or not from malloc .* report PID --rss says which\.$' "$T/text"
	grep -E '^Its resident memory .* the rest is blocks of its parent from before the fork, ' "$T/child"
	! grep '^Its resident memory' "$T/rss"
}

@test "an ordinary program gets no such line" {
	"$SEEP" record -q --force -o "$T/r.data" ls / >/dev/null
	! "$SEEP" report "$T/r.data" | grep -F "resident"
}
