#!/usr/bin/env bats
# children_have_their_own_pid - a forked child whose threads have lower numbers than it is listed under its pid, and is known to run.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

# wrapping [VARIABLE=VALUE...]: the host, in a pid namespace where it chooses pids
wrapping() {
	setup_namespace
	status=0
	# the number of its first process is in the thread's control block twice
	in_namespace sh -c 'echo 5000 >/proc/sys/kernel/ns_last_pid || exit 77; env "$@"; exit $?' sh \
		LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$@" "$HOSTS/forked_before_wrap" >"$T/out" 2>"$T/err" || status=$?
	[[ $status -ne 77 ]] || skip "no pid namespace here in which pids can be chosen"
	cat "$T/out" "$T/err"
	[[ $status -eq 0 ]]
	child=$(sed -n 's/^CHILD \([0-9]*\) .*/\1/p' "$T/out")
	"$SEEP" report --format json --no-suppress "$DIR" >"$T/report.json"
}

@test "the last pid before numbers begin again, and first events in a thread: a file of its own" {
	wrapping SEEP_CHILD_FILES=1
	[[ $(from_report 'sorted((x["pid"], x["totals"]["allocations"]) for x in p)[1]') == "($child, 100)" ]]
	[[ $(from_report 'len(p)') -eq 2 ]]
}

@test "the same in a slot of its parent's file" {
	wrapping SEEP_CHILD_FILES=0
	[[ $(from_report 'sorted((x["pid"], x["totals"]["allocations"]) for x in p)[1]') == "($child, 100)" ]]
}
