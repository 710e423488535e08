#!/usr/bin/env bats
# plugins_at_one_address_are_told_apart - I12: libraries that are loaded one after the other at the same address are distinguished.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

@test "I12 two plugins in turn at the same address keep their own blocks" {
	traced_well "$HOSTS/twins"
	grep '^# same address' "$T/out"
	equals_ledger
	# 100 loads, but who comes back to its place is who it was
	[[ $(from_report 'sum("twin_plugin" in m["path"] for m in p[0]["modules"]) < 20') == True ]]
}

@test "I11 stacks of two plugins in turn equal the unwinder's" {
	[[ -e $BUILD/libseep-verify.so ]] || lacking "build/libseep-verify.so"
	COLLECTOR=$BUILD/libseep-verify.so SEEP_VERIFY_OUT=$T/verify
	export SEEP_VERIFY_OUT
	traced_well "$HOSTS/twins"
	cat "$T/verify"
	grep -q ' mismatches=0 ' "$T/verify"
}

@test "I9 a plugin that is loaded 5,000 times is one module, and needs no memory" {
	mkdir "$DIR/w"
	cd "$DIR/w"
	traced_well "$HOSTS/plugins_without_end" 5000 same
	equals_ledger
	[[ $(from_report 'len(p[0]["modules"]) < 10') == True ]]
	[[ $(from_report 'len(p[0]["sites"]) < 30') == True ]]
	[[ $(sed -n 's/^grown //p' "$T/out") -lt 300 ]]
}

# as many as there are numbers, and some more; each load is another build
@test "I9 I12 module numbers run out: counted, no block under another's name, memory bounded" {
	mkdir "$DIR/w"
	cd "$DIR/w"
	traced_well "$HOSTS/plugins_without_end" 66500 other
	"$SEEP" report "$DIR" --format json --frames shared >"$T/report.json"
	# the file on disk is another build than those that ran: no name at all
	PYTHONPATH=$LIB "$PYTHON" - "$T/report.json" <<-'PY'
	import shared, sys
	p = shared.load(sys.argv[1])["processes"][0]
	inner = [(s["frames"][0], s) for s in p["sites"]]
	nameless = sum(s["allocations"] for f, s in inner if f["function"] is None)
	known = sum(s["allocations"] for f, s in inner
	            if f["function"] is None and f["module"])
	own = sum(s["allocations"] for f, s in inner
	          if f["function"] == "alloc_own" and s["stack"] == "complete")
	print(len(p["modules"]), nameless, known, own, p["lost"], p["tables"])
	assert len(p["modules"]) == 65472
	assert nameless == own == 66500 and known > 65000
	assert p["lost"]["modules"] > 1000 and p["lost"]["events"] == 0
	assert p["live_map"] == "agrees"
	assert p["tables"]["own_bytes"] < 32 << 20
	PY
	[[ $(sed -n 's/^grown //p' "$T/out") -lt 30000 ]]
}
