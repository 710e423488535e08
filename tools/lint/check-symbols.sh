#!/bin/bash
# check-symbols.sh - what the libraries that enter a host ask of it and show it
# (invariants I16 and I11): symbols.allow holds the names.
# SPDX-License-Identifier: Apache-2.0
set -u
cd "$(dirname "$0")/../.." || exit 1

B=${B:-build}
list=tools/lint/symbols.allow
ceiling=GLIBC_2.17
tls_max=64
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

bad=0
complain() {
	echo "$1" >&2
	bad=1
}

allowed() { # LIBRARY WORD: names listed for it
	awk -v lib="$1" -v word="$2" \
		'!/^#/ && $1 == lib && $2 == word { print $3 }' "$list" | sort -u
}

compare() { # LIBRARY WORD: the names in $work/names must be on the list
	local name
	sort -u "$work/names" >"$work/found"
	allowed "$1" "$2" >"$work/allowed"
	while read -r name; do
		complain "$1: $2 symbol not in $list: $name"
	done < <(comm -23 "$work/found" "$work/allowed")
}

# nm marks weak references w or v, strong ones U; versions are cut off.
undefined() { # FILE TYPES
	nm -D --undefined-only "$1" |
		awk -v types="$2" 'index(types, $1) { sub(/@.*/, "", $2); print $2 }'
}

check_library() {
	local lib=$1 file=$B/$1 name bytes

	[[ -e $file ]] || return 0

	undefined "$file" U >"$work/names"
	compare "$lib" strong
	undefined "$file" wv >"$work/names"
	compare "$lib" weak
	nm -D --defined-only "$file" |
		awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' >"$work/names"
	compare "$lib" export
	while read -r name; do
		complain "$lib: must export $name and does not"
	done < <(comm -13 "$work/found" "$work/allowed")

	# The list could be edited; these may not be, whatever it says.
	while read -r name; do
		complain "$lib: never in a host: $name"
	done < <(undefined "$file" U | grep -xE \
		'(f?printf|s?n?printf|v.*printf|f(open|close|write|read|puts)|puts|std(in|out|err)|pthread_create|__tls_get_addr|dl_iterate_phdr|abort|exit|__assert_fail|__stack_chk_fail)')
	if [[ $lib == libseep.so ]]; then
		# libc finds its caller by the return address: so these must jump
		for name in dlopen dlmopen; do
			objdump -d --no-show-raw-insn --disassemble="$name" "$file" >"$work/code"
			if ! grep -q 'jmp  *\*' "$work/code" || grep -q 'call  *\*' "$work/code"; then
				complain "$lib: $name must enter the real one by a jump"
			fi
		done
		while read -r name; do
			complain "$lib: the collector may not use the heap: $name"
		done < <(undefined "$file" U | grep -xE '(malloc|calloc|realloc|free)')
	fi

	# A version no strong symbol needs is marked weak and keeps nobody out.
	while read -r name; do
		complain "$lib: needs $name, newer than $ceiling"
	done < <(readelf -VW "$file" |
		sed -nE 's/.*Name: (GLIBC_[0-9.]+) +Flags: none.*/\1/p' | sort -uV |
		awk -F '[_.]' -v minor="${ceiling#GLIBC_2.}" \
			'$2 > 2 || $2 == 2 && $3 > minor')

	while read -r name; do
		[[ $name == libc.so.6 ]] || complain "$lib: needs $name; libc alone is allowed"
	done < <(readelf -dW "$file" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p')

	readelf -rW "$file" | grep -E 'TLSDESC|DTPMOD|DTPOFF' >&2 &&
		complain "$lib: dynamic TLS; only initial-exec does not call malloc"
	bytes=$(readelf -lW "$file" | awk '$1 == "TLS" { print $6 }')
	[[ -z $bytes || $((bytes)) -le $tls_max ]] ||
		complain "$lib: TLS segment of $((bytes)) bytes, at most $tls_max"
	readelf -lW "$file" | awk '$1 == "GNU_STACK" { print $7 }' | grep -q E &&
		complain "$lib: executable stack"
	readelf -dW "$file" | grep -q 'TEXTREL' && complain "$lib: text relocations"
	readelf -dW "$file" | grep -q 'BIND_NOW\|NOW' ||
		complain "$lib: not linked with -z now"
}

check_library libseep.so
for companion in cxx jemalloc tcmalloc map; do
	check_library "libseep-$companion.so"
done
exit $bad
