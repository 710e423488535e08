#!/usr/bin/env bats
# what_is_ours_is_known - memory of the collector is never taken for the host's.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

# started NAME [VARIABLE=VALUE...] COMMAND...: it waits for the end of descriptor 9; its
# output is in $T/NAME
started() {
	local name=$1
	shift
	env "$@" <"$T/lines" >"$T/$name" 2>"$T/$name.err" 3>&- 9>&- &
	PIDS+=($!)
}

ready() { # NAME
	eventually grep -q '^READY' "$T/$1"
	PIDS+=("$(sed -n 's/^PID //p' "$T/$1")")
}

# covered GENERATIONS [VARIABLE=VALUE...]: what a traced host has more than a bare one
# is ours, and nothing else is
covered() {
	local generations=$1
	shift
	mkfifo "$T/lines"
	started bare SEEP_DIR="$DIR" "$@" "$HOSTS/memory" "$generations"
	started out LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$@" "$HOSTS/memory" "$generations"
	exec 9>"$T/lines"
	ready bare
	ready out
	"$BUILD/tools/ours_of" "$(sed -n 's/^PID //p' "$T/out")" >"$T/ours"
	"$PYTHON" "$LIB/mappings.py" "$T/bare" "$T/out" "$T/ours"
	exec 9>&-
}

@test "a process: all that it has more than bare, and nothing else" {
	covered 0
}

@test "a forked child in a slot of its parent" {
	covered 1 SEEP_CHILD_FILES=0
}

@test "a forked child with a file of its own" {
	covered 1 SEEP_CHILD_FILES=1
}

@test "a child of a child of a child" {
	covered 3 SEEP_CHILD_FILES=0
}

@test "a child of a child with files of their own" {
	covered 2 SEEP_CHILD_FILES=1
}

@test "a sampled process" {
	covered 0 SEEP_SAMPLE=4K
}

@test "with libseep-cxx.so before" {
	COLLECTOR="$BUILD/libseep-cxx.so $BUILD/libseep.so"
	covered 0
}
