#!/usr/bin/env bats
# record_keeps_resident_pages.bats - record --rss keeps which sites hold resident pages, over time.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/verdicts.bash

# now FILTER: what the recording says, while it is written or after it
now() {
	"$SEEP" report --format json "$T/r" >"$T/now.json" 2>/dev/null && [[ -s $T/now.json ]] || return 1
	jq -e ".processes[0] | $1" "$T/now.json" >/dev/null
}

# recorded OPTION...: holds_grow below seep record; it ends when descriptor 9 is closed
recorded() {
	rm -f "$T/lines" "$T/out"
	mkfifo "$T/lines"
	env SEEP_DIR="$DIR" "$SEEP" record -q "$@" -o "$T/r" "$HOSTS/holds_grow" <"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
	RECORD=$!
	PIDS+=("$RECORD")
	exec 9>"$T/lines"
	answered ready
}

@test "readings show that held pages grow while live bytes fall" {
	recorded --rss=1s
	eventually now '.rss.course | length > 0'
	echo free >&9
	eventually now '.rss.classes.partly_free > 20000000'
	exec 9>&-
	wait "$RECORD"
	[[ ! -s $T/err ]]
	now '.rss | .split and .rss_bytes > 20000000 and .classes.living < 1000000 and
		(.course | length >= 2 and .[0].live_bytes > 20000000 and .[-1].live_bytes < 1000000)'
	now '[.sites[] | select(.frames[0].function == "grow_note") | .holds_bytes] | add > 20000000'
	"$SEEP" report --rss "$T/r" >"$T/text"
	cat "$T/text"
	grep -q '^[0-9]* readings:$' "$T/text"
	"$SEEP" report --growth=0..100% --sort holds "$T/r" >"$T/growth"
	cat "$T/growth"
	grep -q '+2[0-9],[0-9,]* .*grow_note' "$T/growth"
	# a copy with names has all readings
	"$SEEP" export --format seep -o "$T/copy" "$T/r"
	"$SEEP" report --format json "$T/copy" | jq -e '.processes[0].rss.course | length >= 2' >/dev/null
}

@test "a recording without readings has none, and says so" {
	recorded
	exec 9>&-
	wait "$RECORD"
	now 'has("rss") | not'
	run "$SEEP" report --rss "$T/r"
	[[ $status -eq 2 && ${#lines[@]} -eq 1 && $output == *"no reading of pages"* ]]
}

# chapters_read: readings of each chapter that has some, a line each
chapters_read() {
	local file
	for file in "$T"/r/*.seep; do
		"$SEEP" report --format json "$file" 2>/dev/null | jq '.processes[0].rss.course // empty | length' || true
	done
}
two_chapters_read() { [[ $(chapters_read | wc -l) -ge 2 ]]; }

@test "chapters have readings of their own, and are one course together" {
	recorded --rss=100ms --rotate 2s
	eventually two_chapters_read
	exec 9>&-
	wait "$RECORD"
	[[ ! -s $T/err ]]
	now "(.rss.course | length) == $(chapters_read | paste -sd+)"
	now '.rss.course | [.[].time_ms] | . == sort and (unique | length) >= 2'
	now '[.sites[] | select(.frames[0].function == "grow_filler") | .holds_bytes] | add > 20000000'
	"$SEEP" report --rss "$T/r" | grep -q '^[0-9]* readings:$'
}

# spared BLOCKS OPTION...: records pinned with so many blocks
spared() {
	rm -rf "$T/lines" "$T/out" "$T/r"
	mkfifo "$T/lines"
	env SEEP_DIR="$DIR" "$SEEP" record -q "${@:2}" -o "$T/r" "$HOSTS/pinned" dense "$1" <"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
	RECORD=$!
	PIDS+=("$RECORD")
	exec 9>"$T/lines"
	answered ready
}

@test "a reading is followed by a rest of a hundred times its time, and readings are a tenth of the recording" {
	spared "$(full_or 1000000 20000)" --rss=100ms
	eventually now '.rss.course | length >= 2'
	exec 9>&-
	wait "$RECORD"
	now '.rss | .split and (.course | . as $c | [range(1; length)] | length >= 1 and
		all($c[.].time_ms - $c[. - 1].time_ms >= 100 * $c[. - 1].took_ms))'
	"$PYTHON" - "$T/r" <<-'END'
		import struct, sys
		data = open(sys.argv[1], "rb").read()
		at, readings = struct.unpack_from("<I", data, 12)[0], 0
		while at + 24 <= len(data):
		    kind, _, length = struct.unpack_from("<IIQ", data, at)
		    size = 24 + (length + 7) // 8 * 8
		    readings += size if kind == 10 else 0
		    at += size
		print(readings, "of", len(data))
		assert 0 < readings <= (len(data) - readings) / 10 + 512 # the last one is always kept
	END
}

# used: CPU time of the recorder and of the children that it has waited for, which are those that read, in ms
used() { awk '{ sub(/.*\) /, ""); print 1000 / '"$(getconf CLK_TCK)"' * ($12 + $13 + $14 + $15) }' "/proc/$RECORD/stat"; }

# spent COMMAND...: what the recorder used during it is in $cpu, the time that it took in $elapsed
spent() {
	local before since
	before=$(used)
	since=$(date +%s%3N)
	"$@"
	elapsed=$(($(date +%s%3N) - since))
	cpu=$(($(used) - before))
}

# bats test_tags=full
@test "with a heap of 1 GB readings take one percent of a CPU" {
	local cpu elapsed with cycle
	spared 1000000 --rss=1s
	eventually now '.rss.course | length >= 1'
	# one more, and the rest before it
	spent eventually now '.rss.course | length >= 2'
	with=$cpu
	exec 9>&-
	wait "$RECORD"
	# the first one was perhaps seen late
	cycle=$(jq '.processes[0].rss.course | .[1].time_ms - .[0].time_ms' "$T/now.json")
	spared 1000000
	spent sleep "$((elapsed / 1000))"
	echo "with a reading $with ms, without $cpu ms, one in $cycle ms"
	exec 9>&-
	wait "$RECORD"
	# two ticks of the clock of CPU time
	[[ $((with - cpu)) -le $((cycle / 100 + 20)) ]]
}

@test "wrong times are refused in one line" {
	run "$SEEP" record --rss=1ms true
	[[ $status -eq 2 && ${#lines[@]} -eq 1 ]]
	run "$SEEP" record --rss=x true
	[[ $status -eq 2 && ${#lines[@]} -eq 1 ]]
}
