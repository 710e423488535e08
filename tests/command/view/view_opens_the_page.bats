# seep view writes a private page and opens it, or says how to copy it.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash
export SEEP_PAGERSECURE=0 # as root, too

# view ARGS...: without a screen, pages below $T; output in $T/out, $T/err
view() {
	status=0
	env -u DISPLAY -u WAYLAND_DISPLAY TMPDIR="$T" SEEP_DIR="$DIR" "$SEEP" view "$@" \
		>"$T/out" 2>"$T/err" </dev/null || status=$?
	page=$(cat "$T/out")
}

# The page that a browser was told of, long before the last test looks for it.
setup_file() {
	export V=$BATS_FILE_TMPDIR/pages
	mkdir "$V"
	# shellcheck source=tests/lib/host.bash
	(cd "$BATS_TEST_DIRNAME/../../.." &&
		build=${SEEP_BUILD:-$PWD/build} &&
		SEEP_DIR=$V "$build/seep" record -q -o "$V/data" -- build/hosts/page tidy &&
		TMPDIR=$V BROWSER=true "$build/seep" view "$V/data" >"$V/path")
}

@test "the page is complete and private, and its path is printed" {
	traced_well "$HOSTS/page"
	BROWSER='' view "$DIR"
	[[ $status -eq 0 && $page == "$T"/seep-view.*/page.html ]]
	[[ $(stat -c %a "$page") == 600 && $(stat -c %a "$(dirname "$page")") == 700 ]]
	"$SEEP" report "$DIR" --format html -o "$T/report.html"
	cmp "$page" "$T/report.html"
}

@test "without a screen view says how to copy the page" {
	traced_well "$HOSTS/page"
	BROWSER='' view "$DIR"
	grep -q "^seep: no browser opens here" "$T/err"
	grep -qF "scp $(id -un)@$(hostname):$page . && xdg-open page.html" "$T/err"
}

@test "BROWSER is a program with its arguments; no shell reads it" {
	traced_well "$HOSTS/page"
	printf '#!/bin/sh\nprintf "%%s|" "$@" >"%s/called"\n' "$T" >"$T/browser"
	chmod +x "$T/browser"
	BROWSER="$T/browser --new ;touch $T/shell" view "$DIR"
	[[ $(cat "$T/called") == "--new|;touch|$T/shell|$page|" ]]
	[[ ! -e $T/shell && ! -s $T/err ]]
	BROWSER=no-such-browser view "$DIR"
	grep -q "^seep: no browser opens here" "$T/err"
	BROWSER="$T/browser" view "$DIR"
	[[ $(cat "$T/called") == "$page|" ]]
}

@test "with a screen xdg-open gets it; a browser that stays open is not waited for" {
	traced_well "$HOSTS/page"
	mkdir "$T/bin"
	printf '#!/bin/sh\necho "$1" >"%s/called"\necho $$ >"%s/pid"\nexec sleep 70 >&- 2>&-\n' \
		"$T" "$T" >"$T/bin/xdg-open"
	chmod +x "$T/bin/xdg-open"
	local begin=$SECONDS
	PATH="$T/bin:$PATH" DISPLAY=:7 TMPDIR="$T" BROWSER='' \
		"$SEEP" view "$DIR" >"$T/out" 2>"$T/err"
	PIDS+=("$(cat "$T/pid")")
	[[ $(cat "$T/called") == "$(cat "$T/out")" && ! -s $T/err ]]
	[[ $((SECONDS - begin)) -lt 40 ]]
}

@test "--no-open opens nothing; what cannot be written leaves nothing" {
	traced_well "$HOSTS/page"
	BROWSER="touch $T/opened" view "$DIR" --no-open
	[[ $status -eq 0 && -s $page && ! -s $T/err && ! -e $T/opened ]]
	complains 3 env TMPDIR=/proc/self "$SEEP" view "$DIR"
	complains 3 env TMPDIR="$T" "$SEEP" view "$DIR" --pid 999999999
	complains 3 env TMPDIR="$T" "$SEEP" view "$T/no-such-file"
	[[ $(find "$T" -maxdepth 1 -name 'seep-view.*' | wc -l) -eq 1 ]]
}

@test "view accepts the options of report --format html" {
	local options
	traced_well "$HOSTS/page"
	for options in "$V/data" "$V/data $DIR" "$DIR --full --peak" \
		"$DIR --skip-wrappers --depth 3 --top 5 --lines --full-names --threshold 2" \
		"$V/data --include main --no-suppress --merge --sort blocks --by-api"; do
		# shellcheck disable=SC2086 # words
		BROWSER='' view $options
		[[ $status -eq 0 ]]
		# shellcheck disable=SC2086 # words
		"$SEEP" report $options --format html -o "$T/report.html"
		cmp "$page" "$T/report.html"
	done
	BROWSER='' view "$DIR" -o "$T/chosen.html"
	[[ $status -eq 0 && $page == "$T/chosen.html" ]]
	grep -qF "$T/chosen.html" "$T/err"
}

@test "a page is there while its browser runs, and removed after it" {
	traced_well "$HOSTS/page"
	printf '#!/bin/sh\nexec sleep 7 >&- 2>&-\n' >"$T/browser"
	chmod +x "$T/browser"
	BROWSER=$T/browser view "$DIR"
	old=$page
	[[ -s $old ]]
	# a file that the user chose stays
	BROWSER=true view "$DIR" -o "$T/chosen.html"
	for _ in {1..100}; do
		[[ -e $old ]] || break
		sleep 0.2
	done
	[[ -z $(find "$T" -maxdepth 1 -name "seep-view.*") && -s $T/chosen.html ]]
}

@test "pages of the day before are removed, other directories are kept" {
	traced_well "$HOSTS/page"
	BROWSER='' view "$DIR"
	old=$page
	mkdir -m 700 "$T/seep-view.fresh1" "$T/seep-view.mine01"
	mkdir -m 755 "$T/seep-view.other1"
	echo 1 >"$T/seep-view.mine01/notes.txt"
	touch "$T/seep-view.other1/a.html"
	touch -d '2 days ago' "$(dirname "$old")" "$T/seep-view.mine01" "$T/seep-view.other1"
	BROWSER='' view "$DIR"
	[[ ! -e $(dirname "$old") && -s $page ]]
	[[ -d $T/seep-view.fresh1 && -e $T/seep-view.mine01/notes.txt && -e $T/seep-view.other1/a.html ]]
}

@test "a page that was handed to a running browser is removed, too" {
	local path
	path=$(cat "$V/path")
	for _ in {1..150}; do
		[[ -e $path ]] || break
		sleep 0.2
	done
	[[ $path == "$V"/seep-view.*/page.html && ! -e $(dirname "$path") ]]
}
