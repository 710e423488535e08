#!/usr/bin/env bats
# helpers_of_root_are_tame - root's pager gives no shell, and view starts no browser as root.
# threat: if root points seep at a process, file or directory of a hostile user, that user must not be able to make it hang, use memory without bound, read or write other files than it was told to, send a signal, or execute anything
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash
load ../lib/terminal.bash
unset SEEP_PAGERSECURE

# a less that tells its environment
fake_less() {
	mkdir "$T/bin"
	# shellcheck disable=SC2016 # for that shell
	printf '#!/bin/sh\necho "[$LESSSECURE,$LESSSECURE_ALLOW,$LESSOPEN,$LESSHISTFILE]"; cat >/dev/null\n' >"$T/bin/less"
	chmod +x "$T/bin/less"
	BIN=$T/bin:$PATH
	record -q -o r.seep sh -c 'for i in 1 2 3 4; do ls / >/dev/null; done'
}

@test "LESSSECURE is set for root, and for a user on request" {
	fake_less
	local -a asked=()
	[[ $(id -u) -eq 0 ]] || asked=(SEEP_PAGERSECURE=1)
	on_terminal "${asked[@]}" PATH="$BIN" LESSOPEN='|-touch pwned' LESSSECURE_ALLOW=shell report "$T/r.seep"
	grep -q '^\[1,,,-\]' "$T/screen" || { cat "$T/screen"; false; }
	on_terminal SEEP_PAGERSECURE=1 PATH="$BIN" SEEP_PAGER='less -R' report "$T/r.seep"
	grep -q '^\[1,,,-\]' "$T/screen"
	on_terminal SEEP_PAGERSECURE=0 PATH="$BIN" report "$T/r.seep"
	grep -q '^\[,,,\]' "$T/screen"
}

@test "as root a pager other than less is not started unless the user asks for it" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	fake_less
	local pager
	# shellcheck disable=SC2016 # for the shell that must not come
	for pager in 'sed s/^/SED:/' "less; echo SED:" 'less -R | sed s/^/SED:/' 'SED=1 less' "lessx" '$(echo SED:)' 'more'; do
		on_terminal PATH="$BIN" SEEP_PAGER="$pager" report "$T/r.seep"
		[[ $got -eq 0 ]] && grep -q allocations "$T/screen" || { cat "$T/screen"; false; }
		lacks 'SED:' "$T/screen"
	done
	on_terminal PATH="$BIN" SEEP_PAGERSECURE=1 SEEP_PAGER='sed s/^/SED:/' report "$T/r.seep"
	grep -q '^SED:' "$T/screen"
	# in a session of sudo nothing is different
	on_terminal PATH="$BIN" SUDO_UID=1000 SUDO_USER=somebody PAGER='sed s/^/SED:/' report "$T/r.seep"
	lacks 'SED:' "$T/screen"
}

@test "the real less: no shell, no editor, no pipe, no file" {
	need less
	fake_less
	cd "$T"
	local keys
	for keys in '!touch pwned\x0a' 'v'; do
		on_terminal -k "{=$keys" -k '=\x0aqqqq' SEEP_PAGERSECURE=1 LESS=-RX VISUAL="touch $T/pwned" \
			EDITOR="touch $T/pwned" report "$T/r.seep" --format json
		[[ $got -eq 0 && ! -e pwned ]] || { tail -c 300 "$T/screen"; false; }
	done
	# the same keys do something where it is not secure
	on_terminal -k '{=!touch pwned\x0a' -k 'done=\x0aqqqq' SEEP_PAGERSECURE=0 LESS=-RX report "$T/r.seep" --format json
	[[ -e pwned ]]
}

@test "as root view starts no browser, and says where the page is" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	record -q -o r.seep true
	cd "$T"
	TMPDIR=$T BROWSER="touch $T/started" DISPLAY=:77 "$SEEP" view r.seep >path 2>said
	[[ -s $(<path) && ! -e started ]]
	grep -q 'no browser is started as root' said
	grep -qF "$(<path)" said
	# a page with a name is not removed, so no process stays to do that later; a
	# browser that takes longer than a second to start is not waited for
	BROWSER="touch $T/started" SEEP_PAGERSECURE=0 "$SEEP" view -o page.html r.seep >path 2>said
	[[ -s page.html ]]
	eventually test -e started
}
