#!/bin/bash
# check-skips.sh - no test is skipped for what a package has, or trusts a path to be absent.
# SPDX-License-Identifier: Apache-2.0
#
# usage: check-skips.sh             the rules below, on tests/
#        check-skips.sh --classify  stdin: output of tests/run; for each skipped
#                                   test "CLASS NAME: REASON", CLASS of skips.allow
#
# 1. Every reason of a skip is in skips.allow.
# 2. A command that a test needs is in the group `check` (or `deb` or `real`, for
#    tests of the long form) of tools/deps.sh; no test asks `command -v` by itself, which
#    would be a skip without a word.
# 3. No absolute path that is expected to be absent: /nonexistent exists on some
#    machine. A path below the test's own scratch directory does not.
# 4. A directory on /dev/shm or in /tmp is named so that tests/run finds what is
#    left: by TMPDIR, or with the number of the run in its name.
set -u
cd "$(dirname "$0")/../.." || exit 1
allow=tools/lint/skips.allow
shopt -s nullglob
bats=(tests/command/*/*.bats tests/collector/*.bats tests/security/*.bats)

class_of() { # REASON
	local class text
	while read -r class text; do
		[[ $class != \#* && -n $text && $1 == "$text"* ]] || continue
		echo "$class"
		return 0
	done <"$allow"
	echo unknown
}

if [[ ${1:-} == --classify ]]; then
	sed -nE 's/^ *(not )?ok [0-9]+ (- )?(.*) # (skip|SKIP)( .*)?$/\3\t\5/p' |
		while IFS=$'\t' read -r name reason; do
			reason=${reason# }
			# cmocka has the name behind the word, and no reason
			[[ -n $reason ]] || reason=unknown
			echo "$(class_of "$reason") $name: $reason"
		done
	exit
fi

bad=0
complain() { # WHERE WHAT
	echo "$1: $2"
	bad=1
}

# FILE:LINE:TEXT of each reason, cut at its first variable
reasons() {
	grep -nHE '(^|[^-a-z_])skip "' "${bats[@]}" tests/lib/*.bash |
		sed -E 's/^([^:]*:[0-9]*):(.*[^-a-z_])?skip "([^"$]*).*/\1:\3/'
	grep -nHE 'raise Skip\(' /dev/null tests/real/* tests/host/*.py tests/host/run 2>/dev/null |
		sed -E 's/^([^:]*:[0-9]*):.*raise Skip\(f?"([^"{%]*).*/\1:\2/'
}
while IFS=: read -r file line text; do
	[[ $(class_of "$text") != unknown ]] ||
		complain "$file:$line" "skipped for \"$text\": not in $allow"
done < <(reasons)
while IFS= read -r where; do
	complain "$where" "skip() of cmocka tells no reason: fail, or leave the test out"
done < <(grep -nHE '\bskip\(\);' tests/unit/*/*.c | cut -d: -f1,2)

packages=$(sed -nE 's/^(check|deb|real|build) cmd:([^ ]+) .*/\2/p' tools/deps.sh | sort -u)
while IFS=: read -r file line command; do
	grep -qxF -- "$command" <<<"$packages" ||
		complain "$file:$line" "needs $command, which is not in tools/deps.sh (group check)"
done < <(grep -noE '^[[:space:]]*need "?[A-Za-z0-9_.+-]+' "${bats[@]}" /dev/null |
	sed -E 's/:[[:space:]]*need "?/:/')
while IFS= read -r where; do
	complain "$where" "asks for a command by itself: need COMMAND"
done < <(grep -nE 'command -v' "${bats[@]}" /dev/null |
	grep -v 'command -v gprof2dot' | cut -d: -f1,2) # which Debian 12 does not have

while IFS= read -r where; do
	complain "$where" "a path that is expected to be absent: use the scratch directory of the test"
done < <(grep -rnE '["'\'' =:(]/(nonexistent|nowhere|no/|no-such|nosuch|missing|does-not|not-there)' tests \
	--include=*.bats --include=*.bash --include=*.sh --include=*.py --include=*.c --include=*.cpp |
	grep -v 'not a path' | cut -d: -f1,2)
while IFS= read -r where; do
	complain "$where" "name it with the number of the run: seep-test.\${SEEP_RUN:-0}.XXXXXX"
done < <(grep -rnE 'mktemp.*(/dev/shm|/tmp)|mkdtemp\(.*(/dev/shm|/tmp)' tests --include=*.bats --include=*.bash --include=*.sh --include=*.py |
	grep -v SEEP_RUN | cut -d: -f1,2)
exit $bad
