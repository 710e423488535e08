#!/usr/bin/env bats
# what_is_announced_is_on_the_disk - a recording and a snapshot are synced, file and directory entry, before the user is informed (test_power tries every interruption).
# threat: if seep cannot read something completely, it says so
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

# synced FILE WORDS: a file and then a directory are synced before these words
synced() {
	"$PYTHON" - "$1" "$2" <<-'PY'
	import re, sys
	seen = []
	for line in open(sys.argv[1], errors="replace"):
	    m = re.search(r"(fsync|write)\(\d+<([^>]*)>(?:, \"(.*)\")?", line)
	    if m and m[1] == "fsync":
	        seen.append(m[2])
	    elif m and m[3] and re.search(sys.argv[2], m[3]):
	        print(seen)
	        assert len(seen) >= 2, "told before it was synced"
	        assert seen[-1] == seen[-2].rsplit("/", 1)[0], seen
	        sys.exit(0)
	sys.exit("nothing was told")
	PY
}

@test "record, record --no-symbols, snapshot, export --format seep" {
	need strace
	cd "$T"
	SEEP_DIR=$DIR strace -qq -y -s 200 -e trace=fsync,write -o trace "$SEEP" record -o a.seep true || skip "strace may not trace here"
	synced trace 'recorded 1 process'
	SEEP_DIR=$DIR strace -qq -y -s 200 -e trace=fsync,write -o trace "$SEEP" record --no-symbols -o b.seep true
	synced trace 'recorded 1 process'
	strace -qq -y -s 200 -e trace=fsync,write -o trace "$SEEP" export a.seep --format seep -o '%e-%n' >out
	synced trace 'true-1'
	waiting
	strace -qq -y -s 200 -e trace=fsync,write -o trace "$SEEP" snapshot "$HOST" -o c.snap >said 3>&- 9>&-
	synced trace c.snap
	ends_well
}
