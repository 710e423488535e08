#!/bin/bash
# check-includes.sh - holds the arrows between the folders of src/, and that
# each header compiles alone.
# SPDX-License-Identifier: Apache-2.0
set -u
cd "$(dirname "$0")/../.." || exit 1

# The rooms in their order: each may include itself and those before it. `outside` is the
# part that reads what a host left; `host` code is the collector and what it shares.
outside=(base format kit host recording segments session analysis names view findings print attach follow replay command)
inside=(base format collector companion)
# Inside the collector, where a header of its root includes none of the folders, and of
# its .c files those do that coordinate: thread.c, owner.c, lifecycle.c, way.c.
collector=(segment unwind heap stack log snapshot event process)

up_to() { # ROOM LIST...: the rooms up to and with this one
	local last=$1 room
	shift
	for room; do
		echo -n "$room "
		[[ $room != "$last" ]] || return 0
	done
	return 1
}

may_include() {
	case $1 in
	# names are not needed for figures, nor figures of analysis for names
	names) echo "base format kit host recording segments session names" ;;
	collector) echo "base format collector" ;;
	companion) up_to companion "${inside[@]}" ;;
	*) up_to "$1" "${outside[@]}" ;;
	esac
}

inside_collector() { # FILE: the folders of src/collector that it may include
	local folder=${1#src/collector/}

	case $folder in
	thread.c | owner.c | lifecycle.c | way.c) echo "${collector[*]}" ;;
	*/*) up_to "${folder%%/*}" "${collector[@]}" ;;
	esac
}

bad=0
complain() {
	echo "$1" >&2
	bad=1
}

check_file() {
	local file=$1 folder allowed line number name target inner=

	folder=${file#src/}
	folder=${folder%%/*}
	if ! allowed=$(may_include "$folder"); then
		complain "$file: folder '$folder' is not on the map of $0"
		return
	fi
	if [[ $folder == collector ]] && ! inner=$(inside_collector "$file"); then
		complain "$file: this folder is not on the map of $0"
		return
	fi
	while IFS=: read -r number line; do
		name=$(sed -E 's/^[^"]*"([^"]*)".*/\1/' <<<"$line")
		if [[ -e src/$name ]]; then
			target=${name%%/*}
		elif [[ -e include/$name ]]; then
			continue
		else
			complain "$file:$number: no such header: $name"
			continue
		fi
		if [[ $name == *../* ]]; then
			complain "$file:$number: write \"room/file.h\", not $name"
		fi
		if [[ " $allowed " != *" $target "* ]]; then
			complain "$file:$number: $folder may not include $target ($name)"
		fi
		if [[ $folder == collector && $name == collector/*/* ]]; then
			target=${name#collector/}
			target=${target%%/*}
			if [[ " $inner " != *" $target "* ]]; then
				complain "$file:$number: may not include $target ($name)"
			fi
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
