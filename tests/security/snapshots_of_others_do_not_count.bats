#!/usr/bin/env bats
# snapshots_of_others_do_not_count - FILE.snapshots beside a recording, in a directory that anybody can write.
# threat: root's seep, pointed at a hostile user's directory, must not be made to read elsewhere; and what it cannot read completely it says
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

@test "of the snapshots beside a recording those of its owner count, and the others are counted" {
	local first
	[[ $(id -u) -eq 0 ]] || skip "needs root, to give a file away"
	record -q "$HOSTS/snapshots"
	first=$(find "$T/seep.data.snapshots" -name '*.seep-snap' | sort | head -n 1)
	chown 65534:65534 "$first"
	"$SEEP" report --format json "$T/seep.data" >"$T/json" 2>"$T/warned"
	"$PYTHON" -c '
import json, sys
d = json.load(open(sys.argv[1]))
assert len(d["snapshots"]) == 2, d["snapshots"]
' "$T/json"
	grep -q "seep.data.snapshots: 1 snapshot left out: not of the recording's owner" "$T/warned"
}
