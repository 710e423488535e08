#!/usr/bin/env bats
# exports_equal_the_report - every figure of every export format equals the figure of the JSON report.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/exports.bash

setup_file() { make_recordings; }

# format  options  what exports.py calls it  metric
table='
pprof --live pprof live
collapsed --live collapsed live
collapsed --peak collapsed peak
collapsed --allocs collapsed allocs
collapsed --temporary collapsed temporary
csv --live csv live
csv --allocs csv allocs
dhat --live dhat live
speedscope --live speedscope live
speedscope --peak speedscope peak
massif --live massif live
callgrind --live callgrind live
heaptrack --live heaptrack live
dot --top=1000000 dot live
dot --full dot-full live
massif --full massif live
gprof2dot --live gprof2dot live
gprof2dot --peak gprof2dot peak
html --live html live
'

@test "one process: every figure of every format" {
	local format option kind metric failed=0
	while read -r format option kind metric; do
		[[ -n $format ]] || continue
		export_to "$T/out" --format "$format" "$option"
		equals "$kind" "$T/out" "$metric" || failed=1
	done <<<"$table"
	[[ $failed -eq 0 ]]
}

@test "two processes: the same" {
	local format option kind metric failed=0
	while read -r format option kind metric; do
		[[ -n $format ]] || continue
		export_to "$T/out" "$E/tree.data" --format "$format" "$option"
		equals "$kind" "$T/out" "$metric" "$E/tree.json" || failed=1
	done <<<"$table"
	[[ $failed -eq 0 ]]
}

# The report without the sites that the built-in list names.
without_suppressed() {
	jq '.processes |= map(
		(.sites | map(select(.suppression and .kind == "heap"))) as $out |
		.sites |= map(select(.suppression | not)) |
		.totals |= with_entries(.key as $k |
			if ($out[0] // {} | has($k)) and (.value | type) == "number"
			then .value -= ($out | map(.[$k]) | add) else . end))' "$1"
}

@test "suppressed sites are left out as in the report, in every format" {
	local format option kind metric failed=0
	without_suppressed "$E/one.json" >"$T/shown.json"
	[[ $(jq '.processes[0].sites | length' "$T/shown.json") -lt \
		$(jq '.processes[0].sites | length' "$E/one.json") ]]
	while read -r format option kind metric; do
		[[ -n $format && $kind != html ]] || continue # it marks them
		"$SEEP" export "$E/one.data" --format "$format" --full-names "$option" --force -o "$T/out"
		if [[ $format == massif ]]; then
			# a time line is of everything: the rest has a line
			grep -q ' 72704 in places that are left out$' "$T/out" || failed=1
		elif [[ $metric == live ]]; then
			equals "$kind" "$T/out" live "$T/shown.json" || failed=1
		else # the list is about what stays, as in the report
			equals "$kind" "$T/out" "$metric" || failed=1
		fi
	done <<<"$table"
	for format in leaktrace memlog mmleak mmleak-html gprof2dot; do
		"$SEEP" export "$E/one.data" --format $format >"$T/shown"
		"$SEEP" export "$E/one.data" --format $format --no-suppress >"$T/all"
		lacks 72704 "$T/shown" || failed=1
		grep -q 72704 "$T/all" || failed=1
	done
	"$SEEP" export "$E/one.data" --format callgrind >"$T/out"
	grep -q '^desc: .*72704 bytes live.* suppressed' "$T/out"
	[[ $failed -eq 0 ]]
}

@test "a suppression file applies to every format" {
	local format
	echo 'leak:app::leak' >"$T/list"
	while read -r format _; do
		[[ $format != @(html|json|maps|seep) ]] || continue # all sites
		"$SEEP" export "$E/one.data" --format "$format" --suppress "$T/list" >"$T/out"
		[[ $format != pprof ]] || mv "$T/out" "$T/out.gz"
		[[ $format != pprof ]] || gunzip -f "$T/out.gz"
		lacks 'app::leak' "$T/out"
	done < <("$SEEP" export --list)
}

@test "the comparison itself fails if a figure differs" {
	export_to "$T/out" --format collapsed
	sed -i '1s/[0-9]$/x/; 1s/x$/9/' "$T/out"
	echo 'main;other 1' >>"$T/out"
	if equals collapsed "$T/out" >"$T/said"; then
		return 1
	fi
	grep -q 'instead of' "$T/said"
}

@test "a table of readers: each format's own program agrees" {
	local failed=0
	need ms_print
	need callgrind_annotate
	need heaptrack_print
	need dot
	# from elsewhere: it shortens the paths below its own directory
	cd /
	export_to "$T/massif" --format massif
	ms_print --threshold=0 "$T/massif" >"$T/said"
	equals ms-print "$T/said" || failed=1
	export_to "$T/callgrind" --format callgrind
	callgrind_annotate --threshold=100 --auto=no "$T/callgrind" >"$T/said" 2>"$T/err"
	equals callgrind-annotate "$T/said" || failed=1
	callgrind_annotate --threshold=100 --auto=no --inclusive=yes \
		"$T/callgrind" >"$T/said" 2>>"$T/err"
	equals callgrind-annotate "$T/said" inclusive || failed=1
	[[ ! -s $T/err ]] || failed=1
	local name type
	for name in one tree; do
		export_to "$T/heaptrack" "$E/$name.data" --format heaptrack
		for type in leaked peak allocations; do
			heaptrack_print "$T/heaptrack" -F "$T/said.stacks" \
				--flamegraph-cost-type $type >"$T/said" 2>"$T/err"
			equals heaptrack-print "$T/said" $type "$E/$name.json" || failed=1
			[[ ! -s $T/err ]] || failed=1
		done
	done
	export_to "$T/dot" --format dot --top 1000000
	dot -Tsvg "$T/dot" >"$T/svg" 2>"$T/err"
	equals dot-svg "$T/svg" || failed=1
	[[ ! -s $T/err ]] || failed=1
	cat "$T/err"
	[[ $failed -eq 0 ]]
}

# page FILE: the text of a page, once its scripts have run
page() {
	timeout 60 chromium --headless --no-sandbox --disable-gpu \
		--disable-dev-shm-usage --user-data-dir="$T/chromium" \
		--enable-unsafe-swiftshader --window-size=1400,1600 \
		--allow-file-access-from-files --virtual-time-budget=10000 \
		--dump-dom "$1" >"$T/page" 2>"$T/err"
}

@test "valgrind's viewer shows the dhat file" {
	local viewer
	need chromium
	for viewer in /usr/libexec/valgrind /usr/lib/x86_64-linux-gnu/valgrind; do
		[[ ! -e $viewer/dh_view.html ]] || break
	done
	[[ -e $viewer/dh_view.html ]] || lacking "dh_view.html of valgrind"
	export_to "$T/dhat.json" --format dhat
	cp "$viewer"/dh_view.* "$T"
	"$PYTHON" "$LIB/exports_page.py" dhat "$T/dhat.json" "$T/dh_view.html"
	page "file://$T/dh_view.html"
	equals dhat-page "$T/page"
}

# in_speedscope FILE [HASH]: what its page shows of the file
in_speedscope() {
	local app answer=0
	need chromium
	app=$(cd "$repo" && tools/npm.sh tests/readers build/readers 2>"$T/err") || answer=$?
	[[ $answer -ne 77 ]] || skip "npm has no packages: $(tail -n 1 "$T/err")"
	app=$app/speedscope/dist/release/index.html
	[[ -e $app ]]
	"$PYTHON" "$LIB/exports_page.py" speedscope "$1" "$T/load.js"
	page "file://$app#localProfilePath=$T/load.js${2:-}"
}

@test "speedscope shows the file" {
	export_to "$T/file.json" --format speedscope
	in_speedscope "$T/file.json"
	equals speedscope-page "$T/page"
}

@test "speedscope reads collapsed stacks: every function" {
	local metric
	for metric in live allocs; do
		export_to "$T/file.collapsed.txt" --format collapsed "--$metric"
		in_speedscope "$T/file.collapsed.txt" '&view=sandwich'
		equals speedscope-table "$T/page" "$metric"
	done
}

@test "json: as the report has it" {
	export_to "$T/out" --format json
	diff "$T/out" "$E/one.json"
}

@test "go tool pprof agrees: -top, -traces, every type" {
	local type metric
	need go
	export HOME=$T
	export_to "$T/one.pb.gz" --format pprof
	for type in inuse:live alloc:allocs peak:peak; do
		metric=${type#*:}
		go tool pprof -top -nodecount=0 -nodefraction=0 -unit=B \
			-sample_index="${type%:*}_space" "$T/one.pb.gz" >"$T/top" 2>"$T/err"
		equals go-top "$T/top" "$metric"
		go tool pprof -traces -unit=B \
			-sample_index="${type%:*}_space" "$T/one.pb.gz" >"$T/traces" 2>"$T/err"
		equals go-traces "$T/traces" "$metric"
	done
	# without an index it is what lives
	go tool pprof -top -unit=B "$T/one.pb.gz" 2>"$T/err" | grep -q 'Type: inuse_space'
	export_to "$T/peak.pb.gz" --format pprof --peak
	go tool pprof -top -unit=B "$T/peak.pb.gz" 2>"$T/err" | grep -q 'Type: peak_space'
}

@test "differences: ours, and those of go tool pprof -diff_base" {
	local type files
	export_to "$T/diff.pb.gz" "$E/tree.data" --format pprof --since "$E/one.data"
	equals pprof-since "$T/diff.pb.gz" "$E/one.json" "$E/tree.json"
	# the other way round all of it is less
	export_to "$T/less.pb.gz" "$E/one.data" --format pprof --since "$E/tree.data"
	equals pprof-since "$T/less.pb.gz" "$E/tree.json" "$E/one.json"
	need go
	export HOME=$T
	export_to "$T/one.pb.gz" --format pprof
	export_to "$T/tree.pb.gz" "$E/tree.data" --format pprof
	for type in inuse:live alloc:allocs; do
		# what changed, as go finds it in two files and in our own difference
		for files in "-diff_base $T/one.pb.gz $T/tree.pb.gz" "$T/diff.pb.gz" \
			"-diff_base $T/tree.pb.gz $T/one.pb.gz"; do
			# shellcheck disable=SC2086 # several words
			go tool pprof -top -nodecount=0 -nodefraction=0 -unit=B \
				-sample_index="${type%:*}_space" $files >"$T/by-go" 2>"$T/err"
			if [[ $files == *one.pb.gz ]]; then
				equals go-diff "$T/by-go" "${type#*:}:$E/tree.json" "$E/one.json"
			else
				equals go-diff "$T/by-go" "${type#*:}:$E/one.json" "$E/tree.json"
			fi
		done
	done
	grep -q -- '-[0-9]*B .*inner' "$T/by-go"
}

@test "collapsed: two columns where it compares" {
	export_to "$T/out" "$E/tree.data" --format collapsed --since "$E/one.data"
	grep -qE ';app::inner 0 100000$' "$T/out"
}
