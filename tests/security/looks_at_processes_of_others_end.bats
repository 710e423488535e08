#!/usr/bin/env bats
# looks_at_processes_of_others_end - seep leaks of a process that makes whoever reads or stops it wait.
# threat: root's seep, pointed at a hostile user's process, file or directory, must not be made to hang
# SPDX-License-Identifier: Apache-2.0
load ../lib/verdicts.bash

setup_hostile() {
	[[ $(id -u) -eq 0 ]] || skip "needs root, to read another user's process"
	[[ -c /dev/fuse ]] || skip "not permitted here: no /dev/fuse"
	mkdir -p "$T/mount"
	chmod 755 "$T" "$T/mount"
	chmod 755 "$DIR"
}

# ends SECONDS ARG...: seep leaks of $HOST, with its $status and how long it $took
ends() {
	local begin=$SECONDS
	status=0
	timeout -s KILL 60 "$SEEP" leaks "${@:2}" "$HOST" >"$T/leaks" 2>"$T/leaks.err" 3>&- || status=$?
	took=$((SECONDS - begin))
	echo "leaks ${*:2}: status $status after $took s"
	cat "$T/leaks" "$T/leaks.err"
	[[ $status -ne 137 && $took -lt $1 ]]
}

@test "one that calls exec of a file that never comes: --stop is given up, a look is made" {
	setup_hostile
	cat >"$T/app.c" <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>
		__attribute__((noinline)) void lose(void) { void *volatile p = malloc(100); p = 0; (void)p; }
		int main(int argc, char **argv)
		{
			char c;
			for (int i = 0; i < 100; i++) lose();
			printf("ready %d\n", (int)getpid());
			fflush(stdout);
			if (read(0, &c, 1) == 1) execl(argv[1], argv[1], (char *)0);
			return argc;
		}
	END
	unprivileged test -r "$COLLECTOR" || skip "nobody cannot come here"
	P=$DIR/program # where nobody comes to
	mkdir -p "$P/mount"
	gcc -O1 -g -o "$P/app" "$T/app.c"
	echo nothing >"$T/contents"
	mkdir "$DIR/w"
	chown 65534:65534 "$DIR/w"
	export T P LIB PYTHON COLLECTOR DIR
	# shellcheck disable=SC2016 # for that shell
	unshare -m "$BASH" -c '
		mount --make-rprivate /
		"$PYTHON" "$LIB/fuse_silent.py" "$P/mount" "$T/contents" read >"$T/mounted" 2>&1 &
		echo $! >"$T/server"
		until grep -q READY "$T/mounted"; do sleep 0.05; done
		mkfifo "$T/lines"
		chmod 666 "$T/lines"
		exec 8<>"$T/lines"
		setpriv --reuid=65534 --regid=65534 --clear-groups env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR/w" \
			"$P/app" "$P/mount/x" <&8 >"$T/out" 2>"$T/err" &
		until grep -q ready "$T/out"; do sleep 0.05; done
		sleep 0.3
		echo >&8
		touch "$T/begun"
		wait' >"$T/shell" 2>&1 3>&- &
	PIDS+=($!)
	for _ in {1..200}; do [[ ! -e $T/begun ]] || break; sleep 0.05; done
	[[ -e $T/begun ]] || skip "not permitted here: $(cat "$T/shell" "$T/mounted" "$T/err")"
	HOST=$(awk '/^ready/ { print $2 }' "$T/out")
	PIDS=("$(<"$T/server")" "$HOST" "${PIDS[@]}")
	sleep 0.3
	ends 30 --stop
	[[ $status -eq 3 ]]
	grep -q 'it does not stop within 10 s' "$T/leaks.err"
	ends 30 --wait 100ms
	[[ $status -eq 1 ]]
	kill -KILL "${PIDS[@]}" || true
}

@test "one that holds the lock of its memory map" {
	setup_hostile
	LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR "$HOSTS/holds_its_lock" "$T/mount" >"$T/out" 2>"$T/err" 3>&- &
	PIDS+=($!)
	HOST=$!
	for _ in {1..200}; do ! grep -q ready "$T/out" || break; sleep 0.05; done
	grep -q ready "$T/out" || skip "not permitted here: $(head -n 1 "$T/err")"
	ends 40
	[[ $status -eq 3 ]]
	ends 40 --stop
	[[ $status -eq 3 ]]
	# its file system ends first: the other waits beyond SIGKILL
	kill -KILL "$(awk '/^ready/ { print $2 }' "$T/out")"
	PIDS+=("$(awk '/^ready/ { print $2 }' "$T/out")")
}

@test "one whose live map is in pages that never come" {
	local way where
	setup_hostile
	for way in fuse userfault; do
		for where in $(full_or "root mid leaf spill" "root leaf"); do
			rm -f "$T/out"
			LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR "$HOSTS/never_comes" "$way" "$where" "$T/mount" >"$T/out" 2>"$T/err" 3>&- &
			HOST=$!
			PIDS+=("$HOST")
			for _ in {1..200}; do ! grep -q ready "$T/out" || break; sleep 0.05; done
			grep -q ready "$T/out" || skip "not permitted here: $(head -n 1 "$T/err")"
			echo "$way $where"
			ends 40 --wait 50ms
			[[ $status -eq 3 || $status -eq 0 || $status -eq 1 ]]
			kill -KILL "$HOST"
			wait "$HOST" || true
		done
	done
}
