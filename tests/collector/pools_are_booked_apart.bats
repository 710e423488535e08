#!/usr/bin/env bats
# pools_are_booked_apart - resources reported with seep_alloc() are recorded exactly, by stack and pool, and are not part of the heap.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

pool() { # NAME KEY [NUMBER OF PROCESS]
	from_report "sum(x['$2'] for x in p[${3:-0}]['pools'] if x['name'] == '$1')"
}

@test "threads, handlers, moved and freed at once: figures to the byte" {
	bare "$HOSTS/pools"
	traced_well "$HOSTS/pools"
	same_as_bare
	equals_ledger
	[[ $(pool buffers allocations) -eq 16000 ]]
	[[ $(pool handles live_blocks) -eq 0 ]]
	[[ $(pool arena live_bytes) -eq 5 ]]
	[[ $(pool arena frees) -eq 20000 ]]
	[[ $(pool inherited live_bytes) -eq 30 ]]
	[[ $(from_report 'p[0]["counts"]["user_unknown_frees"]') -eq 1 ]]
	[[ $(from_report 'p[0]["counts"]["user_missed_frees"]') -eq 0 ]]
	[[ $(from_report 'p[0]["lost"]["user_events"]') -eq 0 ]]
}

@test "each site of a pool says so, and has the caller's stack" {
	traced_well "$HOSTS/pools"
	report
	[[ $(from_report '{s["pool"] for s in p[0]["sites"] if s["frames"][0]["function"] == "take_buffer"}') == "{'buffers'}" ]]
	[[ $(from_report '{(s["kind"], s["pool"]) for s in p[0]["sites"] if s["frames"][0]["function"] == "heap"}') == "{('heap', None)}" ]]
	[[ $(from_report '{s["frames"][1]["function"] for s in p[0]["sites"] if s["pool"] == "handles"}') == "{'work'}" ]]
}

@test "a child's frees of inherited resources are counted, and its own are recorded" {
	traced_well "$HOSTS/pools"
	report
	[[ $(from_report 'len(p)') -eq 2 ]]
	[[ $(pool handles live_blocks 1) -eq 100 ]]
	[[ $(from_report 'p[1]["counts"]["user_inherited_frees"]') -eq 10 ]]
	[[ $(from_report 'p[1]["totals"]["inherited_frees"]') -lt 10 ]]
	[[ $(pool inherited live_blocks) -eq 10 ]]
}

@test "sampling the heap leaves pools exact" {
	SEEP_SAMPLE=100000 traced_well "$HOSTS/pools"
	report
	[[ $(pool buffers allocations) -eq 16000 ]]
	[[ $(pool arena frees) -eq 20000 ]]
	[[ $(pool arena live_bytes) -eq 5 ]]
}

@test "the recording has them, its time line leaves them out of the totals" {
	(cd "$T" && SEEP_DIR=$DIR "$SEEP" record -q "$HOSTS/pools" stay >out 2>err)
	report "$T/seep.data"
	[[ $(pool buffers allocations) -eq 16000 ]]
	[[ $(from_report 'p[0]["timeline"]["allocations"][-1]') -eq \
		$(from_report 'p[0]["totals"]["allocations"]') ]]
}

@test "the stacks are those of the unwinder" {
	COLLECTOR=$BUILD/libseep-verify.so SEEP_VERIFY_OUT=$T/verify \
		traced "$HOSTS/pools"
	cat "$T/verify"
	[[ $(grep -c 'checked=[1-9]' "$T/verify") -ge 1 ]]
	[[ $(grep -vc 'mismatches=0 ' <(grep checked "$T/verify")) -eq 0 ]]
}
