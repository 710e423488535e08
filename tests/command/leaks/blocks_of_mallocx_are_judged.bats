#!/usr/bin/env bats
# blocks_of_mallocx_are_judged - what jemalloc's own functions give out is lost or held like any block, and holds others.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/verdicts.bash

@test "lost blocks of mallocx are leaks, and what they hold; no others" {
	COLLECTOR="$COLLECTOR $BUILD/libseep-jemalloc.so" begin known_answer_mallocx
	judged --wait 200ms
	grep -q '"api":"mallocx"' "$T/leaks"
	end_host
}

@test "while the holder moves with rallocx and xallocx without pause, nothing that it holds is a leak" {
	COLLECTOR="$COLLECTOR $BUILD/libseep-jemalloc.so" begin known_answer_mallocx moves
	judged --wait 200ms
	end_host
}

# blocks of malloc that only blocks of mallocx hold seem lost there: bind9 had nine such LEAKs
@test "without the library nothing is a leak that a block of mallocx holds" {
	begin known_answer_mallocx
	leaks --format json --wait 200ms
	[[ $status -eq 0 || $status -eq 1 ]]
	cat "$T/leaks"
	! grep -q k_held_by_mallocx "$T/leaks"
}

@test "seep record finds by itself that its command needs the library" {
	cd "$T"
	"$SEEP" record -q --leaks -o data "$HOSTS/known_answer_mallocx" </dev/null >out
	"$SEEP" report data --format json >report.json
	grep -q '"api":"mallocx"' report.json
	grep -q '"api":"malloc"' report.json
	! grep -q '"own_names":[1-9]' report.json
}
