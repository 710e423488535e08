#!/usr/bin/env bats
# processes_are_reached_wherever_they_are - names are found in a chroot, in mount namespaces, and with paths longer than a header holds.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

setup_file() {
	cat >"$BATS_FILE_TMPDIR/host.c" <<-'END'
		/* host WORD...: namespace, chroot DIR, tmpfs DIR, sleep */
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <sched.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/mount.h>
		#include <unistd.h>
		__attribute__((noinline)) char *kept_here(void) {
			char *volatile p = malloc(1000); return p; }
		static int fails(const char *what) { perror(what); return 77; }
		int main(int argc, char **argv) {
			for (int i = 1; i < argc; i++) {
				if (!strcmp(argv[i], "namespace")) {
					if (unshare((getuid() ? CLONE_NEWUSER : 0) | CLONE_NEWNS) ||
					    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
						return fails("unshare");
				} else if (!strcmp(argv[i], "user")) {
					if (getuid() && unshare(CLONE_NEWUSER)) return fails("unshare");
				} else if (!strcmp(argv[i], "tmpfs")) {
					if (mount("none", argv[++i], "tmpfs", 0, NULL)) return fails("mount");
				} else if (!strcmp(argv[i], "bind")) {
					if (mount("/", argv[++i], NULL, MS_BIND, NULL)) return fails("bind");
				} else if (!strcmp(argv[i], "chroot")) {
					if (chroot(argv[++i]) || chdir("/")) return fails("chroot");
				} else if (!strcmp(argv[i], "sleep")) {
					for (int k = 0; k < 20; k++) kept_here();
					puts("ready"); fflush(stdout); sleep(60);
				}
			}
			for (int k = 0; k < 20; k++) kept_here();
			return 0;
		}
	END
	"${CC:-gcc}" -O1 -g -o "$BATS_FILE_TMPDIR/host" "$BATS_FILE_TMPDIR/host.c"
}

# begin WORD...: the host runs behind, traced; skips where it may not do that
begin() {
	rm -f "$T/out" # of an earlier one, which has said "ready", too
	LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR "$BATS_FILE_TMPDIR/host" "$@" sleep >"$T/out" 2>"$T/err" 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	for _ in {1..200}; do
		! grep -q ready "$T/out" || return 0
		kill -0 "$HOST" 2>/dev/null || skip "not permitted here: $(head -n 1 "$T/err")"
		sleep 0.05
	done
	return 1
}

# reached: by its pid, with names
reached() {
	"$SEEP" report "$HOST" --no-cache >"$T/said" 2>&1
	cat "$T/said"
	grep -q kept_here "$T/said"
}

@test "names are found in a chroot" {
	mkdir "$T/jail"
	begin user chroot "$T/jail"
	reached
	"$SEEP" off "$HOST"
	"$SEEP" snapshot -o "$T/s" "$HOST"
}

@test "names are found in another mount namespace, with or without a chroot" {
	mkdir -p "$T/jail"
	begin namespace tmpfs "$T/jail"
	reached
	begin namespace tmpfs "$T/jail" chroot "$T/jail"
	reached
}

@test "in a chroot that is a bind mount of the root itself" {
	mkdir -p "$T/jail/a"
	begin namespace bind "$T/jail/a" chroot "$T/jail/a"
	reached
}

# deep BYTES: a directory whose path has at least so many, made step by step
deep() {
	local part
	part=$(printf '%0200d' 0)
	cd "$T" || return
	while ((${#PWD} < $1)); do
		mkdir -p "$part"
		cd "$part" || return
	done
}

@test "a program whose path has more than 1,023 bytes" {
	need jq
	(
		deep 1500
		cp "$BATS_FILE_TMPDIR/host" long_name
		traced_well ./long_name
	)
	"$SEEP" report "$DIR" --no-cache >"$T/said"
	head -n 3 "$T/said"
	grep -q '^long_name (pid' "$T/said"
	grep -q kept_here "$T/said"
	"$SEEP" report "$DIR" --no-cache --format json >"$T/report.json"
	# the header keeps the end of it, and shows that; the module has it all
	[[ $(jq -r '.processes[0].exe' "$T/report.json") == .../*/long_name ]]
	path=$(jq -r '.processes[0].modules[] | select(.main).path' "$T/report.json")
	((${#path} > 1500))
	[[ -x $path ]]
	# another file in its place gives no names
	printf '#!/bin/sh\n' >"$path"
	"$SEEP" report "$DIR" --no-cache >"$T/said"
	lacks kept_here "$T/said"
}

@test "a program whose path is too long for the kernel to say: while it runs" {
	# a shell would make an absolute path of it
	"$PYTHON" - "$T" "$BATS_FILE_TMPDIR/host" "$COLLECTOR" "$DIR" >"$T/out" 3>&- <<-'END' &
		import os, shutil, sys
		os.chdir(sys.argv[1])
		for _ in range(22):
		    os.mkdir("0" * 200)
		    os.chdir("0" * 200)
		shutil.copy(sys.argv[2], "far_away")
		os.execve("./far_away", ["far_away", "sleep"], {"LD_PRELOAD": sys.argv[3], "SEEP_DIR": sys.argv[4]})
	END
	HOST=$!
	PIDS+=("$HOST")
	answered ready
	reached
	grep -q '^far_away (pid' "$T/said"
}
