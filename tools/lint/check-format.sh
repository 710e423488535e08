#!/bin/bash
# check-format.sh - the sources look as clang-format 14 leaves them.
# SPDX-License-Identifier: Apache-2.0
# usage: check-format.sh [--list]   (--list: name the files and stop)
set -u
cd "$(dirname "$0")/../.." || exit 1

mapfile -t dirs < <(ls -d src tests examples bench include 2>/dev/null)
mapfile -t files < <(find "${dirs[@]}" -type f \
	\( -name '*.c' -o -name '*.h' -o -name '*.cpp' \) | sort)
if [[ ${1:-} == --list ]]; then
	printf '%s\n' "${files[@]}"
	exit 0
fi

# one line per file, not one per token: `make format` mends them all
bad=0
for file in "${files[@]}"; do
	clang-format-14 --dry-run -Werror "$file" 2>/dev/null && continue
	echo "$file: not as clang-format 14 wants it (make format)" >&2
	bad=1
done
exit $bad
