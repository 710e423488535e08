#!/bin/bash
# check-spdx.sh - every source says its licence in one line near the top, what
# it is for in the first one, and holds no path of somebody's machine.
# SPDX-License-Identifier: Apache-2.0
set -u
cd "$(dirname "$0")/../.." || exit 1

bad=0
complain() {
	echo "$1" >&2
	bad=1
}

mapfile -t dirs < <(ls -d src tests examples bench include tools .ci web/src 2>/dev/null)
while read -r file; do
	head -n 5 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' ||
		complain "$file: no SPDX line among the first five"
	case $file in
	src/*.[ch])
		head -n 1 "$file" | grep -q "^/\* $(basename "$file") - " ||
			complain "$file: line 1 should read \"/* $(basename "$file") - what it is for. */\""
		;;
	esac
	if grep -nE '(^|[^A-Za-z0-9_])/(home|root|work)/[a-z]' "$file" >&2; then
		complain "$file: names a path of one machine"
	fi
done < <(find "${dirs[@]}" -type f \( -name '*.[ch]' -o -name '*.cpp' \
	-o -name '*.sh' -o -name '*.bash' -o -name '*.bats' -o -name '*.py' \
	-o -name '*.js' -o -name '*.css' -o -name run \) ! -name check-spdx.sh | sort)
exit $bad
