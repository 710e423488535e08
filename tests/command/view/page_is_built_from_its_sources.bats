# The page in the command is built from web/, which names no package server.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/host.bash

@test "web/dist/report.html is what web/src builds" {
	local answer=0
	"$repo/tools/web.sh" "$T/report.html" 2>"$T/err" || answer=$?
	[[ $answer -ne 77 ]] || skip "npm has no packages: $(tail -n 1 "$T/err")"
	cat "$T/err"
	[[ $answer -eq 0 ]]
	cmp "$T/report.html" "$repo/web/dist/report.html" ||
		{ echo "type: make web"; false; }
}

@test "the notice of bundled code is in the page" {
	grep -q 'It contains uPlot' "$repo/web/dist/report.html"
	grep -q 'The MIT License' "$repo/web/dist/report.html"
	grep -q 'Copyright (c) 2022 Leon Sorokin' "$repo/web/dist/report.html"
}

@test "no file of web/ names a server of packages" {
	cd "$repo"
	# the words are put together, so that this file does not name one either
	run git grep -nIE "registry\.|npmjs|\"resolved\"|yarn""pkg" -- web
	echo "$output"
	[[ $status -eq 1 ]]
}

@test "versions of packages are exact" {
	run grep -E '"(\^|~|>|\*|latest)' "$repo/web/package.json"
	[[ $status -eq 1 ]]
}
