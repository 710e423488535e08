#!/usr/bin/env bats
# doctor_is_not_held - seep doctor with hostile executables, processes, directories and names.
# threat: root's seep, pointed at a hostile user's process, file or directory, must not be made to hang, to grow without bound, to read or write elsewhere
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash
load ../lib/doctor.bash

# silent WHAT: doctor in a mount namespace where $T/fuse does not answer WHAT; ARG... are doctor's
silent() {
	local what=$1
	shift
	[[ $(id -u) -eq 0 && -c /dev/fuse ]] || skip "needs root and FUSE"
	mkdir -p "$T/fuse"
	export T PYTHON LIB SEEP DIR
	begin=$SECONDS status=0
	# shellcheck disable=SC2016 # for that shell
	unshare -m "$BASH" -c '
		mount --make-rprivate /
		what=$1; shift
		"$PYTHON" "$LIB/fuse_silent.py" "$T/fuse" /bin/sleep "$what" >"$T/ready" 2>/dev/null 3>&- &
		fuse=$!
		echo $fuse >>"$T/fuse.pids"
		until grep -q READY "$T/ready"; do sleep 0.05; done
		status=0
		SEEP_DIR=$DIR timeout -s KILL 60 "$SEEP" doctor --format json "$@" >"$T/doctor.json" 2>"$T/err" 3>&- || status=$?
		kill -KILL $fuse
		exit $status' silent "$what" "$@" || status=$?
	while read -r pid; do PIDS+=("$pid"); done <"$T/fuse.pids"
	echo "$what: status $status after $((SECONDS - begin)) s"
	cat "$T/err"
	[[ $((SECONDS - begin)) -lt 30 ]]
}

@test "an executable on a file system that does not answer" {
	for what in open read rest; do
		silent $what "$T/fuse/program"
		[[ $status -eq 3 ]]
		found warn program answer 'did not answer in time'
	done
}

@test "SEEP_DIR on a file system that does not answer" {
	DIR=$T/fuse/dir silent lookup
	[[ $status -eq 3 ]]
	found warn host answer 'did not answer in time'
	found ok host kernel
}

@test "a process of another user that holds the lock of its memory" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	[[ -c /dev/fuse ]] || skip "not permitted here: no /dev/fuse"
	mkdir "$T/mount"
	"$HOSTS/holds_its_lock" "$T/mount" >"$T/ready" 2>"$T/err" 3>&- &
	HOST=$!
	eventually grep -q ready "$T/ready"
	PIDS+=("$(sed -n 's/^ready //p' "$T/ready")" "$HOST") # in this order
	begin=$SECONDS status=0
	SEEP_DIR=$DIR timeout -s KILL 60 "$SEEP" doctor "$HOST" >"$T/out" 2>"$T/err" || status=$?
	cat "$T/out" "$T/err"
	echo "status $status after $((SECONDS - begin)) s"
	[[ $status -eq 3 && $((SECONDS - begin)) -lt 20 && $(wc -l <"$T/err") -eq 1 ]]
}

@test "damaged ELF files: an answer, in time, and no crash" {
	printf 'int main(void) { return 0; }\n' >"$T/s.c"
	"${CC:-gcc}" -g -o "$T/sound" "$T/s.c" -Wl,--no-as-needed -lm
	for seed in $(seq "$(full_or 400 60)"); do
		"$PYTHON" "$LIB/mutate_elf.py" "$T/sound" "$T/program" "$seed"
		chmod +x "$T/program"
		got=0
		SEEP_DIR=$DIR timeout 30 "$SEEP" doctor "$T/program" >"$T/out" 2>"$T/err" || got=$?
		[[ $got -le 1 && ! -s $T/err ]] || {
			echo "seed $seed: $got"
			cat "$T/err"
			return 1
		}
	done
	# cut at any length, and sizes that promise more than there is
	for n in 1 4 16 52 63 64 100 500 1000 5000; do
		head -c "$n" "$T/sound" >"$T/program"
		got=0
		SEEP_DIR=$DIR timeout 30 "$SEEP" doctor "$T/program" >"$T/out" 2>"$T/err" || got=$?
		[[ $got -le 1 && ! -s $T/err ]]
	done
	truncate -s 40G "$T/program" 2>/dev/null || skip "no sparse files of 50 GiB here"
	SEEP_DIR=$DIR timeout 30 "$SEEP" doctor "$T/program" >"$T/out" || [[ $? -eq 1 ]]
}

@test "hostile names come out escaped, in the text and in the JSON" {
	local odd=$'\e[31m\xe2\x80\xaered\a'
	mkdir "$T/$odd"
	printf 'int main(void) { return 0; }\n' >"$T/s.c"
	"${CC:-gcc}" -static -s -o "$T/$odd/static" "$T/s.c"
	"${CC:-gcc}" -s -o "$T/$odd/program" "$T/s.c"
	for one in static program; do
		SEEP_DIR=$DIR "$SEEP" doctor "$T/$odd/$one" >"$T/out" 2>"$T/err" || true
		! grep -q $'[\e\a]' "$T/out" "$T/err" || return 1
		grep -q '\\x1b\[31m' "$T/out"
		SEEP_DIR=$DIR "$SEEP" doctor --format json "$T/$odd/$one" >"$T/doctor.json" || true
		! grep -q $'[\e\a]' "$T/doctor.json" || return 1
		jq -e --arg odd $'\e[31m' 'any(.checks[]; .text | contains($odd))' "$T/doctor.json" >/dev/null
	done
	complains 3 "$SEEP" doctor "$T/$odd/none"
	! grep -q $'[\e\a]' "$T/complaint"
}

@test "doctor starts nothing and writes nothing" {
	need strace
	strace -qq -o "$T/none" true || skip "strace may not trace here"
	printf '#!/bin/sh\ntouch "%s/was-run"\n' "$T" >"$T/program"
	chmod +x "$T/program"
	SEEP_DIR=$DIR strace -f -qq -e trace=execve,openat,creat,unlink,unlinkat,mkdir,mkdirat,rename,renameat,renameat2,chmod,fchmod,ftruncate \
		-o "$T/calls" "$SEEP" doctor "$T/program" >"$T/out"
	[[ ! -e $T/was-run && $(grep -c 'execve(' "$T/calls") -eq 1 ]]
	! grep -E 'O_CREAT|O_TRUNC|unlink|mkdir|rename|chmod|ftruncate' "$T/calls"
}
