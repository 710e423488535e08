#!/usr/bin/env bats
# top_obeys_keys - every key of seep top, typed and read back.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/top.bash

sizes=("40 12" "80 24" "200 50")

@test "arrows, pages, Home, End, j and k move the selection" {
	local size
	start_host
	tell stacks 100
	tell grow 1000
	for size in "${sizes[@]}"; do
		# shellcheck disable=SC2086 # two words
		top $size "$HOST" --sort function
		shows "^ *$HOST on_show"
		press Enter
		shows 'leak_here'
		selected 'leak_here' # the first by name
		press Down
		selected 'main|one_of_many'
		press k
		selected 'leak_here'
		press j j j Up
		selected 'one_of_many'
		press Home
		selected 'leak_here'
		press NPage
		selected 'one_of_many'
		press PPage
		selected 'leak_here'
		press End
		selected 'one_of_many'
		[[ $size == 200* ]] || hides 'leak_here'
		press Home
		shows 'leak_here'
		press q
		shows 'status 0'
	done
}

@test "a selected row stays selected when others overtake it" {
	start_host
	tell hold 500
	tell grow 10
	top 80 24 "$HOST"
	press Enter
	shows 'leak_here'
	selected 'hold_here'
	tell grow 1000
	shows '[0-9.]+K .*leak_here'
	[[ $(screen | sed -n 3p) == *leak_here* ]] || shows '^ *9[0-9][0-9]K.*leak_here'
	selected 'hold_here'
}

@test "< and > choose the column of the order, r reverses it" {
	local size
	start_host
	tell hold 500
	tell grow 100
	for size in "${sizes[@]}"; do
		# shellcheck disable=SC2086 # two words
		top $size "$HOST"
		shows '▼LIVE'
		press Enter
		shows '▼LIVE'
		shows 'hold_here'
		[[ $(screen | sed -n 3p) == *leak_here* ]]
		press '>' '>' '>' '>'
		[[ $size == 40* ]] || shows '▼BLOCKS'
		eventually third_is hold_here
		press r
		[[ $size == 40* ]] || shows '▲BLOCKS'
		eventually third_is main
		press r '<' '<' '<' '<'
		shows '▼LIVE'
		eventually third_is leak_here
		press p '<'
		[[ $size == 40* ]] || shows '▼MODE'
		press '<' '<'
		shows '▼PID'
		press q
		shows 'status 0'
	done
}
third_is() { [[ $(screen | sed -n 3p) == *"$1"* ]]; }

@test "--sort begins with that column" {
	start_host
	tell hold 500
	tell grow 100
	top 80 24 "$HOST" --sort blocks
	press Enter
	shows '▼BLOCKS'
	eventually third_is hold_here
	press q
	top 200 50 --sort rss
	shows '▼RSS'
}

@test "/ filters by functions as report does, !RE excludes, @RE is about modules" {
	local size
	start_host
	tell hold 500
	tell grow 100
	for size in "${sizes[@]}"; do
		# shellcheck disable=SC2086 # two words
		top $size "$HOST"
		press Enter
		shows 'hold_here'
		press / 'leak|no_such' Enter
		hides 'hold_here'
		shows '^1 of [0-9]+ sites'
		shows 'leak_here'
		press / Enter
		shows 'hold_here'
		press / '!leak_here' Enter
		hides 'leak_here on'
		shows 'hold_here'
		press / Enter
		shows 'leak_here'
		press / '@libc[.]so' Enter
		shows '^[0-9]+ of [0-9]+ sites'
		press / '@no_such_module' Enter
		shows 'No site matches'
		press / '(' Enter
		shows '"\(" is no regular'
		press / Enter
		shows 'leak_here'
		press / x BSpace h o l Escape # nothing is changed
		shows 'leak_here'
		press q
		shows 'status 0'
	done
}

@test "--include, --exclude and --module are filters from the start" {
	start_host
	tell hold 500
	tell grow 100
	top 80 24 "$HOST" --include '_here' --exclude leak
	press Enter
	shows '1 of [0-9]+ sites match /_here /!leak'
	shows 'hold_here'
	press q
	top 80 24 "$HOST" --module on_show
	press Enter
	shows 'leak_here'
}

@test "/ in the list filters services" {
	start_host
	top 80 24
	shows "$HOST on_show"
	press / no_such Enter
	shows 'No process matches'
	shows '0 of 1 process match'
	press / on_show Enter
	shows "$HOST on_show"
	press / Enter
	shows '^1 process '
}

@test "z: SINCE counts from now on" {
	local size
	start_host
	tell grow 1000
	for size in "${sizes[@]}"; do
		# shellcheck disable=SC2086 # two words
		top $size "$HOST" --interval 200ms
		press Enter
		shows 'leak_here'
		tell grow 200
		shows '\+195K .*leak_here'
		press z
		shows 'SINCE counts from now on'
		hides '\+195K .*leak_here'
		tell grow 100
		shows '\+97\.7K .*leak_here'
		tell shrink 300
		shows '\-195K .*leak_here'
		press q
		shows 'status 0'
	done
}

@test "Space freezes the screen, and looks go on" {
	local size before
	start_host
	tell grow 1000
	for size in "${sizes[@]}"; do
		# shellcheck disable=SC2086 # two words
		top $size "$HOST" --interval 100ms
		press Enter
		shows 'leak_here'
		press Space
		shows 'FROZEN'
		before=$(screen)
		tell grow 1000
		sleep 0.5
		[[ $(screen) == "$before" ]]
		press Space
		hides 'FROZEN'
		shows '\+977K .*leak_here' # of the base that was before
		tell shrink 1000
		press q
		shows 'status 0'
	done
}

@test "s writes a snapshot, and its path is seen" {
	local path
	start_host
	tell grow 1000
	top 80 24 "$HOST"
	shows "$HOST on_show"
	press s
	shows "snapshot written: on_show-$HOST-1.seep-snap"
	press Enter Enter s
	shows "snapshot written: on_show-$HOST-2.seep-snap"
	for path in "$T/on_show-$HOST-1.seep-snap" "$T/on_show-$HOST-2.seep-snap"; do
		"$SEEP" report "$path" --format json >"$T/report.json"
		[[ $(from_report 'p[0]["snapshot"]') == True ]]
		[[ $(from_report 'p[0]["totals"]["live_bytes"]') -gt 1000000 ]]
	done
}

@test "s that cannot write its file says so" {
	start_host
	mkdir "$T/gone"
	in_tmux 80 24 "cd '$T/gone' && rmdir '$T/gone' && SEEP_DIR='$DIR' '$SEEP' top $HOST"
	shows "$HOST on_show"
	press s
	shows 'cannot be written'
}

@test "o turns recording off and on, after a question" {
	local size
	start_host
	tell grow 100
	for size in "${sizes[@]}"; do
		# shellcheck disable=SC2086 # two words
		top $size "$HOST"
		shows "$HOST .* on "
		press o
		shows 'Turn recording off in on_show'
		press n
		shows 'nothing was changed'
		shows "$HOST .* on "
		press o y
		shows 'recording is off|asked to turn off' # at the next allocation
		tell grow 1
		shows "$HOST .* off "
		press o
		shows 'Turn recording on in on_show'
		press y
		shows 'recording is on|asked to turn on'
		tell grow 1
		shows "$HOST .* on "
		press q
		shows 'status 0'
	done
}

@test "w shows wrappers, and hides them" {
	start_host
	tell grow 100
	top 80 24 "$HOST"
	press Enter
	shows 'leak_here on_show.c'
	press w
	shows 'xmalloc on_show.c'
	hides 'leak_here on_show.c'
	press w
	shows 'leak_here on_show.c'
}

@test "p and Esc go back, + and - change the interval, ? lists all keys" {
	local size
	start_host
	tell grow 100
	for size in "${sizes[@]}"; do
		# shellcheck disable=SC2086 # two words
		top $size "$HOST"
		shows "$HOST on_show"
		press Enter
		shows '^on_show.*live'
		press Enter
		shows 'malloc in'
		press p
		shows '^seep top'
		press Enter Enter
		shows 'malloc in'
		press Escape
		hides 'malloc in'
		shows '^on_show.*live'
		press Escape
		shows '^seep top'
		press +
		shows 'looks every 2 s'
		press - -
		shows 'looks every 0.5 s'
		press - - -
		shows 'looks every 0.1 s'
		press '?'
		shows 'Keys of seep top'
		shows 'Up Down j k'
		press End
		shows '^ q +quit'
		press x
		shows '^seep top'
		press q
		shows 'status 0'
	done
}

@test "the help has every key of the manual" {
	local key
	start_host
	top 200 50
	press '?'
	shows 'Keys of seep top'
	screen >"$T/help"
	for key in Up Down j k PgUp PgDn Home End Left Right Enter Esc p '<' '>' r / z Space s o w + - '?' q; do
		grep -Eq "^ ([^ ]+ )*[$key]?($(sed 's/[+?]/\\&/g' <<<"$key"))( |\$)" "$T/help" || {
			echo "not in the help: $key"
			false
		}
		grep -qF -- "*$key*" "$repo/man/seep-top.scd" || {
			echo "not in the manual: $key"
			false
		}
	done
}
