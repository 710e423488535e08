#!/usr/bin/env bats
# watch_holds_rules - a rule that is broken: a line, a snapshot, a command, and not again for an hour.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/watch.bash

lines() { grep -c "rule \"$1" "$T/watch.err"; }

@test "a broken rule is said once, with a snapshot and a command" {
	cat >"$T/cmd" <<-'SH'
	#!/bin/sh
	{
		echo "$SEEP_RULE|$SEEP_PID|$SEEP_VALUE|$#"
		echo "$SEEP_SERVICE" | grep -c .
		echo "$SEEP_SNAPSHOT"
	} >"$OUT.new"
	mv "$OUT.new" "$OUT"
	SH
	chmod +x "$T/cmd"
	export OUT=$T/called
	waiting
	watching --rule 'live > 64KiB' --rule 'live > 1GiB' --exec "$T/cmd"
	eventually has_part
	printf '\n' >&9
	answered first
	eventually test -s "$T/called"
	eval "$(sed -n 's/^/line+=("/; s/$/")/; p' "$T/called")"
	[[ ${line[0]} == "live > 64KiB|$HOST|"*" KiB|0" && ${line[1]} -eq 1 ]]
	[[ ${line[2]} == "$H"/*/snapshots/*.seep-snap ]]
	"$SEEP" report "${line[2]}" | grep -F alloc_first
	[[ $(lines 'live > 64KiB') -eq 1 ]]
	rm "$T/called"
	sleep 2.5
	[[ ! -e $T/called && $(lines 'live > 64KiB') -eq 1 && $(wc -l <"$T/watch.err") -eq 1 ]]
	[[ $(stat -c %a "${line[2]}") == 600 ]]
	goes_on_to_its_end
	unwatch
}

@test "a rule for some services, and one that must hold for a while" {
	waiting
	watching --rule 'live > 64KiB in no-such-*' --rule 'live > 64KiB for 2s'
	eventually has_part
	printf '\n' >&9
	answered first
	begin=$SECONDS
	eventually lines 'live > 64KiB for 2s'
	[[ $((SECONDS - begin)) -ge 1 ]]
	[[ $(wc -l <"$T/watch.err") -eq 1 ]]
	goes_on_to_its_end
	unwatch
}

@test "room in the address space" {
	H=$T/history
	mkfifo "$T/lines"
	(
		ulimit -v 4000000
		exec env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$HOSTS/toggled" <"$T/lines" >"$T/out" 2>"$T/err" 3>&-
	) &
	HOST=$!
	PIDS+=("$HOST")
	exec 9>"$T/lines"
	answered ready
	watching --rule 'room < 100%' --rule 'room < 1KiB'
	eventually lines 'room < 100%'
	[[ $(wc -l <"$T/watch.err") -eq 1 ]]
	ends_well
	unwatch
}

@test "a command that cannot be executed, or hangs, stops nothing" {
	printf '#!/bin/sh\nsleep 1000 &\necho $! >"%s/sleeper"\nwait\n' "$T" >"$T/hangs"
	chmod +x "$T/hangs"
	waiting
	watching --rule 'live > 1KiB' --exec "$T/no-such-command"
	printf '\n' >&9
	answered first
	eventually grep -q "cannot be executed" "$T/watch.err"
	unwatch
	H=$T/second
	watching --rule 'live > 1KiB' --exec "$T/hangs"
	eventually test -s "$T/sleeper"
	unwatch
	# its process group is gone with it
	eventually eval '! kill -0 "$(cat "$T/sleeper")" 2>/dev/null'
	goes_on_to_its_end
}

@test "a rule that means nothing is one line, with its place" {
	local rule
	for rule in '' 'live' 'live >' 'live > 2x' 'dead > 1MiB' 'live < 1MiB' 'growth > 1MiB' \
		'room < 200%' 'live > 1MiB for' 'live > 1MiB in' 'live > 1MiB or so'; do
		complains 2 "$SEEP" watch --once --history "$T/h" --rule "$rule" "$DIR"
		grep -E 'character [0-9]+' "$T/complaint"
	done
	complains 2 "$SEEP" watch --once --history "$T/h" --exec true "$DIR"
}
