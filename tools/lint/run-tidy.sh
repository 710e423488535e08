#!/bin/bash
# run-tidy.sh - clang-tidy over src/, two files at a time.
# SPDX-License-Identifier: Apache-2.0
# usage: run-tidy.sh [FILE...]
set -u
cd "$(dirname "$0")/../.." || exit 1

tidy_one() {
	local -a flags=(-std=gnu11 -D_GNU_SOURCE -DSEEP_VERSION='"0"' -Isrc -Iinclude)

	case $1 in
	*/fault.c) ;; # defines what the hints replace
	*/verify.c) flags+=(-DSEEP_VERIFY=1) ;;
	*) flags+=(-include tools/lint/analyzer.h) ;;
	esac
	# it counts suppressed warnings on stderr; only findings are news
	clang-tidy-14 --quiet "$1" -- "${flags[@]}" 2> >(grep -vE \
		'^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header' >&2)
}

if [[ ${1:-} == --one ]]; then
	tidy_one "$2"
	exit
fi
if [[ $# -eq 0 ]]; then
	mapfile -t files < <(find src -name '*.c' | sort)
	set -- "${files[@]}"
fi
printf '%s\0' "$@" | xargs -0 -P 2 -I '{}' tools/lint/run-tidy.sh --one '{}'
