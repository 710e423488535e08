#!/usr/bin/env bats
# files_are_private - I13: modes, symlinks, foreign directories, no secrets.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

# a host that waits for a line; its pid is in $HOST
start_waiting() {
	mkfifo "$T/lines"
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$@" <"$T/lines" \
		>"$T/out" 2>"$T/err" 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	exec 9>"$T/lines"
	for _ in $(seq 100); do
		! grep -q ready "$T/out" || return 0
		sleep 0.05
	done
	return 1
}

@test "I13 segments are 0400, control files 0600, whatever the umask" {
	umask 0
	start_waiting "$HOSTS/toggled"
	ls -l "$DIR"
	[[ -n $(ls "$DIR") ]]
	local file
	for file in "$DIR"/*; do
		case $file in
		*.ctl) [[ $(stat -c %a "$file") == 600 ]] ;;
		*) [[ $(stat -c %a "$file") == 400 ]] ;;
		esac
	done
}

@test "I2 no descriptor of ours stays open" {
	start_waiting "$HOSTS/toggled"
	ls -l "/proc/$HOST/fd"
	[[ $(find "/proc/$HOST/fd" -lname "$DIR*" | wc -l) -eq 0 ]]
}

@test "I13 files are made with O_EXCL, O_NOFOLLOW and mode 0600" {
	need strace
	strace -f -e trace=openat,open -o "$T/trace" \
		env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$HOSTS/family" >/dev/null
	grep O_CREAT "$T/trace"
	[[ $(grep -c O_CREAT "$T/trace") -ge 1 ]]
	[[ $(grep O_CREAT "$T/trace" | grep -vc 'O_EXCL.*O_NOFOLLOW.*0600\|O_NOFOLLOW.*O_EXCL.*0600') -eq 0 ]]
}

# runs as bare, and leaves nothing in $1
refused() {
	bare "$HOSTS/family"
	traced "$HOSTS/family"
	same_as_bare
	ls -la "$1"
	[[ -z $(ls -A "$1") ]]
}

@test "I13 a symlink in place of the directory is refused" {
	local real=$DIR
	mkdir -m 700 "$real/there"
	ln -s "$real/there" "$real/link"
	DIR=$real/link
	refused "$real/there"
	DIR=$real
}

@test "I13 a directory others may write is refused" {
	chmod 0770 "$DIR"
	refused "$DIR"
	chmod 0777 "$DIR"
	refused "$DIR"
}

@test "I13 a directory of another user is refused" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	chown 65534:65534 "$DIR"
	refused "$DIR"
}

@test "a directory that is missing, a file, or closed to us: the host runs" {
	local real=$DIR
	touch "$real/file"
	mkdir -m 000 "$real/closed"
	for DIR in "$real/missing" "$real/file" "$real/closed" "" relative; do
		bare "$HOSTS/family"
		traced "$HOSTS/family"
		same_as_bare
	done
	DIR=$real
	rm -rf "$real/missing" relative
}

@test "I13 neither environment nor heap contents are in any file" {
	cat >"$T/secret.c" <<-'C'
	#include <stdlib.h>
	#include <string.h>
	int main(void)
	{
		for (int i = 0; i < 200; i++) {
			char *volatile p = malloc(64);
			strcpy(p, "heap-");
			strcat(p, "kumquat-7761");
		}
		return getenv("PASSWORD") ? 0 : 1;
	}
	C
	cc -w -g0 "$T/secret.c" -o "$T/secret"
	PASSWORD=persimmon-4482 traced_well "$T/secret"
	[[ -n $(ls "$DIR") ]]
	# grep would read gigabytes of holes
	"$PYTHON" - "$DIR"/* <<-'PY'
	import os, sys
	for path in sys.argv[1:]:
	    fd, at, size = os.open(path, os.O_RDONLY), 0, os.stat(path).st_size
	    while at < size:
	        try:
	            at = os.lseek(fd, at, os.SEEK_DATA)
	        except OSError:
	            break
	        end = os.lseek(fd, at, os.SEEK_HOLE)
	        data = os.pread(fd, end - at, at)
	        assert b"persimmon" not in data and b"kumquat" not in data, path
	        at = end
	PY
}

@test "I18 AT_SECURE: a setuid program is not traced and runs" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	cp "$HOSTS/family" "$DIR/suid"
	chmod 4755 "$DIR/suid"
	mkdir -m 700 "$DIR/own"
	chmod 0711 "$DIR"
	local suid=$DIR/suid real=$DIR
	DIR=$real/own
	drop_privileges
	traced "$suid"
	DIR=$real
	head -n 3 "$T/err"
	[[ $status -eq 0 && -z $(ls "$real/own") ]]
	grep -q '^SITE TOTAL' "$T/out"
}
