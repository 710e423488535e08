#!/usr/bin/env bats
# record_collects_the_tree - one file contains every process of the tree, however it ended.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

# shellcheck disable=SC2154 # $recorder is record_behind()'s
count_eat='[.processes[] | select(.exe | endswith("/eat"))] | length'

json() { # FILTER: over the recording
	"$SEEP" report "$T/seep.data" --format json | jq -c "$1"
}

setup_file() {
	need jq
	cat >"$BATS_FILE_TMPDIR/eat.c" <<-'END'
		/* eat N: allocates N blocks of 100 bytes, keeps them, does WHAT */
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>
		int main(int argc, char **argv) {
			for (int i = 0; i < atoi(argv[1]); i++) {
				char *volatile p = malloc(100);
				p[0] = 1;
			}
			if (argc > 2 && !strcmp(argv[2], "kill"))
				raise(SIGKILL);
			if (argc > 2 && !strcmp(argv[2], "_exit"))
				_exit(11);
			if (argc > 2 && !strcmp(argv[2], "fork") && fork() == 0) {
				for (int i = 0; i < 1000; i++) {
					char *volatile p = malloc(10);
					p[0] = 1;
				}
				return 0;
			}
			if (argc > 2 && !strcmp(argv[2], "sleep")) {
				close(0); close(1); close(2); close(3);
				sleep(30);
			}
			if (argc > 2 && !strcmp(argv[2], "exec"))
				execl(argv[0], argv[0], argv[3], NULL);
			return 0;
		}
	END
	"${CC:-gcc}" -O0 -o "$BATS_FILE_TMPDIR/eat" "$BATS_FILE_TMPDIR/eat.c"
	export EAT=$BATS_FILE_TMPDIR/eat
}

@test "four lines of summary, none with -q" {
	record "$EAT" 50
	[[ $(wc -l <"$T/err") -eq 4 ]]
	grep -q '^seep: recorded 1 process: ' "$T/err"
	grep -q '^seep: live at exit: ' "$T/err"
	grep -q '^seep: peak: ' "$T/err"
	grep -q '^seep: next: seep report seep.data$' "$T/err"
	record -q "$EAT" 50
	[[ ! -s $T/err ]]
}

@test "one process: exited, with its status and figures" {
	record -q "$EAT" 50
	[[ $(json '.processes | length') == 1 ]]
	[[ $(json '.processes[0] | [.end, .exit_status]') == '["exited",0]' ]]
	[[ $(json '.processes[0].totals.live_bytes >= 5000') == true ]]
	[[ $(json '.processes[0].exe' | tr -d '"') == "$EAT" ]]
	[[ -z $(ls -A "$DIR") ]]
}

@test "SIGKILL of the target still gives a report" {
	record -q "$EAT" 50 kill
	[[ $status -eq 137 ]]
	[[ $(json '.processes[0] | [.end, .signal]') == '["killed",9]' ]]
	[[ $(json '.processes[0].totals.live_bytes >= 5000') == true ]]
	[[ -z $(ls -A "$DIR") ]]
}

@test "_exit is an exit, not a kill" {
	record -q "$EAT" 50 _exit
	[[ $status -eq 11 ]]
	[[ $(json '.processes[0] | [.end, .exit_status]') == '["exited",11]' ]]
}

@test "a tree: every process is there, parents before children" {
	record sh -c "'$EAT' 10; '$EAT' 20 & '$EAT' 30 | '$EAT' 40; wait; exit 2"
	[[ $status -eq 2 ]]
	[[ $(json "$count_eat") == 4 ]]
	[[ $(json '.processes[0].end') == '"exited"' ]]
	[[ $(json '.processes[0].exit_status') == 2 ]]
	[[ $(json '[.processes[] | select(.exe | endswith("/eat")) | .exit_status] | unique') == '[null]' ]]
	[[ $(json '[.processes[] | select(.exe | endswith("/eat")) | .totals.live_blocks] | map(select(. >= 10)) | length') == 4 ]]
	[[ -z $(ls -A "$DIR") ]]
}

@test "a forked child has its own element, under its own pid" {
	record -q sh -c "'$EAT' 10 fork; sleep 0.3"
	[[ $(json '[.processes[] | select(.exe | endswith("/eat")) | .pid] | unique | length') == 2 ]]
	[[ $(json '[.processes[] | select(.exe | endswith("/eat")) | select(.totals.allocations == 1000)] | length') == 1 ]]
}

@test "exec chains: the older end in exec, the newest has the status" {
	record "$EAT" 10 exec 20
	[[ $(json '[.processes[].end]') == '["exec","exited"]' ]]
	[[ $(json '[.processes[].exit_status]') == '[null,0]' ]]
	[[ $(json '[.processes[].pid] | unique | length') == 1 ]]
	grep -q '^seep: recorded 1 process (2 programs)' "$T/err"
}

@test "processes that outlive CMD are listed, recorded as running, and not disturbed" {
	record sh -c "'$EAT' 10 sleep & echo \$!; sleep 0.5"
	local pid
	pid=$(<"$T/out")
	PIDS+=("$pid")
	[[ $status -eq 0 ]]
	grep -q "^seep: still running: $pid eat" "$T/err"
	[[ $(json ".processes[] | select(.pid == $pid) | .end") == '"running"' ]]
	ls "$DIR"/*-"$pid"-*.seg
	[[ $(segments) -eq 1 ]]
	kill -0 "$pid"
	kill -KILL "$pid"
	# nobody has read how it ended, so the next run leaves it and says so
	for ((i = 0; i < 100; i++)); do
		[[ -e /proc/$pid/exe ]] || break
		sleep 0.05
	done
	record true
	grep -q "^seep: 1 segment of an earlier seep record, which was killed or could not write, is in $DIR" "$T/err"
	[[ $(segments) -eq 1 ]]
	SEEP_DIR=$DIR "$SEEP" ls --prune | grep -qx "1 file removed"
	[[ -z $(ls -A "$DIR") ]]
}

@test "--wait waits for the last process" {
	record --wait sh -c "(sleep 0.7; '$EAT' 77) >/dev/null 2>&1 & exit 4"
	[[ $status -eq 4 ]]
	lacks 'still running' "$T/err"
	[[ $(json "$count_eat") == 1 ]]
}

@test "--no-follow records CMD alone" {
	record -q --no-follow sh -c "'$EAT' 10; true"
	[[ $(json '.processes | length') == 1 ]]
	[[ -z $(ls -A "$DIR") ]]
}

@test "--depth reaches the collector" {
	record -q --depth 7 sh -c 'echo "$SEEP_DEPTH"'
	[[ $(<"$T/out") == 7 ]]
}

@test "segments of programs started with LD_PRELOAD alone are not deleted" {
	LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR "$EAT" 10
	[[ $(segments) -eq 1 ]]
	record -q true
	[[ $(segments) -eq 1 ]]
}

@test "SIGKILL of record harms neither CMD nor segments" {
	local pid
	record_behind -q sh -c "
		echo \$\$ >pid
		while [ ! -e go ] && [ -e pid ]; do sleep 0.05; done
		'$EAT' 33; echo >done"
	appears "$T/pid"
	pid=$(<"$T/pid")
	PIDS+=("$pid")
	kill -KILL "$recorder"
	wait "$recorder" || true
	ls "$DIR"/*-"$pid"-*.seg
	# another run meanwhile leaves the living alone
	record -q -o other true
	ls "$DIR"/*-"$pid"-*.seg
	: >"$T/go"
	appears "$T/done"
	"$SEEP" report "$DIR" --format json >"$T/report.json"
	[[ $(jq "$count_eat" "$T/report.json") == 1 ]]
	# on a slow machine the recording has begun; then it is readable
	[[ ! -e $T/seep.data ]] || "$SEEP" report "$T/seep.data" >"$T/said" || [[ $? -eq 3 && -s $T/said ]]
}

@test "a program that outlives a killed record keeps its last state through the next record" {
	local pid
	record_behind -q sh -c "echo \$\$ >pid; exec '$EAT' 50 sleep"
	appears "$T/pid"
	pid=$(<"$T/pid")
	PIDS+=("$pid")
	eventually compgen -G "$DIR/eat-$pid-*.seg"
	kill -KILL "$recorder"
	wait "$recorder" || true
	sleep 0.2
	kill -TERM "$pid"
	eventually test ! -e "/proc/$pid/exe"
	record -q -o other true
	record -q -o other2 true
	"$SEEP" report "$DIR"/eat-"$pid"-*.seg --format json >"$T/report.json"
	[[ $(jq "$count_eat" "$T/report.json") == 1 ]]
	# the locks of dead recorders go
	[[ -z $(find "$DIR" -name 'rec-*') ]]
}

@test "two recorders at once do not take each other's segments" {
	record_behind -q -o first sh -c "
		'$EAT' 10; echo >ready; while [ ! -e go ] && [ -e ready ]; do sleep 0.05; done"
	appears "$T/ready"
	record -q "$EAT" 20
	[[ $(json '.processes | length') == 1 ]]
	: >"$T/go"
	wait "$recorder"
	"$SEEP" report "$T/first" --format json >"$T/report.json"
	[[ $(jq "$count_eat" "$T/report.json") == 1 ]]
}

@test "processes of other users are not taken for ours" {
	local stranger
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	chmod 755 "$T"
	unprivileged test -r "$COLLECTOR" || skip "nobody cannot come here"
	chown 65534 "$DIR" "$T"
	(
		cd "$T" || exit
		SEEP_DIR=$DIR unprivileged "$SEEP" record sh -c '
			echo >ready; while [ ! -e go ] && [ -e ready ]; do sleep 0.05; done'
	) >"$T/out" 2>"$T/err" 3>&- &
	recorder=$!
	PIDS+=("$recorder")
	appears "$T/ready"
	sleep 20 3>&- & # its mappings are hidden from nobody
	stranger=$!
	PIDS+=("$stranger")
	: >"$T/go"
	wait "$recorder"
	kill "$stranger"
	grep -q '^seep: recorded' "$T/err"
	lacks 'still running' "$T/err"
}

@test "record says if the OOM killer ended a process" {
	make_cgroup $((40 << 20)) || skip "no memory cgroup can be made"
	sh -c "echo \$\$ >'$GROUP/cgroup.procs' && exec '$SEEP' record -q --force -o '$T/oom.data' \
		perl -e 'my @x; push @x, \"x\" x 1000000 for 1 .. 300'" || true
	rmdir "$GROUP"
	[[ $("$SEEP" report "$T/oom.data" --format json | jq -r '.processes[0].signal') == 9 ]]
	"$SEEP" report "$T/oom.data" 2>&1 | grep -F "OOM killer ended 1 process"
}

@test "of many processes the report lists the largest, and sums up the others" {
	record -q --force -o data sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do ls / >/dev/null; done; sort /dev/null'
	"$SEEP" report "$T/data" --format json >"$T/json"
	"$SEEP" report "$T/data" >"$T/out"
	"$SEEP" report "$T/data" --top 0 >"$T/all"
	local all listed more
	all=$(jq '.processes | length' "$T/json")
	[[ $all -gt 24 ]]
	listed=$(grep -c '^ *[0-9][0-9]* *[0-9][0-9]* \(exited\|exec\|ended\) ' "$T/out")
	more=$(sed -n 's/.* \([0-9]*\) more process.* (--top 0: all)$/\1/p' "$T/out")
	[[ $((listed + more)) -eq $all && $listed -ge 20 ]]
	[[ $(grep -c '^ *[0-9][0-9]* *[0-9][0-9]* \(exited\|exec\|ended\) ' "$T/all") -eq $all ]]
	# the sums are those of the ones that are not listed
	[[ $(jq '[.processes[].totals.allocations] | add' "$T/json") -eq \
		$(awk '/ (exited|exec|ended) / && NF >= 7 { gsub(",", "", $6); n += $6 } / more process/ { gsub(",", "", $2); n += $2; exit } END { print n }' "$T/out") ]]
}
