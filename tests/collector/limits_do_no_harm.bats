#!/usr/bin/env bats
# limits_do_no_harm - I9: hosts with tight limits run as they do untraced.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

resident_kib() { sed -n 's/^# resident \([0-9]*\) KiB/\1/p' "$1"; }

@test "I9 mlockall as root: same outcome, at most 40 MB more locked" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	bare "$HOSTS/mlocked"
	traced "$HOSTS/mlocked"
	same_as_bare
	echo "bare $(resident_kib "$T/bare") traced $(resident_kib "$T/out") KiB"
	[[ $(($(resident_kib "$T/out") - $(resident_kib "$T/bare"))) -lt 40960 ]]
}

@test "I9 mlockall within RLIMIT_MEMLOCK, unprivileged: same outcome" {
	local kib
	local -a as
	drop_privileges
	as=("${AS[@]}")
	for kib in 65536 16384 256; do
		prlimit "--memlock=$((kib * 1024))" true 2>/dev/null || continue
		# the limit first: who has dropped its privileges cannot raise it
		AS=(prlimit "--memlock=$((kib * 1024))" "${as[@]}")
		rm -rf "${DIR:?}"/*
		bare "$HOSTS/mlocked"
		traced "$HOSTS/mlocked"
		echo "memlock $kib KiB: $(cat "$T/bare") / $(cat "$T/out")"
		same_as_bare
	done
}

# our share: a quarter of the limit at most for the segment, and for the live
# map a quarter of the heap
@test "I9 address space: ulimit -v with room for our share" {
	local kib
	for kib in 8192 16384 32768 65536; do
		echo "address space $kib KiB"
		bare prlimit --as=$((kib * 1024)) "$HOSTS/family"
		[[ $bare_status -eq 0 ]]
		traced prlimit --as=$((kib * 1024)) "$HOSTS/family"
		same_as_bare
	done
	for kib in 150000 200000 400000; do
		echo "address space $kib KiB"
		rm -rf "${DIR:?}"/*
		bare prlimit --as=$((kib * 1024)) "$HOSTS/peak"
		[[ $bare_status -eq 0 ]]
		traced prlimit --as=$((kib * 1024)) "$HOSTS/peak"
		same_as_bare
	done
	equals_ledger # the last had room for both
}

# what the library itself has is 0.3 MB; our tables have a quarter, or nothing
@test "I9 RLIMIT_DATA, as softlimit sets it: most of it is the host's" {
	local limit bare traced
	for limit in 1000000 2000000 4000000 6000000 16000000 64000000; do
		bare=$(prlimit --data=$limit "$HOSTS/takes_all_memory")
		traced=$(LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR prlimit --data=$limit "$HOSTS/takes_all_memory")
		echo "$limit bytes: $bare KiB, traced $traced KiB"
		[[ $((traced + 300)) -ge $((bare * 70 / 100)) ]]
	done
	# the dynamic loader must find room for that before any code of ours runs
	LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR prlimit --data=430000 "$HOSTS/takes_all_memory"
}

@test "I21 RLIMIT_FSIZE from nothing on, as sandboxes set it: no SIGXFSZ" {
	local limit mode
	for limit in 0 1 24 100 4096 8192 100000 10000000; do
		for mode in SEEP_LOG=0 SEEP_LOG=1 SEEP_LOG=last SEEP_PRIVATE=1; do
			# lines of others that were refused are in the file already
			printf -- '- 1 no-space other\n%.0s' {1..3} >"$DIR/refused.ctl"
			traced env "$mode" prlimit --fsize="$limit" sh -c 'sh -c "exit 4"; exit $(($? + 3))'
			echo "$limit $mode: $status"
			[[ $status -eq 7 ]]
			rm -f "$DIR"/*
		done
	done
}

@test "I21 RLIMIT_FSIZE of 64 KiB: no SIGXFSZ" {
	bare prlimit --fsize=65536 "$HOSTS/peak"
	traced prlimit --fsize=65536 "$HOSTS/peak"
	same_as_bare
}

@test "a process that found no place for a segment forks as bare" {
	# its pid is for teardown: with no use for SEEP_DIR it goes to the default place
	# shellcheck disable=SC2016 # for the inner shell
	local script='echo "PID $$"; x=$(echo $(echo a; (echo b))); echo "$x"'
	bare prlimit --fsize=4096 sh -c "$script"
	traced prlimit --fsize=4096 sh -c "$script"
	same_as_bare
	bare sh -c "$script"
	traced env SEEP_DIR=/proc sh -c "$script"
	same_as_bare
}

@test "RLIMIT_NOFILE of 3: the host starts and runs" {
	bare sh -c "exec prlimit --nofile=3 '$HOSTS/peak' <&- 3>&- 4>&-"
	[[ $bare_status -eq 0 ]]
	traced sh -c "exec prlimit --nofile=3 '$HOSTS/peak' <&- 3>&- 4>&-"
	same_as_bare
}

@test "RLIMIT_STACK of 64 KiB and 16 KiB thread stacks are enough" {
	bare prlimit --stack=65536 "$HOSTS/family"
	traced prlimit --stack=65536 "$HOSTS/family"
	same_as_bare
}

@test "I9 a memory cgroup of 24 MiB: nobody is killed" {
	make_cgroup $((24 << 20)) || skip "no memory cgroup can be made"
	bare sh -c "echo \$\$ >'$GROUP/cgroup.procs' && exec '$HOSTS/many_stacks' 14"
	traced sh -c "echo \$\$ >'$GROUP/cgroup.procs' && exec '$HOSTS/many_stacks' 14"
	rm -rf "${DIR:?}"/*
	rmdir "$GROUP" || true
	[[ $bare_status -eq 0 ]]
	same_as_bare
}
