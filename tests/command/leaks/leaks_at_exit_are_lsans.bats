#!/usr/bin/env bats
# leaks_at_exit_are_lsans - record --leaks and LeakSanitizer name the same places.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

WAYS="plain list cycle global inside tls overwritten thread grown freed"

# ours WAY: "FUNCTION BLOCKS" of each place, sorted
ours() {
	record -q --leaks --no-symbols --force -o data ./bare "$1"
	(cd "$T" && "$SEEP" leaks data --format json) |
		jq -r '.sites[] | select(.verdict.class == "leak") |
			"\(.frames[0].function | sub("^(__GI_)?_*"; "")) \(.verdict.blocks)"' |
		awk '{ n[$1] += $2 } END { for (f in n) print f, n[f] }' | sort
}

# lsans WAY: the same of LeakSanitizer; $T/lsan is what it said
lsans() {
	(cd "$T" && LSAN_OPTIONS=exitcode=0 ./sanitized "$1" >lsan 2>&1)
	awk '/ leak of / { blocks = $7 }
		$1 == "#1" { sub("^(__GI_)?_*", "", $4); n[$4] += blocks }
		END { for (f in n) print f, n[f] }' "$T/lsan" | sort
}

@test "ten small programs: the same functions, as many blocks; check fails where it does" {
	local way bad=0 found=0 fails
	gcc -g -O0 -pthread -o "$T/bare" "$repo/tests/hosts/ten_leaks.c"
	gcc -g -O0 -pthread -fsanitize=leak -o "$T/sanitized" "$repo/tests/hosts/ten_leaks.c"
	for way in $WAYS; do
		lsans "$way" >"$T/theirs"
		ours "$way" >"$T/mine"
		echo "$way: $(paste -sd, "$T/mine")"
		diff "$T/theirs" "$T/mine" || bad=$((bad + 1))
		found=$((found + $(wc -l <"$T/mine")))
		fails=0
		(cd "$T" && "$SEEP" check -q data) || fails=$?
		[[ $fails -eq $([[ -s $T/theirs ]] && echo 1 || echo 0) ]]
	done
	# seven of them leak: it was not nothing that was compared
	[[ $bad -eq 0 && $found -ge 7 ]]
}
