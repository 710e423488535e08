#!/usr/bin/env bats
# hardened_services_are_traced - T85, T86: no /proc, read-only root, other namespaces, two copies of the library.
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

# ---- the settings of systemd units; see tests/hosts/confined.c ----

# service_calls: the numbers of @system-service, in $T/calls
service_calls() {
	need systemd-analyze
	systemd-analyze --no-pager syscall-filter >"$T/sets"
	echo '#include <sys/syscall.h>' | cc -E -dM - >"$T/numbers"
	"$PYTHON" - "$T/sets" "$T/numbers" >"$T/calls" <<-'PY'
	import sys
	sets, name = {}, None
	for line in open(sys.argv[1], encoding="utf-8"):
	    word = line.strip()
	    if line.startswith("@"):
	        name = sets.setdefault(word, [])
	    elif name is not None and word and not word.startswith("#"):
	        name.append(word)
	numbers = {}
	for line in open(sys.argv[2], encoding="utf-8"):
	    words = line.split()
	    if len(words) == 3 and words[1].startswith("__NR_"):
	        numbers[words[1][5:]] = words[2]
	def expand(one, seen):
	    if one not in seen:
	        seen.add(one)
	        for other in sets.get(one, []):
	            expand(other, seen)
	    return seen
	for call in expand("@system-service", set()):
	    if call in numbers:
	        print(numbers[call])
	PY
	[[ $(wc -l <"$T/calls") -gt 200 ]]
}

# confined "OPTIONS" HOST [ARG...]: bare and traced, and both the same
confined() {
	local options
	read -ra options <<<"$1"
	shift
	"$HOSTS/confined" "${options[@]}" -- /bin/true || skip "the kernel refuses this confinement: $1"
	bare_status=0 status=0
	"$HOSTS/confined" "${options[@]}" -- /usr/bin/env SEEP_DIR="$DIR" "$@" \
		>"$T/bare" 2>"$T/bare.err" || bare_status=$?
	"$HOSTS/confined" "${options[@]}" -- /usr/bin/env SEEP_DIR="$DIR" LD_PRELOAD="$COLLECTOR" "$@" \
		>"$T/out" 2>"$T/err" || status=$?
	grep -s '^PID ' "$T/out" >>"$T/pids" || true
	[[ $bare_status -eq 0 ]]
	diff "$T/bare.err" "$T/err"
	[[ $status -eq 0 ]]
}

@test "T86 only the calls of a system service, all others kill: exact, with children and threads" {
	service_calls
	confined "kill=$T/calls" "$HOSTS/family"
	same_as_bare
	equals_ledger
	rm -rf "${DIR:?}"/*
	confined "kill=$T/calls" "$HOSTS/faulty_world" # a thread, a child, a library
	equals_ledger
	rm -rf "${DIR:?}"/*
	confined "kill=$T/calls" "$HOSTS/threads"
	equals_ledger
}

@test "T86 the same, others fail with EPERM, and writable memory is never executable" {
	service_calls
	confined "errno=$T/calls mdwe" "$HOSTS/family"
	same_as_bare
	equals_ledger
}

@test "T86 T80 landlock that lets write below SEEP_DIR only, or nowhere; no addresses but AF_UNIX" {
	confined "write=$DIR families" "$HOSTS/family"
	same_as_bare
	equals_ledger
	mkdir "$T/elsewhere"
	rm -rf "${DIR:?}"/*
	# nothing can be written: not traced, and not harmed
	confined "write=$T/elsewhere families" "$HOSTS/family"
	same_as_bare
	[[ -z $(ls "$DIR") ]]
}

# in_service SCRIPT: as ProtectSystem=strict, PrivateTmp, ProtectHome, ProtectProc
# do it; $BUILD is at /mnt, descriptors 8 and 9 are $T/out and $T/report.json
in_service() {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	unshare -mpf --mount-proc true 2>/dev/null || skip "no mount and pid namespaces here"
	unshare -mpf --mount-proc bash -eu -c "
		mount --make-rprivate /
		mount --bind '$BUILD' /mnt
		mount -t tmpfs -o mode=1777 tmpfs /tmp
		mount -t tmpfs -o mode=1777 tmpfs /var/tmp
		mount -t tmpfs -o mode=0,ro tmpfs /home
		mount -t tmpfs -o mode=0,ro tmpfs /root
		mount -o remount,bind,ro /
		mount -o remount,hidepid=2 /proc
		! touch /usr/x 2>/dev/null
		$1" 8>"$T/out" 9>"$T/report.json" 2>"$T/err"
}

@test "T85 T86 strict mounts, private /tmp, a user without a name, hidden processes: exact" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	service_calls
	chown 61184:61184 "$DIR"
	cp "$T/calls" "$DIR/.calls"
	in_service "
		/mnt/hosts/confined uid=61184 mdwe families write=$DIR kill=$DIR/.calls -- \\
			/usr/bin/env -i LD_PRELOAD=/mnt/libseep.so SEEP_DIR=$DIR /mnt/hosts/family >&8
		/mnt/seep report $DIR --format json >&9"
	[[ ! -s $T/err ]]
	grep '^PID ' "$T/out" >>"$T/pids"
	"$PYTHON" "$LIB/compare.py" "$T/out" "$T/report.json"
	[[ $(from_report 'len(p)') -eq 1 ]]
}

@test "T86 the same without SEEP_DIR: a directory of its own on /dev/shm, mode 0700" {
	local uid=$((61300 + ${SEEP_RUN:-0} % 2000)) # of nobody, and not of another run
	[[ ! -e /dev/shm/seep-$uid ]]
	in_service "
		/mnt/hosts/confined uid=$uid mdwe -- \\
			/usr/bin/env -i LD_PRELOAD=/mnt/libseep.so /mnt/hosts/family >&8
		[[ \$(stat -c %a:%u /dev/shm/seep-$uid) == 700:$uid ]]
		/mnt/seep report /dev/shm/seep-$uid --format json >&9" || {
		cat "$T/err"
		rm -rf /dev/shm/seep-$uid
		return 1
	}
	rm -rf /dev/shm/seep-$uid
	"$PYTHON" "$LIB/compare.py" "$T/out" "$T/report.json"
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
	make_cgroup 30000000 || skip "no memory cgroup can be made"
	echo 0 >"$GROUP/memory.swap.max" 2>/dev/null || true
	printf '%s\n' '#include <stdlib.h>' '#include <string.h>' \
		'int main(void) { for (;;) memset(malloc(4000), 1, 4000); }' |
		cc -w -O0 -x c - -o "$T/eater"
	traced sh -c "echo \$\$ >'$GROUP/cgroup.procs' && exec '$T/eater'"
	for _ in $(seq 50); do
		! rmdir "$GROUP" 2>/dev/null || break
		sleep 0.1
	done
	[[ $status -eq 137 ]]
	report
	[[ $(from_report '[x["end"] for x in p if "eater" in x["exe"]][0]') == unknown ]]
	[[ $(from_report 'max(x["totals"]["live_blocks"] for x in p) > 2000') == True ]]
}

@test "T78 ten million pairs under a budget of 1 MiB: the limit holds, the counts are exact" {
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
