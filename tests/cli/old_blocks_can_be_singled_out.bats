#!/usr/bin/env bats
# old_blocks_can_be_singled_out - report --older-than: bytes and blocks by age.
# SPDX-License-Identifier: Apache-2.0
load ../lib/leaks.bash

# aging: a program that keeps a block of 100 bytes, then at each line of its
# input one more in another function; "kill" ends it without exit handlers. A
# thread looks at the clock after at most 64 events, so there are some before.
aging() {
	cat >"$T/aging.c" <<-'END'
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#define OWN __attribute__((noinline, noclone))
		void *volatile last;
		OWN void old(void) { last = malloc(100); }
		OWN void later(void) { last = malloc(10); }
		OWN void often(void) { last = malloc(7); }
		static char line[64];
		int main(void)
		{
			setvbuf(stdin, NULL, _IONBF, 0);
			setvbuf(stdout, NULL, _IONBF, 0);
			for (;;) {
				static int n;
				for (int i = 0; i < 200; i++) { last = malloc(1); free(last); }
				if (n++ == 0) old(); else later();
				for (volatile int i = 0; i < 2; i++) often();
				puts("ready");
				if (!fgets(line, sizeof(line), stdin) || !strcmp(line, "end\n")) return 0;
				if (!strcmp(line, "kill\n")) raise(SIGKILL);
			}
		}
	END
	gcc -g -O1 -o "$T/aging" "$T/aging.c"
	serve aging
}

@test "of a running process to a tick, of one that has exited in steps" {
	aging
	sleep 2
	next
	ready 2
	sleep 0.2
	cd "$T"
	"$SEEP" report "$PID" --older-than 1.8s >text
	grep -q '^Older than 1\.8 s: 114 bytes in 3 blocks\.$' text
	grep -qE '^ +87\.7% +100 +1  old' text
	grep -qE '^ +12\.3% +14 +2  often' text
	lacks ' later' text
	lacks 'known in steps' text
	"$SEEP" report "$PID" --older-than 100ms >text
	grep -q '^Older than 100 ms: 138 bytes in 6 blocks\.$' text
	"$SEEP" report "$PID" --older-than 1h >text
	grep -q '^No block is that old\.$' text
	"$SEEP" report "$PID" --older-than 1.8s --table >text
	grep -qE '^ +87\.7% +100 +1 ' text
	echo end >&7
	wait "$recorder"
	"$SEEP" report served --older-than 1.9s >text
	cat text
	grep -q '^Older than 1\.6 s: 114 bytes in 3 blocks\.$' text
	grep -q '^Ages of a process that has ended are known in steps: 1\.9 s is within one that begins at 1\.6 s\.$' text
	grep -qE '^ +87\.7% +100 +1  old' text
	lacks ' later' text
	"$SEEP" report served --older-than 1.6s >text
	lacks 'known in steps' text
	"$SEEP" report served --older-than 3h >text
	grep -q '^No block is that old\.$' text
	complains 2 "$SEEP" report served --older-than 500ms
}

@test "where nobody counted ages, first and last allocation tell, or it is said" {
	aging
	sleep 1.8
	next
	ready 2
	echo kill >&7
	wait "$recorder" || true
	cd "$T"
	"$SEEP" report served --older-than 1.6s >text
	cat text
	grep -q '^Older than 1\.6 s: 100 bytes in 1 block\.$' text
	grep -q '^Not shown, because nobody counted its ages: 28 bytes in 1 site\.$' text
	lacks ' often' text
	lacks ' later' text
}

@test "it is a question about what lives" {
	leaky app
	run_leaky app add
	cd "$T"
	complains 2 "$SEEP" report data --older-than 30s --peak
	complains 2 "$SEEP" report data --older-than 30s --growth
	complains 2 "$SEEP" report data --older-than 30s --format json
	complains 2 "$SEEP" report data --older-than tomorrow
}
