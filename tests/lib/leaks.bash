# leaks.bash - small programs that leak as they are told, and their checks.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
load ../lib/record.bash

# leaky NAME [LINES]: $T/NAME from a source of that name; `NAME WHAT...` leaks
# 100 bytes in each function named: add, copy, recurse, twice. LINES empty lines
# come before the code.
leaky() {
	local name=$1 lines=${2:-0} i
	shift 2 || shift $#
	{
		for ((i = 0; i < lines; i++)); do echo; done
		cat <<-'END'
			#include <stdio.h>
			#include <stdlib.h>
			#include <string.h>
			#include <unistd.h>
			#define OWN __attribute__((noinline, noclone))
			void *volatile last;
			OWN void add(int n) { last = malloc(n); }
			OWN void copy(const char *s) { last = strdup(s); }
			OWN void recurse(int n)
			{
				if (n > 0) recurse(n - 1);
				else last = malloc(100);
				last = last;
			}
			OWN void handle(const char *what)
			{
				if (!strcmp(what, "add")) add(100);
				if (!strcmp(what, "twice")) { add(100); add(100); }
				if (!strcmp(what, "copy")) copy("123456789");
				if (!strcmp(what, "recurse")) recurse(5);
				if (!strcmp(what, "deeper")) recurse(20);
				if (!strcmp(what, "say")) puts("something");
				if (!strcmp(what, "peak")) free(memset(malloc(1 << 20), 1, 9));
				if (!strcmp(what, "child") && fork() == 0) {
					for (int i = 0; i < 100; i++) { last = malloc(1); free(last); }
					add(7);
					exit(0);
				}
				if (!strcmp(what, "abort")) abort();
				if (!strcmp(what, "wait")) { puts("ready"); fflush(stdout); pause(); }
			}
			int main(int argc, char **argv)
			{
				for (int i = 1; i < argc; i++) handle(argv[i]);
				return 0;
			}
		END
	} >"$T/$name.c"
	${CC:-gcc} -g "${CFLAGS_LEAKY:--O1}" "$@" -o "$T/$name" "$T/$name.c"
}

# check ARGS...: in $T; stdout in $T/said, stderr in $T/err, status in $status
# shellcheck disable=SC2034
check() {
	status=0
	(cd "$T" && SEEP_DIR=$DIR exec timeout 60 "$SEEP" check "$@") \
		>"$T/said" 2>"$T/err" || status=$?
}

# run_leaky NAME WHAT...: records into $T/data
run_leaky() {
	local name=$1
	shift
	record -q --force -o data "./$name" "$@"
}
