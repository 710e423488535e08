#!/usr/bin/env bats
# jit_code_is_named_by_its_map - frames that are in no module get names from a perf map.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

map() { echo "/tmp/perf-$(sed -n 's/^PID //p' "$T/out").map"; }

made() { # ARGS: names of the innermost frames of what the made code allocated
	"$SEEP" report --no-cache --format json "$@" >"$T/report.json"
	jq -r '.processes[].sites[] | select(.live_bytes == 123450)
		| .frames[0].function' "$T/report.json"
}

@test "a recording has the names even if the map is gone" {
	record -q "$HOSTS/jit"
	[[ $status -eq 0 ]]
	rm "$(map)"
	[[ $(made "$T/seep.data") == com.example.Made.run ]]
}

@test "a segment gets its names from the map if the map belongs to that process" {
	traced_well "$HOSTS/jit"
	[[ $(made "$DIR") == com.example.Made.run ]]
	touch -d '2001-01-01' "$(map)"
	[[ $(made "$DIR") == null ]]
	jq -e 'any(.notes[]; contains("perf-PID.map is older"))' "$T/report.json"
	rm "$(map)"
	[[ $(made "$DIR") == null ]]
	jq -e 'any(.notes[]; contains("outside of any module"))' "$T/report.json"
}
