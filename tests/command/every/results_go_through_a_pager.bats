#!/usr/bin/env bats
# results_go_through_a_pager - reports use a pager as git does: when, which, and how it ends.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/host.bash
load ../../lib/terminal.bash
export SEEP_PAGERSECURE=0 # as root, too

setup_file() {
	export R=$BATS_FILE_TMPDIR/r.data
	"${SEEP_BUILD:-build}/seep" record -q -o "$R" sh -c \
		'for i in 1 2 3 4 5 6 7 8; do ls / >/dev/null; done'
}

@test "SEEP_PAGER comes before PAGER" {
	on_terminal SEEP_PAGER='sed s/^/seep:/' PAGER='sed s/^/any:/' report "$R"
	[[ $got -eq 0 ]]
	grep -q '^seep:' "$T/screen"
	on_terminal PAGER='sed s/^/any:/' report "$R"
	grep -q '^any:' "$T/screen"
}

@test "less by default, with FRX unless LESS is set" {
	local bin=$T/bin
	mkdir "$bin"
	printf '#!/bin/sh\necho "LESS is $LESS"; cat >/dev/null\n' >"$bin/less"
	chmod +x "$bin/less"
	on_terminal PATH="$bin:$PATH" report "$R"
	[[ $(cat "$T/screen") == "LESS is FRX" ]]
	on_terminal PATH="$bin:$PATH" LESS=M report "$R"
	[[ $(cat "$T/screen") == "LESS is M" ]]
}

@test "no pager is used if none is wanted or available" {
	local -a way
	# lines are broken for a terminal; this one is wide enough for all
	export COLUMNS=10000
	"$SEEP" report "$R" >"$T/plain"
	for way in "SEEP_PAGER= PAGER=false" "SEEP_PAGER=cat PAGER=false" \
		"TERM=dumb PAGER=false"; do
		# shellcheck disable=SC2086 # several words
		on_terminal $way COLUMNS=10000 report "$R" --color never
		[[ $got -eq 0 ]]
		diff "$T/plain" "$T/screen"
	done
	on_terminal PAGER=false COLUMNS=10000 report "$R" --no-pager --color never
	diff "$T/plain" "$T/screen"
	PAGER=false "$SEEP" report "$R" >"$T/piped"
	diff "$T/plain" "$T/piped"
	on_terminal PATH="$T/nowhere" COLUMNS=10000 report "$R" --color never
	diff "$T/plain" "$T/screen"
}

@test "if the pager cannot be run, a message says so and the report is shown" {
	on_terminal PAGER=no-such-pager report "$R"
	[[ $got -eq 0 ]]
	[[ $(head -n 1 "$T/screen") == "seep: the pager \"no-such-pager\" cannot be run: "* ]]
	[[ $(wc -l <"$T/screen") -gt 3 ]]
	on_terminal PAGER='no-such-pager | cat -u' report "$R"
	[[ $got -eq 0 ]] # the shell's cat has read it all
	on_terminal PAGER='no-such-pager --at-all' report "$R"
	[[ $got -eq 3 ]]
	grep -q '^seep: the pager cannot be run: set SEEP_PAGER' "$T/screen"
}

@test "quitting the pager is silent and no failure" {
	on_terminal PAGER='head -n 2' report "$R" --format json --threshold 0
	[[ $got -eq 0 && $(wc -l <"$T/screen") -le 2 ]]
	need less
	on_terminal -k '=q' report "$R" --format json
	[[ $got -eq 0 ]]
	[[ $(grep -c "seep: " "$T/screen") -eq 0 ]]
}

@test "the status of a damaged recording survives the pager" {
	head -c $(($(stat -c %s "$R") * 2 / 3)) "$R" >"$T/cut"
	"$SEEP" report "$T/cut" >"$T/plain" 2>/dev/null || got=$?
	[[ $got -eq 3 && -s $T/plain ]]
	on_terminal PAGER='cat -u' report "$T/cut"
	[[ $got -eq 3 ]]
	on_terminal PAGER='head -n 1' report "$T/cut" --format json
	[[ $got -eq 3 ]]
}

@test "the command waits for its pager" {
	on_terminal PAGER='cat >/dev/null; sleep 0.3; echo last' report "$R"
	[[ $got -eq 0 && $(cat "$T/screen") == last ]]
}

@test "an interrupt goes to the pager when all output is written" {
	on_terminal -k 'ready=\x03' \
		PAGER='trap "echo caught; exit" INT; cat >/dev/null; echo ready; sleep 5 & wait' \
		report "$R"
	grep -q caught "$T/screen"
	[[ $got -eq 0 ]]
}

@test "an interrupt while writing ends the command after its pager" {
	"$SEEP" report "$R" --format json >"$T/plain"
	[[ $(stat -c %s "$T/plain") -gt 65536 ]] # more than a pipe holds
	on_terminal -k 'ready=\x03' \
		PAGER='trap "sleep 0.2; echo caught; exit" INT; echo ready; sleep 5 & wait' \
		report "$R" --format json
	grep -q caught "$T/screen"
	[[ $got -eq 130 ]]
}

@test "an error message instead of a report uses no pager" {
	on_terminal PAGER='sed s/^/page:/' report "$R" --site 99999999
	[[ $got -eq 3 && $(cat "$T/screen") == "seep: report: "* ]]
}

@test "messages after the pager has started go to the pager" {
	on_terminal PAGER='sed s/^/page:/' report "$R" --include no-such-function
	grep -q '^page:' "$T/screen"
}

@test "colour is used on terminals only, and as --color says" {
	local esc=$'\033['
	on_terminal PAGER= report "$R"
	grep -qF "$esc" "$T/screen"
	on_terminal PAGER= NO_COLOR=1 report "$R"
	[[ $(grep -cF "$esc" "$T/screen") -eq 0 ]]
	on_terminal PAGER= NO_COLOR= report "$R"
	grep -qF "$esc" "$T/screen"
	on_terminal PAGER= TERM=dumb report "$R"
	[[ $(grep -cF "$esc" "$T/screen") -eq 0 ]]
	on_terminal PAGER= NO_COLOR=1 report "$R" --color=always
	grep -qF "$esc" "$T/screen"
	"$SEEP" report "$R" --color always | grep -qF "$esc"
	[[ $(CLICOLOR_FORCE=1 "$SEEP" report "$R") != *"$esc"* ]]
	complains 2 "$SEEP" report "$R" --color sometimes
}
