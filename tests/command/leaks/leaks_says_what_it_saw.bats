#!/usr/bin/env bats
# leaks_says_what_it_saw.bats - the words of seep leaks, its exit status, and why there is no verdict.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/verdicts.bash
bats_require_minimum_version 1.5.0

# a host that loses blocks in pairs: 30 lost, each of which holds another one
loses() {
	cat >"$T/app.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#define OWN __attribute__((noinline, noclone))
void **kept;
OWN void **lose(int n) { void **p = malloc(n); p[0] = 0; return p; }
OWN void serve(int n) { for (int i = 0; i < n; i++) lose(72)[0] = lose(200); }
OWN void scrub(void) { volatile char b[8192]; for (int i = 0; i < 8192; i++) b[i] = 0; }
int main(int argc, char **argv)
{
	char c;
	kept = calloc(1, 100);
	serve(argc > 1 ? atoi(argv[1]) : 0);
	scrub();
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		if (c == 'x') execl("/bin/sleep", "sleep", "60", (char *)0);
	return 0;
}
END
	gcc -O1 -g -o "$T/app" "$T/app.c"
	HOSTS=$T
}

@test "a leak has its size, its parts, its age and the user's own frame" {
	loses
	begin app 30
	leaks --wait 100ms
	cat "$T/leaks" "$T/leaks.err"
	[[ $status -eq 1 && ! -s $T/leaks.err ]]
	grep -q '^LEAK     60 blocks 8.0 KiB: nothing points to them (3 looks of 3)$' "$T/leaks"
	grep -Eq '^ {9}30 lost, 30 held only by these; lose app.c:6 <- serve <- main, allocated [0-9.]+ m?s ago$' "$T/leaks"
	grep -Eq '^60 blocks \(8.0 KiB\) leaked at 1 place, of 62 blocks \([0-9.]+ KiB\) of app \(pid '"$HOST"'\)\. 3 looks in [0-9.]+ m?s; it ran on\.$' "$T/leaks"
	end_host
}

@test "nothing lost is one sentence with what was looked at" {
	loses
	begin app
	leaks --wait 100ms
	cat "$T/leaks" "$T/leaks.err"
	[[ $status -eq 0 && ! -s $T/leaks.err ]]
	grep -Eq '^No leak: all 2 blocks \(4.1 KiB\) of app \(pid '"$HOST"'\) can be reached\. 3 looks in [0-9.]+ m?s; it ran on\.$' "$T/leaks"
	[[ $(grep -vc "^RSS .* live + .* free inside the heap" "$T/leaks") -eq 1 && $(wc -l <"$T/leaks") -eq 2 ]]
	end_host
}

@test "text and JSON have the same numbers" {
	loses
	begin app 30
	leaks --looks 2 --wait 100ms --format json
	"$PYTHON" - "$T/leaks" <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
assert d["exit_status"] == 1 and d["leaks"] == {"sites": 1, "blocks": 60, "bytes": 8160}, d
v = d["sites"][0]["verdict"]
assert v["class"] == "leak" and v["basis"] == "unreachable" and v["looks"] == 2, v
assert (v["blocks"], v["direct_blocks"], v["indirect_blocks"]) == (60, 30, 30), v
assert v["bytes"] == 8160 and v["rate"] is None and v["type"] is None and v["notes"] == [], v
assert d["sites"][0]["frames"][0]["function"] == "lose", d
END
	end_host
}

@test "one look while threads run is no proof, and a suppressed place no leak" {
	loses
	begin app 30
	leaks --looks 1
	[[ $status -eq 0 ]]
	grep -q '^POSSIBLE 60 blocks 8.0 KiB: nothing points to them, in one look while threads ran$' "$T/leaks"
	echo 'leak:serve' >"$T/supp"
	leaks --looks 2 --wait 50ms --suppress "$T/supp"
	[[ $status -eq 0 ]]
	grep -q 'Left out by filters and suppressions: 60 blocks (8.0 KiB)' "$T/leaks"
	leaks --looks 2 --wait 50ms --exclude '^main$'
	[[ $status -eq 0 ]]
	leaks --looks 2 --wait 50ms --include '^lose$'
	[[ $status -eq 1 ]]
	end_host
}

@test "who frees the others of a place is said, and blocks kept on purpose are no leaks" {
	cat >"$T/app.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "seep.h"
#define OWN __attribute__((noinline, noclone))
OWN void *open_conn(void) { char *volatile p = malloc(72); p[0] = 0; return p; }
OWN void close_conn(void *p) { free(p); __asm__ volatile(""); }
OWN void lose(void) { for (int i = 0; i < 20000; i++) { void *p = open_conn(); if (i % 1000) close_conn(p); } }
OWN void keep(void) { void **p = calloc(1, 64); *p = calloc(1, 32); seep_ignore(p); }
OWN void scrub(void) { volatile char b[8192]; for (int i = 0; i < 8192; i++) b[i] = 0; }
int main(void)
{
	char c;
	lose();
	keep();
	scrub();
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (read(0, &c, 1) > 0) { }
	return 0;
}
END
	gcc -O1 -g -I"$repo/include" -o "$T/app" "$T/app.c"
	HOSTS=$T
	begin app
	leaks --looks 2 --wait 50ms
	cat "$T/leaks"
	[[ $status -eq 1 ]]
	grep -q '^LEAK     20 blocks 1.4 KiB: nothing points to them (2 looks of 2)$' "$T/leaks"
	grep -q 'open_conn app.c:6 <- lose <- main, .*; others of this place are freed in close_conn app.c:7$' "$T/leaks"
	grep -q ' Kept on purpose (seep_ignore): 1 block (64 bytes)\.' "$T/leaks"
	[[ $(grep -c '^LEAK' "$T/leaks") -eq 1 ]]
	end_host
}

@test "lost objects with virtual functions have their class, stripped or not" {
	cat >"$T/app.cpp" <<'END'
#include <cstdio>
#include <unistd.h>
namespace app { struct Conn { virtual ~Conn() {} int x[9]; }; struct Tls : Conn { virtual int f() { return 1; } };
template <class T, int N> struct Pool : Conn { virtual T *g() { return nullptr; } }; }
__attribute__((noinline)) app::Conn *volatile pool(int i) { return i ? new app::Pool<app::Tls const, 4> : nullptr; }
__attribute__((noinline)) app::Conn *volatile keep(int i) { return i ? new app::Tls : nullptr; }
__attribute__((noinline)) void lose() { for (int i = 1; i < 10; i++) { app::Conn *volatile p = keep(i); p = pool(i); p = nullptr; (void)p; } }
__attribute__((noinline)) void scrub() { volatile char b[8192]; for (int i = 0; i < 8192; i++) b[i] = 0; }
int main() { char c; lose(); scrub(); printf("ready %d\n", (int)getpid()); fflush(stdout); while (read(0, &c, 1) > 0) { } }
END
	g++ -O1 -w -o "$T/app" "$T/app.cpp"
	strip "$T/app"
	HOSTS=$T
	begin app
	leaks --looks 2 --wait 50ms
	cat "$T/leaks"
	grep -q '^LEAK     9 blocks' "$T/leaks"
	grep -q ', type app::Tls, ' "$T/leaks"
	tr -s '\n ' ' ' <"$T/leaks" | grep -q ', type app::Pool<app::Tls const, 4>, '
	end_host
}

@test "if blocks are not known, all memory between the others is a root, and the report says so" {
	loses
	export SEEP_SAMPLE=64
	begin app 3000
	unset SEEP_SAMPLE
	leaks --wait 50ms
	cat "$T/leaks"
	[[ $status -eq 1 ]]
	grep -q 'of lost structures only the heads are found' "$T/leaks"
	end_host
}

# what the kernel has counted of the host: faults, pages, times it has waited
costs() {
	awk '{ print $10, $12 }' "/proc/$HOST/stat"
	grep -E '^(VmRSS|VmSize|voluntary_ctxt_switches)' "/proc/$HOST/status"
}

@test "a process that is looked at makes no system call, takes no fault and no page" {
	loses
	begin app 3000
	costs >"$T/before"
	leaks --wait 50ms
	costs >"$T/after"
	[[ $status -eq 1 ]]
	diff "$T/before" "$T/after"
	end_host
}

@test "a process that ends or becomes another program has no verdict" {
	loses
	begin app 30
	# it becomes another program, or ends, after the first look
	for how in x KILL; do
		(sleep 0.5; if [[ $how = x ]]; then printf x >&9; else kill -KILL "$HOST"; fi) 3>&- &
		leaks --wait 1s
		says_why "no verdict: it ended, or became another program"
	done
	exec 9>&-
}

@test "a process that is gone, or not traced, is one line" {
	loses
	begin app 30
	exec 9>&-
	wait "${PIDS[0]}"
	leaks
	says_why "no such process"
	HOST=$$
	leaks
	says_why "not traced"
	HOST=999999999
	leaks
	says_why "no such process"
}

@test "a process in another pid namespace is named by the pid that it has here, and by its own" {
	[[ $(id -u) -eq 0 ]] && unshare --pid --fork true 2>/dev/null ||
		skip "not permitted here: pid namespaces"
	loses
	cat >"$T/inside" <<-END
		#!/bin/sh
		exec unshare --pid --fork "$T/app" 30
	END
	chmod +x "$T/inside"
	begin inside
	HOST=$(pgrep -P "${PIDS[0]}" -x app)
	PIDS+=("$HOST")
	leaks --wait 50ms
	cat "$T/leaks" "$T/leaks.err"
	grep -q "app (pid $HOST, 1 in its own namespace)" "$T/leaks"
	leaks --wait 50ms --format json
	jq -e ".processes[0] | .pid == 1 and .pid_here == $HOST" "$T/leaks"
	end_host
}

@test "without the right to read it says so" {
	unprivileged test -x "$SEEP" || skip "nobody cannot come here"
	status=0
	unprivileged "$SEEP" leaks 1 >"$T/leaks" 2>"$T/leaks.err" || status=$?
	says_why 'belongs to another user or hides itself; try as root'
}

@test "a recording without verdicts is one line, and a wrong command line is exit 2" {
	record -o "$T/a.data" true
	run -3 "$SEEP" leaks "$T/a.data"
	[[ $output == *"has no stored verdicts"* ]]
	run -2 "$SEEP" leaks --looks none 1
	run -2 "$SEEP" leaks --looks 5000 1
}

@test "above --max-memory it is refused with numbers" {
	loses
	begin app 3000
	leaks --max-memory 100KB
	says_why 'more than .* MiB would be needed'
	end_host
}

@test "a process that is stopped is looked at, and stays stopped" {
	loses
	begin app 30
	kill -STOP "$HOST"
	leaks --wait 100ms
	[[ $status -eq 1 ]]
	leaks --stop
	[[ $status -eq 1 ]]
	grep -q '^State:.T' "/proc/$HOST/status"
	kill -CONT "$HOST"
	end_host
}

@test "another tracer keeps --stop out, and nothing else" {
	need strace
	loses
	begin app 30
	strace -o "$T/strace" -p "$HOST" 2>"$T/strace.err" 3>&- 9>&- &
	PIDS+=("$!")
	eventually grep -q '^TracerPid:.[1-9]' "/proc/$HOST/status"
	leaks --stop
	says_why 'is traced by process [0-9]* already; try without --stop'
	leaks --wait 100ms
	[[ $status -eq 1 ]]
	end_host
}

@test "a command that is killed while threads are stopped lets them go" {
	loses
	begin app 30
	# many looks, each with a stop: one of them is going on when it is killed
	for i in 1 2 3; do
		"$SEEP" leaks --stop --looks 1000 --wait 1ms "$HOST" >/dev/null 3>&- 9>&- &
		local looking=$!
		sleep 0.$i
		kill -KILL "$looking"
		wait "$looking" || true
		eventually grep -q '^TracerPid:.0' "/proc/$HOST/status"
	done
	grep -q '^State:.S' "/proc/$HOST/status"
	end_host
}
