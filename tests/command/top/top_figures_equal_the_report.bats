#!/usr/bin/env bats
# top_figures_equal_the_report - top --format json has the figures of report --format json.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/top.bash

# equal PID: every figure that both have, of totals and of sites of the heap
equal() {
	"$SEEP" report --format json "$1" >"$T/report.json"
	SEEP_DIR=$DIR "$SEEP" top --once --interval 100ms --format json "$1" >"$T/top.json"
	"$PYTHON" - "$T/report.json" "$T/top.json" <<'PY'
import json
import sys
report = json.load(open(sys.argv[1]))["processes"][0]
lines = open(sys.argv[2]).read().splitlines()
assert len(lines) == 1, len(lines)
top = json.loads(lines[0])["processes"]
assert len(top) == 1, len(top)
top = top[0]
for key in ("uuid", "exe", "command", "start", "start_ns", "end", "mode", "state", "sample_bytes", "lost"):
    assert top[key] == report[key], (key, top[key], report[key])
common = set(top["totals"]) & set(report["totals"])
assert len(common) == 7, common
for key in common:
    assert top["totals"][key] == report["totals"][key], (key, top["totals"], report["totals"])
heap = {s["id"]: s for s in report["sites"] if s["kind"] == "heap"}
sites = {s["id"]: s for s in top["sites"]}
assert set(heap) == set(sites), set(heap) ^ set(sites)
for id, site in sites.items():
    for key in set(site) & set(heap[id]):
        assert site[key] == heap[id][key], (id, key, site[key], heap[id][key])
    assert site["since_bytes"] == 0 and site["growth_per_second"] == 0
    names = {(f["function"], f["file"], f["line"]) for f in heap[id]["frames"]}
    assert (site["function"], site["file"], site["line"]) in names, (site, names)
print(len(sites))
PY
}

@test "of a process that waits" {
	start_host
	tell grow 1000
	tell shrink 300
	tell hold 77
	tell inline 5
	tell stacks 300
	[[ $(equal "$HOST") -gt 300 ]]
}

@test "of a process that was stopped in the middle of its work" {
	local i
	start_host
	tell stacks 50
	echo "busy 100000" >&9
	for i in 1 2 3 4 5; do
		sleep 0.1
		kill -STOP "$HOST"
		eventually is_stopped "$HOST"
		equal "$HOST"
		kill -CONT "$HOST"
	done
}
is_stopped() { grep -q '^State:.T' "/proc/$1/status"; }

@test "of a sampled process, one with many threads, one with pools" {
	local host
	start_host SEEP_SAMPLE=10k
	tell grow 3000
	equal "$HOST"
	for host in crowd pools; do
		mkfifo "$T/in.$host"
		LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR "$HOSTS/$host" <>"$T/in.$host" >"$T/out.$host" 2>&1 3>&- &
		PIDS+=("$!")
		eventually is_traced "$!" || continue
		kill -STOP "$!" 2>/dev/null || continue # it was quick
		eventually is_stopped "$!"
		equal "$!"
	done
}
is_traced() { "$SEEP" report "$1" >/dev/null 2>&1 || [[ ! -e /proc/$1 ]]; }

@test "of a process that has ended while top looked: its last state" {
	start_host
	tell grow 1000
	SEEP_DIR=$DIR "$SEEP" top --count 3 --interval 300ms --format json "$HOST" >"$T/top.json" &
	eventually grep -q '"look":0' "$T/top.json"
	kill -KILL "$HOST"
	wait "$HOST" || true
	wait $!
	jq -se 'length == 3 and (.[2].processes[0] | .totals.live_bytes > 1000000 and
		.end != "running" and .cause != null)' "$T/top.json"
}
