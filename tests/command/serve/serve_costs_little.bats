#!/usr/bin/env bats
# serve_costs_little - what seep serve costs with very many services, or very many sites.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/serve.bash

# cost WHAT N: $T/cost has the figures. In a cgroup namespace of its own every
# program is a service, whatever container the tests run in.
cost() {
	local apart=()
	! unshare -C true 2>/dev/null || apart=(unshare -C)
	timeout 280 "${apart[@]}" "$PYTHON" "$LIB/serve_cost.py" "$SEEP" "$COLLECTOR" "$HOSTS/busy_sites" \
		"$DIR" "$(free_port)" "$@" >"$T/cost" 2>&1 || {
		cat "$T/cost"
		return 1
	}
	cat "$T/cost"
	[[ ${#apart[@]} -eq 0 || $1 != services ]] || grep -qx "services $2" "$T/cost"
}
# at_most NAME LIMIT
at_most() {
	awk -v name="$1" -v limit="$2" '$1 == name { seen = 1; if ($2 > limit) exit 1 } END { exit !seen }' "$T/cost"
}

@test "a scrape of 100 services takes 10 ms" {
	cost services 100
	# CPU time: others work on this machine. On an idle one scrape_ms is the same.
	at_most scrape_cpu_ms 10
	at_most resident_mib 32
}

@test "a profile of 5,000 sites whose names are known takes 150 ms" {
	cost sites 5000
	at_most heap_ms "$(full_or 150 600)"
}

# bats test_tags=full
@test "1,000 services, each 15 s: 10 % of a core, 128 MiB" {
	cost services 1000
	at_most core_at_15s 0.1
	at_most resident_mib 128
}
