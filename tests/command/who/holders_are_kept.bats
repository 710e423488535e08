#!/usr/bin/env bats
# holders_are_kept.bats - record --retained and --types keep who held what of a process that has ended.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/verdicts.bash

# kept ARG...: records held_at_exit; while it runs, answers about it in $T/live.*
kept() {
	mkfifo "$T/lines"
	(cd "$T" && SEEP_DIR=$DIR exec "$SEEP" record -q --force "$@" "$HOSTS/held_at_exit" <"$T/lines") \
		>"$T/out" 2>"$T/err" 3>&- &
	recorder=$!
	PIDS+=("$recorder")
	exec 9>"$T/lines"
	answered ready
	HOST=$(awk '/^ready/ { print $2 }' "$T/out")
	"$SEEP" leaks --retained --format json "$HOST" >"$T/live.held"
	"$SEEP" leaks --types --format json "$HOST" >"$T/live.types"
	exec 9>&-
	wait "$recorder"
	cat "$T/err"
}

@test "text, JSON and page of a recording have the numbers that a look at the running process has" {
	kept --retained --types
	local ids
	cd "$T"
	"$SEEP" leaks --retained --top 0 >text
	"$SEEP" leaks --retained --format json >held
	"$SEEP" leaks --types --top 0 >types.text
	"$SEEP" leaks --types --format json >types
	"$SEEP" report --format json >report
	"$SEEP" report --format html -o page.html
	"$PYTHON" "$LIB/page.py" head page.html '__import__("json").dumps(head)' >page.head
	"$PYTHON" "$LIB/held_kept.py" "$T"
	ids=$(jq '.processes[0].sites[] | select(.function | test("^fill")) | select(.live_bytes == 5600) | .id' held)
	"$SEEP" leaks --held "$ids" >one
	cat one
	tr -s ' \n' ' ' <one >line
	grep -q '^HELD 1 block 5.5 KiB at fill[^ ]* (site [0-9]*), which retains 1,401 blocks' line
	grep -q 'held by global `registry`+0x18 -> a block of fill' line
	grep -q 'as it was at its exit\.' line
}

@test "only what was asked for is kept, and what is not there is named" {
	kept --types
	cd "$T"
	run "$SEEP" leaks --retained
	[[ $status -eq 3 && $output == *"seep record --retained CMD"* ]]
	run "$SEEP" leaks --held 1
	[[ $status -eq 3 && $output == *"no stored holders"* ]]
	run "$SEEP" leaks --insight
	[[ $status -eq 3 && $output == *"give its PID"* ]]
	"$SEEP" leaks --types >types
	grep -Eq '^ +700 +32.8 KiB  vtable      app::session$' types
	[[ $("$SEEP" report --format json | jq '[.processes[].sites[] | has("held_by")] | any') == false ]]
}

@test "a damaged inventory is left out, and its names come out inert" {
	local tool=${SEEP_BUILD:-$BATS_TEST_DIRNAME/../../../build}/tools/add_verdicts
	local golden=$BATS_TEST_DIRNAME/../../golden/inputs/old.seep bytes=$BATS_TEST_DIRNAME/../../fuzz/seeds/fuzz_inventory/two_sites
	cd "$T"
	printf 'process #1 looks=1\ninventory %s\n' "$bytes" | "$tool" "$golden" whole
	"$SEEP" leaks --retained whole >text
	grep -q '^RETAINED 9 blocks 2.0 KiB: global `list`$' text
	# a later one that is cut off leaves the earlier one
	head -c 200 "$bytes" >short
	printf 'process #1 looks=1\ninventory %s\ninventory short\n' "$bytes" | "$tool" "$golden" both
	"$SEEP" leaks --retained both >again
	cmp text again
	printf 'process #1 looks=1\ninventory short\n' | "$tool" "$golden" none
	run "$SEEP" leaks --retained none
	[[ $status -eq 3 && $output == *"no stored holders"* ]]
	# of one length, so that all offsets stay
	sed 's/global `list`/global `\x1b[1m`/g; s/app::x/a\x1b<b>x/' "$bytes" >odd
	[[ $(stat -c %s odd) -eq $(stat -c %s "$bytes") ]]
	printf 'process #1 looks=1\ninventory odd\n' | "$tool" "$golden" hostile
	for how in --retained --types "--held 3"; do
		# shellcheck disable=SC2086 # an option and its argument
		"$SEEP" leaks $how hostile >text
		lacks $'\x1b' text
	done
	"$SEEP" report --format html -o page.html hostile
	"$PYTHON" "$LIB/page.py" head page.html '__import__("json").dumps(head)' >head.json
	jq -e '.held.retained[0].way and .census.types[0].type' head.json
}
