#!/usr/bin/env bats
# snapshots_are_thinned - bounds on snapshots: the first, the newest and an even selection of those between are kept.
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

# numbers [PID]: those of the snapshots in $DIR, in order
numbers() {
	find "${WHERE:-$DIR}" -name "*-${1:-*}-????????-*.seep-snap" |
		sed -E 's/.*-([0-9]+)\.seep-snap$/\1/' | sort -n
}
held_bytes() { cat "$DIR"/*.seep-snap | wc -c; }

# even FIRST NEWEST AT_MOST AT_LEAST [PID]: what is left is well spread
even() {
	numbers "${5:-*}" >"$T/numbers"
	tr '\n' ' ' <"$T/numbers"
	awk -v first="$1" -v newest="$2" -v most="$3" -v least="$4" '
		NR == 1 && $1 != first { print "first: " $1; exit bad = 1 }
		NR > 2 { gap = at - before; if (!low || gap < low) low = gap; if (gap > high) high = gap }
		{ before = at; at = $1 }
		END {
			if (bad) exit 1
			# the newest is where it is; the gaps before it differ by a factor of two
			if (at != newest) { print "newest: " at; exit 1 }
			if (NR > most || NR < least) { print NR " are left"; exit 1 }
			if (high > 2 * low) { print "gaps from " low " to " high; exit 1 }
		}' "$T/numbers"
}

# lost_in FILE: how many were removed, by the report
thinned_in() {
	report "$1"
	from_report 'p[0]["lost"]["snapshots_thinned"]'
}

@test "300 signals give 300 snapshots: nothing is removed below 64 MiB" {
	SEEP_SIGNAL=USR2 traced_well "$HOSTS/many_snapshots" 300 signal
	[[ $(numbers | wc -l) -eq 300 ]]
	[[ $(thinned_in "$DIR"/*.seg) -eq 0 ]]
	"$SEEP" report "$DIR" >"$T/shown"
	grep -q 'No event is lost' "$T/shown"
}

@test "a bound on their number: calls, signals, time and growth" {
	local n
	for n in 2 3 10 255; do
		SEEP_SNAPSHOTS=$n traced_well "$HOSTS/many_snapshots" 300
		even 1 300 "$n" $((n / 2 + 1))
		[[ $(($(numbers | wc -l) + $(thinned_in "$DIR"/*.seg))) -eq 300 ]]
		[[ $(from_report 'p[0]["counts"]["snapshots"]') -eq 300 ]]
		rm -f "$DIR"/*
	done
	SEEP_SIGNAL=USR2 SEEP_SNAPSHOTS=20 traced_well "$HOSTS/many_snapshots" 1000 signal
	even 1 1000 20 11
	rm -f "$DIR"/*
	SEEP_EVERY=100ms,100KiB SEEP_SNAPSHOTS=5 traced_well "$HOSTS/grows" 10500 0
	[[ $(numbers | wc -l) -le 5 && $(numbers | head -1) -eq 1 ]]
	n=$(thinned_in "$DIR"/*.seg)
	[[ $n -gt 50 && $(numbers | tail -1) -eq $((n + $(numbers | wc -l))) ]]
}

@test "a bound on their bytes; one that is larger than all of it" {
	SEEP_SNAPSHOT_BYTES=300k traced_well "$HOSTS/many_snapshots" 300
	echo "$(held_bytes) bytes"
	[[ $(held_bytes) -le $((300 * 1024)) && $(held_bytes) -ge $((200 * 1024)) ]]
	even 1 300 300 8
	[[ $(($(numbers | wc -l) + $(thinned_in "$DIR"/*.seg))) -eq 300 ]]
	local bytes
	for bytes in 0 1 9000B; do
		rm -f "$DIR"/*
		SEEP_SNAPSHOT_BYTES=$bytes traced_well "$HOSTS/many_snapshots" 30
		[[ $(numbers | tr '\n' ' ') == '1 30 ' ]]
	done
	rm -f "$DIR"/*
	SEEP_SNAPSHOT_BYTES=some traced_well "$HOSTS/many_snapshots" 3
	[[ $(numbers | wc -l) -eq 3 ]]
	report "$DIR"
	[[ $(from_report 'p[0]["lost"]["settings_ignored"]') -eq 1 ]]
}

@test "none, or one: no more are written, and that is counted" {
	SEEP_SNAPSHOTS=0 traced_well "$HOSTS/many_snapshots" 3
	[[ $(numbers | wc -l) -eq 0 ]]
	[[ $(grep -c 'NUMBER -122' "$T/out") -eq 3 ]] # EDQUOT
	rm -f "$DIR"/*
	SEEP_SNAPSHOTS=1 traced_well "$HOSTS/many_snapshots" 3
	[[ $(numbers) == 1 ]]
	report "$DIR"/*.seg
	[[ $(from_report 'p[0]["lost"]["snapshots_refused"]') -eq 2 ]]
	[[ $(from_report 'p[0]["lost"]["snapshots_thinned"]') -eq 0 ]]
}

@test "a forked child and the next program have bounds of their own" {
	local child parent
	SEEP_SNAPSHOTS=6 traced_well "$HOSTS/many_snapshots" 20 fork
	child=$(sed -n 's/^CHILD //p' "$T/out")
	parent=$(sed -n 's/^PID //p' "$T/out" | head -1)
	even 1 20 6 4 "$parent"
	even 1 40 6 4 "$child"
	report "$DIR"
	local gone='[x["lost"]["snapshots_thinned"] for x in p if x["pid"] =='
	[[ $(from_report "$gone $parent]") == "[$((20 - $(numbers "$parent" | wc -l)))]" ]]
	[[ $(from_report "$gone $child]") == "[$((40 - $(numbers "$child" | wc -l)))]" ]]
	rm -f "$DIR"/*
	SEEP_SNAPSHOTS=6 traced_well "$HOSTS/many_snapshots" 20 exec
	[[ $(numbers | grep -cx 1) -eq 2 && $(numbers | grep -cx 20) -eq 2 ]]
}

@test "files of others that have our names stay" {
	# of an earlier process: what pid reuse in a tree of forks looks like
	traced_well "$HOSTS/many_snapshots" 1
	mkdir "$T/other"
	mv "$DIR"/*.seep-snap "$T/other/foreign"
	rm -f "$DIR"/*
	cat >"$T/plant" <<-END
		cd '$DIR'
		for n in 4 5 6; do rm ./*-\$n.seep-snap; done
		name=\$(echo ./*-1.seep-snap)
		name=\${name%-1.seep-snap}
		cp '$T/other/foreign' \$name-4.seep-snap
		ln -s '$T/other/foreign' \$name-5.seep-snap
		mkdir \$name-6.seep-snap
		cp '$T/other/foreign' \$name-21.seep-snap
		mkfifo \$name-22.seep-snap
	END
	SEEP_SNAPSHOTS=20 traced_well "$HOSTS/many_snapshots" 20 remove "sh '$T/plant'"
	ls "$DIR"
	cmp "$DIR"/*-4.seep-snap "$T/other/foreign"
	[[ -L $(echo "$DIR"/*-5.seep-snap) && -d $(echo "$DIR"/*-6.seep-snap) ]]
	cmp "$DIR"/*-21.seep-snap "$T/other/foreign"
	[[ -p $(echo "$DIR"/*-22.seep-snap) && -s $T/other/foreign ]]
	# and do not count as ours
	[[ $(find "$DIR" -type f -name '*.seep-snap' | wc -l) -le 22 ]]
	[[ $(find "$DIR" -type f -name '*.seep-snap' | wc -l) -ge 12 ]]
	rm -rf "$DIR"/*-6.seep-snap
}

@test "snapshots that somebody moves away no longer count" {
	mkdir "$T/away"
	SEEP_SNAPSHOTS=40 traced_well "$HOSTS/many_snapshots" 40 remove "mv '$DIR'/*.seep-snap '$T/away'"
	[[ $(WHERE=$T/away numbers | wc -l) -eq 40 ]]
	numbers | tr '\n' ' '
	# one goes before the first gap is met; then the files are counted
	[[ $(numbers | wc -l) -ge 39 && $(numbers | tail -1) -eq 80 ]]
}

@test "threads that write at the same time stay within the bounds, and counts are right" {
	SEEP_SNAPSHOTS=16 traced_well "$HOSTS/storm" call 300
	equals_ledger --no-clean
	numbers | tr '\n' ' '
	[[ $(numbers | wc -l) -le 16 && $(numbers | wc -l) -ge 8 ]]
	[[ $(numbers | head -1) -eq 1 && $(numbers | tail -1) -eq 300 ]]
	[[ $(find "$DIR" -name '.*.tmp' | wc -l) -eq 0 ]]
	report "$DIR"/*.seg
	[[ $(from_report 'p[0]["counts"]["snapshots"]') -eq 300 ]]
	[[ $(from_report 'p[0]["lost"]["snapshots_thinned"]') -eq $((300 - $(numbers | wc -l))) ]]
}

@test "kill -9 at any moment: the first and whole ones, hardly more than the bound" {
	local i
	for i in 1 2 3; do
		env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" SEEP_SNAPSHOTS=8 \
			"$HOSTS/many_snapshots" 1000000 >/dev/null 2>&1 3>&- &
		PIDS+=($!)
		until [[ $(numbers | tail -1) -gt 40 ]]; do sleep 0.02; done
		sleep "0.0$((i * 7 % 10))"
		kill -KILL "${PIDS[-1]}"
		wait "${PIDS[-1]}" || true
		[[ $(numbers | head -1) -eq 1 ]]
		[[ $(numbers | wc -l) -ge 2 && $(numbers | wc -l) -le 9 ]]
		"$SEEP" report "$(find "$DIR" -name "*-$(numbers | tail -1).seep-snap")" >/dev/null
		rm -f "$DIR"/* "$DIR"/.*.tmp
	done
}

@test "a file system without room: older ones make it, the newest gets in" {
	mkdir -m 700 "$T/small"
	own_mounts bash -c "
		mount -t tmpfs -o size=1m,mode=0700 tmpfs '$T/small' || exit 77
		LD_PRELOAD='$COLLECTOR' SEEP_DIR='$DIR' SEEP_SNAPSHOT_DIR='$T/small' \
			'$HOSTS/many_snapshots' 300 >'$T/out'
		ls -A '$T/small' >'$T/files'
		df --output=avail '$T/small' | tail -1 >'$T/left'" || skip "no mount namespace here"
	grep -c 'NUMBER -' "$T/out" || true
	cat "$T/files" "$T/left"
	[[ $(tail -1 "$T/out") == 'NUMBER 300' ]]
	grep -q -- '-1\.seep-snap$' "$T/files"
	grep -q -- '-300\.seep-snap$' "$T/files"
	[[ $(wc -l <"$T/files") -ge 4 && $(cat "$T/left") -gt 0 ]]
}

@test "too many files in a directory: the newest gets in" {
	seq -f "$DIR/x%g" 1600 | xargs touch
	traced_well "$HOSTS/many_snapshots" 5
	[[ $(tail -1 "$T/out") == 'NUMBER -28' ]] # nothing of ours to give
	rm -f "$DIR"/*
	full || return 0
	traced_well "$HOSTS/many_snapshots" 3000
	[[ $(tail -1 "$T/out") == 'NUMBER 3000' ]]
	even 1 3000 1510 750
}

@test "readers accept a series with gaps, and say how many snapshots are missing" {
	SEEP_SNAPSHOTS=5 record "$HOSTS/many_snapshots" 100
	[[ $status -eq 0 ]]
	grep -qx 'seep: snapshots: 5 in seep.data.snapshots' "$T/err"
	"$SEEP" report --snapshots "$T/seep.data" >"$T/shown"
	grep -q '6 moments' "$T/shown"
	grep -q '^95 snapshots between the first and the newest were removed' "$T/shown"
	"$SEEP" report "$T/seep.data" | grep -q 'Lost: 95 snapshots removed again'
	local -a files
	mapfile -t files < <(find "$T/seep.data.snapshots" -name '*.seep-snap' | sort -V)
	"$SEEP" diff "${files[0]}" "${files[-1]}" | grep -q '9,900'
	# increments of libmtrace's form add up to what the last one holds
	local file
	for file in "${files[@]}"; do
		(cd "$T" && "$SEEP" export --format memlog -o '%e-%p-%n.memlog' --no-suppress "$file")
	done
	[[ $(find "$T" -name '*.memlog' | wc -l) -eq 5 ]]
	report "${files[-1]}"
	[[ $(cat "$T"/*.memlog | awk '/^[+-]/ { sum += $1 } END { print sum }') -eq \
		$(from_report 'p[0]["totals"]["live_bytes"]') ]]
}

@test "ls says how many are missing, and a listing under way is no error" {
	SEEP_SNAPSHOTS=4 traced_well "$HOSTS/many_snapshots" 50
	SEEP_DIR=$DIR "$SEEP" ls | tee "$T/list"
	grep -q '46 snapshots removed again' "$T/list"
	[[ $(grep -c ' snapshot ' "$T/list") -eq 4 ]]
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" SEEP_SNAPSHOTS=8 \
		"$HOSTS/many_snapshots" 1000000 >/dev/null 2>&1 3>&- &
	PIDS+=($!)
	local i
	for ((i = 0; i < 4; i++)); do
		SEEP_DIR=$DIR "$SEEP" ls >/dev/null 2>>"$T/complaints"
		"$SEEP" report --snapshots "$DIR" >/dev/null 2>>"$T/complaints"
	done
	cat "$T/complaints"
	[[ ! -s $T/complaints ]]
}
