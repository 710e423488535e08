#!/usr/bin/env bats
# reports_call_things_by_name - reports name the program as it was started, and numbers agree with their nouns.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/leaks.bash

# is_called NAME: the process in $T/data that leaks 100 bytes
is_called() {
	(cd "$T" && "$SEEP" report data --threshold 0 >text)
	grep -qE "^$1 \(pid [0-9]+\) ran .* and exited with status 0\..* 100 bytes in 1 block" "$T/text"
}

@test "reports name the program as it was started, if that is a name of the executable" {
	leaky worker
	ln -s worker "$T/server"
	record -q --force -o data ./server add
	is_called server
	check data
	grep -q '^FAIL' "$T/said"
	check data --exe '^server$'
	[[ $status -eq 1 ]]
	(cd "$T" && "$SEEP" diff data data | grep -q '^OLD: data: server (pid ')
	PATH=$T:$PATH record -q --force -o data server add
	is_called server
	# a text that a program chose for itself is none
	record -q --force -o data bash -c 'exec -a "worker: idle" ./worker add'
	is_called worker
	record -q --force -o data bash -c 'exec -a other ./worker add'
	is_called worker
	record -q --force -o data bash -c 'exec -a -worker ./worker add'
	is_called worker
	# whoever reads it elsewhere has neither
	record -q --force -o data ./server add
	mkdir "$T/away"
	mv "$T/data" "$T/away"
	rm "$T/server" "$T/worker"
	mv "$T/away/data" "$T"
	is_called server
}

@test "numbers agree with their nouns" {
	leaky one
	record --force -o data ./one add
	grep -q '^seep: recorded 1 process: 1 allocation, 100 bytes$' "$T/err"
	grep -q '^seep: live at exit: 1 block, 100 bytes$' "$T/err"
	(cd "$T" && "$SEEP" report data >text)
	grep -q 'It made 1 allocation of 100 bytes in all; 100 bytes in 1 block was live at its end; the peak was 100 bytes in 1 block\. ' "$T/text"
	record --force -o none ./one nothing
	(cd "$T" && "$SEEP" diff none data >text)
	grep -q ': 100 bytes in 1 block\.$' "$T/text"
	grep -q '^Difference: +100 bytes, +1 block; 1 place new, ' "$T/text"
	(cd "$T" && "$SEEP" diff none data --allocs >text)
	grep -q ', +1 call; ' "$T/text"
}

@test "reports say that the peak was at the start only if the process ran longer" {
	leaky short
	record -q -o data ./short peak
	(cd "$T" && "$SEEP" report data >text)
	lacks 'at its start' "$T/text"
	serve short peak wait
	sleep 0.5
	next
	wait "$recorder"
	(cd "$T" && "$SEEP" report served >text)
	grep -q 'at its start\.' "$T/text"
}

@test "a debug package is asked for where a frame that is shown lacks its name" {
	cat >"$T/lib.c" <<-'END'
		#include <stdlib.h>
		static void *volatile last;
		static __attribute__((noinline)) void hidden(int n) { last = malloc(n); last = last; }
		void visible(int n) { hidden(n); last = last; }
	END
	cat >"$T/app.c" <<-'END'
		#include <stdlib.h>
		void visible(int);
		static void *volatile own;
		int main(void) { visible(10); own = malloc(100000); return 0; }
	END
	gcc -O1 -shared -fPIC -Wl,--build-id -s -o "$T/libhidden.so" "$T/lib.c"
	gcc -g -o "$T/app" "$T/app.c" -L"$T" -lhidden -Wl,-rpath,"$T"
	record -q -o data ./app
	cd "$T"
	"$SEEP" report data >text
	grep -q 'in 1 place below 1%' text
	lacks '^Note: ' text
	"$SEEP" report data --threshold 0 >text
	grep -q '^Note: .*libhidden.so: 1 frame has no name' text
	"$SEEP" report data --table >text
	lacks '^Note: ' text
	"$SEEP" check data >text || true
	grep -q '^Note: .*libhidden.so: 1 frame has no name' text
	"$SEEP" check data --exclude visible >text || true
	lacks '^Note: ' text
	"$SEEP" report data --format json | jq -e '.notes | length == 1'
}
