#!/usr/bin/env bats
# pids_are_used_again - hundreds of children with the same pid, one after the other: each is recorded, exact, by record and by watch.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/watch.bash

# choosing SCRIPT [ARGUMENTS...]: in a pid namespace where pids can be chosen
choosing() {
	setup_namespace
	local status=0
	in_namespace bash -c 'echo 5000 >/proc/sys/kernel/ns_last_pid || exit 77'"; $1" choosing "${@:2}" 3>&- || status=$?
	[[ $status -ne 77 ]] || skip "no pid namespace here in which pids can be chosen"
	[[ $status -eq 0 ]]
}

# all 400 children, and 100 allocations in each
all_there() {
	[[ $(from_report 'sorted({(x["pid"], x["totals"]["allocations"]) for x in p if x["parent"]})') == "[(12345, 100)]" ]]
	[[ $(from_report 'sum(x["parent"] is not None for x in p)') -eq 400 ]]
	[[ $(from_report 'len({x["uuid"] for x in p})') -eq 401 ]]
}

@test "record: in slots and in files" {
	for files in 0 1; do
		export SEEP_CHILD_FILES=$files SEEP_DIR=$DIR
		choosing '"$@" >/dev/null' "$SEEP" record -q -o "$T/data$files" "$HOSTS/many_children" 400 200 100 48 _exit 12345
		"$SEEP" report --format json --no-suppress "$T/data$files" >"$T/report.json"
		all_there
	done
}

@test "watch: in slots and in files" {
	for files in 0 1; do
		export SEEP_CHILD_FILES=$files SEEP_DIR=$DIR
		choosing '
			"$1" watch --history "$2" "$SEEP_DIR" & watch=$!
			until [[ -s $2/.lock ]]; do sleep 0.05; done
			LD_PRELOAD=$3 "$4" 400 200 100 48 kill 12345 >/dev/null || exit 1
			for ((i = 0; i < 600; i++)); do
				[[ -n $(find "$SEEP_DIR" -name "*.seg") ]] || break
				sleep 0.1
			done
			[[ -z $(find "$SEEP_DIR" -name "*.seg") ]] || exit 1
			kill -TERM $watch
			wait $watch' "$SEEP" "$T/history$files" "$COLLECTOR" "$HOSTS/many_children"
		"$SEEP" report --format json --no-suppress "$T/history$files"/*/ >"$T/report.json"
		all_there
	done
}
