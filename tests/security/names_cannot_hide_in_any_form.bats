#!/usr/bin/env bats
# names_cannot_hide_in_any_form - control, bidi and tag characters in a hostile program's names reach no terminal, page or spreadsheet.
# threat: if root points seep at a process, file or directory of a hostile user, that user must not be able to make it hang, use memory without bound, read or write other files than it was told to, send a signal, or execute anything
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

# Once for all tests: $E/evil.data of a program whose functions, file, module,
# arguments, marks, pools and snapshot labels hold every such character
setup_file() {
	export E=$BATS_FILE_TMPDIR
	local all few
	all=$("$PYTHON" "$LIB/scan.py" names)
	few=$("$PYTHON" "$LIB/scan.py" names few)
	cat >"$E/evil.c" <<-'C'
		#include <dlfcn.h>
		#include <stdlib.h>
		#include "seep.h"
		__attribute__((noinline)) void *plain(unsigned long n) { void *volatile p = malloc(n); return p; }
		__attribute__((noinline)) void *formula(unsigned long n) { void *volatile p = malloc(n); return p; }
		int outermost(int argc, char **argv)
		{
			static char pool[8];
			void *module = dlopen(argv[1], RTLD_NOW);
			void *(*there)(void) = (void *(*)(void))dlsym(module, "there");
			for (int i = 0; i < 100; i++) { plain(100); formula(50); there(); }
			seep_mark(argv[2]);
			seep_alloc(argv[2], pool, 64);
			seep_snapshot(argv[2]);
			return argc > 9;
		}
		int main(int argc, char **argv) { return outermost(argc, argv); }
	C
	cat >"$E/module.c" <<-'C'
		#include <stdlib.h>
		static __attribute__((noinline)) void *inside(void) { void *volatile p = malloc(70); return p; }
		void *there(void) { void *volatile p = inside(); return p; }
	C
	# shellcheck disable=SC2154 # of tests/run
	cc -g0 -O1 -I"$repo/include" -o "$E/evil" "$E/evil.c" -ldl
	cc -g0 -O1 -shared -fPIC -o "$E/module.so" "$E/module.c"
	objcopy --redefine-sym "plain=f$all" --redefine-sym "formula=-1+cmd|C!A0;+y$few" \
		--redefine-sym "outermost=+$few" --redefine-sym "main=-main$few" "$E/evil" "$E/e$few"
	objcopy --redefine-sym "inside=m$all" "$E/module.so" "$E/m$few.so"
	DIR=$(mktemp -d -p /dev/shm "seep-test.${SEEP_RUN:-0}.XXXXXX")
	(cd "$E" && SEEP_DIR=$DIR "$SEEP" record -o evil.data "./e$few" "./m$few.so" "l$few" 2>summary)
	cp "$E/evil.data" "$E/d$few"
	rm -rf "$DIR"
}

# scan FORM:FILE...: fails where one of them is left as it is
scan() { (cd "$T" && "$PYTHON" "$LIB/scan.py" scan "$@"); }

# say FILE ARGS...: what seep says, in $T/FILE
say() {
	local file=$1
	shift
	(cd "$E" && "$SEEP" "$@") >"$T/$file" 2>>"$T/err" || [[ $? -le 1 ]]
}

@test "text: reports, a site, growth, comparisons, snapshots, ls, record's summary" {
	local few
	few=$("$PYTHON" "$LIB/scan.py" names few)
	say tree report evil.data
	say table report evil.data --table --full-names
	say down report evil.data --top-down --all-frames --lines
	say pool report evil.data --pool .
	say growth report evil.data --growth 0..100%
	say snapshots report evil.data --snapshots
	say json report evil.data --format json
	say site report evil.data --site "$(jq '[.processes[].sites[] | select(.live_bytes >= 5000)][0].id' "$T/json")"
	say diff diff "d$few" evil.data --allocs
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$E/e$few" "$E/m$few.so" "l$few"
	SEEP_DIR=$DIR say ls ls
	cp "$E/summary" "$T/summary"
	scan text:tree text:table text:down text:pool text:growth text:snapshots \
		text:site text:diff text:ls text:summary
	# they are there, as escapes
	grep -F '\u202e' "$T/tree"
	grep -F '\U000e0041' "$T/tree"
	grep -F 'm\x80\x81' "$T/table"
	grep -F 'l\x80' "$T/snapshots"
}

@test "JSON is valid in every form, and decodes to the names as they are" {
	say json report evil.data --format json
	say shared report evil.data --format json --frames shared
	say growth report evil.data --format json --growth 0..100%
	say moments report evil.data --format json --snapshots
	say diff diff evil.data evil.data --format json
	say check check evil.data --format json
	scan json:json json:shared json:growth json:moments json:diff json:check
	"$PYTHON" - "$T/json" <<-'PY'
		import json, sys
		names = {f["function"] for p in json.load(open(sys.argv[1]))["processes"]
		         for s in p["sites"] for f in s["frames"] if f["function"]}
		assert any("\u202e" in n and "\U000e007f" in n and "\x9f" in n for n in names), names
	PY
}

@test "check: text, JUnit, SARIF, a baseline, suppressions" {
	say text check evil.data
	say junit check evil.data --format junit
	say sarif check evil.data --format sarif
	say written check evil.data --write-baseline "$T/baseline" --write-suppressions "$T/supp"
	say lsan check evil.data --write-suppressions "$T/lsan.supp" --suppressions-for lsan
	scan text:text text:junit shown:sarif text:written text:baseline text:supp text:lsan.supp
	"$PYTHON" -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$T/junit"
}

@test "the page, and every export" {
	local format
	say page report evil.data --format html
	scan html:page
	for format in $("$SEEP" export --list | awk '{ print $1 }'); do
		# a recording has names as they are: seep itself reads it
		[[ $format != seep ]] || continue
		say "export.$format" export evil.data --format "$format"
		case $format in
		csv | html | json | pprof | heaptrack) scan "$format:export.$format" ;;
		dhat | speedscope | gprof2dot) scan "shown:export.$format" ;;
		leaktrace | memlog) scan "tab:export.$format" ;;
		*) scan "text:export.$format" ;;
		esac
	done
	[[ -s $T/export.maps ]]
}

@test "the page's script shows what we show, for every code point" {
	need node
	"$PYTHON" "$LIB/scan.py" points >"$T/points"
	cat >"$T/say.mjs" <<-'JS'
		import { readFileSync } from 'node:fs';
		const { clean } = await import(process.argv[2]);
		const must = JSON.parse(readFileSync(process.argv[3]));
		// signs before numbers, of Arabic and the like, have a picture
		const seen = [0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6dd, 0x70f, 0x890,
			0x891, 0x8e2, 0x110bd, 0x110cd];
		const left = must.filter((p) => !seen.includes(p) &&
			clean(String.fromCodePoint(p))[0] !== '\\');
		if (left.length > 0)
			throw new Error(`left: ${left.map((p) => p.toString(16)).join(' ')}`);
		for (let p = 1; p < 0x110000; p++)
			if (p < 0xd800 || p > 0xdfff)
				console.log(clean(String.fromCodePoint(p)));
	JS
	node "$T/say.mjs" "$repo/web/src/text.js" "$T/points" >"$T/page"
	"$SEEP_BUILD/tools/shown" >"$T/ours"
	[[ $(wc -l <"$T/ours") -ge 1111000 ]]
	cmp "$T/page" "$T/ours"
}

@test "no cell of CSV begins like a formula, also where semicolons split" {
	say csv export evil.data --format csv --full
	"$PYTHON" - "$T/csv" <<-'PY'
		import csv, sys
		rows = list(csv.DictReader(open(sys.argv[1], newline="", encoding="utf-8")))
		assert len(rows) >= 3
		for row in rows:
		    for name, cell in row.items():
		        for part in cell.split(";"):
		            assert not part.lstrip()[:1] in tuple("=+-@\uff1d\uff0b\uff0d\uff20"), (name, part)
		assert any("'-1+cmd" in r["stack"] for r in rows), [r["stack"] for r in rows]
		assert any(";'+y" in r["function"] for r in rows), [r["function"] for r in rows]
		assert any("'-main" in r["stack"] and "'+\\x80" in r["stack"] for r in rows)
	PY
}
