#!/usr/bin/env bats
# coming_from_ancestors - every command of docs/coming-from.md works as it is written there.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/leaks.bash

# page: every command of the page, one a line, in its order: what is between
# ```sh and ```, and what is between backticks in the second column of a table
# and begins like a command.
page() {
	"$PYTHON" - "$repo/docs/coming-from.md" <<-'END'
		import re, sys
		starts = re.compile(r"(SEEP_\w+=\S+ )?(LD_PRELOAD=\$SEEP_LIB )?(seep |\./app|kill -USR\d \$PID)")
		fenced = False
		for line in open(sys.argv[1], encoding="utf-8"):
		    line = line.rstrip("\n")
		    if line.startswith("```"):
		        fenced = line == "```sh"
		    elif fenced:
		        print(line)
		    elif line.startswith("| "):
		        cells = re.split(r"(?<!\\) \| ", line.strip("| "))
		        for code in re.findall(r"`([^`]+)`", cells[1]):
		            if starts.match(code):
		                print(code.replace("\\|", "|"))
	END
}

@test "every command of the page works" {
	local command n=0
	leaky app
	cp "$T/app" "$T/server"
	export SEEP_SIGNAL=USR2 SEEP_SNAPSHOT_DIR=$T/snapshots
	serve server add copy wait
	unset SEEP_SIGNAL SEEP_SNAPSHOT_DIR
	mkdir "$T/bin" "$T/segments"
	ln -s "$SEEP" "$T/bin/seep"
	export PATH=$T/bin:$PATH SEEP_LIB=$COLLECTOR SEEP_DIR=$DIR PID APP_PID
	cd "$T"
	# what a command leaves beside it is private, as the collector wants it
	export DIR=$T/segments
	chmod 700 "$DIR"
	while read -r command; do
		n=$((n + 1))
		APP_PID=0
		[[ $command != *APP_PID* ]] ||
			APP_PID=$(seep report --format json | jq '.processes[0].pid')
		echo "$command"
		eval "$command" >"$T/said" 2>"$T/err" </dev/null || {
			cat "$T/said" "$T/err"
			false
		}
		[[ -s $T/said || $command != *seep\ report* ]]
	done < <(page)
	[[ $n -ge 55 ]]
	appears "$T/snapshots/*.seep-snap" # by the signal
	[[ -s first.dump && -s leak-$PID-1.dump && -s server-$PID-1.memlog ]]
	[[ -s mmleak.html && -s maximum.json ]]
	next
	wait "$recorder"
}

@test "leaktrace: the table has the numbers, most bytes first, coll 0" {
	leaky app
	run_leaky app add add copy peak
	export_to table data --format leaktrace
	[[ $(head -n 1 "$T/table") == $'addr\tbytes\talloc\tfree\tcoll\tlocation' ]]
	[[ $(awk -F'\t' 'NF != 6' "$T/table" | wc -l) -eq 0 ]]
	sed -n 2p "$T/table" | grep -Eq $'^app\\+[0-9a-f]+\t200\t2\t0\t0\tadd at .*app.c:7$'
	grep -Eq $'\t0\t1\t1\t0\thandle at .*app.c:[0-9]+$' "$T/table" # peak
	grep -Eq $'^libc.so.6\\+[0-9a-f]+\t10\t1\t0\t0\t.*strdup at ' "$T/table"
	export_to table data --format leaktrace --depth 2
	grep -q $'\t200\t2\t0\t0\tadd at .*app.c:7 <- handle at .*app.c:' "$T/table"
	export_to table data --format leaktrace --skip-wrappers
	grep -q $'\t10\t1\t0\t0\tcopy at .*app.c:8$' "$T/table"
}

@test "leaktrace: a running process, again and again; the file is not replaced" {
	leaky app
	serve app add wait add wait
	export_to said "$PID" --format leaktrace -o dump
	[[ $status -eq 0 ]]
	grep -q $'\t100\t1\t0\t0\t' "$T/dump"
	export_to said "$PID" --format leaktrace -o dump
	[[ $status -eq 3 && $(wc -l <"$T/err") -eq 1 ]]
	grep -q -- '--force' "$T/err"
	grep -q $'\t100\t1\t0\t0\t' "$T/dump"
	next
	ready 2
	export_to said "$PID" --format leaktrace -o dump --force
	[[ $status -eq 0 ]]
	grep -q $'\t200\t2\t0\t0\t' "$T/dump"
	[[ $(find "$T" -name 'dump.*') == "" ]]
	next
	wait "$recorder"
}

@test "mmleak: sum, mean, count, min, max by caller, as text and HTML" {
	leaky app
	run_leaky app add add copy peak
	export_to table data --format mmleak
	[[ $(head -n 1 "$T/table") == "Total allocation in bytes: 210" ]]
	[[ $(sed -n 2p "$T/table") == "func sum mean count min max location" ]]
	[[ $(sed -n 3p "$T/table") =~ ^0x[0-9a-f]+\ 200\ 100.0\ 2\ 100\ 100\ app\+ ]]
	[[ $(sed -n 4p "$T/table") =~ ^0x[0-9a-f]+\ 10\ 10.0\ 1\ 10\ 10\ libc ]]
	[[ $(wc -l <"$T/table") -eq 4 ]] # peak was freed
	export_to page.html data --format mmleak-html
	"$PYTHON" - "$T/page.html" <<-'END'
		import html.parser, sys
		class Page(html.parser.HTMLParser):
		    def __init__(self):
		        super().__init__()
		        self.open, self.cells, self.heads = [], [], []
		    def handle_starttag(self, tag, attrs):
		        if tag not in ("meta",): self.open.append(tag)
		    def handle_endtag(self, tag):
		        assert self.open.pop() == tag
		    def handle_data(self, data):
		        if self.open and self.open[-1] == "td": self.cells.append(data)
		        if self.open and self.open[-1] == "h2": self.heads.append(data)
		page = Page()
		page.feed(open(sys.argv[1], encoding="utf-8").read())
		assert not page.open
		assert page.heads == ["Sum sort", "Count sort", "Max alloc sort"], page.heads
		rows = [page.cells[i:i + 8] for i in range(0, len(page.cells), 8)]
		assert len(rows) == 6 and rows[0][1:6] == ["200", "100.0", "2", "100", "100"], rows
	END
}

@test "mmleak: addresses and maps fit together for eu-addr2line" {
	need eu-addr2line
	leaky app
	run_leaky app add
	export_to said data --format maps -o '%e.maps'
	export_to table data --format mmleak
	eu-addr2line -f -M "$T/app.maps" "$(awk '/ app\+/ { print $1 }' "$T/table")" >"$T/line"
	grep -qx add "$T/line"
	grep -q 'app.c:7' "$T/line"
}

# memlog FILE: fails unless it is libmtrace's: bytes with a sign, then frames
memlog() {
	"$PYTHON" - "$1" <<-'END'
		import re, sys
		text = open(sys.argv[1], encoding="utf-8").read()
		entry = r"[+-][1-9]\d*\n(\t[^\t\n]+(\t\([^\t\n]+\))?\n)*"
		assert re.fullmatch(f"({entry})*", text), text
		sums = [int(n) for n in re.findall(r"^[+-]\d+$", text, re.M)]
		assert sums == sorted(sums, reverse=True), sums
	END
}

@test "memlog: libmtrace's file, each report an increment, also at exit" {
	leaky app
	RECORD_OPTIONS="--export memlog" serve app keep add wait give copy wait
	(cd "$T" && "$SEEP" snapshot "$PID" -o then.snap >/dev/null)
	export_to said "$PID" --format memlog -o '%e-%p-%n.memlog'
	[[ $(<"$T/said") == "app-$PID-1.memlog" ]]
	memlog "$T/app-$PID-1.memlog"
	[[ $(head -n 1 "$T/app-$PID-1.memlog") == +1000 ]]
	sed -n 2p "$T/app-$PID-1.memlog" | grep -Pq '^\thandle\t\(/.*/app\)$'
	next
	ready 2
	# against the report before it; --since names another beginning
	export_to since "$PID" --format memlog --since then.snap
	export_to said "$PID" --format memlog -o '%e-%p-%n.memlog'
	[[ $(<"$T/said") == "app-$PID-2.memlog" ]]
	memlog "$T/app-$PID-2.memlog"
	cmp "$T/since" "$T/app-$PID-2.memlog"
	[[ $(grep '^[+-]' "$T/app-$PID-2.memlog" | xargs) == "+10 -1000" ]]
	# nothing has changed: nothing is written
	export_to said "$PID" --format memlog -o '%e-%p-%n.memlog'
	[[ -e $T/app-$PID-3.memlog && ! -s $T/app-$PID-3.memlog ]]
	export_to said "$PID" --format leaktrace --since then.snap
	[[ $status -eq 2 && $(wc -l <"$T/err") -eq 1 ]]
	# an older process of this name and number is none of ours
	touch -d 2001-01-01 "$T/app-$PID-1.memlog"
	next
	wait "$recorder"
	# the exit report needs no second command
	[[ $(grep '^[+-]' "$T/app-$PID-4.memlog" | xargs) == "+1000 +100" ]]
}

@test "memlog: --depth merges stacks, and what grew cancels what shrank" {
	cat >"$T/two.c" <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#define OWN __attribute__((noinline, noclone))
		void *volatile p;
		OWN void *get(int n) { void *volatile q = malloc(n); return q; }
		OWN void *one(int n) { void *volatile q = get(n); return q; }
		OWN void *two(int n) { void *volatile q = get(n); return q; }
		int main(void)
		{
			p = one(70);
			puts("ready"), fflush(stdout), getchar();
			free(p);
			p = two(70);
			puts("ready"), fflush(stdout), getchar();
			return 0;
		}
	END
	gcc -g -O1 -o "$T/two" "$T/two.c"
	serve two
	(cd "$T" && "$SEEP" snapshot "$PID" -o then.snap >/dev/null)
	next
	ready 2
	export_to said "$PID" --format memlog --since then.snap
	[[ $(grep '^[+-]' "$T/said" | xargs) == "+70 -70" ]]
	export_to said "$PID" --format memlog --since then.snap --depth 1
	[[ $status -eq 0 && ! -s $T/said ]]
	next
	wait "$recorder"
}

@test "memlog: a file for each process; --pid chooses one" {
	leaky app
	record -q --export memlog -o data ./app add child add
	[[ $(find "$T" -name 'app-*-1.memlog' | wc -l) -eq 2 ]]
	[[ $(cat "$T"/app-*-1.memlog | grep -c '^+7$') -eq 1 ]]
	[[ $(cat "$T"/app-*-1.memlog | grep -c '^+200$\|^+100$') -ge 1 ]]
	record -q --export nonsense -o other ./app add
	[[ $status -eq 2 && ! -e $T/other ]]
}

@test "memtrail: --by-api groups the tree under the function that allocates" {
	cat >"$T/api.c" <<-'END'
		#include <stdlib.h>
		void *volatile p;
		__attribute__((noinline)) void one(void) { p = malloc(100); p = calloc(1, 250); }
		__attribute__((noinline)) void two(void) { p = malloc(300); p = realloc(malloc(1), 350); }
		int main(void) { one(); two(); return 0; }
	END
	gcc -g -O1 -o "$T/api" "$T/api.c"
	record -q -o data ./api
	"$SEEP" report "$T/data" --by-api >"$T/said"
	grep -qE '^ +40.0% +400 +2 +malloc$' "$T/said"
	grep -qE '^ +30.0% +300 +1 +<- two api.c:4$' "$T/said"
	grep -qE '^ +35.0% +350 +1 +realloc$' "$T/said"
	grep -qE '^ +25.0% +250 +1 +calloc$' "$T/said"
	[[ $(grep -A2 -E ' +calloc$' "$T/said" | sed 's/^ *//' | xargs) == *"<- one api.c:3 <- main api.c:5" ]]
	"$SEEP" report "$T/data" --by-api --depth 1 >"$T/said"
	grep -qE '^ +40.0% +400 +2 +malloc$' "$T/said"
	# these say it already
	for shape in --table --top-down; do
		"$SEEP" report "$T/data" $shape >"$T/plain"
		"$SEEP" report "$T/data" $shape --by-api | cmp - "$T/plain"
	done
	"$SEEP" diff "$T/data" "$T/data" --by-api >"$T/said"
}

@test "leaktrace: a block belongs to the caller of realloc, as the page says" {
	cat >"$T/line.c" <<-'END'
		#include <stdlib.h>
		void *volatile line;
		int main(void)
		{
			line = malloc(16);
			line = realloc(line, 4096);
			return 0;
		}
	END
	gcc -g -O1 -o "$T/line" "$T/line.c"
	record -q -o data ./line
	export_to table data --format leaktrace
	grep -Eq $'\t4096\t1\t0\t0\tmain at .*line.c:6$' "$T/table"
	grep -Eq $'\t0\t1\t1\t0\tmain at .*line.c:5$' "$T/table"
}

@test "gprof2dot: callees first, no property it does not know, sums are right" {
	leaky app
	run_leaky app add add copy deeper peak
	export_to live.json data --format gprof2dot
	export_to peak.json data --format gprof2dot --peak
	"$PYTHON" - "$T/live.json" "$T/peak.json" <<-'END'
		import json, sys
		def read(path):
		    p = json.load(open(path, encoding="utf-8"))
		    assert set(p) == {"version", "costs", "functions", "events"} and p["version"] == 0
		    assert p["costs"] == [{"description": "Memory", "unit": "bytes"}]
		    for f in p["functions"]:
		        assert "name" in f and set(f) <= {"name", "module", "process"}
		    chains = {}
		    for e in p["events"]:
		        assert set(e) == {"callchain", "cost"} and len(e["cost"]) == 1 and e["cost"][0] > 0
		        names = [p["functions"][i]["name"] for i in e["callchain"]]
		        chains[tuple(names[:4])] = chains.get(tuple(names[:4]), 0) + e["cost"][0]
		    return chains
		live, peak = read(sys.argv[1]), read(sys.argv[2])
		assert live[("malloc", "add", "handle", "main")] == 200, live
		assert live[("malloc", "recurse", "handle", "main")] == 100, live
		assert sum(live.values()) == 310, live
		assert sum(peak.values()) == 310 + (1 << 20), peak
	END
	if command -v gprof2dot >/dev/null; then
		gprof2dot -f json "$T/live.json" | grep -q 'add'
	fi
}

@test "export reports an impossible request in one line" {
	leaky app
	run_leaky app add
	local args
	for args in "" "--format nonsense" "--format mmleak --peak"; do
		# shellcheck disable=SC2086 # words
		export_to said data $args
		[[ $status -eq 2 && $(wc -l <"$T/err") -eq 1 ]]
	done
	export_to said nothing --format memlog -o result
	[[ $status -eq 3 && ! -e $T/result ]]
	export_to said data --format memlog -o "$T/no/such/place/x"
	[[ $status -eq 3 && $(wc -l <"$T/err") -eq 1 ]]
	export_to said data --format memlog --pid 1 -o result
	[[ $status -eq 3 && ! -e $T/result ]]
	export_to said data --list
	[[ $status -eq 0 && $(grep -c . "$T/said") -ge 6 ]]
}
