#!/usr/bin/env bats
# what_is_kept_on_purpose_is_known - seep_ignore() names blocks that are no leaks.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

named() { # [WORD for the host]
	mkfifo "$T/lines"
	env LD_PRELOAD="$COLLECTOR${PRELOAD_MORE:+ $PRELOAD_MORE}" SEEP_DIR="$DIR" \
		"$HOSTS/ignores" "$@" <"$T/lines" >"$T/out" 2>"$T/err" 3>&- 9>&- &
	PIDS+=($!)
	exec 9>"$T/lines"
	answered READY
	local pid
	pid=$(sed -n 's/^PID //p' "$T/out")
	PIDS+=("$pid")
	"$BUILD/tools/blocks_of" "$pid" >"$T/map"
	report "$pid"
	exec 9>&-
	diff <(sed -n 's/^KEPT //p' "$T/out" | sort) <(sed -n 's/^IGNORED //p' "$T/map" | sort)
	[[ $(grep -c ^IGNORED "$T/map") -eq 1000 ]]
}

@test "blocks that are kept, until they are freed; other things are counted" {
	named
	[[ $(from_report 'p[0]["counts"]["ignored_unknown"]') -eq 2 ]]
	[[ $(from_report 'p[0]["lost"]["ignored"]') -eq 0 ]]
}

@test "a forked child has them of its parent" {
	named fork
}

@test "behind jemalloc" {
	PRELOAD_MORE=$(ldconfig -p | awk 'index($1, "libjemalloc.so") == 1 { print $NF; exit }')
	[[ -n $PRELOAD_MORE ]] || lacking libjemalloc
	named
}

@test "without the collector it does nothing" {
	bare "$HOSTS/ignores" </dev/null
	[[ $bare_status -eq 0 && ! -s $T/bare.err ]]
}
