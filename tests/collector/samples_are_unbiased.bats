#!/usr/bin/env bats
# samples_are_unbiased - estimates from samples are compared with exact figures of the same program.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

# 30 runs are few: 88 % there is what 93 % is of 200
estimates() {
	"$PYTHON" "$LIB/samples.py" "$BUILD" "$(full_or 200 30)" "$1" \
		"$(full_or 93 88)" "${@:2}"
}

@test "the truth is inside the stated interval, small blocks and large" {
	estimates 64K "$HOSTS/peak"
}

@test "the same at 512 KiB" {
	estimates 512K "$HOSTS/peak"
}

@test "sampled: threads, forks and all functions run as they do bare" {
	export SEEP_SAMPLE=4096
	for host in family operators threads "short_threads 200" sizes; do
		# shellcheck disable=SC2086 # words
		bare "$HOSTS"/$host
		# shellcheck disable=SC2086
		traced "$HOSTS"/$host
		# shellcheck disable=SC2154 # set by bare()
		[[ $status -eq $bare_status ]]
		report
		[[ $(from_report 'p[0]["totals"]["missed_frees"]') == 0 ]]
	done
}
