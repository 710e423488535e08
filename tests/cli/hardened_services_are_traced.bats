#!/usr/bin/env bats
# hardened_services_are_traced - T85, T86: no /proc, read-only root, other namespaces, second copies.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

# in_jail SCRIPT: / is read-only, /proc is empty, /dev/shm is there
in_jail() {
	unshare -m true 2>/dev/null || skip "no mount namespace here"
	mkdir -p "$T/jail"
	unshare -m bash -eu -c "
		mount --make-rprivate /
		mount --rbind / '$T/jail'
		mount -t tmpfs -o ro tmpfs '$T/jail/proc'
		mount -o remount,bind,ro '$T/jail'
		chroot '$T/jail' /bin/bash -eu -c \"
			! touch /x 2>/dev/null
			[[ ! -e /proc/self ]]
			$1\""
}

@test "T85 I16 no /proc and a read-only root: as bare, exact, with names" {
	bare "$HOSTS/family"
	in_jail "LD_PRELOAD='$COLLECTOR' SEEP_DIR='$DIR' '$HOSTS/family'" >"$T/out" 2>"$T/err"
	diff <(grep -v ^PID "$T/bare") <(grep -v ^PID "$T/out")
	[[ ! -s $T/err ]]
	equals_ledger
}

@test "T46 the same pid twice in two namespaces: two files, both right" {
	unshare -Urpf true 2>/dev/null || skip "no pid namespace here"
	local i
	for i in 1 2 3; do
		SEEP_DIR=$DIR unshare -Urpf --mount-proc env LD_PRELOAD="$COLLECTOR" \
			"$HOSTS/family" >"$T/out$i" &
		PIDS+=($!)
	done
	wait "${PIDS[@]}"
	PIDS=()
	[[ $(sort -u "$T"/out? | grep -c ^PID) -eq 1 ]]
	report
	[[ $(from_report 'len(p)') -eq 3 ]]
	[[ $(from_report 'len(set(x["uuid"] for x in p))') -eq 3 ]]
	[[ $(from_report 'len(set(x["totals"]["allocations"] for x in p))') -eq 1 ]]
}

@test "T21 a second copy of ourselves: as bare, each event counted once" {
	cp "$COLLECTOR" "$T/libseep-copy.so"
	PRELOAD_MORE=$T/libseep-copy.so
	bare "$HOSTS/family"
	traced "$HOSTS/family"
	same_as_bare
	report
	# whichever of the two recorded: the host's own figures, not twice
	local truth
	truth=$(sed -n 's/^SITE TOTAL allocations=\([0-9]*\) .*/\1/p' "$T/out")
	[[ $(from_report "max(x['totals']['allocations'] for x in p)") -le $((truth + 20)) ]]
	[[ $(from_report "max(x['totals']['allocations'] for x in p)") -ge $truth ]]
}

@test "T21 fakeroot around us, and us around fakeroot" {
	need fakeroot
	# shellcheck disable=SC2016 # for the inner shell
	local script='touch f && chown 7:8 f && stat -c %u:%g f && "$1" | grep -v ^PID && rm f'
	(cd "$T" && fakeroot sh -c "$script" sh "$HOSTS/family") >"$T/bare"
	(cd "$T" && SEEP_DIR=$DIR fakeroot env LD_PRELOAD="$COLLECTOR:$(fakeroot sh -c 'echo "$LD_PRELOAD"')" \
		sh -c "$script" sh "$HOSTS/family") >"$T/out"
	diff "$T/bare" "$T/out"
	(cd "$T" && LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR fakeroot sh -c "$script" sh "$HOSTS/family") >"$T/out"
	diff "$T/bare" "$T/out"
}

@test "T42 a host that the memory cgroup kills leaves a readable trace" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	local base group
	base=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
	group=$base/seep-oom-$$
	[[ -e $base/cgroup.controllers ]] && mkdir "$group" 2>/dev/null &&
		echo 20000000 2>/dev/null >"$group/memory.max" ||
		{ rmdir "$group" 2>/dev/null || true; skip "no memory cgroup can be made"; }
	echo 0 >"$group/memory.swap.max" 2>/dev/null || true
	printf '%s\n' '#include <stdlib.h>' '#include <string.h>' \
		'int main(void) { for (;;) memset(malloc(4000), 1, 4000); }' |
		cc -w -O0 -x c - -o "$T/eater"
	traced sh -c "echo \$\$ >'$group/cgroup.procs' && exec '$T/eater'"
	rmdir "$group" || true
	[[ $status -eq 137 ]]
	report
	[[ $(from_report '[x["end"] for x in p if "eater" in x["exe"]][0]') == killed ]]
	[[ $(from_report 'max(x["totals"]["live_blocks"] for x in p) > 2000') == True ]]
}

@test "T78 ten million pairs under a budget of 1 MiB: the cap holds, the books are exact" {
	export SEEP_BUDGET=1M
	printf '%s\n' '#include <stdlib.h>' \
		'int main(void) { for (long i = 0; i < 10000000; i++) { void *volatile p = malloc(i % 500); free(p); } return 0; }' |
		cc -w -O1 -fno-builtin -x c - -o "$T/pairs"
	traced_well "$T/pairs"
	[[ $(du -k --total "$DIR" | tail -n 1 | cut -f1) -le 1200 ]]
	report
	[[ $(from_report 'p[0]["totals"]["allocations"] >= 10000000') == True ]]
	[[ $(from_report 'p[0]["lost"]["events"]') -eq 0 ]]
	[[ $(from_report 'p[0]["totals"]["live_blocks"] < 100') == True ]]
}
