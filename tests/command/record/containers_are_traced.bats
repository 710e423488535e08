#!/usr/bin/env bats
# containers_are_traced - docs/CONTAINERS.md: a program in a container of a real runtime is traced, and seen from outside and from a sidecar.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/host.bash
load ../../lib/container.bash
load ../../lib/doctor.bash

BLOCKS=1000 SIZE=700

# app: holds $BLOCKS blocks, says READY, and waits
app() {
	mkdir -p "$T/app"
	cat >"$T/app.c" <<-END
		#include <stdio.h>
		#include <stdlib.h>
		#include <unistd.h>
		static void *volatile held[$BLOCKS];
		int main(int argc, char **argv) {
			(void)argv;
			for (int i = 0; i < $BLOCKS; i++)
				held[i] = malloc($SIZE);
			puts("READY");
			fflush(stdout);
			if (argc == 1)
				pause();
			return 7;
		}
	END
	"${CC:-gcc}" -g -O0 -o "$T/app/app" "$T/app.c"
	chmod 755 "$T" "$T/app"
}

ready() { said READY "$1"; }

# said WORDS CONTAINER: or it has ended
said() {
	eventually said_or_ended "$@"
	grep -q "$1" "$T/$2.out" || {
		cat "$T/$2.err"
		return 1
	}
}
said_or_ended() { grep -q "$1" "$T/$2.out" || [[ ! -e /proc/$INIT ]]; }

# has_figures FILE: JSON of report has the blocks of the app
has_figures() {
	jq -e --argjson blocks $BLOCKS --argjson bytes $((BLOCKS * SIZE)) \
		'any(.processes[].sites[]; .live_blocks == $blocks and .live_bytes == $bytes)' "$1" >/dev/null
}

# sidecar UID CAPS COMMAND...: a container in the pid namespace of $INIT; its
# output in $T/said and $T/complaint, its status in $status
sidecar() {
	local uid=$1 caps=$2
	shift 2
	status=0
	rm -rf --one-file-system "$T/side"
	CONFIG=".process.env |= map(select(startswith(\"LD_PRELOAD\") | not)) |
		.linux.namespaces |= map(if .type == \"pid\" then .path = \"/proc/$INIT/ns/pid\" else . end) |
		.process.capabilities |= map_values($caps)" \
		container side "$uid" "$@" >"$T/said" 2>"$T/complaint" || status=$?
}

@test "traced in a container with a read-only root, and seen from outside" {
	containers_needed
	app
	container_behind web 1234 /opt/app/app
	ready web
	"$SEEP" ls --format json >"$T/ls.json"
	jq -e --argjson pid "$INIT" 'any(.processes[]; .pid == $pid and .inner_pid == 1 and .uid == 1234 and .state == "running")' "$T/ls.json"
	"$SEEP" report "$INIT" --format json >"$T/report.json"
	has_figures "$T/report.json"
	jq -e 'any(.processes[].sites[].frames[]; .function == "main")' "$T/report.json" # names from the container's files
	"$SEEP" top "$INIT" --once --format json >"$T/top.json"
	jq -se --argjson pid "$INIT" 'any(.[].processes[]; .pid == $pid and .totals.live_bytes >= 700000)' "$T/top.json"
	doctor 0 "$INIT"
	found ok process traced "pid $INIT is traced"
	# a segment has a quarter of the 64 MiB
	[[ $(jq -r --argjson pid "$INIT" '.processes[] | select(.pid == $pid) | .stored_bytes' "$T/ls.json") -lt $((16 << 20)) ]]
}

@test "a sidecar of the same uid needs no capability" {
	containers_needed
	app
	container_behind web 1234 /opt/app/app
	ready web
	sidecar 1234 '[]' seep report 1 --format json
	cat "$T/complaint"
	[[ $status -eq 0 ]]
	has_figures "$T/said"
	sidecar 1234 '[]' seep ls --format json
	jq -e 'any(.processes[]; .pid == 1 and .state == "running")' "$T/said"
	sidecar 1234 '[]' seep doctor 1 --format json
	jq -e 'any(.checks[]; .group == "process" and .check == "traced" and .state == "ok")' "$T/said"
}

@test "a sidecar of another uid needs exactly two capabilities" {
	containers_needed
	app
	container_behind web 1234 /opt/app/app
	ready web
	sidecar 4321 '["CAP_SYS_PTRACE", "CAP_DAC_READ_SEARCH"]' seep report 1 --format json
	cat "$T/complaint"
	[[ $status -eq 0 ]]
	has_figures "$T/said"
	for caps in '[]' '["CAP_SYS_PTRACE"]' '["CAP_DAC_READ_SEARCH"]'; do
		sidecar 4321 "$caps" seep report 1
		echo "$caps: $status"
		cat "$T/complaint"
		[[ $status -eq 3 && ! -s $T/said && $(wc -l <"$T/complaint") -eq 1 ]]
		grep -q '^seep: ' "$T/complaint"
	done
	sidecar 4321 '[]' seep doctor 1
	[[ $status -eq 3 ]]
	grep -q 'belongs to another user' "$T/complaint"
}

# share: a tmpfs as an emptyDir in memory is one, of uid 1234
with_share() {
	CONFIG=".process.env += [\"SEEP_DIR=/share\"] | .mounts += [{destination: \"/share\", type: \"bind\", source: \"$DIR\", options: [\"bind\"]}]" "$@"
}

@test "a shared directory: read without the pid namespace, and after SIGKILL of pid 1" {
	containers_needed
	app
	chown 1234:1234 "$DIR"
	chmod 700 "$DIR"
	with_share container_behind web 1234 /opt/app/app
	ready web
	# another container, that shares the directory alone
	status=0
	CONFIG=".process.env |= map(select(startswith(\"LD_PRELOAD\") | not)) |
		.mounts += [{destination: \"/share\", type: \"bind\", source: \"$DIR\", options: [\"bind\"]}]" \
		container other 1234 seep report /share --format json >"$T/said" 2>"$T/complaint" || status=$?
	cat "$T/complaint"
	[[ $status -eq 0 ]]
	has_figures "$T/said"
	kill -KILL "$INIT"
	wait "$CRUN" || true
	eventually test ! -e "/proc/$INIT"
	"$SEEP" report "$DIR" --format json >"$T/report.json"
	has_figures "$T/report.json"
}

@test "SIGKILL of pid 1: what was in the container's own /dev/shm goes with it, and nothing else happens" {
	containers_needed
	app
	container_behind web 1234 /opt/app/app
	ready web
	"$SEEP" report "$INIT" >/dev/null
	kill -KILL "$INIT"
	wait "$CRUN" || true
	complains 3 "$SEEP" report "$INIT"
}

@test "a /dev/shm that is full: the program runs, untraced, and doctor says why" {
	containers_needed
	app
	container_behind web 1234 /bin/sh -c 'unset LD_PRELOAD; head -c 70m /dev/zero >/dev/shm/full 2>/dev/null
		LD_PRELOAD=/opt/seep/libseep.so exec /opt/app/app'
	ready web
	doctor 1 "$INIT"
	found fail process place
	[[ $("$SEEP" ls --pids | grep -c "^$INIT") -eq 0 ]]
}

@test "a /dev/shm that fills up later: the program is not harmed, and goes on" {
	containers_needed
	app
	container_behind web 1234 /bin/sh -c '/opt/app/app &
		sleep 1; head -c 70m /dev/zero >/dev/shm/full 2>/dev/null; /opt/app/app once; echo STATUS $?; wait'
	said 'STATUS 7' web
	[[ ! -s $T/web.err ]]
}

@test "no /dev/shm at all: the program runs, untraced, and doctor says why" {
	containers_needed
	app
	CONFIG='.mounts |= map(select(.destination != "/dev/shm"))' container_behind web 1234 /opt/app/app
	ready web
	doctor 1 "$INIT"
	found fail process place '/dev/shm is not there'
	# and with a directory of its own it is traced
	kill -KILL "$INIT"
	wait "$CRUN" || true
	chown 1234:1234 "$DIR"
	CONFIG=".mounts |= map(select(.destination != \"/dev/shm\")) | .process.env += [\"SEEP_DIR=/share\"] |
		.mounts += [{destination: \"/share\", type: \"bind\", source: \"$DIR\", options: [\"bind\"]}]" \
		container_behind next 1234 /opt/app/app
	ready next
	DOCTOR_ENV=(-u SEEP_DIR)
	doctor 0 "$INIT"
}

@test "an emptyDir: refused as it is made, used when it is sticky" {
	containers_needed
	app
	mkdir "$DIR/volume"
	chmod 755 "$DIR"
	chmod 777 "$DIR/volume"
	volume=".process.env += [\"SEEP_BASE=/share\"] | .mounts += [{destination: \"/share\", type: \"bind\", source: \"$DIR/volume\", options: [\"bind\"]}]"
	CONFIG=$volume container_behind web 1234 /opt/app/app
	ready web
	doctor 0 "$INIT"
	found warn process place '/share can be written by others (mode 0777)'
	chmod 1777 "$DIR/volume"
	CONFIG=$volume container_behind next 1234 /opt/app/app
	ready next
	doctor 0 "$INIT"
	[[ $(jq '[.checks[] | select(.group == "process" and .check == "place")] | length' "$T/doctor.json") -eq 0 ]]
	[[ $(find "$DIR/volume/seep-1234" -name 'app-*.seg' | wc -l) -eq 1 ]]
}

# charged: bytes of shared memory in the memory cgroup of the test
charged() {
	if [[ -e $GROUP/memory.max ]]; then
		awk '$1 == "shmem" { print $2 }' "$GROUP/memory.stat"
	else
		awk '$1 == "total_shmem" { print $2 }' "$GROUP/memory.stat"
	fi
}

@test "the pages of a segment count against the container's memory" {
	containers_needed
	make_cgroup $((256 << 20)) || skip "no memory cgroup can be made"
	app
	bash -c "echo \$\$ >'$GROUP/cgroup.procs'; exec sleep 100" 3>&- & # the group's first
	PIDS+=($!)
	before=$(charged)
	# shellcheck disable=SC2016
	(
		echo "$BASHPID" >"$GROUP/cgroup.procs"
		container_behind web 1234 /opt/app/app
		echo "$INIT" >"$T/init"
	)
	INIT=$(<"$T/init")
	PIDS+=("$INIT")
	ready web
	after=$(charged)
	stored=$("$SEEP" ls --format json | jq --argjson pid "$INIT" '.processes[] | select(.pid == $pid) | .stored_bytes')
	echo "charged $((after - before)), the file occupies $stored"
	[[ $((after - before)) -ge $stored && $((after - before)) -le $((stored + (1 << 20))) ]]
	kill -KILL "$INIT"
	eventually no_process
	rmdir_group
}
no_process() {
	kill -KILL "${PIDS[@]}" 2>/dev/null || true
	[[ -z $(<"$GROUP/cgroup.procs") ]]
}
rmdir_group() { eventually rmdir "$GROUP"; }
