#!/usr/bin/env bats
# hostile_names_come_out_inert - T90: hostile names cannot control a terminal, shell or browser.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

ESC=$'\e'
NASTY="${ESC}]0;owned\a${ESC}[31m<script>alert(1)</script>\$(touch pwned)\`touch pwned\`%n%s\"'"

# a program, a library, functions, arguments and marks with such names
a_nasty_recording() {
	mkdir "$T/nasty"
	NASTY_EXE="$T/nasty/a${ESC}[31m<script>\$(touch pwned)"$'\n'"b"
	cat >"$T/n.c" <<-'C'
	#include <stdlib.h>
	#include "seep.h"
	/* gas takes any name in quotes */
	extern void *nasty(unsigned long) __asm__("\"evil\033[31m<script>alert(1)</script>$(touch pwned)%n'&;\"");
	__attribute__((noinline)) void *nasty(unsigned long n) { void *volatile p = malloc(n); return p; }
	extern void *mangled(unsigned long) __asm__(MANGLED);
	__attribute__((noinline)) void *mangled(unsigned long n) { void *volatile p = malloc(n); return p; }
	int main(int argc, char **argv)
	{
		for (int i = 1; i < 200; i++) {
			nasty(i);
			mangled(i);
		}
		seep_mark(argv[1]);
		return 0;
	}
	C
	# templates in templates: a demangler that recurses falls over
	local deep
	deep=_Z$("$PYTHON" -c 'print("N" + "1aI" * 3000 + "i" + "E" * 3000 + "1fEv")')
	cc -w -g0 -O1 -I"$repo/include" -DMANGLED="\"$deep\"" "$T/n.c" -o "$T/nasty/plain"
	mv "$T/nasty/plain" "$NASTY_EXE"
	SEEP_SNAPSHOT_DIR=$T/nasty record -q -o "$T/n.seep" "$NASTY_EXE" "$NASTY"
	[[ $status -eq 0 ]]
}

# inert FILE: no control bytes but newline and tab, nothing executed
inert() {
	"$PYTHON" - "$@" <<-'PY'
	import sys
	for path in sys.argv[1:]:
	    data = open(path, "rb").read()
	    if path.endswith(".csv"):
	        data = data.replace(b"\r\n", b"\n")  # its own line ends
	    bad = [b for b in data if b < 32 and b not in (9, 10) or b == 127]
	    assert not bad, (path, bad[:5], data[:200])
	    assert data, path + " is empty"
	PY
	[[ ! -e $T/pwned && ! -e pwned && ! -e $T/nasty/pwned ]]
}

@test "T90 text, tables, trees, JSON and CSV: control bytes are escaped" {
	a_nasty_recording
	cd "$T"
	"$SEEP" report n.seep >text
	"$SEEP" report n.seep --table >table
	"$SEEP" report n.seep --tree >tree
	"$SEEP" report n.seep --peak --color=never >peak
	"$SEEP" report n.seep --growth >growth || true
	"$SEEP" report n.seep --format json >json
	"$SEEP" diff n.seep n.seep >diff.out || true
	inert text table tree peak growth json diff.out
	"$PYTHON" -m json.tool json >/dev/null
	grep -q evil text
}

@test "T90 ls, and the notes of a recording that is damaged" {
	a_nasty_recording
	cd "$T"
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$NASTY_EXE" "$NASTY"
	SEEP_DIR=$DIR "$SEEP" ls >ls.out
	cp n.seep "$NASTY_EXE.seep"
	printf 'xxxx' | dd of="$NASTY_EXE.seep" bs=1 seek=2000 conv=notrunc 2>/dev/null
	"$SEEP" report "$NASTY_EXE.seep" >report.out 2>report.err || true
	"$SEEP" report "$NASTY_EXE.none" >none.out 2>none.err || true
	cat report.err none.err >errors
	inert ls.out errors
}

@test "T90 check in all its forms: valid, and nothing of a page in them" {
	a_nasty_recording
	cd "$T"
	local form
	for form in text json junit sarif; do
		"$SEEP" check n.seep --format "$form" >"check.$form" 2>/dev/null || [[ $? -eq 1 ]]
	done
	inert check.text check.json check.junit check.sarif
	"$PYTHON" -m json.tool check.json >/dev/null
	"$PYTHON" -m json.tool check.sarif >/dev/null
	"$PYTHON" -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' check.junit
}

@test "T90 every export" {
	a_nasty_recording
	cd "$T"
	local format
	for format in $("$SEEP" export --list | awk '{ print $1 }' | grep -E '^[a-z0-9]+$'); do
		"$SEEP" export n.seep --format "$format" -o "export.$format" 2>export.err || {
			cat export.err
			continue # says why: no time line, no such program, ...
		}
		case $format in
		pprof | heaptrack | seep) ;; # binary: names are data in it
		*) inert "export.$format" ;;
		esac
		case $format in
		*json* | speedscope | gprof2dot | dhat)
			"$PYTHON" -m json.tool "export.$format" >/dev/null
			;;
		html)
			! grep -q '<script>alert(1)' "export.$format" || false
			;;
		esac
	done
	[[ ! -e pwned ]]
	[[ $(find . -name 'export.*' ! -name export.err | wc -l) -ge 2 ]]
}
