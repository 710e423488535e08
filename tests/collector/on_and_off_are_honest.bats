#!/usr/bin/env bats
# on_and_off_are_honest - dormant start, on, off, ls, snapshot, prune.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

step() { # ANSWER
	echo >&9
	answered "$1"
}

# after as many steps as it pleases
ends_early() {
	echo >&9
	exec 9>&-
	wait "$HOST"
	[[ ! -s $T/err ]]
}

site() { # NAME KEY
	from_report "sum(s['$2'] for s in p[0]['sites'] if any(f['function'] == '$1' for f in s['frames']))"
}

seep() { SEEP_DIR=$DIR "$SEEP" "$@"; }

@test "dormant start, then on: only later blocks, older frees are untracked" {
	waiting SEEP_MODE=dormant
	step first
	seep on "$HOST"
	sleep 0.3
	step second
	step third
	ends_early
	report
	echo "$(site alloc_first allocations) $(site alloc_second allocations)" \
		"$(site alloc_third allocations) $(from_report 'p[0]["totals"]')"
	[[ $(site alloc_first allocations) -eq 0 ]]
	[[ $(site alloc_second allocations) -eq 2000 ]]
	[[ $(site alloc_second frees) -eq 1000 ]]
	[[ $(site alloc_third live_bytes) -eq 3500 ]]
	[[ $(from_report 'p[0]["totals"]["untracked_frees"]') -eq 1000 ]]
	[[ $(from_report 'p[0]["totals"]["unknown_frees"]') -eq 0 ]]
	[[ $(from_report 'p[0]["totals"]["missed_frees"]') -eq 0 ]]
}

@test "while off, allocations are not recorded, and frees of known blocks still count" {
	waiting
	step first
	seep off "$HOST"
	sleep 0.3
	step second
	seep on "$HOST"
	sleep 0.3
	step third
	ends_early
	report
	echo "$(site alloc_first allocations) $(site alloc_second allocations)" \
		"$(site alloc_third allocations) $(from_report 'p[0]["totals"]')"
	[[ $(site alloc_first allocations) -eq 1000 ]]
	[[ $(site alloc_first live_blocks) -eq 0 ]]
	# every allocation looks at the command word
	local seen freed
	seen=$(site alloc_second allocations)
	freed=$(site alloc_second frees)
	[[ $seen -eq 0 ]]
	[[ $(site alloc_third live_bytes) -eq $((7 * $(site alloc_third allocations))) ]]
	[[ $(site alloc_third allocations) -eq 500 ]]
	[[ $(from_report 'p[0]["totals"]["untracked_frees"]') -eq $((1000 - freed)) ]]
	[[ $(from_report 'p[0]["totals"]["unknown_frees"]') -eq 0 ]]
}

@test "dormant and never on: nothing counted, the host unharmed" {
	waiting SEEP_MODE=dormant
	step first
	step second
	step third
	ends_early
	report
	[[ $(from_report 'p[0]["totals"]["allocations"]') -eq 0 ]]
	[[ $(from_report 'p[0]["totals"]["unknown_frees"]') -eq 0 ]]
}

@test "a running process can be read at any time without a cost to it" {
	waiting
	step first
	report "$HOST" || SEEP_DIR=$DIR report "$HOST"
	[[ $(from_report 'p[0]["pid"]') -eq $HOST ]]
	[[ $(from_report 'p[0]["end"]') == running ]]
	[[ $(site alloc_first live_bytes) -eq 100000 ]]
	step second
	step third
	ends_early
	equals_ledger
	[[ $(from_report 'p[0]["end"]') == exited ]]
}

@test "a snapshot keeps the figures of its moment" {
	waiting
	step first
	seep snapshot "$HOST" -o "$T/snap" --label before
	step second
	step third
	ends_early
	report "$T/snap"
	[[ $(site alloc_first live_bytes) -eq 100000 ]]
	[[ $(site alloc_second allocations) -eq 0 ]]
}

@test "ls lists running and ended processes, and --prune removes only ended ones" {
	traced_well "$HOSTS/family"
	local dead
	dead=$(sed -n 's/^PID //p' "$T/out")
	waiting
	step first
	seep ls | tee "$T/list"
	grep -q "\b$dead\b" "$T/list"
	grep -q "\b$HOST\b" "$T/list"
	seep ls --prune
	seep ls | tee "$T/list"
	[[ $(grep -c "\b$dead\b" "$T/list") -eq 0 ]]
	grep -q "\b$HOST\b" "$T/list"
	step second
	step third
	ends_early
	equals_ledger
}

@test "I20 nonsense in the command word is ignored" {
	waiting
	step first
	local ctl
	ctl=$(find "$DIR" -name '*.ctl')
	[[ -n $ctl ]]
	printf '\x99\xff\xff\x7f' | dd of="$ctl" bs=1 seek=12 conv=notrunc status=none
	sleep 0.3
	step second
	step third
	ends_early
	equals_ledger --no-clean
}
