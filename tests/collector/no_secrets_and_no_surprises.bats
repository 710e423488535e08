#!/usr/bin/env bats
# no_secrets_and_no_surprises - I13, I18: what seep writes and where, and what it never writes.
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

# a user that nobody else is, and not that of another run; its default directory
# is nobody else's either
STRANGER=$((63300 + ${SEEP_RUN:-0} % 2000))
PLACE=/dev/shm/seep-$STRANGER

as_stranger() {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	AS=(setpriv "--reuid=$STRANGER" "--regid=$STRANGER" --clear-groups)
	"${AS[@]}" test -x "$SEEP" || skip "nobody cannot come here"
	[[ ! -e $PLACE ]]
}

# and the notes of processes that found it taken
forget_stranger() { rm -rf "$PLACE" "$PLACE"-*; }

# runs as bare without SEEP_DIR, and touches nothing of what is in the way
default_place_refused() {
	local before after
	before=$(find "$PLACE" "$T/target" -printf '%p %y %m %u %s %T@\n' 2>/dev/null)
	"${AS[@]}" env -u SEEP_DIR "$HOSTS/family" >"$T/bare" 2>"$T/bare.err"
	timeout 20 "${AS[@]}" env -u SEEP_DIR LD_PRELOAD="$COLLECTOR" \
		"$HOSTS/family" >"$T/out" 2>"$T/err"
	status=0 bare_status=0
	same_as_bare
	after=$(find "$PLACE" "$T/target" -printf '%p %y %m %u %s %T@\n' 2>/dev/null)
	[[ $before == "$after" ]]
}

@test "T74 T82 I13 a symlink, FIFO, file or foreign directory at the default place" {
	as_stranger
	mkdir "$T/target"
	chmod 777 "$T/target"
	ln -s "$T/target" "$PLACE" && default_place_refused
	forget_stranger
	ln -s "$T/nowhere" "$PLACE" && default_place_refused
	[[ ! -e $T/nowhere ]]
	forget_stranger
	mkfifo "$PLACE" && default_place_refused
	forget_stranger
	echo mine >"$PLACE" && default_place_refused
	forget_stranger
	mkdir -m 700 "$PLACE" && default_place_refused # root's
	forget_stranger
	mkdir -m 1777 "$PLACE" && default_place_refused # sticky, root's
	forget_stranger
	mkdir "$PLACE" && chown "$STRANGER" "$PLACE" && chmod 1777 "$PLACE" && default_place_refused
	forget_stranger
}

@test "T74 SEEP_DIR is a dangling symlink or a FIFO: the host runs, nothing hangs" {
	local real=$DIR
	ln -s "$real/nowhere" "$real/dangling"
	mkfifo "$real/fifo"
	mkdir -m 1777 "$real/sticky"
	for DIR in "$real/dangling" "$real/fifo" "$real/sticky"; do
		LIMIT=20
		bare "$HOSTS/family"
		traced "$HOSTS/family"
		same_as_bare
	done
	DIR=$real
	[[ ! -e $real/nowhere && -z $(ls -A "$real/sticky") ]]
}

# with -o nothing that exists is touched; --force replaces what a link names,
# by a new file, so that other names of the old one keep it
@test "T82 record at a planted link, hard link or FIFO: what was there is kept" {
	mkdir "$T/d"
	echo precious >"$T/d/precious"
	local name
	local -a to
	for name in seep.data it.seep; do
		to=()
		[[ $name == seep.data ]] || to=(-o it.seep)
		ln -s d/precious "$T/$name"
		record -q "${to[@]}" true
		[[ $status -eq $([[ $name == seep.data ]] && echo 0 || echo 125) ]]
		[[ $(cat "$T/d/precious") == precious ]]
		rm -f "$T"/seep.data* "$T/it.seep"
		ln "$T/d/precious" "$T/$name"
		record -q "${to[@]}" true
		[[ $(cat "$T/d/precious") == precious ]]
		rm -f "$T"/seep.data* "$T/it.seep"
	done
	ln "$T/d/precious" "$T/it.seep"
	record -q --force -o it.seep true
	[[ $status -eq 0 && $(cat "$T/d/precious") == precious ]]
	mkfifo "$T/seep.data"
	LIMIT=20 record -q true
	[[ $status -eq 0 && -f $T/seep.data && -p $T/seep.data.old ]]
}

@test "T84 I18 file capabilities: not traced, and runs" {
	as_stranger
	need setcap
	local room
	room=$(mktemp -d)
	chmod 711 "$room"
	cp "$HOSTS/family" "$room/capable"
	if ! setcap cap_net_raw+ep "$room/capable"; then
		rm -r "$room"
		skip "no file capabilities here"
	fi
	chown "$STRANGER" "$DIR"
	traced "$room/capable"
	rm -r "$room"
	[[ $status -eq 0 && -z $(ls -A "$DIR") ]]
	grep -q '^SITE TOTAL' "$T/out"
	[[ ! -e $PLACE ]]
}

# secrets SOURCE: a program that has some everywhere
a_host_with_secrets() {
	cat >"$T/secret.c" <<-'C'
	#include <signal.h>
	#include <stdlib.h>
	#include <string.h>
	#include <unistd.h>
	static char in_data[] = "data-kumquat-7761";
	int main(void)
	{
		char on_stack[64];
		strcpy(on_stack, "stack-kumquat-7761");
		for (int i = 0; i < 3000; i++) {
			char *volatile p = malloc(64 + (size_t)i);
			strcpy(p, "heap-");
			strcat(p, "kumquat-7761");
			if (i % 2)
				free(p);
		}
		setenv("LATER", "later-persimmon-4482", 1);
		if (fork() == 0) {
			for (int i = 0; i < 200; i++)
				strcpy(malloc(40), "child-kumquat-7761");
			_exit(0);
		}
		raise(SIGUSR2);
		return in_data[0] + on_stack[0] == 0;
	}
	C
	cc -w -g0 -O0 "$T/secret.c" -o "$T/secret"
}

# holes are left out: grep would read gigabytes of them
no_secret_in() { # FILE...
	"$PYTHON" - "$@" <<-'PY'
	import os, sys
	looked = 0
	for path in sys.argv[1:]:
	    fd, at, size = os.open(path, os.O_RDONLY), 0, os.stat(path).st_size
	    while at < size:
	        try:
	            at = os.lseek(fd, at, os.SEEK_DATA)
	        except OSError:
	            break
	        end = os.lseek(fd, at, os.SEEK_HOLE)
	        end = min(end, at + (16 << 20))
	        data = os.pread(fd, end - at, at)
	        assert b"persimmon" not in data and b"kumquat" not in data, path
	        looked += end - at
	        at = end
	    os.close(fd)
	print(looked, "bytes in", len(sys.argv) - 1, "files")
	assert looked > 10000
	PY
}

@test "T83 I13 no secret of environment, heap, stack or data in any file" {
	a_host_with_secrets
	export PASSWORD=persimmon-4482
	mkdir "$T/made"
	SEEP_SIGNAL=USR2 SEEP_EVERY=64KiB SEEP_SNAPSHOT_DIR=$T/made traced "$T/secret"
	"$SEEP" report "$DIR" >"$T/made/report.txt"
	"$SEEP" report "$DIR" --format json >"$T/made/report.json"
	SEEP_EVERY=64KiB record -q -o "$T/made/r.seep" "$T/secret"
	"$SEEP" report "$T/made/r.seep" --format json >"$T/made/r.json"
	local file
	for file in "$T/made"/*.seep-snap; do
		[[ $(stat -c %a "$file") == 600 || $(stat -c %a "$file") == 400 ]]
	done
	local files
	mapfile -t files < <(find "$DIR" "$T/made" -type f)
	no_secret_in "${files[@]}"
	# the same of what is compressed in it
	"$PYTHON" -B - "$LIB" "$T/made/r.seep" >"$T/made/unpacked" <<-'PY'
	import sys
	sys.path.insert(0, sys.argv[1])
	import recording
	with open(sys.argv[2], "rb") as file:
	    for kind, content in recording.entries(file.read()):
	        sys.stdout.buffer.write(content)
	PY
	no_secret_in "$T/made/unpacked"
}
