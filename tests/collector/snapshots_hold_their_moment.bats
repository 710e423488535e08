#!/usr/bin/env bats
# snapshots_hold_their_moment - seep_snapshot, seep_mark and seep_pause.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

# snapshot N: the one file with that number
snapshot() {
	local found=("$DIR"/*-"$1".seep-snap)
	[[ ${#found[@]} -eq 1 && -f ${found[0]} ]] || {
		ls -la "$DIR"
		return 1
	}
	echo "${found[0]}"
}

# books N: what the host printed at its Nth moment
books() {
	awk -v n="$1" '/^MOMENT/ { m++ } m == n && !/^MOMENT/' "$T/out" >"$T/books"
	[[ -s $T/books ]]
}

# holds N: snapshot N says what the books said at that moment
holds() {
	books "$1"
	report "$(snapshot "$1")"
	"$PYTHON" "$LIB/compare.py" "$T/books" "$T/report.json"
}

info() { from_report "p[0]['snapshot_info']['$1']"; }

@test "without the collector the calls do nothing" {
	bare "$HOSTS/snapshots"
	[[ $bare_status -eq 0 && ! -s $T/bare.err ]]
	bare "$HOSTS/cpp_api"
	[[ $(cat "$T/bare") == "0 0" ]]
	[[ -z $(ls "$DIR") ]]
}

@test "each snapshot has the counts of its moment, to the byte" {
	traced_well "$HOSTS/snapshots"
	holds 1
	[[ $(info label) == first && $(info reason) == program && $(info number) -eq 1 ]]
	[[ $(from_report 'p[0]["end"]') == running ]]
	holds 2
	[[ $(info label) == "second, a label that is too long for a mark, but not for here" ]]
	holds 3
	books 3
	report "$(find "$DIR" -name '*.seg')"
	"$PYTHON" "$LIB/compare.py" "$T/books" "$T/report.json"
	[[ $(from_report 'p[0]["counts"]["snapshots"]') -eq 3 ]]
	[[ $(from_report 'p[0]["snapshot_info"]') == None ]]
}

@test "what a thread allocates between pause and resume is counted, not recorded" {
	traced_well "$HOSTS/snapshots"
	report "$(snapshot 3)"
	[[ $(from_report 'p[0]["counts"]["paused_events"]') -eq 2 ]]
	[[ $(from_report 'p[0]["totals"]["untracked_frees"]') -eq 1 ]]
	[[ $(from_report 'p[0]["totals"]["unknown_frees"]') -eq 0 ]]
}

@test "marks are kept with their time" {
	traced_well "$HOSTS/snapshots"
	report "$(snapshot 1)"
	[[ $(from_report '[m["label"] for m in p[0]["marks"]]') == "['one ä mark', 'first']" ]]
	[[ $(from_report 'p[0]["start"] <= p[0]["marks"][0]["time"] <= p[0]["marks"][1]["time"]') == True ]]
}

@test "snapshots are private, and nothing else is left" {
	umask 0
	traced_well "$HOSTS/snapshots"
	ls -la "$DIR"
	[[ $(find "$DIR" -name '*.seep-snap' -perm 600 | wc -l) -eq 3 ]]
	[[ $(find "$DIR" -type f | wc -l) -eq 5 ]]
}

@test "in C++, without PIE, through a pointer" {
	traced_well "$HOSTS/cpp_api"
	[[ $(cat "$T/out") == "1 2" ]]
	report "$(snapshot 1)"
	local live='sum(s["live_blocks"] for s in p[0]["sites"] if any((f["function"] or "").startswith("(anonymous namespace)::grow") for f in s["frames"]))'
	[[ $(from_report "$live") -eq 100 ]]
	report "$(snapshot 2)"
	[[ $(from_report "$live") -eq 300 ]]
}

@test "a forked child has its own, also in its first events" {
	traced_well "$HOSTS/snapshots" fork
	ls "$DIR"
	local child parent
	child=$(awk '/^MOMENT nursery/ { getline; print $2 }' "$T/out")
	parent=$(awk '/^MOMENT parent/ { getline; print $2 }' "$T/out")
	[[ -n $child && $child -ne $parent ]]
	local n moment
	for moment in 1:"$child"-*-1 2:"$child"-*-2 3:"$parent"-*-1; do
		n=${moment%%:*}
		books "$n"
		# shellcheck disable=SC2086
		report "$(echo $DIR/snapshots-${moment#*:}.seep-snap)"
		"$PYTHON" "$LIB/compare.py" "$T/books" "$T/report.json"
	done
	[[ $(find "$DIR" -name '*.seep-snap' | wc -l) -eq 3 ]]
	report # they lie beside the segments, and are no processes of their own
	[[ $(from_report 'len(p)') -eq 2 ]]
	[[ $(from_report 'sorted(x["label"] for x in d["snapshots"])') == "['nursery', 'parent', 'slot']" ]]
	rm "$DIR"/*.seg "$DIR"/*.ctl
	report # now they are all that is known: the last of each
	[[ $(from_report 'sorted(x["snapshot_info"]["label"] for x in p)') == "['parent', 'slot']" ]]
}

@test "report --snapshots shows all moments of a directory, and the end" {
	traced_well "$HOSTS/snapshots"
	"$SEEP" report --snapshots "$DIR" >"$T/shown"
	head -8 "$T/shown"
	grep -q '4 moments' "$T/shown"
	grep -q '599,500 .*first' "$T/shown"
	grep -q '449,760 .*third' "$T/shown"
	grep -q '(its end)' "$T/shown"
	"$SEEP" diff "$(snapshot 1)" "$(snapshot 2)" >"$T/shown"
	cat "$T/shown"
	grep -q -- '-174,750' "$T/shown"
	grep -q -- '+25,000' "$T/shown"
}

@test "SEEP_SNAPSHOT_DIR is another place, made when missing" {
	(cd "$T" && mkdir home && cd home &&
		traced_well env SEEP_SNAPSHOT_DIR=../snaps "$HOSTS/snapshots")
	ls -la "$T/snaps"
	[[ $(find "$T/snaps" -name '*.seep-snap' | wc -l) -eq 3 ]]
	[[ $(stat -c %a "$T/snaps") == 700 ]]
	[[ $(find "$DIR" -name '*.seep-snap' | wc -l) -eq 0 ]]
}

@test "a directory that is not ours alone is refused and the failure counted" {
	mkdir -m 0777 "$T/open"
	chmod 0777 "$T/open"
	SEEP_SNAPSHOT_DIR=$T/open traced "$HOSTS/snapshots"
	[[ $status -eq 98 ]] # the host wants a number or 0
	[[ -z $(ls -A "$T/open") ]]
	report
	[[ $(from_report 'p[0]["lost"]["snapshots_failed"]') -eq 1 ]]
}

# unseen N: what process N says it allocated in pauses
unseen() { sed -n 's/^# unseen //p' "$T/out" | sed -n "$1p"; }

@test "threads, handlers and children pause for themselves" {
	bare "$HOSTS/pauses"
	[[ $bare_status -eq 0 ]]
	traced_well "$HOSTS/pauses"
	equals_ledger
	# the child prints first; the thread library may allocate for itself
	echo "$(unseen 1) $(unseen 2) $(from_report '[x["counts"]["paused_events"] for x in p]')"
	[[ $(unseen 2) -gt 5000 ]]
	[[ $(from_report 'p[0]["counts"]["paused_events"]') -eq $(unseen 2) ]]
	[[ $(from_report 'p[1]["counts"]["paused_events"]') -eq $(unseen 1) ]]
	[[ $(from_report 'p[0]["totals"]["untracked_frees"]') -eq $(($(unseen 2) - 1)) ]]
}

@test "pauses while sampling, dormant and off do no harm" {
	SEEP_SAMPLE=1000 traced_well "$HOSTS/pauses"
	report
	[[ $(from_report 'p[0]["counts"]["paused_events"]') -eq $(unseen 2) ]]
	[[ $(from_report 'p[0]["totals"]["live_bytes"] > 0') == True ]]
	rm -f "$DIR"/*
	SEEP_MODE=dormant traced_well "$HOSTS/pauses"
	report
	[[ $(from_report 'p[0]["totals"]["allocations"]') -eq 0 ]]
}
