#!/usr/bin/env bats
# processes_are_looked_at_while_they_live - the engine of long-lived readers: who comes, who ends and why, and what a look costs.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

LOOK=$BUILD/tools/engine_look

# begin COMMAND...: traced, behind; $HOST is its pid. It ends with descriptor 8.
begin() {
	[[ -p $T/in ]] || { mkfifo "$T/in" && exec 8<>"$T/in"; }
	LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR "$@" <"$T/in" >>"$T/out" 2>>"$T/err" 3>&- 8>&- &
	HOST=$!
	PIDS+=("$HOST")
}

all_ready() { [[ $(grep -c ready "$T/out") -eq $1 ]]; }

# look OPTION...: looks behind, until it is killed; lines to $T/looks
look() {
	"$LOOK" --every 100 "$@" >"$T/looks" 2>"$T/look-err" 3>&- 8>&- &
	READER=$!
	PIDS+=("$READER")
}

# seen REGEX: some line of a look is so, in fields with tabs
seen() { eventually grep -qP "$1" "$T/looks"; }

# of PID: state, cause and number of the last line about it
of() { awk -F'\t' -v pid="$1" '$6 == pid { s = $3 " " $4 " " $5 } END { print s }' "$T/looks"; }

is_last() { [[ $(of "$1") == "$2" ]]; }

@test "the end of a process is reported at once, with its cause" {
	SEEP_DIR=$DIR look --looks 100000
	begin "$HOSTS/busy_sites" 50 100000
	local killed=$HOST
	seen "\truns\tunknown\t0\t$killed\t$killed\t$(id -u)\tbusy_sites\t"
	begin bash -c 'read -r; exit 7'
	local left=$HOST
	seen "\truns\tunknown\t0\t$left\t"
	kill -KILL "$killed"
	wait "$killed" || true
	echo >&8
	wait "$left" || [[ $? -eq 7 ]]
	# Linux 6.15 tells the status; before, that it has ended
	if eventually is_last "$killed" "ended signal 9"; then
		eventually is_last "$left" "ended exit 7"
	fi
	kill "$READER"
}

@test "what becomes another program has ended, and the new one is there" {
	SEEP_DIR=$DIR look --looks 100000
	begin bash -c 'read -r; exec '"$HOSTS/busy_sites"' 10 100000'
	seen "\truns\tunknown\t0\t$HOST\t$HOST\t[0-9]*\tbash\t"
	echo >&8
	seen "\tended\texec\t0\t$HOST\t$HOST\t[0-9]*\tbash\t"
	seen "\truns\tunknown\t0\t$HOST\t$HOST\t[0-9]*\tbusy_sites\t"
	kill "$READER"
}

@test "what becomes another program and ends before the next look has both ends" {
	SEEP_DIR=$DIR look --every 3000 --looks 100000
	begin bash -c 'read -r; exec sh -c "exit 5"'
	seen "\truns\tunknown\t0\t$HOST\t$HOST\t[0-9]*\tbash\t"
	echo >&8
	wait "$HOST" || [[ $? -eq 5 ]]
	seen "\tended\texec\t0\t$HOST\t$HOST\t[0-9]*\tbash\t"
	# the status itself is told by Linux 6.15
	seen "\tended\texit\t(5|-1)\t$HOST\t[0-9]*\t[0-9]*\tsh\t"
	kill "$READER"
}

@test "an exec of a program without the collector is an end, too" {
	SEEP_DIR=$DIR look --looks 100000
	begin bash -c 'read -r; exec env -u LD_PRELOAD sleep 60'
	seen "\truns\tunknown\t0\t$HOST\t$HOST\t[0-9]*\tbash\t"
	echo >&8
	seen "\tended\texec\t0\t$HOST\t$HOST\t"
	kill "$READER"
}

@test "the memory cgroup kills: the cause is out of memory" {
	make_cgroup 40000000 || skip "no memory cgroup can be made"
	echo 0 >"$GROUP/memory.swap.max" 2>/dev/null || true
	printf '%s\n' '#include <stdlib.h>' '#include <string.h>' '#include <unistd.h>' \
		'int main(void) { char c; if (read(0, &c, 1)) for (;;) memset(malloc(4000), 1, 4000); }' |
		cc -w -O0 -x c - -o "$T/eater"
	begin sh -c "echo \$\$ >'$GROUP/cgroup.procs' && exec '$T/eater'"
	SEEP_DIR=$DIR look --looks 100000
	seen "\truns\tunknown\t0\t$HOST\t$HOST\t[0-9]*\teater\t"
	echo >&8
	wait "$HOST" || true
	seen "\tended\toom\t9\t$HOST\t$HOST\t"
	kill "$READER"
	for _ in $(seq 50); do
		! rmdir "$GROUP" 2>/dev/null || break
		sleep 0.1
	done
}

@test "a container with its own /dev/shm is seen, and its last state is read when all of it is gone" {
	own_mounts -pf --mount-proc mount -t tmpfs -o size=64m none /dev/shm 2>/dev/null ||
		skip "no mount and pid namespaces here"
	mkfifo "$T/in2"
	exec 6<>"$T/in2"
	# shellcheck disable=SC2016 # for the inner shell
	own_mounts -pf --mount-proc sh -c 'mount -t tmpfs -o size=64m none /dev/shm &&
		LD_PRELOAD=$1 exec "$2" 300 100000' sh "$COLLECTOR" "$HOSTS/busy_sites" \
		<"$T/in2" >"$T/out" 2>"$T/err" 3>&- 6>&- &
	PIDS+=("$!")
	eventually grep -q ready "$T/out"
	env -u SEEP_DIR "$LOOK" --every 100 --looks 100000 >"$T/looks" 3>&- 6>&- &
	READER=$!
	PIDS+=("$READER")
	seen "\truns\tunknown\t0\t[0-9]+\t1\t[0-9]*\tbusy_sites\t"
	HOST=$(awk -F'\t' '$7 == 1 && $9 == "busy_sites" { print $6; exit }' "$T/looks")
	kill -KILL "$HOST"
	eventually grep -qP "\tended\t[a-z]+\t[0-9-]+\t$HOST\t1\t" "$T/looks"
	# all its sites are still known
	[[ $(awk -F'\t' -v pid="$HOST" '$6 == pid { n = $15 } END { print (n >= 300) }' "$T/looks") -eq 1 ]]
	kill "$READER"
}

@test "from another pid namespace nobody is dead: out of sight, and silent if its clock stands still" {
	unshare -pf --mount-proc true 2>/dev/null || skip "no pid namespace here"
	begin "$HOSTS/busy_sites" 20 0
	begin "$HOSTS/busy_sites" 30 1000000
	local busy=$HOST
	eventually all_ready 2
	SEEP_DIR=$DIR unshare -pf --mount-proc "$LOOK" --every 200 --looks 60 >"$T/looks" 3>&- 8>&-
	[[ $(grep -cP "\t(ended|runs)\t" "$T/looks") -eq 0 ]]
	grep -qP "^59\t[0-9]+\tout-of-sight\t.*\t$busy\t[0-9]*\tbusy_sites" "$T/looks"
	[[ $(grep -cP "^59\t[0-9]+\tout-of-sight,silent\t" "$T/looks") -eq 1 ]]
}

@test "a forked child is a process, from its first events on" {
	SEEP_DIR=$DIR look --looks 100000
	begin bash -c 'exec 5<&0; for i in 1 2 3; do (read -r <&5; exit 5) & done; wait; read -r; exit 0'
	seen "\truns\tunknown\t0\t$HOST\t$HOST\t"
	eventually three_children "$HOST"
	kill "$READER"
}

three_children() {
	[[ $(tail -n 50 "$T/looks" | awk -F'\t' -v pid="$1" \
		'$3 == "runs" && $6 != pid && $9 == "bash" { n[$6] = 1 } END { print length(n) }') -eq 3 ]]
}

@test "where descriptors run out, files are opened for each look, and ends are noticed" {
	local i
	for ((i = 0; i < 24; i++)); do
		begin "$HOSTS/busy_sites" 30 100000
	done
	eventually all_ready 24
	SEEP_DIR=$DIR prlimit --nofile=80:80 "$LOOK" --every 100 --looks 100000 >"$T/looks" 3>&- 8>&- &
	READER=$!
	PIDS+=("$READER")
	eventually all_run 24
	kill -KILL "${PIDS[@]:0:24}"
	for ((i = 0; i < 24; i++)); do
		seen "\tended\t[a-z]+\t[0-9]+\t${PIDS[i]}\t"
	done
	kill "$READER"
}

all_run() {
	[[ $(awk -F'\t' '$3 == "runs" && $17 == 0 { n[$6] = 1 } END { print length(n) }' "$T/looks") -eq $1 ]]
}

# cost COUNT SITES ROUNDS LOOKS: percent of a core and MiB of the reader
cost() {
	local i
	for ((i = 0; i < $1; i++)); do
		begin "$HOSTS/busy_sites" "$2" "$3"
	done
	eventually all_ready "$1"
	SEEP_DIR=$DIR "$LOOK" --quiet --every 1000 --looks "$4" >"$T/looks" 3>&- 8>&-
	[[ $(awk -F'\t' '/^cost/ { print $5 }' "$T/looks") -eq $1 ]]
	COST=$(awk -F'\t' '/^cost/ { print $2 }' "$T/looks")
	RESIDENT=$(awk -F'\t' '/^cost/ { print int($3 / 1048576) }' "$T/looks")
	echo "$1 processes, $2 sites: $COST % of a core, $RESIDENT MiB"
}

at_most() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a <= b) }'; }

@test "a look at 5,000 busy sites costs little" {
	cost 1 5000 1000000 "$(full_or 30 6)"
	at_most "$COST" 1
}

@test "and so do looks at many processes" {
	local n
	n=$(full_or 100 25)
	cost "$n" 500 1000000 "$(full_or 30 6)"
	at_most "$COST" 6
	at_most "$RESIDENT" 64
}

@test "and at processes that do nothing" {
	local n
	n=$(full_or 1000 100)
	cost "$n" 50 0 "$(full_or 30 6)"
	at_most "$COST" 5
}
