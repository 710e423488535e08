#!/usr/bin/env bats
# early_calls_are_counted_in_any_order - I7, I15, I19: calls in constructors are counted, in whatever order libraries start.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

# as_expected: each EXPECT line of $T/out is a function of the report, with its
# allocations and frees; allocations before our relocation are counted as such
as_expected() {
	# shellcheck disable=SC2119
	report
	"$PYTHON" - "$T/out" "$T/report.json" <<-'END'
		import json, sys
		p = json.load(open(sys.argv[2], encoding="utf-8"))["processes"]
		assert len(p) == 1, len(p)
		bad = 0
		for words in map(str.split, open(sys.argv[1], encoding="utf-8")):
		    if words[0] == "EARLY":
		        want, got = int(words[1]), p[0]["lost"]["early_events"]
		    elif words[0] == "EXPECT":
		        want = [int(w) for w in words[2:]]
		        sites = [s for s in p[0]["sites"]
		                 if s["frames"] and s["frames"][0]["function"] == words[1]]
		        got = [sum(s["allocations"] for s in sites),
		               sum(s["frees"] for s in sites)]
		    else:
		        continue
		    if want != got:
		        print("%s: %s in the trace, expected %s" % (" ".join(words[:2]), got, want))
		        bad = 1
		lost = {k: v for k, v in p[0]["lost"].items() if v and k != "early_events"}
		if lost or p[0]["totals"]["unknown_frees"] or p[0]["totals"]["missed_frees"]:
		    print(lost, p[0]["totals"])
		    bad = 1
		sys.exit(bad)
	END
}

WHICH=early

# in_order LIBRARY...: preloaded in this order, ours and others
in_order() {
	rm -rf "${DIR:?}"/*
	COLLECTOR=$* traced_well "$HOSTS/$WHICH" || return
	as_expected || {
		echo "in the order: $*"
		return 1
	}
}

allocator() { # PATTERN
	ALLOCATOR=$(ldconfig -p | awk -v p="$1" 'index($1, p) == 1 { print $NF; exit }')
	[[ -n $ALLOCATOR ]] || lacking "$1"
}

all_orders() {
	local ours=$BUILD/libseep.so cxx=$BUILD/libseep-cxx.so

	allocator "$1"
	in_order "$ours" "$ALLOCATOR"
	in_order "$ours" "$cxx" "$ALLOCATOR"
	in_order "$cxx" "$ours" "$ALLOCATOR"
	in_order "$ours" "$ALLOCATOR" "$cxx"
}

# other allocators do not survive a call before their own relocation
@test "I15 glibc: constructors and resolvers of libraries, in any order of ours" {
	WHICH=early_resolver
	in_order "$BUILD/libseep.so"
	in_order "$BUILD/libseep.so" "$BUILD/libseep-cxx.so"
	in_order "$BUILD/libseep-cxx.so" "$BUILD/libseep.so"
}

@test "I15 I19 jemalloc: constructors of libraries, in any order" {
	all_orders libjemalloc.so
}

@test "I15 I19 tcmalloc: constructors of libraries, in any order" {
	all_orders libtcmalloc_minimal.so
}

@test "I15 I19 mimalloc: constructors of libraries, in any order" {
	all_orders libmimalloc.so
}

@test "I15 an auditor and eager binding change nothing" {
	LD_AUDIT=$HOSTS/auditor_plugin.so LD_BIND_NOW=1 traced_well "$HOSTS/early_resolver"
	# shellcheck disable=SC2119
	report
	[[ $(from_report 'p[0]["lost"]["early_events"]') -eq $(sed -n 's/^EARLY //p' "$T/out") ]]
	[[ $(from_report 'sum(s["allocations"] for s in p[0]["sites"] if s["frames"] and s["frames"][0]["function"] == "first_alloc")') -eq 200 ]]
}

@test "I1 libseep-cxx.so takes nothing from the heap of a C program" {
	COLLECTOR="$BUILD/libseep.so $BUILD/libseep-cxx.so" traced_well "$HOSTS/early"
	# shellcheck disable=SC2119
	report
	local with
	with=$(from_report 'p[0]["totals"]["allocations"]')
	rm -rf "${DIR:?}"/*
	traced_well "$HOSTS/early"
	# shellcheck disable=SC2119
	report
	[[ $with -eq $(from_report 'p[0]["totals"]["allocations"]') ]]
}

@test "I7 I18 the report says if another allocator comes before the collector" {
	allocator libjemalloc.so
	COLLECTOR="$ALLOCATOR $BUILD/libseep.so" traced_well "$HOSTS/early"
	# shellcheck disable=SC2119
	report
	[[ $(from_report 'p[0]["lost"]["malloc_before"]') -eq 1 ]]
	"$SEEP" report "$DIR" | tr '\n' ' ' | grep -q '1 definition of malloc in libraries before the collector'
	! "$SEEP" report "$DIR" | grep -q 'No event is lost' || false
	run "$SEEP" check "$DIR"
	[[ $status -eq 3 ]]
}
