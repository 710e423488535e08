#!/usr/bin/env bats
# serve_keeps_the_page_as_it_is - the page of seep serve gets new data, and keeps zoom, search, metric and range.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/serve.bash

@test "a page holds what the user chose while its data is renewed" {
	need chromium
	waiting
	printf '\n\n' >&9
	answered second
	serving
	timeout 240 "$PYTHON" "$LIB/served_page.py" "$AT/view?pid=$HOST" "$T/lines" >"$T/answer" 2>&1 || {
		cat "$T/answer"
		return 1
	}
	grep -qx ok "$T/answer"
	printf '\n' >&9
	exec 9>&-
	wait "$HOST"
	unserve
}

@test "the page may ask its server and nobody else; the written page asks nobody" {
	waiting
	serving
	get "/view?pid=$HOST" -D "$T/head" >"$T/page"
	local policy
	policy=$(tr -d '\r' <"$T/head" | sed -n 's/^Content-Security-Policy: //p')
	[[ $policy == "default-src 'none'; connect-src 'self'; script-src 'sha256-"* ]]
	[[ $policy != *unsafe* ]]
	grep -qF "content=\"$policy\"" "$T/page"
	"$SEEP" view --no-open -o "$T/written.html" "$HOST" >/dev/null
	lacks grep -q connect-src "$T/written.html"
}
