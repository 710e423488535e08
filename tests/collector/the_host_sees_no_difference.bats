#!/usr/bin/env bats
# the_host_sees_no_difference - I1, I2, I10: a program prints the same untraced and traced.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

# state with a plugin that only RUNPATH $ORIGIN/sub can find
build_state() {
	mkdir "$T/sub"
	echo 'int sub;' | cc -shared -fPIC -x c - -o "$T/sub/libstate_sub.so"
	cc -D_GNU_SOURCE -O2 -fno-builtin -o "$T/state" \
		"$repo/tests/hosts/state.c" -ldl -Wl,--enable-new-dtags \
		"-Wl,-rpath,\$ORIGIN/sub"
}

@test "I1 descriptors, threads, signals, limits, errno, blocks are the same" {
	build_state
	bare "$T/state"
	grep -q 'plugin by RUNPATH loaded' "$T/bare"
	traced "$T/state"
	same_as_bare
	[[ -n $(ls -A "$DIR") ]]
}

@test "I1 the same with stdin, stdout and stderr closed at the start" {
	build_state
	bare sh -c "exec '$T/state' 3>'$T/kept' <&- >&3 2>&-"
	mv "$T/kept" "$T/bare"
	traced sh -c "exec '$T/state' 3>'$T/kept' <&- >&3 2>&-"
	mv "$T/kept" "$T/out"
	same_as_bare
}

@test "I1 a C host with a C++ plugin catches its bad_alloc" {
	bare "$HOSTS/c_host"
	[[ $bare_status -eq 42 ]]
	traced "$HOSTS/c_host"
	same_as_bare
}

@test "I1 exit statuses and deaths by signal are the host's own" {
	local how
	for how in "exit 7" "kill -TERM \$\$" "kill -SEGV \$\$" "exit 0"; do
		bare sh -c "$how"
		traced sh -c "$how"
		same_as_bare
	done
}

@test "I1 a double free aborts with the same words" {
	printf '%s\n' '#include <stdlib.h>' \
		'int main(void) { char *volatile p = malloc(2000), *volatile q = malloc(9); free(p); free(p); free(q); return 0; }' |
		cc -w -x c - -o "$T/double_free"
	bare "$T/double_free"
	[[ $bare_status -eq 134 ]]
	traced "$T/double_free"
	same_as_bare
	report
}

@test "I19 other entries of LD_PRELOAD and the environment reach the children" {
	PRELOAD_MORE=$T/other.so
	echo 'int other;' | cc -shared -fPIC -x c - -o "$T/other.so"
	traced sh -c 'sh -c "echo \$LD_PRELOAD"'
	[[ $(cat "$T/out") == "$COLLECTOR $T/other.so" ]]
}

@test "a program that loads the collector by dlopen and closes it forks on" {
	local setting
	for setting in SEEP_LOG=0 SEEP_LOG=1 SEEP_PRIVATE=1 SEEP_MODE=dormant; do
		echo "$setting"
		SEEP_DIR=$DIR env "$setting" "$HOSTS/opened_and_closed" "$COLLECTOR" >"$T/out"
		[[ $(sort -u "$T/out") == "3 3" ]]
		rm -rf "${DIR:?}"/*
	done
}
