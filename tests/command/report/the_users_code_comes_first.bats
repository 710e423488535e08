#!/usr/bin/env bats
# the_users_code_comes_first - sites are headed by a function of the user's own code.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

setup_file() {
	cat >"$BATS_FILE_TMPDIR/app.cpp" <<-'END'
		#include <map>
		#include <string>
		#include <thread>
		#include <vector>
		#define OWN __attribute__((noinline))
		static std::map<std::string, std::vector<long>> *all;
		OWN void put(const std::string &key, int n) { (*all)[key].resize(n); }
		OWN void serve(int i) { put("a key that is too long for itself " + std::to_string(i), 9 * i); }
		OWN void again(int i) { put("another key that is too long for it " + std::to_string(i), i); }
		OWN void start() { again(70); }
		int main()
		{
			all = new std::map<std::string, std::vector<long>>;
			for (int i = 1; i < 9; i++) serve(i);
			again(3);
			std::thread(start).join();
		}
	END
	g++ -g -O0 -o "$BATS_FILE_TMPDIR/app" "$BATS_FILE_TMPDIR/app.cpp" -pthread
	export APP=$BATS_FILE_TMPDIR/app
}

setup() {
	T=$BATS_TEST_TMPDIR
	DIR=$(mktemp -d -p /dev/shm "seep-test.${SEEP_RUN:-0}.XXXXXX")
	PIDS=()
	export XDG_CACHE_HOME=$BATS_RUN_TMPDIR/cache
	record -q -o data "$APP"
	cd "$T" || return
}

# lacks_any EXPRESSION FILE: no line has it, as grep -E says
lacks_any() {
	if grep -E -e "$1" "$2"; then
		return 1
	fi
}

@test "the tree: the own function, what it calls, its callers" {
	"$SEEP" report data >text
	# nothing of std:: at the first level, and all of it below
	grep -qE '^ +9[0-9]\.[0-9]% .*  put app\.cpp' text
	lacks_any '^ +[0-9.]+% +[0-9,]+ +[0-9,]+  (std::|__gnu|operator)' text
	grep -qE ' -> std::map<\.\.\.>::operator\[\] ' text
	grep -qE ' -> std::__new_allocator<\.\.\.>::allocate ' text
	grep -qE ' <- serve app\.cpp' text
	# what calls the function of a thread is off
	grep -qE ' <- start app\.cpp' text
	lacks_any 'std::thread|__invoke|clone|_start' text
	"$SEEP" report data --all-frames >text
	grep -qE ' <- std::thread::' text
}

@test "rows of the table differ at 100 columns" {
	for columns in 80 100 120; do
		COLUMNS=$columns "$SEEP" report data --table --top 0 --threshold 0 >text
		lacks_any ".{$((columns + 1))}" text
	done
	COLUMNS=100 "$SEEP" report data --table --top 0 --threshold 0 |
		awk '/^ +[0-9.]+%/ { n++; next } n { gsub(/^ +/, " "); row[n] = row[n] $0 }
			END { for (i in row) print row[i] }' >rows
	[[ $(wc -l <rows) -ge 9 ]]
	[[ $(sort -u rows | wc -l) -eq $(wc -l <rows) ]]
	grep -q '^ operator new in put app.cpp:7 -> std::vector<...>::resize ' rows
}

@test "check: the own function first, short names unless --full-names" {
	"$SEEP" check data >text && false
	grep -qE 'bytes in [0-9]+ blocks?; operator new by put < serve < main  \{' text
	grep -A1 '; operator new by put < serve' text | grep -qE '^ {6}put .*app\.cpp:7 \[app\]$'
	grep -qE '^ {8}-> std::map<\.\.\.>::operator\[\] ' text
	grep -qE '^ {6}serve ' text
	lacks_any 'std::allocator<' text
	lacks_any '_start|clone3|start_thread' text
	"$SEEP" check data --full-names >text && false
	grep -qE '^ {8}-> std::map<std::__cxx11::basic_string<char' text
	"$SEEP" check data --format junit >text && false
	lacks_any 'std::allocator<' text
	"$SEEP" check data --format json >text || true
	jq -e '[.findings[].frames[].function // "" | select(contains("std::allocator<"))] | length > 0' text
}

@test "comparisons are headed alike" {
	record -q -o none true
	"$SEEP" diff none data --include put >text
	grep -qE '^ *\+[0-9.]+% +\+[0-9,]+ +\+[0-9]+  put app\.cpp' text
}

@test "the page: short names beside the full ones, whose own a frame is, no start" {
	"$SEEP" report data --format html -o page.html
	PYTHONPATH=$LIB "$PYTHON" - page.html <<-'END'
		import sys, page
		p = page.Page(sys.argv[1])
		c = p.columns
		full = {p.text(n): p.text(b) for n, b in zip(c["frame.function"], c["frame.brief"]) if n}
		names = [p.text(n) or "" for n in c["frame.function"]]
		flags = dict(zip(names, c["frame.flags"]))
		long = next(n for n in full if n.startswith("std::map<") and "::operator[]" in n)
		assert full[long] == "std::map<...>::operator[]", full[long]
		assert flags[long] & 8 and not flags[long] & 16
		own = next(n for n in full if n.startswith("put("))
		assert full[own] == "put" and not flags[own] & (8 | 16), flags[own]
		used = {names[f] for stack in p.stacks for f in stack}
		assert own in used
		assert not used & {"_start", "clone3", "start_thread", "__libc_start_main"}, used
		assert not any("std::thread::_" in names[stack[-1]] for stack in p.stacks if stack)
		assert [x["program"] for x in p.head["processes"]] == ["app"]
	END
}

@test "CSV: a row is headed by the own function; JSON has its position" {
	"$SEEP" export data --format csv --no-suppress -o rows.csv
	"$SEEP" report data --format json >json
	PYTHONPATH=$LIB "$PYTHON" - rows.csv json <<-'END'
		import json, sys, exports_read
		sites = {str(s["id"]): s for s in json.load(open(sys.argv[2]))["processes"][0]["sites"]}
		seen = set()
		for row in exports_read.csv_rows(sys.argv[1]):
		    own = sites[row["id"]]["frames"][sites[row["id"]].get("own", 0)]
		    assert (row["file"], row["line"], row["module"]) == (
		        own["file"] or "", str(own["line"] or ""), own["module"]), row
		    if "std::map<...>::operator[]" not in row["stack"]:
		        continue
		    assert row["function"] == "put" and row["file"].endswith("app.cpp"), row
		    assert "std::allocator<" not in row["stack"]
		    seen.add(row["stack"].split(";")[-1])
		assert seen and all(name.startswith("std::") for name in seen), seen
	END
}

# text_of FORMAT FILE: its text
text_of() {
	case $1 in
	pprof) gunzip -c "$2" | strings -n 4 ;;
	*) cat "$2" ;;
	esac
}

@test "exports: short names, and all of them with --full-names" {
	local format
	for format in $("$SEEP" export --list | awk '{ print $1 }'); do
		case $format in
		maps | seep) continue ;; # no names, or all that there is
		esac
		"$SEEP" export data --format "$format" -o "brief.$format"
		"$SEEP" export data --format "$format" --full-names -o "full.$format"
		case $format in
		json | html | memlog) # have the full ones in any case
			cmp "brief.$format" "full.$format" ;;
		dot) # a box is brief, its tip has everything
			sed 's/tooltip="[^"]*"//' brief.dot >boxes
			lacks 'std::allocator<' boxes
			grep -q 'tooltip=".*std::allocator<' brief.dot
			grep -q '\[label="[^"]*std::allocator<' full.dot ;;
		*)
			text_of "$format" "brief.$format" >brief
			text_of "$format" "full.$format" >full
			echo "$format"
			lacks_any 'std::allocator(<|&lt;|&#60;)' brief
			grep -qE 'std::(__new_)?allocator(<|&lt;|&#60;)|std::map<std' full
			;;
		esac
	done
}

@test "exports call a program as it was started" {
	local format
	ln -s "$APP" started
	record -q -o link.data sh -c './started; :'
	for format in csv collapsed speedscope dhat leaktrace mmleak; do
		"$SEEP" export link.data --format "$format" -o "out.$format"
		grep -q 'started' "out.$format"
		lacks_any '"app"|^# app|app \(pid' "out.$format"
	done
}
