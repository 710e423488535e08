# leaks.bash - small programs that leak as they are told, and their checks.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
load "${BASH_SOURCE[0]%/*}/record.bash"

# leaky NAME [LINES]: $T/NAME from a source of that name; `NAME WHAT...` leaks
# 100 bytes in each function named: add, copy (10), recurse, twice; alone it does
# add, copy, twice. LINES empty lines come before the code.
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
			void *volatile last, *volatile kept;
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
				if (!strcmp(what, "child")) {
					if (fork() == 0) {
						for (int i = 0; i < 100; i++) { last = malloc(1); free(last); }
						add(7);
						exit(0);
					}
					/* else a recording may end before the child has begun */
					extern pid_t wait(int *);
					wait(0);
				}
				if (!strcmp(what, "abort")) abort();
				if (!strcmp(what, "wait")) { puts("ready"); fflush(stdout); getchar(); }
				if (!strcmp(what, "give")) { free(kept); kept = 0; }
				if (!strcmp(what, "keep")) kept = malloc(1000);
			}
			int main(int argc, char **argv)
			{
				static char *usual[] = {0, "add", "copy", "twice", "peak"};
				if (argc == 1) { argc = 5; argv = usual; }
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

# export_to FILE ARGS...: the same of seep export, stdout in $T/FILE
# shellcheck disable=SC2034
export_to() {
	local file=$1
	shift
	status=0
	(cd "$T" && SEEP_DIR=$DIR exec timeout 60 "$SEEP" export "$@") \
		>"$T/$file" 2>"$T/err" || status=$?
}

# run_leaky NAME WHAT...: records into $T/data
run_leaky() {
	local name=$1
	shift
	record -q --force -o data "./$name" "$@"
}

# serve NAME WHAT...: runs in the background, recorded; waits at every "wait"
# until next() is called. Its pid in $PID. $RECORD_OPTIONS go to seep record.
serve() {
	local name=$1
	shift
	mkfifo "$T/steps"
	exec 7<>"$T/steps"
	# shellcheck disable=SC2086 # words
	(cd "$T" && SEEP_DIR=$DIR exec "$SEEP" record -q ${RECORD_OPTIONS:-} -o served "./$name" "$@") \
		<&7 >"$T/out" 2>"$T/err" 3>&- 7>&- &
	recorder=$!
	ready 1
	PID=$(pgrep -P "$recorder" -x "$name")
	PIDS+=("$PID" "$recorder")
}

# ready N: waits until it has said so N times
ready() { eventually has_said_ready "$1"; }
has_said_ready() { [[ $(grep -cs ready "$T/out") -ge $1 ]]; }

next() { echo >&7; }
