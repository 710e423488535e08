#!/usr/bin/env bats
# a_small_host_gives_little - the figures of "What it takes" in the README, measured.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

# more WHO WHAT: how many KiB a traced process has more than a bare one
more() {
	local bare traced
	bare=$(sed -nE "s/^$1 .*\b$2 (-?[0-9]+).*/\1/p" "$T/bare")
	traced=$(sed -nE "s/^$1 .*\b$2 (-?[0-9]+).*/\1/p" "$T/out")
	echo "$1 $2: bare $bare, traced $traced KiB" >&2
	[[ $bare -ge 0 && $traced -ge 0 ]] || echo 999999
	echo $((traced - bare))
}

holds() { # WHO WHAT MOST
	[[ $(more "$1" "$2") -le $3 ]]
}

@test "address space, memory, commit charge, data and locked memory of a small host and its child" {
	local mode who
	for mode in SEEP_MODE=on SEEP_SAMPLE=524288 SEEP_MODE=dormant; do
		bare "$HOSTS/what_it_takes"
		traced env "$mode" "$HOSTS/what_it_takes"
		[[ $status -eq 0 ]]
		for who in parent child; do
			holds $who size 4096
			holds $who rss 1024
			holds $who commit 3072
			holds $who data 3072
			holds $who locked 4096
		done
		# and the child no more than a MiB beyond its parent
		[[ $(($(more child commit) - $(more parent commit))) -le 1024 ]]
		[[ $(($(more child locked) - $(more parent locked))) -le 1024 ]]
	done
}

@test "a raised RLIMIT_MEMLOCK is no reason to lose a block" {
	prlimit --memlock=$((500 << 20)) true 2>/dev/null || skip "the limit cannot be raised here"
	drop_privileges
	AS=(prlimit --memlock=$((500 << 20)) "${AS[@]}")
	traced "$HOSTS/million"
	[[ $status -eq 0 ]]
	equals_ledger
}

@test "a cgroup full of page cache is traced" {
	make_cgroup $((64 << 20)) || skip "no memory cgroup can be made"
	head -c $((200 << 20)) /dev/zero >"$T/cache"
	traced sh -c "echo \$\$ >'$GROUP/cgroup.procs' &&
		cat '$T/cache' >/dev/null && exec '$HOSTS/peak'"
	rm -f "$T/cache"
	rmdir "$GROUP" || true
	[[ $status -eq 0 ]]
	equals_ledger
}

@test "a program that finds no room leaves a reason, and record prints it" {
	local files
	mkdir -m 700 "$T/full"
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	unshare -m sh -c "mount -t tmpfs -o size=1200k,mode=700 none '$T/full' &&
		mount -t tmpfs -o size=64k,mode=1777 none /dev/shm &&
		exec env SEEP_DIR='$T/full' '$SEEP' record --force -o '$T/r.data' sh -c '
			head -c 700000 /dev/zero >$T/full/ballast; $HOSTS/peak >/dev/null; exit 5'" \
		>"$T/out" 2>"$T/err" || files=$?
	cat "$T/err"
	[[ $files -eq 5 ]]
	grep -F "not recorded: no space left for its segment" "$T/err"
	run "$SEEP" check "$T/r.data"
	[[ $status -eq 3 ]]
}

@test "a program for which SEEP_DIR has no room is recorded in the default directory" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	mkdir -m 700 "$T/full"
	status=0
	unshare -m sh -c "mount -t tmpfs -o size=1200k,mode=700 none '$T/full' &&
		mount -t tmpfs -o size=64m,mode=1777 none /dev/shm &&
		env SEEP_DIR='$T/full' '$SEEP' record --force -o '$T/r.data' sh -c '
			head -c 700000 /dev/zero >$T/full/ballast; $HOSTS/peak >/dev/null; exit 5'" \
		>"$T/out" 2>"$T/err" || status=$?
	cat "$T/err"
	[[ $status -eq 5 ]]
	report "$T/r.data"
	[[ $(from_report '[x["place_refused"]["reason"] for x in p if x["exe"].endswith("/peak")]') == "['no_room']" ]]
	[[ $(from_report 'd["complete"]') == True ]]
}

@test "of thousands of short programs all are recorded, or the others are counted" {
	local n
	n=$(full_or 10000 600)
	"$SEEP" record -q --force -o "$T/r.data" sh -c "
		i=0; while [ \$i -lt $n ]; do /bin/true; i=\$((i + 1)); done"
	"$SEEP" report --format json "$T/r.data" >"$T/report.json"
	[[ $(from_report 'sum(x["exe"].endswith("/true") and x["end"] == "exited" for x in p)') -eq $n ]]
	[[ $(from_report 'd["complete"]') == True ]]
}
