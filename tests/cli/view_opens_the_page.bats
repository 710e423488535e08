# seep view writes a private page and opens it, or tells how to get at it.
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

# view ARGS...: without a screen, pages below $T; output in $T/out, $T/err
view() {
	status=0
	env -u DISPLAY -u WAYLAND_DISPLAY TMPDIR="$T" SEEP_DIR="$DIR" "$SEEP" view "$@" \
		>"$T/out" 2>"$T/err" </dev/null || status=$?
	page=$(cat "$T/out")
}

@test "the page is whole, private, and its path is printed" {
	traced_well "$HOSTS/page"
	BROWSER='' view "$DIR"
	[[ $status -eq 0 && $page == "$T"/seep-view.*/page.html ]]
	[[ $(stat -c %a "$page") == 600 && $(stat -c %a "$(dirname "$page")") == 700 ]]
	"$SEEP" report "$DIR" --format html -o "$T/report.html"
	cmp "$page" "$T/report.html"
}

@test "without a screen it tells how to copy the page" {
	traced_well "$HOSTS/page"
	BROWSER='' view "$DIR"
	grep -q "^seep: no browser opens here" "$T/err"
	grep -qF "scp $(id -un)@$(hostname):$page . && xdg-open page.html" "$T/err"
}

@test "BROWSER is a list of command lines; no shell reads them" {
	traced_well "$HOSTS/page"
	printf '#!/bin/sh\nprintf "%%s|" "$@" >"%s/called"\n' "$T" >"$T/browser"
	chmod +x "$T/browser"
	BROWSER="false:no-such-browser:$T/browser --new %s ;touch $T/shell" view "$DIR"
	[[ $(cat "$T/called") == "--new|$page|;touch|$T/shell|" ]]
	[[ ! -e $T/shell && ! -s $T/err ]]
	BROWSER="$T/browser" view "$DIR"
	[[ $(cat "$T/called") == "$page|" ]]
}

@test "with a screen xdg-open gets it; a browser that stays open is not waited for" {
	traced_well "$HOSTS/page"
	mkdir "$T/bin"
	printf '#!/bin/sh\necho "$1" >"%s/called"\necho $$ >"%s/pid"\nexec sleep 60 >&- 2>&-\n' \
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
