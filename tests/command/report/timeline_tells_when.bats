#!/usr/bin/env bats
# timeline_tells_when - the time line shows what was live at each moment, what grew, and what happened.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

# shellcheck disable=SC2154 # $status is record()'s
setup_file() {
	need jq
	cat >"$BATS_FILE_TMPDIR/grow.c" <<-'END'
		/* grow N: 200 big blocks, then N steps: one leaks, one is freed, one of the big goes */
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		#define FN(name, size) __attribute__((noinline)) char *name(void) { \
			char *volatile p = malloc(size); return p; }
		FN(leak, 1000) FN(churn, 5000) FN(shrink, 3000)
		int main(int argc, char **argv) {
			char *held[200];
			for (int i = 0; i < 200; i++)
				held[i] = shrink();
			for (int i = 0; i < atoi(argv[1]); i++) {
				leak();
				free(churn());
				if (i < 200)
					free(held[i]);
				usleep(10000);
			}
			if (argc > 2 && fork() == 0) {
				for (int i = 0; i < 100; i++)
					churn();
				usleep(400000);
				_exit(0);
			}
			if (argc > 2) {
				wait(NULL);
				execl(argv[0], argv[0], "30", NULL);
			}
			return 0;
		}
	END
	"${CC:-gcc}" -O1 -g -o "$BATS_FILE_TMPDIR/grow" "$BATS_FILE_TMPDIR/grow.c"
	export GROW=$BATS_FILE_TMPDIR/grow
}

json() { "$SEEP" report "$T/seep.data" --format json | jq -c "$1"; }

@test "the time line of a process: rising times, figures that add up" {
	record -q "$GROW" 100
	json '.processes[0].timeline' >"$T/line"
	[[ $(jq '.times_us | length >= 4' "$T/line") == true ]]
	[[ $(jq '.times_us == (.times_us | sort)' "$T/line") == true ]]
	[[ $(jq '.allocations == (.allocations | sort)' "$T/line") == true ]]
	[[ $(jq '[.times_us, .live_bytes, .live_blocks, .allocations, .allocated_bytes] | map(length) | unique | length' "$T/line") == 1 ]]
	# the last point is the end, and the end is the totals
	[[ $(jq '.allocations[-1]' "$T/line") == $(json '.processes[0].totals.allocations') ]]
	[[ $(jq '.live_bytes[-1]' "$T/line") == $(json '.processes[0].totals.live_bytes') ]]
	[[ $(json '.recording.until_us > 1000000') == true ]]
}

@test "a sampled recording has its sites over time as well" {
	record -q --sample 1 "$GROW" 100
	[[ $(json '[.processes[0].sites[].series | select(. != null)] | length > 0') == true ]]
	"$SEEP" report "$T/seep.data" --growth 0.2..1 >"$T/grown"
	cat "$T/grown"
	grep -q leak "$T/grown"
}

@test "sites of weight have a series that ends where the site ends" {
	record -q "$GROW" 100
	json '[.processes[0].sites[] | select(.series != null)]' >"$T/sites"
	[[ $(jq 'length >= 3' "$T/sites") == true ]]
	[[ $(jq 'map(.series.live_bytes[-1] == .live_bytes) | all' "$T/sites") == true ]]
	[[ $(jq 'map(.series.allocations[-1] == .allocations) | all' "$T/sites") == true ]]
}

@test "a segment has no time line, and says so" {
	LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR "$GROW" 1
	[[ $("$SEEP" report "$DIR" --format json | jq -c '[.recording, .processes[0].timeline]') == '[null,null]' ]]
	complains 3 "$SEEP" report "$DIR" --growth
}

@test "--growth: what grew comes first, what shrank last, with signs" {
	record -q "$GROW" 150
	"$SEEP" report "$T/seep.data" --growth --table >"$T/text"
	grep -qE '^ *\+[0-9.]+% +\+[0-9,]+ +\+[0-9]+ .* in leak ' "$T/text"
	grep -qE '^ *-[0-9.]+% +-[0-9,]+ +-[0-9]+ .* in shrink ' "$T/text"
	lacks churn "$T/text"
	[[ $(grep -n 'in leak ' "$T/text" | cut -d: -f1) -lt $(grep -n 'in shrink ' "$T/text" | cut -d: -f1) ]]
	# as a tree: callers below
	"$SEEP" report "$T/seep.data" --growth 0..100% >"$T/text"
	grep -q '<- main' "$T/text"
	# from the first moment on all that lives is growth
	[[ $(sed -n '1s/.*: +\([0-9,]*\) bytes live.*/\1/p' "$T/text" | tr -d ,) == $(json '.processes[0].totals.live_bytes') ]]
	"$SEEP" report "$T/seep.data" --growth=0.5s..80% >"$T/text"
	complains 2 "$SEEP" report "$T/seep.data" --growth=5
	complains 2 "$SEEP" report "$T/seep.data" --growth=1..2x
	complains 2 "$SEEP" report "$T/seep.data" --growth=1..120%
	complains 2 "$SEEP" report "$T/seep.data" --growth=5..1
}

@test "the line of blocks is ASCII where the locale is not UTF-8" {
	record -q "$GROW" 60
	LC_ALL=C "$SEEP" report "$T/seep.data" >"$T/text"
	grep -qE '^Live bytes over .*: [0-9]+ up to .*\.$' "$T/text"
	lacks $'\xe2' "$T/text"
	if locale -a 2>/dev/null | grep -qi 'C.utf-\?8'; then
		LC_ALL=C.UTF-8 "$SEEP" report "$T/seep.data" >"$T/text"
		grep -q $'^Live bytes over .*\xe2\x96' "$T/text"
	fi
}

@test "marks: start, fork, exec, exit, end" {
	record -q "$GROW" 30 family
	[[ $status -eq 0 ]]
	json '[.recording.marks[].kind]' >"$T/kinds"
	for kind in start spawn fork exec end; do
		[[ $(jq "index(\"$kind\") != null" "$T/kinds") == true ]]
	done
	[[ $(jq -c '[.[0], .[-1]]' "$T/kinds") == '["start","end"]' ]]
	[[ $(json '[.recording.marks[].time_us] | . == sort') == true ]]
	[[ $(json '[.processes[].end]') == '["exec","unknown","exited"]' ]]
}

@test "--interval" {
	record -q --interval 20ms "$GROW" 200
	[[ $(json '.processes[0].timeline.times_us | length >= 5') == true ]]
	record -q --interval 10s "$GROW" 60
	[[ $(json '.processes[0].timeline.times_us | length <= 3') == true ]]
}

@test "--growth of moments after the end of the recording is a mistake" {
	"$SEEP" record -q --force -o "$T/short.data" sleep 0.3
	complains 2 "$SEEP" report "$T/short.data" --growth 60..600
	"$SEEP" report "$T/short.data" --growth 0..600 >"$T/text"
}
