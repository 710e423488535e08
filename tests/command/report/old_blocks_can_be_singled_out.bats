#!/usr/bin/env bats
# old_blocks_can_be_singled_out - report --older-than selects bytes and blocks by age.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/leaks.bash

# aging: a program that keeps a block of 100 bytes, then at each line of its
# input one more in another function; "kill" ends it without exit handlers. A
# thread looks at the clock after at most 64 events, so there are some before.
aging() {
	cat >"$T/aging.c" <<-'END'
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#define OWN __attribute__((noinline, noclone))
		void *volatile last;
		OWN void old(void) { last = malloc(100); }
		OWN void later(void) { last = malloc(10); }
		OWN void often(void) { last = malloc(7); }
		static char line[64];
		int main(void)
		{
			setvbuf(stdin, NULL, _IONBF, 0);
			setvbuf(stdout, NULL, _IONBF, 0);
			for (;;) {
				static int n;
				for (int i = 0; i < 200; i++) { last = malloc(1); free(last); }
				if (n++ == 0) old(); else later();
				for (volatile int i = 0; i < 2; i++) often();
				puts("ready");
				if (!fgets(line, sizeof(line), stdin) || !strcmp(line, "end\n")) return 0;
				if (!strcmp(line, "kill\n")) raise(SIGKILL);
			}
		}
	END
	gcc -g -O1 -o "$T/aging" "$T/aging.c"
	serve aging
}

# says INPUT AGE: JSON of both forms, CSV and the page have the same; prints
# each function with its blocks and bytes that are older, then those not known
says() {
	"$SEEP" report "$1" --older-than "$2" --format json >json
	"$SEEP" report "$1" --older-than "$2" --format json --frames shared >shared
	"$SEEP" export "$1" --older-than "$2" --format csv --no-suppress --force -o csv 2>csv.err
	"$SEEP" report "$1" --older-than "$2" --format html -o page.html
	PYTHONPATH=$LIB "$PYTHON" - <<-'END'
		import json, exports_read, page
		KEYS = "older_blocks", "older_bytes", "older_unknown_blocks", "older_unknown_bytes"
		p = json.load(open("json"))["processes"][0]
		sites = {s["id"]: s for s in p["sites"]}
		sums = {k: sum(s[k] for s in sites.values()) for k in KEYS}
		assert [sums[k] for k in KEYS] == [p["older"][k.removeprefix("older_")] for k in KEYS], p["older"]
		shared = json.load(open("shared"))["processes"][0]
		assert shared["older"] == p["older"], (shared["older"], p["older"])
		for s in shared["sites"]:
		    assert [s.get(k, 0) for k in KEYS] == [sites[s["id"]][k] for k in KEYS]
		rows = exports_read.csv_rows("csv")
		assert len(rows) == len(sites)
		for row in rows:
		    assert [int(row[k]) for k in KEYS] == [sites[int(row["id"])][k] for k in KEYS], row
		order = [int(row["older_bytes"]) for row in rows]
		assert order == sorted(order, reverse=True)
		x = page.Page("page.html")
		assert x.head["metric"] == "older"
		assert x.head["older"]["than_ms"] == p["older"]["than_ms"]
		for n, number in enumerate(x.columns["site.id"]):
		    assert [x.columns[f"site.{k}"][n] for k in KEYS] == [sites[number][k] for k in KEYS]
		for s in sites.values():
		    s.setdefault("own", 0)
		for s in sorted(sites.values(), key=lambda s: -s["live_bytes"]):
		    name = s["frames"][s["own"]]["function"]
		    if name in ("old", "often", "later"):
		        print(name, *[s[k] for k in KEYS], "of", s["live_blocks"])
		print(*x.head["older"]["remarks"], sep="\n")
	END
}

@test "ages are exact to a tick while a process runs, and known in steps after its exit" {
	aging
	sleep 2
	next
	ready 2
	sleep 0.2
	cd "$T"
	"$SEEP" report "$PID" --older-than 1.8s >text
	grep -q '^Older than 1\.8 s: 114 bytes in 3 blocks\.$' text
	grep -qE '^ +87\.7% +100 +1  old' text
	grep -qE '^ +12\.3% +14 +2  often' text
	lacks ' later' text
	lacks 'known in steps' text
	says "$PID" 1.8s >text
	cat text
	grep -qx 'old 1 100 0 0 of 1' text
	grep -qx 'often 2 14 0 0 of 4' text
	grep -qx 'later 0 0 0 0 of 1' text
	[[ ! -s csv.err ]]
	jq -e '.processes[0].older | .exact and .than_ms == 1800 and .asked_ms == 1800 and
		.sampled == false and .unknown_sites == 0' json
	# what is not asked for is not there
	"$SEEP" report "$PID" --format json | jq -e '.processes[0] | has("older") or
		(.sites[0] | has("older_bytes")) | not'
	"$SEEP" report "$PID" --older-than 100ms >text
	grep -q '^Older than 100 ms: 138 bytes in 6 blocks\.$' text
	"$SEEP" report "$PID" --older-than 1h >text
	grep -q '^No block is that old\.$' text
	"$SEEP" report "$PID" --older-than 1.8s --table >text
	grep -qE '^ +87\.7% +100 +1 ' text
	echo end >&7
	wait "$recorder"
	"$SEEP" report served --older-than 1.9s >text
	cat text
	grep -q '^Older than 1\.6 s: 114 bytes in 3 blocks\.$' text
	grep -q '^Ages of a process that has ended are known in steps: 1\.9 s is within one that begins at 1\.6 s\.$' text
	grep -qE '^ +87\.7% +100 +1  old' text
	lacks ' later' text
	"$SEEP" report served --older-than 1.6s >text
	lacks 'known in steps' text
	"$SEEP" report served --older-than 3h >text
	grep -q '^No block is that old\.$' text
	says served 1.9s >text
	cat text
	grep -qx 'often 2 14 0 0 of 4' text
	jq -e '.processes[0].older | (.exact | not) and .asked_ms == 1900 and .than_ms == 1600 and
		.unknown_sites == 0' json
	grep -q 'known in steps: 1\.9 s is within one that begins at 1\.6 s' text
	grep -q '^seep: export: --older-than: Ages of a process that has ended are known in steps' csv.err
	complains 2 "$SEEP" report served --older-than 500ms
	complains 2 "$SEEP" report served --older-than 500ms --format json
	complains 2 "$SEEP" export served --older-than 500ms --format csv -o x
}

@test "without counted ages, first and last allocation decide, or the report says that it is unknown" {
	aging
	sleep 1.8
	next
	ready 2
	echo kill >&7
	wait "$recorder" || true
	cd "$T"
	"$SEEP" report served --older-than 1.6s >text
	cat text
	grep -q '^Older than 1\.6 s: 100 bytes in 1 block\.$' text
	grep -q '^Not shown, because its ages were not counted: 28 bytes in 1 site\.$' text
	lacks ' often' text
	lacks ' later' text
	says served 1.6s >text
	cat text
	grep -qx 'old 1 100 0 0 of 1' text
	grep -qx 'often 0 0 4 28 of 4' text
	grep -qx 'later 0 0 0 0 of 1' text
	jq -e '.processes[0].older | .unknown_sites == 1 and .unknown_bytes == 28 and .bytes == 100' json
	grep -qx 'Not shown, because its ages were not counted: 28 bytes in 1 site\.' text
	grep -q '^seep: export: --older-than: Not shown, because its ages were not counted: 28 bytes' csv.err
}

@test "figures of a sampled process are estimates, and the report says so" {
	RECORD_OPTIONS="--sample 64" aging
	sleep 0.5
	cd "$T"
	"$SEEP" report "$PID" --older-than 300ms --format json >json
	jq -e '.processes[0].older | .sampled and .exact' json
	# a snapshot beside it has no ages, which stops nobody
	"$SEEP" snapshot "$PID" >/dev/null
	"$SEEP" report "$PID" --older-than 300ms --format html -o page.html
	"$SEEP" report "$PID" --older-than 300ms >text
	tr '\n' ' ' <text | grep -q 'Blocks of a sampled process are estimates, from the ages of those that were sampled\.'
}

@test "--older-than is refused with metrics other than live" {
	leaky app
	run_leaky app add
	cd "$T"
	complains 2 "$SEEP" report data --older-than 30s --peak
	complains 2 "$SEEP" report data --older-than 30s --growth
	complains 2 "$SEEP" report data data --older-than 30s --format html -o page
	complains 2 "$SEEP" export data --older-than 30s --format pprof -o x
	complains 2 "$SEEP" export data --older-than 30s --format csv --peak -o x
	complains 2 "$SEEP" export data --older-than 30s --format csv --since data -o x
	complains 2 "$SEEP" report data --older-than tomorrow
}
