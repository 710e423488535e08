#!/usr/bin/env bats
# watch_fits_its_size - a history of many days, with the clock scaled, stays within --size with every day there.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/watch.bash

size_of_history() { du -sk --apparent-size "$H" | cut -f1; }

@test "many days of a busy process" {
	days=$(full_or 30 6)
	sites=$(full_or 5000 300)
	mib=$(full_or 256 12)
	background "$HOSTS/irregular_sites" "$sites" 5
	answered PID
	# a day takes a second
	export SEEP_WATCH_CLOCK=86400
	watching --size "${mib}MiB" --keep "${days}d"
	most=0
	for ((i = 0; i < days + days / 2 + 2; i++)); do
		sleep 1
		now=$(size_of_history)
		[[ $now -le $most ]] || most=$now
	done
	unwatch
	unset SEEP_WATCH_CLOCK
	now=$(size_of_history)
	[[ $now -le $most ]] || most=$now
	kill -TERM "$HOST"
	wait "$HOST"
	echo "at most $most KiB for $days days"
	[[ $most -le $((mib * 1024)) ]]
	find "$H" -name '*.seep' -printf '%f\n' | cut -c1-8 | sort -u >"$T/days"
	cat "$T/days"
	# each of the last days has a chapter; what is older than --keep is gone
	"$PYTHON" - "$T/days" "$days" "$now" <<-'PY'
	import datetime, sys
	days = [datetime.datetime.strptime(x.strip(), "%Y%m%d").date() for x in open(sys.argv[1])]
	want = int(sys.argv[2])
	# a turn takes some of these fast hours, so a chapter may begin two days after
	# the one before, which then has the day between
	gaps = [(b - a).days for a, b in zip(days, days[1:])]
	assert all(g <= 2 for g in gaps), gaps
	span = (days[-1] - days[0]).days + 1
	assert want - 1 <= span <= want + 3, days
	print(f"{int(sys.argv[3]) / span:.0f} KiB a day")
	assert int(sys.argv[3]) / span <= 4096
	PY
	# each chapter can be read by itself, and has the process, its sites and its time line
	for chapter in $(find "$H" -name '*.seep' | sort | head -n 2); do
		"$SEEP" report --format json "$chapter" >"$T/report.json"
		[[ $(from_report 'p[0]["totals"]["sites"]') -ge $sites ]]
		[[ $(from_report 'p[0]["timeline"] is not None') == True ]]
		"$SEEP" report "$chapter" | grep -F leaf
	done
}

@test "the oldest chapter goes first where the size is small" {
	background "$HOSTS/irregular_sites" 3000 20
	answered PID
	export SEEP_WATCH_CLOCK=86400
	watching --size 1MiB --keep 300d
	eventually eval '[[ $(compgen -G "$H/*/*.seep" | wc -l) -ge 3 ]]'
	first=$(compgen -G "$H/*/*.seep" | sort | head -n 1)
	eventually eval '[[ ! -e $first ]]'
	unwatch
	kill -TERM "$HOST"
	wait "$HOST"
	[[ $(size_of_history) -le 1200 ]]
	# nothing is missing between the oldest and the newest
	compgen -G "$H/*/*.seep" | sed 's/.*-\([0-9]*\)\.seep/\1/' | sort -n | "$PYTHON" -c '
import sys
n = [int(x) for x in sys.stdin]
assert n == list(range(n[0], n[-1] + 1)) and len(n) >= 2, n'
}
