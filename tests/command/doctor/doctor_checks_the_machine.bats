#!/usr/bin/env bats
# doctor_checks_the_machine - seep doctor without an argument: places, room, owners, the collector.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/host.bash
load ../../lib/doctor.bash

# inside SCRIPT: in a mount namespace with a /dev/shm of 64 MiB, empty
inside() {
	unshare -m true 2>/dev/null || skip "no mount namespace here"
	export T SEEP COLLECTOR HOSTS
	unshare -m bash -eu -c "
		mount --make-rprivate /
		mount -t tmpfs -o size=64m,mode=1777 tmpfs /dev/shm
		unset SEEP_DIR SEEP_BASE
		doctor() { \"$SEEP\" doctor --format json \"\$@\" >'$T/doctor.json'; }
		$1"
}

@test "an ordinary machine: a line for each check, and nothing fails" {
	inside 'doctor'
	jq -e '.subject == "host" and .name == null and .fail == 0' "$T/doctor.json"
	for check in collector kernel proc wipeonfork shm; do
		jq -e --arg check $check 'any(.checks[]; .check == $check)' "$T/doctor.json"
	done
}

@test "room: too little fails, and so it is" {
	local status=0
	inside 'mount -o remount,size=512k /dev/shm; doctor' || status=$?
	[[ $status -eq 1 ]]
	found fail host shm 'too little'
	# a program finds no place there
	inside 'mount -o remount,size=512k /dev/shm
		LD_PRELOAD=$COLLECTOR "$HOSTS/family" >/dev/null; ls /dev/shm/seep-*/*.seg' 2>"$T/err" || status=$?
	grep -q 'No such file' "$T/err"
	inside 'mount -o remount,size=4m /dev/shm; doctor'
	found warn host shm 'a segment gets 1.0 MiB'
}

@test "no /dev/shm, one that is read-only, one that is no tmpfs" {
	local status=0
	inside "mkdir -p '$T/dev'; mount --bind '$T/dev' /dev; doctor" || status=$?
	[[ $status -eq 1 ]]
	found fail host shm 'No such file'
	status=0
	inside 'mount -o remount,ro /dev/shm; doctor' || status=$?
	[[ $status -eq 1 ]]
	found fail host shm 'read-only'
	status=0
	inside 'mount -t proc proc /dev/shm; doctor' || status=$?
	[[ $status -eq 1 ]]
	found fail host shm 'a file system of type 0x9fa0'
}

@test "SEEP_DIR and SEEP_BASE: missing, shared with others, of another owner" {
	mkdir "$DIR/open"
	chmod 777 "$DIR/open"
	DOCTOR_ENV=(SEEP_DIR="$DIR/none")
	doctor 1
	found fail host seep_dir 'No such file'
	DOCTOR_ENV=(SEEP_DIR="$DIR/open")
	doctor 1
	found fail host owner 'can be written by others'
	DOCTOR_ENV=(SEEP_DIR="$DIR")
	doctor 0
	found ok host seep_dir
	DOCTOR_ENV=(-u SEEP_DIR SEEP_BASE="$DIR/open")
	doctor 1
	found fail host seep_base 'not sticky'
	chmod 1777 "$DIR/open"
	DOCTOR_ENV=(-u SEEP_DIR SEEP_BASE="$DIR/open")
	doctor 0
	found ok host seep_base
}

@test "a directory seep-UID that another user has made" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	local status=0
	inside 'mkdir /dev/shm/seep-0; chown 65534 /dev/shm/seep-0; doctor' || status=$?
	[[ $status -eq 1 ]]
	found fail host owner '/dev/shm/seep-0 belongs to uid 65534'
}

@test "too many files: no segment is added, and doctor knows" {
	local status=0
	inside '
		mount -o remount,size=16m /dev/shm
		mkdir -m 700 /dev/shm/seep-$(id -u)
		head -c 10m /dev/zero >/dev/shm/filler
		(cd /dev/shm/seep-$(id -u) && seq -f "x%g.seg" 3100 | xargs touch)
		LD_PRELOAD=$COLLECTOR "$HOSTS/family" >/dev/null
		ls /dev/shm/seep-* | grep -c ^family >"$T/made" || true
		doctor' || status=$?
	[[ $status -eq 1 ]]
	found fail host files 'no segment is added'
	[[ $(<"$T/made") -eq 0 ]]
}

@test "the collector is missing, or can be written by others" {
	cp "$SEEP" "$T/seep"
	SEEP=$T/seep
	doctor 1
	found fail host collector 'is missing'
	cp "$COLLECTOR" "$T/libseep.so"
	chmod 666 "$T/libseep.so"
	doctor 1
	found fail host collector 'can be written by others'
	chmod 644 "$T/libseep.so"
	doctor 0
}
