#!/usr/bin/env bats
# other_programs_stay_out - SEEP_ONLY: programs with other names leave no file and cost next to nothing; what they start is traced if it has the name.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

# files: the programs whose segments are there, by the beginning of their names
files() { (cd "$DIR" && ls) | sed -n 's/-[0-9]*-[0-9a-f]*\.seg$//p' | sort; }

# only LIST COMMAND...
only() {
	local list=$1
	shift
	rm -f "$DIR"/*
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" SEEP_ONLY="$list" "$@"
}

@test "the daemon is traced behind shells, scripts, perl and chains of exec, which stay out" {
	printf '#!/bin/sh\necho from a script\nexec "$1"\n' >"$T/wrapper"
	printf '#!/usr/bin/perl\nexec "$ARGV[0]";\n' >"$T/perl_wrapper"
	chmod +x "$T/wrapper" "$T/perl_wrapper"
	only twins "$HOSTS/twins" >/dev/null
	[[ $(files) == twins ]]
	only twins sh -c '/bin/true; "$0" & wait' "$HOSTS/twins" >/dev/null
	[[ $(files) == twins ]]
	only twins sh -c 'exec env nice "$0"' "$HOSTS/twins" >/dev/null
	[[ $(files) == twins ]]
	only twins "$T/wrapper" "$HOSTS/twins" >/dev/null
	[[ $(files) == twins ]]
	need perl
	only twins "$T/perl_wrapper" "$HOSTS/twins" >/dev/null
	[[ $(files) == twins ]]
	only twins "$T/perl_wrapper" "$T/wrapper" >/dev/null 2>&1 || true # which has no argument
	[[ -z $(ls -A "$DIR") ]]
}

@test "several names, a path, a link, a script and a long name" {
	local long
	long=$(printf 'l%.0s' {1..255})
	only nobody:twins:sizes sh -c '"$0/twins"; "$0/sizes"; "$0/births"' "$HOSTS" >/dev/null
	[[ $(files | tr '\n' ' ') == 'sizes twins ' ]]
	only "$HOSTS/twins" sh -c '"$0/twins"; "$0/sizes"' "$HOSTS" >/dev/null
	[[ $(files) == twins ]]
	ln -s "$HOSTS/twins" "$T/other_name"
	only other_name "$T/other_name" >/dev/null
	[[ $(files) == other_name ]]
	only twins "$T/other_name" >/dev/null
	[[ $(files) == other_name ]] # the kernel's name of it, by the link
	printf '#!/bin/sh\n/bin/true\n' >"$T/script"
	chmod +x "$T/script"
	only script "$T/script"
	[[ $(files) == script ]]
	cp /bin/true "$T/$long"
	only "$long" "$T/$long"
	[[ $(files) == "${long:0:15}" ]]
	only "${long:1}" "$T/$long"
	[[ -z $(ls -A "$DIR") ]]
}

@test "an empty list is none, and a list without a name is counted as not understood" {
	need jq
	only "" "$HOSTS/twins" >/dev/null
	[[ $(files) == twins ]]
	[[ $("$SEEP" report "$DIR" --format json | jq '.processes[0].lost.settings_ignored // 0') -eq 0 ]]
	only ":::" "$HOSTS/twins" >/dev/null
	[[ $(files) == twins ]]
	"$SEEP" report "$DIR" --format json | jq -c '.processes[0]' | grep '"settings_ignored":1'
}

@test "a program that stays out has no file, no mapping and no directory of ours, and forks as ever" {
	rm -rf "$DIR"
	mkdir -m 700 "$DIR"
	LD_PRELOAD=$COLLECTOR SEEP_BASE=$DIR SEEP_ONLY=x "$HOSTS/forks" >"$T/out"
	"$HOSTS/forks" >"$T/bare"
	diff <(sed 's/[0-9]\+/N/g' "$T/bare") <(sed 's/[0-9]\+/N/g' "$T/out")
	[[ -z $(ls -A "$DIR") ]]
	LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR SEEP_ONLY=x cat /proc/self/maps >"$T/maps"
	grep -q libseep.so "$T/maps"
	! grep "$DIR" "$T/maps"
}

@test "companions of an allocator stay out, too, and record says why" {
	local libraries=$COLLECTOR:$BUILD/libseep-cxx.so:$BUILD/libseep-jemalloc.so
	only operators env LD_PRELOAD="$libraries" "$HOSTS/operators" >/dev/null
	[[ $(files) == operators ]]
	only x env LD_PRELOAD="$libraries" "$HOSTS/operators" >"$T/out"
	[[ -z $(ls -A "$DIR") ]]
	"$HOSTS/operators" >"$T/bare"
	diff <(sed 's/[0-9]\+/N/g' "$T/bare") <(sed 's/[0-9]\+/N/g' "$T/out")
	SEEP_ONLY=x SEEP_DIR=$DIR "$SEEP" record -o "$T/run.data" /bin/true 2>&1 | grep 'SEEP_ONLY is set'
}

@test "an event of a program that stays out takes no more instructions than one of a dormant program, and writes nothing shared" {
	need valgrind
	local out dormant
	cat >"$T/pairs.c" <<-'EOF'
		#include <stdlib.h>
		int main(int argc, char **argv) {
			for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--) {
				void *volatile p = malloc(24);
				free(p);
			}
			return 0;
		}
	EOF
	"${CC:-gcc}" -O2 -fno-builtin -o "$T/pairs" "$T/pairs.c"
	# instructions ENVIRONMENT...: of 20,000 more pairs
	instructions() {
		local n
		for n in 1000 21000; do
			env "$@" SEEP_DIR="$DIR" valgrind --trace-children=yes --tool=callgrind --callgrind-out-file=/dev/null \
				env LD_PRELOAD="$COLLECTOR" "$T/pairs" $n 2>&1 >/dev/null | sed -n 's/.*Collected : //p' | tail -1
		done | paste -sd' ' | awk '{ print int(($2 - $1) / 20000) }'
	}
	out=$(instructions SEEP_ONLY=x)
	dormant=$(instructions SEEP_MODE=dormant)
	echo "instructions of a pair: $out left out, $dormant dormant"
	[[ $out -gt 20 && $out -le $dormant ]]
}

@test "a setuid program ignores the settings, as all others" {
	[[ $(id -u) -eq 0 ]] || skip "needs root, for a setuid program"
	cp "$HOSTS/twins" "$DIR/setuid"
	chown 65534 "$DIR/setuid"
	chmod 4755 "$DIR/setuid"
	chmod 755 "$DIR"
	LD_PRELOAD=$COLLECTOR SEEP_BASE=$DIR SEEP_ONLY=setuid setpriv --reuid=65533 --clear-groups "$DIR/setuid" >/dev/null || true
	[[ $(ls -A "$DIR") == setuid ]]
}
