#!/usr/bin/env bats
# files_are_private - I13: modes of files, symbolic links, directories of other users.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

@test "I13 segments are 0400, control files 0600, whatever the umask" {
	umask 0
	waiting
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
	waiting
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

# the loader takes what stands there also into programs with privileges
@test "T84 I18 AT_SECURE through /etc/ld.so.preload: loaded, and inert" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	unshare -m true 2>/dev/null || skip "no mount namespace here"
	local program
	mkdir -m 755 "$DIR/etc"
	cp -a /etc/passwd /etc/group /etc/nsswitch.conf /etc/ld.so.cache "$DIR/etc"
	cp "$COLLECTOR" "$DIR/libseep.so"
	echo "$DIR/libseep.so" >"$DIR/etc/ld.so.preload"
	cp "$HOSTS/family" "$DIR/plain"
	cp "$HOSTS/family" "$DIR/suid"
	chmod 4755 "$DIR/suid"
	mkdir "$DIR/own"
	chown 65534 "$DIR/own"
	chmod 700 "$DIR/own"
	chmod 711 "$DIR"
	for program in suid plain; do
		unshare -m bash -eu -c "
			mount --make-rprivate /
			mount --bind '$DIR/etc' /etc
			SEEP_DIR='$DIR/own' exec setpriv --reuid=65534 --regid=65534 --clear-groups '$DIR/$program'" \
			>"$T/out" 2>"$T/err"
		# setpriv itself cannot write there: it went to the default place
		grep '^PID ' "$T/out" >>"$T/pids"
		[[ ! -s $T/err ]]
		grep -q '^SITE TOTAL' "$T/out"
		[[ $program == plain || -z $(ls "$DIR/own") ]]
	done
	[[ -n $(ls "$DIR/own") ]] # it was loaded
}

@test "the trace and ls say if SEEP_DIR cannot be used" {
	mkdir -m 777 "$T/unfit"
	chmod 777 "$T/unfit"
	local pid
	pid=$(env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$T/unfit" sh -c 'echo $$; exec /bin/true')
	"$SEEP" report --format json "$pid" >"$T/report.json"
	rm -f "/dev/shm/seep-$(id -u)"/*-"$pid"-*
	[[ $(from_report 'p[0]["lost"]["dir_replaced"]') -eq 1 ]]
	SEEP_DIR=$T/unfit "$SEEP" ls >"$T/out" 2>"$T/err"
	grep -F "can be written by others" "$T/err"
	complains 3 env SEEP_DIR="$T/missing" "$SEEP" ls
}
