#!/bin/bash
# check-house.sh - rooms stay small, names stay unique, and the tree within its budget.
# SPDX-License-Identifier: Apache-2.0
set -u
cd "$(dirname "$0")/../.." || exit 1

most_files=40 # in a sub-room
bad=0
complain() {
	echo "$1" >&2
	bad=1
}

while read -r folder; do
	count=$(find "$folder" -maxdepth 1 -name '*.[chS]' | wc -l)
	[[ $count -le $most_files ]] || complain "$folder: $count files; a sub-room has at most $most_files"
done < <(find src -type d)

while read -r name; do
	complain "$name: the name stands twice: $(find src -name "$name" | paste -sd' ')"
done < <(find src -name '*.[ch]' -printf '%f\n' | sort | uniq -d)

# command alone ends the program because of what a user did
while read -r line; do
	complain "$line: only src/command may call die(); return what went wrong"
done < <(grep -rnE '\bdie(_[a-z]+)?\(' src --include='*.[ch]' | grep -v '^src/command/' |
	grep -vE ':[0-9]+:[[:space:]]*(/?\*|//)')

held() { # NAME NUMBER
	local most
	most=$(sed -nE "s/^$1 ([0-9]+)$/\1/p" tools/lint/budget)
	[[ $2 -le ${most:-0} ]] || complain "$1: $2, and tools/lint/budget has ${most:-nothing}; see there"
}

held src_lines "$(find src -type f -print0 | xargs -0 cat | wc -l)"
held src_files "$(find src -type f | wc -l)"
held src_headers "$(find src -name '*.h' | wc -l)"
# without stored inputs and expected texts
held tests_lines "$(find tests -type f ! -path 'tests/golden/expected/*' ! -path 'tests/golden/inputs/*' \
	! -path 'tests/fuzz/seeds/*' -print0 | xargs -0 cat | wc -l)"
exit $bad
