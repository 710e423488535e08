#!/usr/bin/env bats
# watch_withstands_its_place - clocks that jump, disks without locks or room to write, odd names, hostile segments, and a watch that stands still.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/watch.bash

# shim NAME <<CODE: $T/NAME.so, for the command alone
shim() { "${CC:-gcc}" -O1 -shared -fPIC -o "$T/$1.so" -x c -; }
# once a dead process is there, one round writes it
short() { env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$HOSTS/many_children" "${1:-3}" 50 100 48 _exit >>"$T/out"; }
chapters() { compgen -G "$H/*/*.seep" | sed 's/.*-\([0-9]*\)\.seep/\1/' | sort | tr '\n' ' '; }

@test "a wrong date, and its correction, cost no history" {
	shim clock <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/syscall.h>
		#include <time.h>
		#include <unistd.h>
		int clock_gettime(clockid_t id, struct timespec *t)
		{
			long days = 0;
			FILE *f = fopen(getenv("CLOCK_FILE"), "r");
			if (f && fscanf(f, "%ld", &days) != 1)
				days = 0;
			if (f)
				fclose(f);
			if (syscall(SYS_clock_gettime, id, t) != 0)
				return -1;
			t->tv_sec += id == CLOCK_REALTIME ? days * 86400 : 0;
			return 0;
		}
	END
	export CLOCK_FILE=$T/days
	WATCH_AS=(env LD_PRELOAD="$T/clock.so")
	for days in 0 0 400 -3; do
		waiting
		watching
		eventually has_part
		echo "$days" >"$T/days"
		unwatch
		ends_well
		rm "$T/lines"
		watch_once # what has ended since
	done
	echo "chapters: $(chapters)"
	# the four of the watches, all of them, whatever the date was
	[[ $(compgen -G "$H/*/*.seep" | grep -c -- '-000[1234].seep') -ge 4 ]]
	[[ $(in_history 'len(p)') -eq 4 ]]
}

@test "a place without locks is refused, with advice" {
	shim nolock <<-'END'
		#include <errno.h>
		int flock(int fd, int op)
		{
			errno = fd >= 0 && op ? ENOLCK : EBADF;
			return -1;
		}
	END
	short
	H=$T/history
	local status=0
	LD_PRELOAD=$T/nolock.so "$SEEP" watch --once --history "$H" "$DIR" 2>"$T/err" || status=$?
	[[ $status -eq 3 && $(wc -l <"$T/err") -eq 1 ]]
	grep -q -- 'has no locks.*--history' "$T/err"
	[[ $(find "$DIR" -name '*.seg' | wc -l) -gt 0 ]]
}

@test "a place that cannot be written is refused in one line" {
	unshare -Urm true 2>/dev/null || own_mounts true 2>/dev/null || skip "no mount namespace here"
	mkdir "$T/ro"
	own_mounts bash -c 'mount -t tmpfs tmpfs "$1" && mkdir "$1/h" && mount -o remount,bind,ro "$1" || exit 1
		for place in h new; do
			"$0" watch --once --history "$1/$place" "$2" && exit 1
		done
		exit 0' "$SEEP" "$T/ro" "$DIR" 2>"$T/err"
	[[ $(grep -c 'Read-only file system' "$T/err") -eq 2 && $(wc -l <"$T/err") -eq 2 ]]
}

@test "names with slashes, newlines, escapes and 4,000 bytes are folders that nobody is surprised by" {
	"$PYTHON" - "$HOSTS/toggled" "$DIR" "$COLLECTOR" <<-'END'
	import os, sys
	names = [b"new\nline", b"a/b/c\n", b"..", b".", b"-rf", b"x" * 255, b"y" * 4000, b"\x1b[31mred", b"\xff\xfe",
	         b"nginx.service", b"8b2e16403e97", b" ", b"A%41", b"a%u0", b"%"]
	for name in names:
	    pid = os.fork()
	    if pid == 0:
	        null = os.open("/dev/null", os.O_RDWR)
	        for fd in range(3):
	            os.dup2(null, fd)
	        os.execve(sys.argv[1], [name], {"SEEP_DIR": sys.argv[2], "LD_PRELOAD": sys.argv[3]})
	    os.waitpid(pid, 0)
	END
	watch_once
	is_empty
	[[ $(in_history 'len(p)') -eq 15 ]]
	run ls "$H"
	echo "$output"
	[[ -z $(LC_ALL=C grep -v '^[0-9A-Za-z%][0-9A-Za-z%_.@:+,=-]*$' <<<"$output") ]]
	[[ -z $(grep -xE 'nginx.service|8b2e16403e97|\.+' <<<"$output") ]]
	"$SEEP" ls --history "$H" | LC_ALL=C grep -c '[^ -~]' | grep -qx 0
}

@test "a watch that stood still finds all that happened meanwhile" {
	watching
	background "$HOSTS/many_children" "$(full_or 6000 600)" 200 100 48 _exit
	kill -STOP "$WATCH"
	sleep "$(full_or 25 2)"
	kill -CONT "$WATCH"
	wait "$HOST"
	eventually is_empty
	unwatch
	count=$(sed -n 's/^CHILDREN //p' "$T/out")
	untraced=$(in_history 'sum(x["lost"]["children_untraced"] for x in p.values())')
	echo "$count children, $untraced untraced"
	[[ $(in_history 'len(p)') -eq $((count + 1 - untraced)) ]]
	[[ $(in_history '{x["totals"]["allocations"] for x in p.values() if x["parent"]}') == "{100}" ]]
}

@test "hostile files in a directory that is watched: none is followed, read for ever, or removed for its owner" {
	short
	good=$(find "$DIR" -name '*.seg' | sort | head -1)
	echo secret >"$T/secret"
	(
		cd "$DIR"
		ln -s "$T/secret" a-1-00000001.seg
		mkfifo b-2-00000002.seg
		mkdir c-3-00000003.seg
		truncate -s 1T d-4-00000004.seg
		ln -s /dev/zero e-5-00000005.seg
		head -c 5000 "$good" >g-7-00000007.seg
		head -c 100000 /dev/urandom >h-8-00000008.seg
		: >j-1-0000000a.seg
	)
	watching
	# the directory becomes a link to another one, and is itself again
	mv "$DIR" "$DIR.away"
	mkdir "$T/other"
	touch "$T/other/keep-1-00000000.seg"
	ln -s "$T/other" "$DIR"
	sleep 1
	rm "$DIR"
	mv "$DIR.away" "$DIR"
	short 2
	eventually eval '[[ -z $(find "$DIR" -name "many_children*.seg") ]]'
	[[ $(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$WATCH/status") -lt 65536 ]]
	unwatch
	[[ $(cat "$T/secret") == secret && -e $T/other/keep-1-00000000.seg ]]
	[[ $(find "$DIR" -mindepth 1 -name '[a-j]-*.seg' | wc -l) -eq 8 ]]
	[[ $(in_history 'len(p)') -eq 7 ]]
}
