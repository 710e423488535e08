#!/bin/bash
# run-tidy.sh - clang-tidy over src/, two files at a time.
# SPDX-License-Identifier: Apache-2.0
# usage: run-tidy.sh [FILE...]
set -u
cd "$(dirname "$0")/../.." || exit 1

if [[ $# -gt 0 ]]; then
	files=("$@")
else
	mapfile -t files < <(find src -name '*.c' | sort)
fi
[[ ${#files[@]} -gt 0 ]] || exit 0

# it counts suppressed warnings on stderr; only findings are news
noise='^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header'
tidy() { # HINTS FILE...
	local hints=$1
	shift
	printf '%s\0' "$@" |
		xargs -0 -P 2 -I '{}' clang-tidy-14 --quiet '{}' -- -std=gnu11 \
			-D_GNU_SOURCE -DSEEP_VERSION='"0"' -Isrc -Iinclude \
			-include "$hints" 2> >(grep -vE "$noise" >&2)
}

bad=0
for file in "${files[@]}"; do # the one file that defines what the hints replace
	[[ $file == src/reader/fault.c ]] && { tidy /dev/null "$file" || bad=1; }
done
mapfile -t files < <(printf '%s\n' "${files[@]}" | grep -vx src/reader/fault.c)
tidy tools/lint/analyzer.h "${files[@]}" || bad=1
exit $bad
