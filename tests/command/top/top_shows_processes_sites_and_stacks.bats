#!/usr/bin/env bats
# top_shows_processes_sites_and_stacks - every column and page of seep top, at three sizes of a terminal.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/top.bash

# brief N: bytes as top shows them
brief() {
	"$PYTHON" - "$1" <<'PY'
import sys
n, units = float(sys.argv[1]), ["", "K", "M", "G"]
while n >= 999.5 or (units[0] and n < 0):
    n, units = n / 1024, units[1:]
digits = 0 if not units[0] and n == int(n) or n >= 99.95 else 1 if n >= 9.995 else 2
print(f"{n:.{digits}f}{units[0]}")
PY
}

# sees TITLE...: all of them, while Right is pressed
sees() {
	local title i
	for title; do
		for ((i = 0; i < 15; i++)); do
			! is_shown "(^|[^A-Z/])$title([^A-Za-z/]|\$)" || continue 2
			press Right
			sleep 0.1
		done
		echo "no column $title"
		screen
		return 1
	done
}

@test "a SEEP_DIR that could not be used is named below the list and below the sites" {
	start_host SEEP_DIR="$T/nowhere"
	top 120 24 "$HOST"
	shows "1 process; not in SEEP_DIR: $T/nowhere cannot be opened"
	press Enter
	shows "sites?.*; not in SEEP_DIR: $T/nowhere cannot be opened"
	press q
	shows 'status 0'
	# it is in the place of all
	rm -f "/dev/shm/seep-$UID/on_show-$HOST-"*
}

@test "processes: every column, at 40x12, 80x24 and 200x50" {
	local size
	start_host
	tell grow 1000
	for size in "40 12" "80 24" "200 50"; do
		# shellcheck disable=SC2086 # two words
		top $size "$HOST"
		shows "^ *$HOST on_show"
		sees PID SERVICE MODE LIVE GROWTH/s ALLOCS/s PEAK RSS LIVE/LIMIT SITES LOST AGE TREND
		press q
		shows 'status 0'
	done
}

@test "processes: their figures are those of the report" {
	start_host
	tell grow 1000
	tell shrink 100
	"$SEEP" report --format json "$HOST" >"$T/report.json"
	top 200 50 "$HOST"
	shows "^ *$HOST on_show"
	[[ $(cell PID) == "$HOST" ]]
	[[ $(cell SERVICE) == on_show* ]]
	[[ $(cell MODE) == on ]]
	[[ $(cell LIVE) == "$(brief "$(from_report 'p[0]["totals"]["live_bytes"]')")" ]]
	[[ $(cell PEAK) == "$(brief "$(from_report 'p[0]["totals"]["peak_bytes"]')")" ]]
	[[ $(cell SITES) == "$(from_report 'p[0]["totals"]["sites"]')" ]]
	[[ $(cell LOST) == 0 ]]
	[[ $(cell RSS) =~ ^[0-9.]+M$ ]]
	[[ $(cell AGE) =~ ^[0-9]+s$ || $(cell AGE) =~ ^[0-9]m[0-9]+$ ]]
	[[ $(cell LIVE/LIMIT) =~ ^(-|[0-9.]+%)$ ]]
	shows "^ *$HOST .* on .* 0 +0 "
	tell drip 3000 &
	shows "^ *$HOST .* on .*[+][0-9.]+K +[0-9]+ "
	wait $!
	shows "^ *$HOST .*[▂▃▄▅▆▇█]"
}

@test "sites: every column, at 40x12, 80x24 and 200x50" {
	local size
	start_host
	tell grow 1000
	for size in "40 12" "80 24" "200 50"; do
		# shellcheck disable=SC2086 # two words
		top $size "$HOST"
		shows "^ *$HOST on_show"
		press Enter
		shows '1 site|[0-9]+ sites'
		sees LIVE SHARE SINCE GROWTH/s ALLOCS/s BLOCKS TREND FUNCTION
		press q
		shows 'status 0'
	done
}

@test "sites: live, share, since, growth, allocations, blocks, function and line" {
	start_host
	tell hold 500
	tell grow 1000
	top 80 24 "$HOST"
	press Enter
	shows 'leak_here on_show.c:[0-9]+$'
	[[ $(cell LIVE leak_here) == 977K ]]
	[[ $(cell SHARE leak_here) == 9[0-9].[0-9]% ]]
	[[ $(cell SINCE leak_here) == 0 ]]
	[[ $(cell BLOCKS leak_here) == 1.00k ]]
	[[ $(cell BLOCKS hold_here) == 500 ]]
	[[ $(cell LIVE hold_here) == 48.8K ]]
	tell grow 100
	shows '\+97\.7K .*leak_here' # 100,000 bytes
	[[ $(cell SINCE leak_here) == +97.7K ]]
	[[ $(cell SINCE hold_here) == 0 ]]
	tell shrink 300
	shows '\-195K .*leak_here'
	[[ $(cell LIVE leak_here) == 781K ]]
	tell drip 2500 &
	shows ' \+[0-9.]+K +[0-9]+ .*leak_here'
	wait $!
	# which has stopped, and the last five looks show it
	shows ' 0 +0 +[0-9.k]+ .*leak_here'
}

@test "the stack of a site: inlined functions, figures, sizes and ages" {
	local size
	start_host
	tell inline 300
	for size in "40 12" "80 24" "200 50"; do
		# shellcheck disable=SC2086 # two words
		top $size "$HOST" --include inlined_here
		shows "^ *$HOST on_show"
		press Enter
		shows '1 of [0-9]+ sites'
		shows '14\.6K .*inlined_here'
		press Enter
		shows 'malloc in'
		shows '1  inlined_here on_show.c'
		press Down Down Down
		shows '2  holds_an_inlined_one on_show.c'
		[[ $size == 40* ]] || shows '[+]0x[0-9a-f]+, inlined'
		press End
		shows 'Size of live blocks'
		shows 'from 32 bytes'
		press Home
		shows 'Site [0-9]+ of on_show'
		press Escape
		shows '1 of [0-9]+ sites'
		press q
		shows 'status 0'
	done
}

@test "five thousand sites: the screen comes before their names, and keys are answered" {
	start_host
	tell stacks 5000
	export XDG_CACHE_HOME=$T/cold
	top 80 24 "$HOST"
	shows '5.0[0-9]k'
	press Enter
	shows '5,0[0-9][0-9] sites'
	press End
	shows 'one_of_many on_show.c'
	press PPage k k
	shows 'one_of_many on_show.c'
	press / no_such_function Enter
	shows 'No site matches'
	shows '0 of 5,0[0-9][0-9] sites match /no_such_function'
}

@test "without UTF-8 and without colours" {
	start_host
	tell grow 1000
	top 80 24 LC_ALL=C NO_COLOR=1 "$HOST"
	tell drip 1500
	shows '[0-9]+ leak_here'
	if screen | grep -P '[^\x00-\x7f]'; then false; fi
	# bold and reverse are no colours
	if screen -e | grep -E $'\e\\[([0-9]+;)*(3[0-7]|9[0-7])m'; then false; fi
	press q
	shows 'status 0'
	top 80 24 "$HOST"
	shows 'leak_here'
	tell drip 1500
	screen -e | grep -qE $'\e\\[([0-9]+;)*31m'
}

@test "the terminal may change its size" {
	start_host
	tell grow 1000
	top 80 24 "$HOST"
	shows 'LIVE/LIMIT'
	on_tmux resize-window -x 40 -y 12
	hides 'LIVE/LIMIT'
	shows "$HOST on_show"
	on_tmux resize-window -x 200 -y 50
	shows 'LIVE/LIMIT.*AGE TREND'
	press Enter Enter
	shows 'malloc in'
	on_tmux resize-window -x 10 -y 3
	on_tmux resize-window -x 1 -y 1
	on_tmux resize-window -x 80 -y 24
	shows 'malloc in'
	press q
	shows 'status 0'
}

@test "who has ended stays with the cause for ten seconds" {
	start_host
	tell grow 1000
	top 80 24 "$HOST"
	shows "^ *$HOST .* on "
	kill -KILL "$HOST"
	wait "$HOST" || true
	shows "^ *$HOST .* (SIGKILL|ended) "
	[[ $(cell LIVE "$HOST") == 9[0-9][0-9]K ]] # the last counters
	press Enter
	shows 'killed by SIGKILL|ended; the cause is not known'
	shows '977K .*leak_here'
	press p
	shows 'No process is traced'
	[[ $(screen | head -n 1) == "seep top  0 processes"* ]]
}

@test "many processes: all that may be seen, and those that come" {
	local pid i
	for i in 1 2 3; do
		mkfifo "$T/lines$i"
		LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR "$HOSTS/on_show" \
			<>"$T/lines$i" >"$T/out$i" 3>&- &
		PIDS+=("$!")
		echo "grow ${i}00" >"$T/lines$i"
		eventually grep -q '^done' "$T/out$i"
	done
	top 80 24
	shows '3 processes'
	selected "^ *${PIDS[2]} " # the largest first
	for pid in "${PIDS[@]}"; do
		shows "^ *$pid on_show"
	done
	start_host
	shows '4 processes'
	shows "^ *$HOST on_show"
}

@test "names of hosts do nothing to the terminal" {
	mkfifo "$T/lines"
	(
		export LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR"
		exec -a $'x\e[31m\e]0;bad\a\nq' "$HOSTS/on_show" <"$T/lines" >"$T/out" 2>&1 3>&-
	) &
	HOST=$!
	PIDS+=("$HOST")
	exec 9>"$T/lines"
	answered ready
	top 200 50
	shows 'x\\x1b\[31m\\x1b\]0;bad\\x07\\x0aq'
	press Enter
	shows '^x\\x1b\[31m\\x1b\]0;bad\\x07\\x0aq'
}
