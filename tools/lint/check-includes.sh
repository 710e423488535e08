#!/bin/bash
# check-includes.sh - holds the arrows between the folders of src/, and that
# each header compiles alone.
# SPDX-License-Identifier: Apache-2.0
set -u
cd "$(dirname "$0")/../.." || exit 1

# Who may include whom. The collector and the tools share base and trace only.
may_include() {
	case $1 in
	base) echo "base cpu" ;;
	cpu) echo "base cpu" ;;
	trace) echo "base cpu util trace" ;;
	collector) echo "base cpu trace collector" ;;
	util) echo "base util" ;;
	score) echo "base util score" ;;
	reader) echo "base cpu util score trace reader" ;;
	verdict) echo "base cpu util score trace reader verdict" ;;
	names) echo "base cpu util score trace reader names" ;;
	report) echo "base cpu util score trace reader names report" ;;
	json) echo "base cpu util score trace reader names report json" ;;
	check) echo "base cpu util score trace reader names report json check" ;;
	export) echo "base cpu util score trace reader names report json export" ;;
	html) echo "base cpu util score trace reader names report json export html" ;;
	live) echo "base cpu util score trace reader names report json live" ;;
	record) echo "base cpu util score trace reader names report json verdict live record" ;;
	replay) echo "base cpu util score trace reader names report json replay" ;;
	replayer) echo "base util replay replayer" ;;
	top) echo "base cpu util score trace reader names report json live top" ;;
	service) echo "base util service" ;;
	cli) echo "base cpu util score trace reader names report json check export html live record replay top watch verdict service doctor net push cli" ;;
	doctor) echo "base cpu util score trace reader names report json verdict live record service doctor" ;;
	watch) echo "base cpu util score trace reader names report json verdict live record watch" ;;
	push) echo "base cpu util score trace reader names report json export live record watch push" ;;
	net) echo "base cpu util score trace reader names report json export html live record watch push net" ;;
	*) return 1 ;;
	esac
}

bad=0
complain() {
	echo "$1" >&2
	bad=1
}

check_file() {
	local file=$1 folder allowed line number name target

	folder=${file#src/}
	folder=${folder%%/*}
	if ! allowed=$(may_include "$folder"); then
		complain "$file: folder '$folder' is not on the map of $0"
		return
	fi
	while IFS=: read -r number line; do
		name=$(sed -E 's/^[^"]*"([^"]*)".*/\1/' <<<"$line")
		if [[ -e $(dirname "$file")/$name ]]; then
			target=$folder
		elif [[ -e src/$name ]]; then
			target=${name%%/*}
		elif [[ -e include/$name ]]; then
			continue
		else
			complain "$file:$number: no such header: $name"
			continue
		fi
		if [[ $name == *../* ]]; then
			complain "$file:$number: write \"folder/file.h\", not $name"
		fi
		if [[ " $allowed " != *" $target "* ]]; then
			complain "$file:$number: $folder may not include $target ($name)"
		fi
		if [[ $name == *.c ]]; then
			complain "$file:$number: a .c file is not included ($name)"
		fi
	done < <(grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$file")
}

compiles_alone() {
	${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -DSEEP_VERSION='"0"' -Isrc -Iinclude \
		-Wall -Wextra -Werror -fsyntax-only -x c - \
		<<<"#include \"${1#src/}\"" ||
		complain "$1: does not compile alone"
}

while read -r file; do
	check_file "$file"
done < <(find src -name '*.[ch]' | sort)

while read -r header; do
	compiles_alone "$header"
done < <(find src include -name '*.h' 2>/dev/null | sed 's@^include/@@' | sort)

exit $bad
