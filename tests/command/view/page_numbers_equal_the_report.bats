# Every number in a page equals that of the JSON report.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

page() { "$PYTHON" "$LIB/page.py" "$@"; }

# same_numbers INPUT [OPTIONS]: a page and a report, held against each other
same_numbers() {
	"$SEEP" report "$@" --format html -o "$T/page.html"
	"$SEEP" report "$@" --format json --frames shared -o "$T/report.json"
	page check "$T/page.html" "$T/report.json"
}

# seconds MOMENT: of a page, as --growth takes them
seconds() {
	local us=$(($1 * width))
	printf '%d.%06d' $((us / 1000000)) $((us % 1000000))
}

# same_growth: of the page's moments from a quarter to three quarters
same_growth() {
	local moments width from to
	moments=$(page head "$T/page.html" 'head["inputs"][0]["recording"]["moments"]')
	width=$(page head "$T/page.html" 'head["inputs"][0]["recording"]["width_us"]')
	echo "$moments moments of $width us"
	[[ $moments -ge $1 && $moments -le $2 ]]
	from=$((moments / 4)) to=$((moments * 3 / 4))
	"$SEEP" report "$T/seep.data" --format json -o "$T/growth.json" \
		--growth "$(seconds $from)..$(seconds $to)"
	page growth "$T/page.html" "$from" "$to" "$T/growth.json"
}

@test "the page equals the report for a recording with a time line and for any two moments" {
	record -q -- "$HOSTS/page"
	same_numbers "$T/seep.data"
	same_growth 100 240
}

@test "the page equals the report if very many sites change all the time" {
	record -q --interval 20ms -- "$HOSTS/page" waves
	same_numbers "$T/seep.data" --full
	[[ $(page head "$T/page.html" 'len(c["change.site"])') -le 20000 ]]
	same_growth 4 240
}

@test "the page equals the report for each process of a tree, and with snapshots" {
	record -q -- "$HOSTS/forks"
	same_numbers "$T/seep.data"
	[[ $(page head "$T/page.html" 'len(head["processes"])') -gt 3 ]]
}

@test "the page equals the report for verdicts, and so does the text" {
	local file
	for file in verdicts verdicts_family; do
		# not the shell, whose main has no name
		same_numbers "$repo/tests/golden/inputs/$file.seep" --include '^main$'
		"$SEEP" report "$repo/tests/golden/inputs/$file.seep" --format json >"$T/all.json"
		COLUMNS=200 "$SEEP" report "$repo/tests/golden/inputs/$file.seep" >"$T/text"
		"$PYTHON" "$LIB/verdict_text.py" "$T/all.json" "$T/text"
	done
}

@test "the page equals the report for a sampled run, with its errors" {
	record -q --sample 4K -- "$HOSTS/threads"
	same_numbers "$T/seep.data"
	[[ $(page head "$T/page.html" 'sum(c["site.error_allocated"])') -gt 0 ]]
}

@test "the page equals the report for a segment with filters and without a time line" {
	traced_well "$HOSTS/page"
	same_numbers "$DIR" --include step_ --no-suppress
	[[ $(page head "$T/page.html" 'head["inputs"][0]["recording"]') == None ]]
	[[ $(page head "$T/page.html" 'head["inputs"][0]["filtered"]["sites"]') -gt 7 ]]
	[[ $(page head "$T/page.html" 'len(c["site.id"])') -ge 2 ]]
}

@test "the page equals the report if small sites are merged into (other) below their callers" {
	record -q -- "$HOSTS/page" many
	same_numbers "$T/seep.data"
	[[ $(page head "$T/page.html" 'head["processes"][0]["merged"]') -ge 2000 ]]
	# as deep as they have company that matters, and told by their callers
	local others='[page.stacks[c["site.stack"][n]] for n, m in enumerate(c["site.merged"]) if m]'
	[[ $(page head "$T/page.html" "20 <= len($others) <= 1000") == True ]]
	[[ $(page head "$T/page.html" "min(len(s) for s in $others)") -ge 4 ]]
	[[ $(page head "$T/page.html" "{page.frame(s[0])['function'] for s in $others}") == "{'(other)'}" ]]
	[[ $(page head "$T/page.html" "all('main' in [page.frame(f)['function'] for f in s] for s in $others)") == True ]]
	same_numbers "$T/seep.data" --full
	[[ $(page head "$T/page.html" 'head["processes"][0]["merged"]') -eq 0 ]]
}

@test "export writes the same page as report; twice the same bytes" {
	record -q -- "$HOSTS/page"
	"$SEEP" report "$T/seep.data" --format html -o "$T/a.html"
	"$SEEP" export "$T/seep.data" --format html -o "$T/b.html"
	cmp "$T/a.html" "$T/b.html"
	# snapshots beside the recording are moments of the page
	"$SEEP" report "$repo/tests/golden/inputs/old.seep" --format html -o "$T/e.html"
	"$SEEP" export "$repo/tests/golden/inputs/old.seep" --format html -o "$T/f.html"
	cmp "$T/e.html" "$T/f.html"
	[[ $(page head "$T/f.html" 'len(head["processes"])') -eq 5 ]]
	record -q -o many.data -- "$HOSTS/page" many
	"$SEEP" report "$T/many.data" --format html --full -o "$T/c.html"
	"$SEEP" export "$T/many.data" --format html --full -o "$T/d.html"
	cmp "$T/c.html" "$T/d.html"
	[[ $(page head "$T/d.html" 'head["processes"][0]["merged"]') -eq 0 ]]
}

@test "a page is small, and its policy lets in nothing but its own" {
	traced_well "$HOSTS/page"
	"$SEEP" report "$DIR" --format html -o "$T/page.html"
	page csp "$T/page.html"
	[[ $(stat -c %s "$T/page.html") -lt 160000 ]]
}

@test "a page is not written to a terminal, nor with a range of its own" {
	traced_well "$HOSTS/page"
	run "$PYTHON" "$LIB/on_terminal.py" "$SEEP" report "$DIR" --format html
	[[ $status -eq 2 && $output == *"--format html is for a browser"* ]]
	complains 2 "$SEEP" report "$DIR" --format html --growth -o "$T/page.html"
	[[ ! -e $T/page.html ]]
}

@test "a missing process is reported, and a full disk leaves no file" {
	traced_well "$HOSTS/page"
	complains 3 "$SEEP" report "$DIR" --format html --pid 999999999 -o "$T/p.html"
	[[ ! -e $T/p.html ]]
	complains 3 "$SEEP" report "$DIR" --format html -o /dev/full
}
