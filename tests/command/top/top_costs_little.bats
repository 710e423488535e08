#!/usr/bin/env bats
# top_costs_little - a host gets as much done beside seep top as alone, and makes the same system calls; top itself is quick and small.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/host.bash

# cost WHAT ROUNDS SECONDS: the figures of tests/lib/top_cost.py
cost() { "$PYTHON" "$LIB/top_cost.py" "$1" "$SEEP" "$COLLECTOR" "$HOSTS" "$DIR" "$T" "$2" "$3"; }

@test "a host gets done beside top what it gets done alone" {
	cost throughput "$(full_or 9 4)" "$(full_or 3 0.2)"
}

@test "a host makes the same system calls beside top and beside watch as alone" {
	need strace
	cost calls 1 "$(full_or 10 0.3)"
}

@test "the first screen and the answer to a key come at once, with 5,000 sites" {
	cost screen "$(full_or 9 2)" 0
}

@test "top with 100 processes of 500 sites has little memory" {
	cost memory 1 "$(full_or 130 3)"
}
