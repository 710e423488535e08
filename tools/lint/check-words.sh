#!/bin/bash
# check-words.sh - text that users read has no phrase of our own where the field has a word.
# SPDX-License-Identifier: Apache-2.0
#
# Searched are documents, manual pages, package descriptions, the page's texts,
# string literals of src/, and titles of tests. The way to find a better word is
# to say who does what. A phrase that is right in one place (a quotation) is
# written in another way, or its file is listed in `later` with a reason.
set -u
cd "$(dirname "$0")/../.." || exit 1

# phrase (extended regular expression, any case), then what to write instead
words() {
	cat <<-'END'
		farewell	ended by a signal or by _exit
		no way further	no unwind information beyond this frame
		through none	exclude stacks that pass through ...
		\b(book|books|booked|booking|bookings)\b	count, counters, record, recorded
		\bbreak(s|ing)? off\b	is cut off, is incomplete
		\bnot whole\b	incomplete
		\btells? (which|what|how|more|of|where|why|when|all|whether)\b	lists, says, shows, reports
		\b(is|are|be) told\b	is reported, the report says
		\b(that|it) is said\b	the report says so
		\b(the|of) living\b	live blocks, running processes
		\bof (before|now)\b	previous, current
		\bpast (us|the collector)\b	calls libc directly, bypasses the collector
		\b(its|their) kin\b	and similar functions
		\bwhat lives\b	live blocks
		\bheld against\b	compared with
		\b(come|comes|coming) to lie\b	are put, are moved
	END
}

# Not searched yet: generated pages, and messages that are still to be rewritten.
later=(docs/HOST_CASES.md docs/COMPATIBILITY.md)

documents() {
	printf '%s\n' ./*.md docs/*.md bench/README.md tests/README.md tests/*/README.md \
		man/*.scd packaging/seep.spec packaging/debian/control web/src/page.html
}

# text FILE: its lines with numbers, reduced to what users read
text() {
	case $1 in
	*.c | *.h | *.js) # string literals
		grep -nE "[\"'\`]" "$1" | grep -vE '^[0-9]+:\s*(/?\*|//)' |
			grep -oE "^[0-9]+:|\"[^\"]*\"|\`[^\`]*\`|'[^']{12,}'" |
			awk '/^[0-9]+:$/ { n = $0; next } { print n $0 }'
		;;
	*.bats) grep -nE '^@test "' "$1" ;;
	*) grep -n '' "$1" ;;
	esac
}

bad=0
all=$(words | cut -f1 | paste -sd'|')
while read -r file; do # those that may have one
	[[ " ${later[*]} " != *" ${file#./} "* ]] || continue
	found=$(text "$file" | grep -iE "$all") || continue
	while IFS=$'\t' read -r phrase instead; do
		while IFS= read -r line; do
			echo "${file#./}:${line:0:160}" >&2
			echo "    write: $instead" >&2
			bad=1
		done < <(grep -iE -- "$phrase" <<<"$found")
	done < <(words)
done < <({ documents && find src web/src -name '*.[chj]*' && printf '%s\n' tests/*/*.bats tests/*/*/*.bats; } |
	xargs grep -liE -- "$all")
exit "$bad"
