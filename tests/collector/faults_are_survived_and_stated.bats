#!/usr/bin/env bats
# faults_are_survived_and_stated - I5, I7: if a system call of the collector fails, the host is not disturbed and the trace says what is missing.
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

# faults WHAT MODE [OPTIONS...]: tests/host/faults.py on a host with a bit of all
faults() {
	"$HOSTS/witness" true || skip "no ptrace here"
	"$PYTHON" -B "$repo/tests/host/faults.py" "$@" "$HOSTS/faulty_world"
}

@test "T06 I5 each system call of ours fails once: as bare, exact or stated" {
	faults fail exact --every "$(full_or 1 2)"
}

@test "I5 I7 from each system call on all of ours fail" {
	faults exhaust exact --every "$(full_or 1 4)"
}

@test "I5 the same when sampling, dormant, and writing snapshots" {
	faults fail sampled --every "$(full_or 1 20)"
	faults exhaust sampled --every "$(full_or 1 30)"
	faults fail dormant --every "$(full_or 1 20)"
	faults fail exact --every "$(full_or 1 40)" --env SEEP_EVERY=16KiB
	faults exhaust exact --every "$(full_or 1 40)" --env SEEP_EVERY=16KiB
	faults fail exact --every "$(full_or 1 30)" --env SEEP_CHILD_FILES=1
}

@test "I8 a host that dies at any of our system calls leaves what can be read, and pruned" {
	faults kill exact --every "$(full_or 1 8)"
	faults kill exact --every "$(full_or 1 40)" --env SEEP_EVERY=16KiB
}

@test "T76 every system call of ours takes 5 ms longer: as bare, exact" {
	faults slow exact
	faults slow sampled
}

@test "T75 a recorder that is stopped, and goes on after the host has ended" {
	bare "$HOSTS/family"
	mkfifo "$T/gate"
	record_behind -q -o "$T/r.seep" sh -c "echo \$\$ >'$T/pid'; read -r line <'$T/gate'; exec '$HOSTS/family'"
	appears "$T/pid"
	kill -STOP "$recorder"
	echo go >"$T/gate"
	for _ in $(seq 200); do
		[[ $(cut -d' ' -f3 <"/proc/$(cat "$T/pid")/stat") != Z ]] || break
		sleep 0.05
	done
	[[ $(cut -d' ' -f3 <"/proc/$(cat "$T/pid")/stat") == Z ]]
	diff <(grep -v ^PID "$T/bare") <(grep -v ^PID "$T/out")
	kill -CONT "$recorder"
	wait "$recorder"
	"$SEEP" report "$T/r.seep" --format json >"$T/report.json"
	"$PYTHON" "$LIB/compare.py" "$T/out" "$T/report.json"
}

@test "T73 the directory with the segments is removed while the host runs" {
	mkdir -m 700 "$DIR/gone"
	DIR=$DIR/gone waiting
	rm -r "$DIR/gone"
	if [[ $(id -u) -eq 0 ]]; then
		"$SEEP" report "$HOST" --format json >"$T/report.json"
		[[ $(from_report 'len(p)') -eq 1 ]]
	else
		complains 3 "$SEEP" report "$HOST"
		grep -q 'only root can still reach it' "$T/complaint"
	fi
	ends_well
}

@test "T73 the medium becomes read-only, and full, and has room again" {
	own_mounts true 2>/dev/null || skip "no mount namespace here"
	own_mounts bash -eu -c "
		mount -t tmpfs -o size=8m,mode=0700 tmpfs '$DIR'
		mkdir -m 700 '$DIR/d'
		env LD_PRELOAD='$COLLECTOR' SEEP_DIR='$DIR/d' '$HOSTS/many_stacks' 12 >'$T/out'
		'$SEEP' report '$DIR/d' --format json >'$T/report.json'
		rm -r '$DIR/d'
		mkdir -m 700 '$DIR/d'
		cat /dev/zero >'$DIR/fill' 2>/dev/null || true
		env LD_PRELOAD='$COLLECTOR' SEEP_DIR='$DIR/d' '$HOSTS/many_stacks' 12 >'$T/out.full' 2>&1
		rm '$DIR/fill'
		env LD_PRELOAD='$COLLECTOR' SEEP_DIR='$DIR/d' '$HOSTS/many_stacks' 12 >'$T/out.again' 2>&1
		mount -o remount,bind,ro '$DIR'
		env LD_PRELOAD='$COLLECTOR' SEEP_DIR='$DIR/d' '$HOSTS/many_stacks' 12 >'$T/out.ro' 2>&1"
	"$PYTHON" "$LIB/compare.py" "$T/out" "$T/report.json" --no-clean
	local name
	for name in full again ro; do
		diff <(grep -v ^PID "$T/out") <(grep -v ^PID "$T/out.$name")
	done
}
