#!/usr/bin/env bats
# out_of_memory_is_named - a process that the kernel killed for lack of memory under seep watch: report, JSON, ls, check, exports say so.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/watch.bash

@test "killed: out of memory, in all forms of a report of the history" {
	local folder
	need jq
	make_cgroup 40000000 || skip "no memory cgroup can be made"
	{ echo 0 >"$GROUP/memory.swap.max"; } 2>/dev/null || true
	printf '%s\n' '#include <stdlib.h>' '#include <string.h>' '#include <unistd.h>' \
		'int main(void) { char c; if (read(0, &c, 1)) for (;;) memset(malloc(4000), 1, 4000); }' |
		cc -w -O0 -x c - -o "$T/eater"
	mkfifo "$T/in"
	exec 8<>"$T/in"
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" SEEP_ONLY=eater sh -c "echo \$\$ >'$GROUP/cgroup.procs' && exec '$T/eater'" \
		<"$T/in" 3>&- 8>&- &
	HOST=$!
	PIDS+=("$HOST")
	watching
	eventually has_part
	echo >&8
	wait "$HOST" 2>/dev/null || true
	eventually is_empty
	unwatch
	exec 8>&-
	for _ in $(seq 50); do
		! rmdir "$GROUP" 2>/dev/null || break
		sleep 0.1
	done
	"$SEEP" ls --history "$H" --format json | jq -e '[.processes[] | select(.program == "eater")][0] |
		.state == "killed" and .out_of_memory'
	folder=$("$SEEP" ls --history "$H" --format json | jq -r '[.processes[] | select(.program == "eater")][0].path')
	folder=${folder%/*}
	"$SEEP" report "$folder" >"$T/text" || [[ $? -eq 3 ]]
	head -20 "$T/text"
	tr '\n' ' ' <"$T/text" | grep -q ') was killed: out of memory; its last event'
	"$SEEP" report --format json "$folder" | jq -e '[.processes[] | select(.program == "eater")][0] |
		.end == "killed" and .signal == 9 and .out_of_memory'
	"$SEEP" ls --history "$H" | grep -q 'killed: out of memory'
	"$SEEP" export --format callgrind "$folder" -o "$T/callgrind" || [[ $? -eq 3 ]]
	grep -q 'killed, signal 9, out of memory' "$T/callgrind"
	"$SEEP" check "$folder" >"$T/check" 2>&1 || true
	tr '\n' ' ' <"$T/check" | tr -s ' ' | grep -q 'was killed: out of memory'
}
