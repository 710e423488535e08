#!/usr/bin/env bats
# check_goes_by_verdicts - of a recording with an exit look, LEAK is what fails.
# SPDX-License-Identifier: Apache-2.0
#
# The verdicts are made up, by build/tools/add_verdicts: this is about what check
# makes of them.
load ../../lib/leaks.bash

TOOL=${SEEP_BUILD:-$repo/build}/tools/add_verdicts

# site FUNCTION [PROCESS]: id of the site of app that it heads, in $T/data
site() {
	(cd "$T" && "$SEEP" report data --format json --no-cache) |
		jq --arg f "$1" --argjson p "${2:-0}" \
			'[.processes[$p].sites[] | select(.frames[0].function == $f or .frames[1].function == $f)][0].id'
}

# judged LINE...: $T/judged from $T/data, with these verdicts
judged() { printf '%s\n' "$@" | "$TOOL" "$T/data" "$T/judged"; }

AT_EXIT="looks=1 at_exit=1 blocks=9 bytes=999"

begin() {
	leaky app
	run_leaky app add copy keep
}

@test "what is live but held passes; what nothing points to fails" {
	begin
	judged "process #1 $AT_EXIT"
	check judged
	[[ $status -eq 0 ]]
	grep -q '^PASS: Nothing leaks' "$T/said"
	check judged --any-live
	[[ $status -eq 1 ]]
	grep -q '^FAIL: 1.1 KiB in 3 blocks were not freed, by 3 sites' "$T/said"
	judged "process #1 $AT_EXIT" "site $(site add) class=1 direct_blocks=1 direct_bytes=100" \
		"site $(site copy) class=2 notes=4 direct_blocks=1 direct_bytes=10"
	check judged
	[[ $status -eq 1 ]]
	grep -q '^FAIL: 100 bytes in 1 block was lost, by 1 site' "$T/said"
	grep -q '^100 bytes in 1 block, nothing points to them; malloc by add < handle < main' "$T/said"
	lacks 'Without a baseline' "$T/said"
	# limits stay what they were, and --max-leaked is of what is lost
	check judged --max-leaked 100
	[[ $status -eq 0 ]]
	check judged --max-live 200
	[[ $status -eq 1 ]]
}

@test "a look that was not at the exit of the command is no reason to pass" {
	begin
	judged "process #1 looks=3 blocks=9 bytes=999"
	check judged
	[[ $status -eq 1 ]]
	grep -q 'were not freed, by 3 sites' "$T/said"
	judged "process #1 reason=2"
	check judged
	[[ $status -eq 1 ]]
	check judged --fail-on possible
	[[ $status -eq 3 ]]
	grep -q 'seep record --leaks' "$T/err"
}

@test "--fail-on possible, and mistakes" {
	begin
	judged "process #1 $AT_EXIT" "site $(site copy) class=2 notes=4 direct_blocks=1 direct_bytes=10"
	check judged
	[[ $status -eq 0 ]]
	check judged --fail-on possible --format json -o out.json
	[[ $status -eq 1 ]]
	grep -q '^10 bytes in 1 block, nothing certain points to them' "$T/said"
	jq -e '.findings[0] | .rule == "possible-leak" and .leaked_bytes == 10 and .verdict.class == "possible" and .verdict.notes == ["past_end"]' "$T/out.json"
	check judged --fail-on something
	[[ $status -eq 2 && $(wc -l <"$T/err") -eq 1 ]]
	check judged --any-live --fail-on possible
	[[ $status -eq 2 && $(wc -l <"$T/err") -eq 1 ]]
}

@test "suppressions and baselines hold" {
	local lost
	begin
	lost="site $(site add) class=1 direct_blocks=1 direct_bytes=100"
	judged "process #1 $AT_EXIT" "$lost"
	echo 'leak:^add$' >"$T/known"
	check judged --suppress known
	[[ $status -eq 0 ]]
	check judged --write-baseline base
	[[ $status -eq 0 && $(grep -vc '^#' "$T/base") -eq 2 ]]
	check judged --baseline base
	[[ $status -eq 0 ]]
	judged "process #1 $AT_EXIT" "$lost" "site $(site copy) class=1 direct_blocks=1 direct_bytes=10"
	check judged --baseline base
	[[ $status -eq 1 ]]
	grep -q '^10 bytes in 1 block, not in the baseline\|^10 bytes in 1 block, nothing points to them, not in the baseline' "$T/said"
	# one of all that is live knows more than is lost
	check judged --any-live --write-baseline all
	check judged --baseline all
	[[ $status -eq 0 ]]
}

# a tree: sh, app with a child that ends by _exit, app
tree() {
	cat >"$T/two.c" <<-'END'
		#include <stdlib.h>
		#include <unistd.h>
		#include <sys/wait.h>
		void *volatile last, *volatile held;
		__attribute__((noinline)) void before(void) { held = malloc(70); }
		__attribute__((noinline)) void after(void) { last = malloc(7); }
		int main(void)
		{
			before();
			if (fork() == 0) {
				for (int i = 0; i < 100; i++) { last = malloc(1); free(last); }
				after();
				_exit(0);
			}
			wait(0);
			return 0;
		}
	END
	gcc -g -O1 -o "$T/two" "$T/two.c"
	record -q --force -o data ./two
	(cd "$T" && "$SEEP" report data --format json >all.json)
	parent=$(jq '.processes[] | select(.parent == null).pid' "$T/all.json")
	child=$(jq '.processes[] | select(.parent != null).pid' "$T/all.json")
}

# lost_before: the site of before(), in the parent
lost_before() {
	jq '.processes[] | select(.parent == null).sites[] | select(.frames[0].function == "before").id' "$T/all.json"
}

@test "who could not be looked at is named, in every form; --fail-on unjudged" {
	tree
	judged "process $parent $AT_EXIT" "process $child reason=1"
	check judged --format json -o out.json
	[[ $status -eq 0 ]]
	grep -q '^PASS' "$T/said"
	grep -q '(not judged)$' "$T/said"
	grep -q 'Note: not judged: two (pid [0-9]*): it ended, or became another program, before a look' "$T/said"
	jq -e '.judged_by == "verdicts" and .unjudged == 1 and
		([.processes[].leaks | [.judged, .reason]] | sort == [[false, "ended"], [true, null]])' "$T/out.json"
	check judged --format junit -o out.xml
	[[ $("$PYTHON" "$LIB/junit.py" "$T/out.xml") == "2 0 0" ]]
	grep -q '<skipped message="it ended, or became' "$T/out.xml"
	check judged --format sarif -o out.sarif
	"$PYTHON" "$LIB/sarif.py" "$T/out.sarif"
	jq -e '.runs[0] | .results == [] and any(.invocations[0].toolExecutionNotifications[]; .message.text | contains("not judged"))' "$T/out.sarif"

	check judged --fail-on unjudged --format junit -o out.xml
	[[ $status -eq 1 ]]
	grep -q '^FAIL: 1 process not judged' "$T/said"
	[[ $("$PYTHON" "$LIB/junit.py" "$T/out.xml") == "2 1 0" ]]
	check judged --fail-on unjudged --format sarif -o out.sarif
	"$PYTHON" "$LIB/sarif.py" "$T/out.sarif"
	jq -e '[.runs[0].results[].ruleId] == ["unjudged"]' "$T/out.sarif"
}

@test "inherited blocks that a child lost are reported once" {
	tree
	local row
	row="site $(lost_before) class=1 direct_blocks=1 direct_bytes=70"
	judged "process $parent $AT_EXIT" "process $child $AT_EXIT" "$row"
	check judged --format json -o out.json
	[[ $status -eq 1 ]]
	grep -q '^70 bytes in 1 block, nothing points to them; malloc by before < main, in two' "$T/said"
	jq -e --argjson child "$child" '[.findings[].pid] == [$child]' "$T/out.json"
	jq -e --argjson child "$child" '.processes[] | select(.pid == $child) |
		.leaked_bytes == 70 and (.leaks.inherited | length == 1)' "$T/out.json"
	# the report and seep leaks have its stack, too
	(cd "$T" && "$SEEP" report judged >out)
	grep -q 'before two.c:[0-9]* <- main' "$T/out"
	# the parent lost it itself: its matter
	judged "process $parent $AT_EXIT" "$row" "process $child $AT_EXIT" "$row"
	check judged --format json -o out.json
	jq -e --argjson parent "$parent" '[.findings[].pid] == [$parent]' "$T/out.json"
}

@test "blocks of a parent count once where looks do not decide" {
	tree
	local row
	row="site $(lost_before) class=1 direct_blocks=1 direct_bytes=70"
	# the parent was killed: the child's look says nothing of what is live
	judged "process $parent reason=1" "process $child $AT_EXIT" "$row"
	check judged --format json -o out.json
	[[ $status -eq 1 ]]
	grep -q '^FAIL: 77 bytes in 2 blocks were not freed, by 2 sites' "$T/said"
	grep -q 'Note: two (pid .*) had no look at its exit: every block that is live at the end counts' "$T/said"
	jq -e '.leaked.bytes == 77 and ([.processes[] | .leaked_bytes == .live_bytes] | all)' "$T/out.json"
	judged "process $parent $AT_EXIT" "process $child $AT_EXIT" "$row"
	check judged --any-live
	grep -q '^FAIL: 77 bytes in 2 blocks were not freed, by 2 sites' "$T/said"
	lacks 'had no look' "$T/said"
}

@test "JSON, JUnit and SARIF have what is lost" {
	begin
	judged "process #1 $AT_EXIT" "site $(site add) class=1 direct_blocks=1 direct_bytes=100"
	check judged --format json -o out.json
	jq -e '.leaked.bytes == 100 and .findings[0].verdict.class == "leak" and .findings[0].rule == "leak"' "$T/out.json"
	check judged --format junit -o out.xml
	[[ $("$PYTHON" "$LIB/junit.py" "$T/out.xml") == "2 1 0" ]]
	check judged --format sarif -o out.sarif
	"$PYTHON" "$LIB/sarif.py" "$T/out.sarif"
	jq -e '.runs[0].results[0].properties.leakedBytes == 100' "$T/out.sarif"
}
