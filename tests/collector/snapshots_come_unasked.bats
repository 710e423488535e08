#!/usr/bin/env bats
# snapshots_come_unasked - SEEP_SIGNAL and SEEP_EVERY, their bounds and failures.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

snapshots() { find "$DIR" -name '*.seep-snap' | sort -V; }
count() { snapshots | wc -l; }

# behind VARIABLE=VALUE... COMMAND...: traced, in the background; $HOST
behind() {
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$@" \
		>"$T/out" 2>"$T/err" 3>&- </dev/null &
	HOST=$!
	PIDS+=("$HOST")
}

# waits until there are N snapshots, up to ten seconds
arrive() {
	local i
	for ((i = 0; i < 200; i++)); do
		[[ $(count) -lt $1 ]] || return 0
		sleep 0.05
	done
	ls -la "$DIR"
	return 1
}

# its handler is there: bit 11 of SigCgt is SIGUSR2
ready() {
	local i caught
	for ((i = 0; i < 200; i++)); do
		caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$HOST/status")
		[[ $((0x$caught >> 11 & 1)) -eq 0 ]] || return 0
		sleep 0.05
	done
	return 1
}

@test "a signal makes an idle process write a snapshot, as often as it comes" {
	behind SEEP_SIGNAL=USR2 sleep 30
	ready
	kill -USR2 "$HOST"
	arrive 1
	kill -USR2 "$HOST"
	arrive 2
	kill -0 "$HOST" # it sleeps on
	report "$(snapshots | head -1)"
	[[ $(from_report 'p[0]["pid"]') -eq $HOST ]]
	[[ $(from_report 'p[0]["snapshot_info"]["reason"]') == signal ]]
	[[ $(from_report 'p[0]["snapshot_signal"]') == "{'number': 12, 'state': 'installed'}" ]]
}

@test "by name, by number, real-time" {
	local name number
	while read -r name number; do
		behind SEEP_SIGNAL="$name" sleep 30
		for _ in $(seq 100); do
			[[ -z $(find "$DIR" -name "sleep-$HOST-*.seg") ]] || break
			sleep 0.05
		done
		sleep 0.1
		kill "-$number" "$HOST"
		arrive 1
		kill -KILL "$HOST"
		rm -f "$DIR"/*
	done <<-'END'
		SIGHUP 1
		10 10
		RTMIN+3 37
		RTMAX-1 63
	END
}

@test "signals that a program needs are refused, and the report says so" {
	local name
	for name in KILL SIGSEGV TERM CHLD 32 99 USR3; do
		SEEP_SIGNAL=$name traced_well "$HOSTS/family"
		report
		echo "$name: $(from_report 'p[0]["snapshot_signal"]')"
		[[ $(from_report 'p[0]["snapshot_signal"]["state"]') == unfit ]]
		[[ $(from_report 'p[0]["lost"]["signal_refused"]') -eq 1 ]]
		rm -f "$DIR"/*
	done
}

@test "a signal that is ignored stays ignored" {
	(trap '' USR2 && SEEP_SIGNAL=USR2 traced_well "$HOSTS/family")
	report
	[[ $(from_report 'p[0]["snapshot_signal"]["state"]') == taken ]]
	[[ $(from_report 'p[0]["lost"]["signal_refused"]') -eq 1 ]]
}

@test "a program that installs its own handler has the signal" {
	SEEP_SIGNAL=USR2 traced_well "$PYTHON" -c '
import os, signal
signal.signal(signal.SIGUSR2, lambda *a: print("mine"))
os.kill(os.getpid(), signal.SIGUSR2)'
	[[ $(cat "$T/out") == mine ]]
	[[ $(count) -eq 0 ]]
}

@test "a forked child has the handler too, a program it becomes gets its own" {
	behind SEEP_SIGNAL=USR2 "$HOSTS/waiting_child"
	for _ in $(seq 100); do
		! grep -q CHILD "$T/out" || break
		sleep 0.05
	done
	local child
	child=$(sed -n 's/^CHILD //p' "$T/out")
	[[ -n $child ]]
	PIDS+=("$child")
	kill -USR2 "$child"
	arrive 1
	[[ $(snapshots) == *-"$child"-* ]]
	report "$(snapshots)"
	[[ $(from_report 'p[0]["ppid"]') -eq $HOST ]]
	[[ $(from_report 'p[0]["totals"]["allocations"]') -eq 3 ]]
	rm -f "$DIR"/*.seep-snap
	kill -USR1 "$child" # execs sleep
	for _ in $(seq 100); do
		[[ $(cat "/proc/$child/comm") != sleep ]] || break
		sleep 0.05
	done
	HOST=$child ready
	kill -USR2 "$child"
	arrive 1
	report "$(snapshots)"
	[[ $(from_report 'p[0]["exe"]') == */sleep ]]
}

# sound FILE...: live figures add up and are not negative
sound() {
	local file
	for file; do
		report "$file" || return
		[[ $(from_report 'all(s["allocations"] - s["frees"] == s["live_blocks"] >= 0 and s["allocated_bytes"] - s["freed_bytes"] == s["live_bytes"] for s in p[0]["sites"])') == True ]] || {
			echo "$file"
			return 1
		}
	done
}

@test "a thousand signals while eight threads allocate: exact" {
	SEEP_SIGNAL=USR2 SEEP_SNAPSHOTS=100000 traced_well "$HOSTS/storm" signal 1000
	equals_ledger
	local n
	[[ $(from_report 'len(p)') -eq 1 ]]
	n=$(from_report 'p[0]["counts"]["snapshots"]')
	echo "$n snapshots"
	[[ $n -ge 20 && $n -eq $(count) && $n -eq $(from_report 'len(d["snapshots"])') ]]
	[[ $(find "$DIR" -type f | wc -l) -eq $((n + 2)) ]]
	# shellcheck disable=SC2046
	sound $(snapshots | awk 'NR % 50 == 0')
}

@test "three threads that call at once while eight allocate: exact, all sound" {
	SEEP_SNAPSHOTS=100000 traced_well "$HOSTS/storm" call 600
	equals_ledger
	[[ $(count) -eq 600 ]]
	# shellcheck disable=SC2046
	sound $(snapshots | awk 'NR % 40 == 0')
}

@test "growth: a snapshot for every so many bytes" {
	SEEP_EVERY=1MiB traced_well "$HOSTS/grows" 10500 0
	echo "$(count)"
	[[ $(count) -eq 10 ]] || [[ $(count) -eq 9 ]]
	report "$(snapshots | head -1)"
	[[ $(from_report 'p[0]["snapshot_info"]["reason"]') == growth ]]
	[[ $(from_report '1 << 20 <= p[0]["totals"]["live_bytes"] < (1 << 20) + (70 << 10)') == True ]]
}

@test "time: at most one in each period, none while idle" {
	SEEP_EVERY=200ms traced_well "$HOSTS/grows" 2000 1100
	echo "$(count)"
	[[ $(count) -ge 3 && $(count) -le 6 ]]
	report "$(snapshots | head -1)"
	[[ $(from_report 'p[0]["snapshot_info"]["reason"]') == period ]]
	rm -f "$DIR"/*
	SEEP_EVERY=100ms traced_well sleep 0.6
	[[ $(count) -le 1 ]] # what it frees at its end is an event
}

@test "both at once, and the limit" {
	SEEP_EVERY=100ms,1MiB SEEP_SNAPSHOTS=5 traced_well "$HOSTS/grows" 10500 1000
	[[ $(count) -le 5 && $(count) -ge 3 ]]
	report "$(find "$DIR" -name '*.seg')"
	[[ $(from_report 'p[0]["lost"]["snapshots_thinned"]') -ge 3 ]]
	[[ $(from_report 'p[0]["counts"]["snapshots"] - p[0]["lost"]["snapshots_thinned"]') -eq $(count) ]]
}

@test "values that make no sense are counted, the host runs" {
	SEEP_EVERY=60 SEEP_SNAPSHOTS=many traced_well "$HOSTS/grows" 2000 0
	[[ $(count) -eq 0 ]]
	report
	[[ $(from_report 'p[0]["lost"]["settings_ignored"]') -eq 2 ]]
}

@test "limits on files and descriptors: an error each, no signal, nothing left" {
	bare "$HOSTS/snapshot_errors"
	traced_well "$HOSTS/snapshot_errors"
	same_as_bare
	report "$(find "$DIR" -name '*.seg')"
	[[ $(from_report 'p[0]["lost"]["snapshots_failed"]') -eq 2 ]]
	[[ $(count) -eq 1 ]]
	[[ $(find "$DIR" -type f | wc -l) -eq 3 ]]
}

@test "a thread closes all descriptors meanwhile: snapshots that fail leave nothing" {
	(cd "$T" && SEEP_SNAPSHOTS=20 SEEP_DIR=$DIR LD_PRELOAD=$COLLECTOR "$HOSTS/descriptors_are_swept_during_snapshots")
	report "$(find "$DIR" -name '*.seg')"
	[[ $(from_report 'p[0]["lost"]["snapshots_failed"]') -gt 10 ]]
	[[ -z $(find "$DIR" -name '.*') ]]
}

@test "a sandbox that forbids renameat2: snapshots get their names by a link" {
	need strace
	bare "$HOSTS/many_snapshots" 2
	LD_PRELOAD="" strace -f -o "$T/calls" -e trace=renameat2 -e inject=renameat2:error=EPERM \
		-E "LD_PRELOAD=$COLLECTOR" -E "SEEP_DIR=$DIR" "$HOSTS/many_snapshots" 2 >"$T/out"
	grep -q INJECTED "$T/calls"
	[[ $(count) -eq 2 && -z $(find "$DIR" -name '.*') ]]
}

@test "what a killed process leaves half written: ls --prune removes it after a minute" {
	mkdir -m 700 "$T/elsewhere"
	touch -d '-2 minutes' "$DIR/.a-1-0badcafe-1.seep-snap.tmp" "$T/elsewhere/.a-1-0badcafe-1.seep-snap.tmp"
	touch "$DIR/.a-1-0badcafe-2.seep-snap.tmp"
	SEEP_DIR=$DIR "$SEEP" ls --prune >"$T/ls"
	[[ $(ls -A "$DIR") == .a-1-0badcafe-2.seep-snap.tmp ]]
	"$SEEP" ls --prune "$T/elsewhere" >"$T/ls"
	[[ -z $(ls -A "$T/elsewhere") ]]
}

@test "a full file system, a read-only one, one that is gone: errors, no harm" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	mkdir -m 700 "$T/small" "$T/fixed"
	unshare -m bash -c "
		mount -t tmpfs -o size=100k,mode=0700 tmpfs '$T/small'
		head -c 90000 /dev/zero >'$T/small/full'
		mount -t tmpfs -o ro,mode=0700 tmpfs '$T/fixed'
		export LD_PRELOAD='$COLLECTOR' SEEP_DIR='$DIR'
		SEEP_SNAPSHOT_DIR='$T/small' '$HOSTS/snapshot_errors' last >'$T/out.small'
		SEEP_SNAPSHOT_DIR='$T/fixed' '$HOSTS/snapshot_errors' last >'$T/out.fixed'
		SEEP_SNAPSHOT_DIR='$T/gone/deep' '$HOSTS/snapshot_errors' last >'$T/out.gone'
		unset LD_PRELOAD
		ls -A '$T/small'" || skip "no mount namespace here"
	head -1 "$T"/out.*
	grep -qx 'LAST -28' "$T/out.small"
	grep -qx 'LAST -30' "$T/out.fixed"
	grep -qx 'LAST -2' "$T/out.gone"
	report
	[[ $(from_report '[x["lost"]["snapshots_failed"] for x in p]') == '[1, 1, 1]' ]]
	[[ $(from_report 'sorted(x["snapshot_error"] for x in p)') == '[2, 28, 30]' ]]
}

@test "a directory for snapshots that others may write: none, and the report says why" {
	mkdir "$T/unfit"
	chmod 777 "$T/unfit"
	SEEP_SNAPSHOT_DIR=$T/unfit traced_well "$HOSTS/many_snapshots" 2
	[[ $(grep -c 'NUMBER -1$' "$T/out") -eq 2 && -z $(ls -A "$T/unfit") ]]
	"$SEEP" report "$DIR" >"$T/shown"
	grep -q '2 snapshots that could not be written (the last: Operation not permitted)' "$T/shown"
}

@test "kill -9 at any moment leaves only complete snapshots" {
	local i
	for i in 1 2 3 4 5; do
		behind SEEP_SNAPSHOTS=100000 "$HOSTS/storm" call 1000000
		arrive 5
		sleep "0.0$((i * 7 % 10))"
		kill -KILL "$HOST"
		wait "$HOST" || true
		# shellcheck disable=SC2046
		sound $(snapshots | tail -3)
		find "$DIR" -name '.*.tmp' | tee -a "$T/hidden"
		rm -f "$DIR"/* "$DIR"/.*.tmp
	done
}

@test "marks, pools and pauses need no system call but malloc's own" {
	traced "$HOSTS/sandboxed_api"
	! grep -q 'BROKEN seccomp' "$T/out" || skip "no seccomp here"
	[[ $status -eq 0 ]]
	report
	"$PYTHON" "$LIB/compare.py" "$T/out" "$T/report.json" --no-clean
	[[ $(from_report 'p[0]["counts"]["paused_events"]') -eq 5000 ]]
	[[ $(from_report 'len(p[0]["marks"])') -eq 1024 ]]
	[[ $(from_report 'p[0]["lost"]["marks"]') -eq $((5000 - 1024)) ]]
}
