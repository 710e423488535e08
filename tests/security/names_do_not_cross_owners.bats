#!/usr/bin/env bats
# names_do_not_cross_owners - a file that carries somebody else's build-id gives names only to its own functions.
# threat: nobody may harm the host by means of seep who could not harm it without seep; this includes the host's own less privileged children; if root points seep at a process, file or directory of a hostile user, that user must not be able to make it read or write other files than it was told to
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

ID=0123456789abcdef0123456789abcdef01234567

# build WHO FILE [FLAG...]: a program or library with our build-id, whose run() keeps 50 blocks in keep_WHO()
build() {
	local who=$1 file=$2
	shift 2
	"${CC:-gcc}" -O1 -g "-Wl,--build-id=0x$ID" "$@" -o "$file" -x c - <<-END
		#include <stdlib.h>
		#include <unistd.h>
		__attribute__((noinline)) void *keep_$who(size_t n) { char *volatile p = malloc(n); return p; }
		void run(void) { for (int i = 0; i < 50; i++) keep_$who(1000); }
		#ifndef PLUGIN
		int main(int argc, char **argv) {
			(void)argv;
			run();
			if (argc > 1) { (void)!write(1, "ready\n", 6); pause(); }
			return 0;
		}
		#endif
	END
}

setup_file() {
	local who
	for who in victim attacker; do
		build "$who" "$BATS_FILE_TMPDIR/$who"
	done
}

# a recording of each, without names; a cache that is empty
prepare() {
	export XDG_CACHE_HOME=$T/cache
	mkdir -p "$T/his" "$T/ours"
	cp "$BATS_FILE_TMPDIR/victim" "$T/ours/program"
	cp "$BATS_FILE_TMPDIR/attacker" "$T/his/program"
	[[ $(id -u) -ne 0 ]] || chown -R 65534 "$T/his"
	"$SEEP" record -q --no-symbols -o "$T/ours.data" "$T/ours/program"
	"$SEEP" record -q --no-symbols -o "$T/his.data" "$T/his/program"
}

# functions INPUT...: those of ours that it names
functions() {
	"$SEEP" report --format json "$@" >"$T/report.json"
	jq -r '.processes[].sites[].frames[].function | select(. != null and startswith("keep_"))' \
		"$T/report.json" | sort -u
}

@test "in both orders, from the cache too" {
	prepare
	for _ in 1 2; do
		[[ $(functions "$T/his.data") == keep_attacker ]]
		[[ $(functions "$T/ours.data") == keep_victim ]]
	done
	[[ $(find "$T/cache" -name '*.names' | wc -l) -ge 2 ]]
	rm -r "$T/cache"
	for _ in 1 2; do
		[[ $(functions "$T/ours.data") == keep_victim ]]
		[[ $(functions "$T/his.data") == keep_attacker ]]
	done
}

@test "what was read once is found again without the file, if it was root's or our own" {
	prepare
	[[ $(functions "$T/ours.data") == keep_victim ]]
	[[ $(functions "$T/his.data") == keep_attacker ]]
	rm "$T/ours/program"
	[[ $(functions "$T/ours.data") == keep_victim ]]
	# somebody else's is never taken for it
	rm -r "$T/cache"
	cp "$BATS_FILE_TMPDIR/victim" "$T/ours/program"
	[[ $(id -u) -eq 0 ]] || return 0
	[[ $(functions "$T/his.data") == keep_attacker ]]
	rm "$T/ours/program"
	[[ -z $(functions "$T/ours.data") ]]
}

@test "both in one report" {
	prepare
	traced_well "$T/ours/program"
	traced_well "$T/his/program"
	for _ in 1 2; do
		functions "$DIR"
		both_are_named
		jq -e --arg his "$T/his/program" 'all(.processes[]; .exe as $exe
			| [.sites[].frames[].function | select(. != null and startswith("keep_"))] | unique
			| . == [if $exe == $his then "keep_attacker" else "keep_victim" end])' "$T/report.json"
	done
}

# two_under_one_path: runs both programs under the path of ours, each in its own mount namespace; they wait
two_under_one_path() {
	local -a children
	own_mounts true 2>/dev/null || skip "no mount namespace here"
	LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR "$T/ours/program" wait >"$T/out" 3>&- &
	PIDS+=($!)
	answered ready
	own_mounts sh -c "mount --bind '$T/his/program' '$T/ours/program' &&
		exec env LD_PRELOAD='$COLLECTOR' SEEP_DIR='$DIR' '$T/ours/program' wait" >"$T/out.his" 3>&- &
	PIDS+=($!)
	eventually grep -q ready "$T/out.his"
	# the program is a child of the shell that runs own_mounts
	read -ra children <<<"$(pgrep -d ' ' -P "${PIDS[-1]}")"
	PIDS=("${children[@]}" "${PIDS[@]}")
}

# both_are_named: $T/report.json has names of both programs, and no process has both
both_are_named() {
	jq -e '[.processes[] | [.sites[].frames[].function | select(. != null and startswith("keep_"))] | unique]
		| all(length == 1) and (add | unique == ["keep_attacker", "keep_victim"])' "$T/report.json"
}

@test "a process with another file under the same path" {
	prepare
	two_under_one_path
	for _ in 1 2; do
		functions "$DIR"
		both_are_named
		# in the text all processes are one tree
		"$SEEP" report "$DIR" --merge --table >"$T/text"
		cat "$T/text"
		[[ $(grep -oE 'in keep_(attacker|victim)' "$T/text" | sort -u | wc -l) -eq 2 ]]
	done
}

# frames_of EXE: functions of ours that the processes of this program have, in $T/report.json
frames_of() {
	jq -r --arg exe "$1" '.processes[] | select(.exe == $exe) | .sites[].frames[].function
		| select(. != null and startswith("keep_"))' "$T/report.json" | sort -u | tr '\n' ' '
}

@test "in one recording of processes that see other files under the same path" {
	prepare
	two_under_one_path
	"$SEEP" export "$DIR" --format seep -o "$T/both.data"
	# the files are not needed any more
	rm "$T/ours/program" "$T/his/program"
	functions "$T/both.data" --no-cache
	both_are_named
}

# A process says in its segment that it is another one, which was started in the
# same directory: that is where the path of a module begins. It knows better
# where its own file is. Three of them, so that the order does not matter.
@test "in the recording of a tree whose members say that they are somebody else" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	local who at
	at=$(mktemp -d -t "seep-test.${SEEP_RUN:-0}.XXXXXX") # where nobody may come, too
	OWN_DIR=$at
	chmod 711 "$at"
	for who in victim attacker; do
		mkdir "$at/$who"
		build "$who" "$at/$who/plug.so" -shared -fPIC -DPLUGIN
		cp "$HOSTS/claims" "$at/$who/claims_$who"
	done
	chown -R 65534 "$at/attacker"
	setpriv --reuid=65534 --clear-groups test -x "$at/attacker/plug.so" || skip "nobody cannot come here"
	unprivileged test -r "$COLLECTOR" || skip "nobody cannot come here"
	mkfifo "$at/lines" "$at/attacker/lines"
	chmod 666 "$at/lines" "$at/attacker/lines"
	cat >"$at/tree" <<-'END'
		attack() {
			(cd "$at/attacker" && exec setpriv --reuid=65534 --clear-groups \
				./claims_attacker "$1" <"$at/attacker/lines" >"$at/attacker/$2") &
			until grep -qs ready "$at/attacker/$2"; do sleep 0.05; done
		}
		exec 8<>"$at/attacker/lines" 9<>"$at/lines"
		# a forged header to begin with: of a victim that has ended
		(cd "$at/victim" && exec ./claims_victim <"$at/lines" >"$at/out.1") &
		until grep -qs ready "$at/out.1"; do sleep 0.05; done
		head -c 8192 "$(ls "$SEEP_DIR"/*claims_victim*.seg "$SEEP_DIR"/*-$!-*.seg 2>/dev/null | head -n 1)" >"$at/header"
		chmod 644 "$at/header"
		attack "$at/header" out.1
		(cd "$at/victim" && exec ./claims_victim <"$at/lines" >"$at/out.2") &
		until grep -qs ready "$at/out.2"; do sleep 0.05; done
		attack "$at/header" out.2
		sleep 1.5 # record looks where their modules lie
		printf '\n\n\n\n' >&8
		printf '\n\n\n\n' >&9
		wait
	END
	export at
	record -q -o tree.data bash "$at/tree"
	cat "$T/err"
	[[ $status -eq 0 && -s $at/header ]]
	for _ in with_files without_them; do
		functions "$T/tree.data" --no-cache
		[[ $(frames_of "$at/victim/claims_victim") == "keep_victim " ]]
		[[ $(frames_of "$at/attacker/claims_attacker") == "keep_attacker " ]]
		rm -rf "$at/victim" "$at/attacker"
	done
}
