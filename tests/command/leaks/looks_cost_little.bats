#!/usr/bin/env bats
# looks_cost_little.bats - what a look costs its reader, and a host that works meanwhile.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/verdicts.bash

# cost WHAT: the figures of tests/lib/look_cost.py; in make check a tenth of the
# size, and twice the time, because others work on the machine
cost() {
	"$PYTHON" "$LIB/look_cost.py" "$1" "$SEEP" "$COLLECTOR" "$HOSTS/look_cost" "$DIR" \
		"$(full_or 1000000 100000)" "$(full_or 1 2)"
}

@test "a look takes 6 times the CPU time of a copy at most, 48 bytes a block, 8 a pointer" {
	cost reader
}

@test "a thread that writes gets done what it does beside a process that spins" {
	cost writing
}

@test "a thread that maps and unmaps memory hardly ever waits for a look" {
	cost mapping
}
