#!/usr/bin/env bats
# doctor_explains_processes - seep doctor PID prints the state of a process, or the reason why it is not traced.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/host.bash
load ../../lib/doctor.bash

# sleeping VARIABLE=VALUE... COMMAND...: in the background; its pid in $HOST
sleeping() {
	env "$@" >"$T/out" 2>"$T/err" 3>&- </dev/null &
	HOST=$!
	PIDS+=("$HOST")
}

# became NAME: $HOST has become this program
is_exe() { [[ $(readlink "/proc/$HOST/exe") == */$1 ]]; }
became() { eventually is_exe "$1"; }

@test "it was started without the collector" {
	sleeping sleep 60
	became sleep
	doctor 1 "$HOST"
	found fail process traced 'started without the collector'
	found ok program linkage
}

@test "it is traced; it is off; it is dormant" {
	waiting
	doctor 0 "$HOST"
	found ok process traced "pid $HOST is traced"
	found ok process segment "$DIR/"
	SEEP_DIR=$DIR "$SEEP" off "$HOST"
	printf '\n' >&9
	eventually grep -q . "$T/out"
	eventually off_is_seen
}
off_is_seen() {
	doctor 0 "$HOST" && found warn process mode "seep on $HOST"
}

@test "a program in between has cleared the environment" {
	mkfifo "$T/pid"
	# shellcheck disable=SC2016 # for that shell
	sleeping LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" bash -c '
		env -i sleep 60 &
		echo $! >"$0"; wait' "$T/pid"
	shell=$HOST
	read -r HOST <"$T/pid"
	PIDS+=("$HOST")
	became sleep
	doctor 1 "$HOST"
	found fail process traced "its ancestor bash (pid $shell) has"
}

@test "static, with LD_PRELOAD" {
	printf '#include <unistd.h>\nint main(void) { sleep(60); return 0; }\n' >"$T/s.c"
	"${CC:-gcc}" -static -o "$T/still" "$T/s.c"
	sleeping LD_PRELOAD="$COLLECTOR" "$T/still"
	became still
	doctor 1 "$HOST"
	found fail program linkage 'statically linked'
}

@test "setuid: the loader has ignored LD_PRELOAD" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	printf '#include <unistd.h>\nint main(void) { sleep(60); return 0; }\n' >"$T/s.c"
	"${CC:-gcc}" -o "$T/still" "$T/s.c"
	chown 65534 "$T/still"
	chmod 4755 "$T/still"
	sleeping LD_PRELOAD="$COLLECTOR" "$T/still"
	became still
	! grep -q libseep "/proc/$HOST/maps" || skip "mounted nosuid"
	doctor 1 "$HOST"
	found fail program privileges 'AT_SECURE'
}

@test "the library is not there, or cannot be read" {
	sleeping LD_PRELOAD="$T/none/libseep.so" sleep 60
	became sleep
	doctor 1 "$HOST"
	found fail process library "$T/none/libseep.so is not there in its mount namespace"
}

@test "SEEP_ONLY names others" {
	sleeping LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" SEEP_ONLY=nginx:redis sleep 60
	became sleep
	doctor 1 "$HOST"
	found fail process only 'SEEP_ONLY is nginx:redis, and it is sleep'
	sleeping LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" SEEP_ONLY=nginx:sleep sleep 60
	became sleep
	eventually doctor 0 "$HOST"
}

@test "limits that are too low" {
	(ulimit -f 100; exec env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" sleep 60) >/dev/null 2>&1 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	became sleep
	doctor 1 "$HOST"
	found fail process limits 'file sizes'
	(ulimit -v 8000; exec env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" sleep 60) >/dev/null 2>&1 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	became sleep
	doctor 1 "$HOST"
	found fail process limits 'address space'
}

# in_namespace SCRIPT: in a mount namespace of its own; then a host that sleeps
in_namespace() {
	unshare -m true 2>/dev/null || skip "no mount namespace here"
	sleeping unshare -m bash -c "mount --make-rprivate /
		$1
		exec env -u SEEP_DIR LD_PRELOAD='$COLLECTOR' sleep 60"
	became sleep
}

@test "no /dev/shm, one that is full, one that is read-only" {
	in_namespace "mount -t tmpfs -o size=64k tmpfs /dev/shm"
	doctor 1 "$HOST"
	found fail process place
	in_namespace "mount -t tmpfs -o ro tmpfs /dev/shm"
	doctor 1 "$HOST"
	found fail process place 'read-only'
	in_namespace "mkdir -p '$T/dev'; mount --bind '$T/dev' /dev"
	doctor 1 "$HOST"
	found fail process place '/dev/shm is not there'
}

@test "its directory belongs to another user" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	in_namespace "mount -t tmpfs -o mode=1777 tmpfs /dev/shm; mkdir /dev/shm/seep-0; chown 65534 /dev/shm/seep-0"
	doctor 1 "$HOST"
	found fail process place 'belongs to uid 65534'
}

@test "a filter for system calls, from before its start" {
	local call
	echo '#include <sys/syscall.h>' | "${CC:-gcc}" -E -dM - |
		sed -nE 's/^#define __NR_[a-z0-9_]+ ([0-9]+)$/\1/p' >"$T/all"
	# all but ftruncate: the segment cannot be made
	call=$(printf '#include <sys/syscall.h>\n__NR_ftruncate\n' | "${CC:-gcc}" -E - | tail -n 1)
	grep -vx "$call" "$T/all" >"$T/calls"
	"$HOSTS/confined" nnp errno="$T/calls" -- /bin/true || skip "the kernel refuses this confinement: errno"
	sleeping "$HOSTS/confined" nnp errno="$T/calls" -- /usr/bin/env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" sleep 60
	became sleep
	doctor 1 "$HOST"
	found fail process seccomp 'filter for system calls' ||
		found fail process place 'its segment could not be made'
}

@test "no such process, one of another user, no /proc: one line, 3" {
	complains 3 "$SEEP" doctor 4194303
	complains 3 "$SEEP" doctor 0
	complains 3 "$SEEP" doctor 999999999
	if [[ $(id -u) -eq 0 ]]; then
		can_be_nobody
		sleeping sleep 60
		became sleep
		complains 3 setpriv --reuid 65534 --regid 65534 --clear-groups "$SEEP" doctor "$HOST"
		grep -q 'belongs to another user' "$T/complaint"
	fi
	unshare -m true 2>/dev/null || skip "no mount namespace here"
	complains 3 unshare -m bash -c "mount --make-rprivate /; mount -t tmpfs none /proc; exec '$SEEP' doctor 1"
	grep -q 'no /proc' "$T/complaint"
}

@test "a process that ends meanwhile: an answer or one line, never a crash" {
	local got
	for _ in {1..30}; do
		sleep 0.0"$((RANDOM % 6))" &
		got=0
		timeout 20 "$SEEP" doctor "$!" >/dev/null 2>"$T/complaint" || got=$?
		[[ $got -eq 1 || $got -eq 3 ]]
		[[ $(wc -l <"$T/complaint") -le 1 ]]
	done
	wait
}
