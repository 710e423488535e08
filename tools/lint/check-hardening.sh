#!/bin/bash
# check-hardening.sh - what readelf says of the command and of the libraries that
# enter a host: relocations read-only, notes for shadow stacks, and checks that
# end a process in the command alone (I5).
# SPDX-License-Identifier: Apache-2.0
set -u
cd "$(dirname "$0")/../.." || exit 1

B=${B:-build}
bad=0
complain() {
	echo "$1" >&2
	bad=1
}

said() { # FILE OPTIONS PATTERN
	readelf "$2" -W "$1" 2>/dev/null | grep -qE -- "$3"
}

# A binary of another machine has no such notes.
features() { # FILE: "IBT, SHSTK", or less
	readelf -nW "$1" 2>/dev/null | sed -nE 's/.*x86 feature: ([A-Z, ]*[A-Z]).*/\1/p'
}

check_both() { # FILE
	said "$1" -l '^ *GNU_RELRO' || complain "$1: no RELRO segment"
	said "$1" -d 'FLAGS.*NOW' || complain "$1: not bound at the start, so RELRO is not whole"
	readelf -lW "$1" | awk '$1 == "GNU_STACK" { print $7 }' | grep -qx 'RW' ||
		complain "$1: executable stack, or no word about it"
	readelf -lW "$1" | awk '$1 == "LOAD"' | grep -q 'RWE' &&
		complain "$1: a segment that is writable and executable"
	! said "$1" -h 'X86-64' || [[ $(features "$1") == *SHSTK* ]] ||
		complain "$1: no note for shadow stacks"
}

check_guest() { # LIBRARY
	local file=$B/$1 symbols
	[[ -e $file ]] || return 0
	check_both "$file"
	! said "$file" -h 'X86-64' || [[ $(features "$file") == *IBT* ]] ||
		complain "$file: no note for indirect branches"
	symbols=$(readelf -sW "$file" | awk '{ print $8 }' |
		grep -E '^(__stack_chk_|__[a-z_]*_chk(@|$)|__chk_fail|__fortify_fail)')
	[[ -z $symbols ]] || complain "$file: a check that ends the host: ${symbols//$'\n'/ }"
}

needed() { # SYMBOL N WORDS: at least one of N of our objects asks for it
	local count
	count=$(nm -A -u "${objects[@]}" | grep -E " $1\$" | cut -d: -f1 | sort -u | wc -l)
	[[ $((count * $2)) -ge ${#objects[@]} ]] || complain "$B/seep: $3 in most of its objects"
}

check_command() {
	local file=$B/seep
	local -a objects
	[[ -e $file ]] || return 0
	# sanitizers have checks of their own
	! readelf -sW "$file" | grep -qE '__(asan|tsan|ubsan)_' || return 0
	for file in "$B/seep" "$B/seep-net" "$B/seep-replay-run"; do
		[[ -e $file ]] || continue
		check_both "$file"
		said "$file" -h 'Type: *DYN' || complain "$file: not position independent"
	done
	# static libraries bring checks of their own, so our objects are asked
	objects=("$B"/obj/tool/*/*.o)
	[[ -e ${objects[0]} ]] || return 0
	needed __stack_chk_fail 3 'no stack protector'
	needed '__[a-z]*printf_chk' 5 'no _FORTIFY_SOURCE'
	# what takes more than a page of stack touches it page by page
	# shellcheck disable=SC2016 # the dollar is the assembler's
	objdump -d --no-show-raw-insn "${objects[@]}" | grep -cE '(sub +\$0x1000,%rsp|orq +\$0x0,)' |
		awk '{ exit $1 < 20 }' || ! said "$file" -h 'X86-64' ||
		complain "$file: no protection against stack clashes"
}

check_guest libseep.so
for companion in cxx jemalloc tcmalloc map; do
	check_guest "libseep-$companion.so"
done
check_command
exit $bad
