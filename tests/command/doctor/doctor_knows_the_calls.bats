#!/usr/bin/env bats
# doctor_knows_the_calls - the list of system calls by which doctor judges a filter is complete, and says rightly which of them are needed.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/host.bash

# listed [needed|other]: the calls of the list, or those that are needed or not
listed() {
	sed -nE "/^static const char (${1:-needed|other})_calls\[\] =/,/;/ s/^ +\"(.*)\";?/\1/p" \
		"$repo/src/attach/doctor/doctor_unit.c" | tr ' ' '\n' | grep . | sort
}

# seen FILE: the calls in what strace wrote
seen() { sed -nE 's/^[0-9]+ +([a-z0-9_]+)\(.*/\1/p' "$1" | sort | uniq -c; }

# more_calls COMMAND...: the calls that a traced run makes and a bare one does
# not, or not as often, in $T/more
more_calls() {
	strace -f -qq -o "$T/bare.calls" "$@" >/dev/null 2>&1
	strace -f -qq -o "$T/traced.calls" -E LD_PRELOAD="$COLLECTOR" -E SEEP_DIR="$DIR" \
		"${WITH[@]}" "$@" >/dev/null 2>&1
	join -a 2 -1 2 -2 2 -o 0,1.1,2.1 -e 0 <(seen "$T/bare.calls") <(seen "$T/traced.calls") |
		awk '$3 > $2 { print $1 }' >>"$T/more"
}

@test "every call of the collector that strace sees is in the list" {
	need strace
	strace -qq -o "$T/none" true || skip "strace may not trace here"
	WITH=()
	more_calls "$HOSTS/family"
	more_calls /bin/true
	for one in SEEP_CHILD_FILES=1 SEEP_CHILD_FILES=0 SEEP_SAMPLE=1000 SEEP_LEAKS=1 SEEP_PRIVATE=1; do
		WITH=(-E "$one")
		more_calls "$HOSTS/early_children"
	done
	WITH=(-E SEEP_DIR= -E SEEP_BASE="$DIR")
	more_calls /bin/true
	sort -u "$T/more" >"$T/all"
	# asked for by the host, or by the kernel: not of the collector
	grep -vxE 'exit|exit_group|futex|brk|sched_yield|clock_nanosleep|nanosleep|restart_syscall|wait4|rt_sig[a-z]*|set_robust_list|clone|clone3|vfork|execve|access' \
		"$T/all" >"$T/ours"
	comm -23 "$T/ours" <(listed) >"$T/unknown"
	cat "$T/unknown"
	[[ $(wc -l <"$T/ours") -gt 15 && ! -s $T/unknown ]]
}

numbers() { echo '#include <sys/syscall.h>' | "${CC:-gcc}" -E -dM - | sed -nE 's/^#define __NR_([a-z0-9_]+) ([0-9]+)$/\1 \2/p'; }

# without CALL DIRECTORY-SETTING: a host whose filter refuses this call; how many segments it made
without() {
	awk -v call="$1" '$1 != call { print $2 }' "$T/numbers" >"$T/calls"
	rm -rf "$DIR/base"
	mkdir -m 700 "$DIR/base"
	made=
	"$HOSTS/confined" nnp errno="$T/calls" -- /usr/bin/env -u SEEP_DIR LD_PRELOAD="$COLLECTOR" \
		SEEP_BASE="$DIR/base" "$HOSTS/family" >"$T/out" 2>"$T/err" || made=failed
	grep -s '^PID ' "$T/out" >>"$T/pids" || true # it may go to the default place
	made+=$(find "$DIR/base" -name '*.seg' | wc -l)
}

@test "a call that is needed: without it there is no segment; without another one there is" {
	numbers >"$T/numbers"
	awk '{ print $2 }' "$T/numbers" >"$T/calls"
	"$HOSTS/confined" nnp errno="$T/calls" -- /bin/true || skip "the kernel refuses this confinement: errno"
	without no_such_call
	[[ $made == 1 ]]
	for call in $(listed needed); do
		without "$call"
		echo "without $call: $made"
		[[ $made == *0 ]]
	done
	for call in $(listed other); do
		without "$call"
		echo "without $call: $made"
		[[ $made == 1 ]]
	done
}
