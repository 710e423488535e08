#!/usr/bin/env bats
# words_on_stderr_are_inert - foreign names, paths and texts in messages contain no control characters, hidden characters or changes of text direction.
# threat: if root points seep at a process, file or directory of a hostile user, that user must not be able to make it hang, use memory without bound, read or write other files than it was told to, send a signal, or execute anything
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

# C0, DEL, C1 as UTF-8 and as a bare byte, bidi, no width, separators, BOM, tags
ODD=$'a\e]0;owned\a\x7f\xc2\x9b31m\x9b31m\xd8\x9c\xe2\x80\x8b\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa6\xef\xbb\xbf\xf3\xa0\x81\x81z'

# inert FILE...: valid UTF-8, newline the only control, nothing that hides
inert() {
	"$PYTHON" - "$@" <<-'PY'
	import sys, unicodedata
	for path in sys.argv[1:]:
	    text = open(path, "rb").read().decode("utf-8")
	    assert text, path + " is empty"
	    bad = [hex(ord(c)) for c in text
	           if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")]
	    assert not bad, (path, bad, text)
	PY
}

@test "every command escapes its arguments" {
	local n=0 odd
	mkdir "$T/a"
	cd "$T/a"
	odd=$T/a/$ODD
	cp "$BATS_TEST_FILENAME" "$odd"
	while IFS= read -r line; do
		n=$((n + 1))
		line=${line//PATH/\$odd}
		eval "timeout 20 \"\$SEEP\" $line" >"$T/out.$n" 2>"$T/err.$n" </dev/null && {
			echo "no complaint: $line"
			false
		}
		inert "$T/err.$n" || { echo "$line"; false; }
		[[ ! -s $T/out.$n ]] || inert "$T/out.$n"
	done <<-'END'
	"$ODD"
	help "$ODD"
	report PATH
	report PATH.none
	report "--$ODD"
	report --format "$ODD"
	report --include "$ODD(["
	report --min-size "$ODD"
	report PATH -o "$T/no/such/$ODD"
	report --suppress PATH.none
	report --suppress PATH
	report --debug-dir PATH.none
	diff PATH PATH.none
	check PATH
	check --baseline PATH.none PATH
	check --max-peak "$ODD"
	export PATH --format "$ODD"
	export PATH --format html -o PATH.html
	view PATH
	ls PATH.none
	ls PATH
	snapshot "$ODD"
	on "$ODD"
	off "$ODD"
	completions "$ODD"
	record -o "$T/no/such/$ODD" true
	record "$T/a/none-$ODD"
	record PATH
	record --exe "$ODD([" --interval "$ODD" true
	END
	[[ $n -ge 25 ]]
}

@test "messages about a recording of a program of such a name" {
	mkdir "$T/a"
	cd "$T/a"
	cp /bin/true "./$ODD"
	SEEP_DIR=$DIR timeout 30 "$SEEP" record -o "$ODD.data" "./$ODD" "$ODD" 2>"$T/err.record"
	"$SEEP" report "$ODD.data" >"$T/out.report" 2>"$T/err.report"
	cp "$ODD.data" "$ODD.cut"
	printf 'xxxx' | dd of="$ODD.cut" bs=1 seek=1000 conv=notrunc 2>/dev/null
	"$SEEP" report "$ODD.cut" 2>>"$T/err.report" >>"$T/out.report" || true
	"$SEEP" check "$ODD.data" --write-baseline "$ODD.txt" >"$T/out.check" 2>"$T/err.check" || true
	BROWSER=false DISPLAY='' "$SEEP" view "$ODD.data" -o "$ODD.html" 2>"$T/err.view" >"$T/out.view" || true
	inert "$T/err.record" "$T/out.report" "$T/err.view"
	cat "$T/err.report" "$T/out.check" "$T/err.check" >"$T/all"
	[[ ! -s $T/all ]] || inert "$T/all"
}

@test "only one function of the command writes to stderr" {
	# shellcheck disable=SC2154 # lib/host.bash sets it
	cd "$repo"
	grep -nE '\bstderr\b|STDERR_FILENO' -r src --include=*.c |
		grep -vE '^src/(collector|companion|replay/(trial|replay_main|perform|result|stage)\.c|command/shell/(die|progress|pager|terminal)\.c)' |
		grep -vE 'isatty\(|dup2|F_DUPFD|"/dev/stderr"|/\*|\* |terminal_look|STDERR_FILENO;$' >"$T/found" || true
	cat "$T/found"
	[[ ! -s $T/found ]]
	grep -nE '\b(perror|warnx?|errx?|psignal|error)\(' -r src --include='*.[ch]' --exclude-dir={collector,companion,replay} >"$T/found" || true
	cat "$T/found"
	[[ ! -s $T/found ]]
}
