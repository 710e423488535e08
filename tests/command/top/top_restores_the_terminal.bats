#!/usr/bin/env bats
# top_restores_the_terminal - whatever ends or stops seep top, the shell finds its terminal as it was.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/top.bash

# in_shell: an interactive shell with job control, and its settings in $T/before
in_shell() {
	start_host
	tell grow 1000
	in_tmux 80 24 "LC_ALL=C.UTF-8 SEEP_DIR='$DIR' PS1='ready> ' exec bash --norc --noprofile -i"
	shows 'ready>'
	press "stty -a >'$T/before'" Enter
	eventually test -s "$T/before"
	press "'$SEEP' top $HOST; echo status \$? end" Enter
	shows 'leak_here'
	[[ $(on_tmux display -p '#{alternate_on} #{cursor_flag}') == "1 0" ]]
	TOP=$(pgrep -f "^$SEEP top $HOST" | head -n 1)
}

# is_restored: settings, screen, cursor and keypad are those of the shell
is_restored() {
	eventually is_plain
	shows "seep' top $HOST" # what was typed is seen again
	press "stty -a >'$T/after'" Enter
	eventually test -s "$T/after"
	diff "$T/before" "$T/after"
	press 'echo it is $((6 * 7))' Enter
	shows 'it is 42'
}
is_plain() {
	[[ $(on_tmux display -p '#{alternate_on} #{cursor_flag} #{keypad_flag} #{keypad_cursor_flag}') == "0 1 0 0" ]]
}

@test "q" {
	in_shell
	press q
	shows 'status 0 end'
	is_restored
}

@test "Ctrl-C" {
	in_shell
	press C-c
	shows '^ready> *$'
	is_restored
}

@test "SIGTERM, SIGHUP, SIGSEGV, SIGABRT" {
	local signal
	for signal in TERM:143 HUP:129 SEGV:139 ABRT:134; do
		rm -f "$T/lines" "$T/before" "$T/after"
		in_shell
		kill -"${signal%:*}" "$TOP"
		shows "status ${signal#*:} end"
		is_restored
		hides leak_here
		# and nothing is left of it
		eventually no_process_of "$TOP"
		kill -KILL "$HOST"
	done
}
no_process_of() { [[ ! -e /proc/$1 ]] && ! pgrep -f "^$SEEP top $HOST" >/dev/null; }

@test "SIGKILL: the processes that work for it end, too" {
	in_shell
	kill -KILL "$TOP"
	eventually no_process_of "$TOP"
}

@test "Ctrl-Z, and fg" {
	in_shell
	press C-z
	shows 'Stopped'
	eventually is_plain
	press "stty -a >'$T/after'" Enter
	eventually test -s "$T/after"
	diff "$T/before" "$T/after"
	press 'fg' Enter
	shows 'leak_here'
	press Enter
	shows 'sites'
	tell grow 1000
	shows '\+977K .*leak_here' # looks go on
	press q
	rm -f "$T/after"
	is_restored
}

@test "the terminal goes away" {
	start_host
	top 80 24 "$HOST"
	shows "$HOST on_show"
	TOP=$(pgrep -f "^$SEEP top $HOST" | head -n 1)
	end_tmux
	eventually no_process_of "$TOP"
}
