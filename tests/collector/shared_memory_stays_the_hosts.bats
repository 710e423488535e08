#!/usr/bin/env bats
# shared_memory_stays_the_hosts - I9: a small or full tmpfs that the host uses as well.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

# on_tmpfs SIZE SCRIPT: in a mount namespace of its own, $DIR is that tmpfs
on_tmpfs() {
	own_mounts true 2>/dev/null || skip "no mount namespace here"
	own_mounts bash -eu -c "
		mount -t tmpfs -o size=$1,mode=0700 tmpfs '$DIR'
		export DIR='$DIR' T='$T' HOSTS='$HOSTS' SEEP='$SEEP'
		traced() { timeout 60 env LD_PRELOAD='$COLLECTOR' SEEP_DIR='$DIR' \"\$@\"; }
		$2"
}

@test "I9 64 MB of /dev/shm: the host's own 40 MB fit beside us" {
	on_tmpfs 64m '
		mkdir -m 700 "$DIR/own"
		traced "$HOSTS/many_stacks" 13 "$DIR/own/file" 40 >"$T/out"
		du -sk "$DIR" --exclude=own
		rm -r "$DIR/own"
		"$SEEP" report "$DIR" --format json >"$T/report.json"'
	"$PYTHON" "$LIB/compare.py" "$T/out" "$T/report.json" --no-clean
}

@test "I9 a tmpfs that is full from the start: the host runs" {
	on_tmpfs 2m '
		cat /dev/zero >"$DIR/fill" 2>/dev/null || true
		traced "$HOSTS/peak" >"$T/out" 2>"$T/err"'
	[[ ! -s $T/err ]]
	grep -q '^SITE TOTAL' "$T/out"
}

@test "I9 a tmpfs that fills up half way: the host runs, losses are named" {
	on_tmpfs 8m '
		mkdir -m 700 "$DIR/own"
		traced "$HOSTS/many_stacks" 15 "$DIR/own/file" 0 >"$T/out" 2>"$T/err"
		rm -r "$DIR/own"
		"$SEEP" report "$DIR" --format json >"$T/report.json"'
	[[ ! -s $T/err ]]
	# every event is there or named as lost
	local events
	events=$(from_report 'p[0]["totals"]["allocations"] + p[0]["lost"]["events"] >= 32768')
	[[ $events == True ]]
}

@test "I9 four hosts at once on 16 MB of tmpfs" {
	on_tmpfs 16m '
		pids=
		for i in 1 2 3 4; do
			traced "$HOSTS/many_stacks" 12 >"$T/out$i" 2>&1 &
			pids="$pids $!"
		done
		for pid in $pids; do wait "$pid"; done
		"$SEEP" report "$DIR" --format json >"$T/report.json"'
	[[ $(from_report 'len(p)') -eq 4 ]]
	cat "$T"/out? >"$T/out"
	"$PYTHON" "$LIB/compare.py" "$T/out" "$T/report.json" --no-clean
}

@test "T73 I9 full while the host runs, then with room again: it goes on, losses are named" {
	# shellcheck disable=SC2016 # for the inner shell
	on_tmpfs 1m '
		says() { for _ in $(seq 200); do ! grep -q "$1" "$T/out" || return 0; sleep 0.05; done; return 1; }
		mkfifo "$T/lines"
		traced "$HOSTS/toggled" <"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
		exec 7>"$T/lines"
		says ready
		cat /dev/zero >"$DIR/fill" 2>/dev/null || true
		echo >&7
		says first
		rm "$DIR/fill"
		sleep 0.5 # it is asked again in the next tick
		echo >&7
		says second
		printf "\n\n" >&7
		exec 7>&-
		wait $!
		"$SEEP" report "$DIR" --format json >"$T/report.json"'
	[[ ! -s $T/err ]]
	grep -q 'SITE alloc_third' "$T/out"
	[[ $(from_report 'p[0]["totals"]["allocations"] + p[0]["lost"]["events"] >= 3500') == True ]]
	from_report 'p[0]["live_map"], p[0]["totals"]["allocations"], {k: v for k, v in p[0]["lost"].items() if v}'
	[[ $(from_report 'p[0]["live_map"]') == agrees ]]
	# what came when there was room is exact
	[[ $(from_report 'sum(s["allocations"] for s in p[0]["sites"]
		if any(f["function"] == "alloc_third" for f in s["frames"]))') -eq 500 ]]
}
