#!/usr/bin/env bats
# serve_makes_hostile_text_inert - names that a process chose do nothing in metrics, JSON and pages.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/serve.bash

EVIL=$'"} 1\n# x <script>alert(1)</script>&\'\\\t\e[31m\u202e\xff{%n'

# In a cgroup namespace of its own the name of a program is that of a service.
apart() {
	if unshare -C true 2>/dev/null; then
		unshare -C "$@"
	else
		"$@"
	fi
}

evil_host() {
	mkfifo "$T/lines"
	cp "$HOSTS/toggled" "$T/evil"
	apart bash -c 'cd "$2"; LD_PRELOAD=$3 SEEP_DIR=$4 exec -a "$1" ./evil "$1" <lines >out 2>err' \
		_ "$EVIL" "$T" "$COLLECTOR" "$DIR" 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	exec 9>"$T/lines"
	printf '\n\n' >&9
	answered second
}

@test "metrics: a sample is a line, and promtool reads it" {
	evil_host
	SERVE_AS=()
	! unshare -C true 2>/dev/null || SERVE_AS=(unshare -C)
	serving --per-process --top 3
	eventually has_sites
	get /metrics >"$T/metrics"
	promtool check metrics <"$T/metrics"
	lacks grep -avE '^(# (HELP|TYPE) [a-z_]+ |[a-z_]+(\{([a-z_]+="([^"\\]|\\["\\n])*",?)*\})? [0-9.e+-]+$)' "$T/metrics"
	lacks grep -aP '[\x00-\x09\x0b-\x1f\x7f]' "$T/metrics"
	lacks grep -a $'\u202e' "$T/metrics"
	"$PYTHON" -c 'import sys; open(sys.argv[1], "rb").read().decode("utf-8")' "$T/metrics"
	get /metrics -H 'Accept: application/openmetrics-text' | tail -n 1 | grep -qx '# EOF'
	unserve
}
has_sites() { get /metrics | grep -qa '^seep_site_live_bytes{'; }

@test "JSON and targets are valid, and the name of the service is found again" {
	need jq
	evil_host
	SERVE_AS=()
	! unshare -C true 2>/dev/null || SERVE_AS=(unshare -C)
	serving
	local name
	get /sd | jq -e '.[0].targets | length == 1' >/dev/null
	name=$(get /sd | jq -r '.[0].labels.__param_service')
	[[ $name =~ ^[A-Za-z0-9_.@:+,=%-]+$ ]]
	curl -sS --fail --get "$AT/debug/pprof/heap" --data-urlencode "service=$name" | gunzip -t
	curl -sS --fail --get "$AT/api/report" --data-urlencode "service=$name" |
		jq -e '.processes[0].totals.live_bytes == 160000' >/dev/null
	get /api/ls | jq -e '.processes | length == 1' >/dev/null
	# the Host that a client sends comes back as JSON
	curl -sS --fail "$AT/sd" -H 'Host: [::1]"},{"targets":["x"]' -o "$T/sd" || true
	[[ ! -s $T/sd ]] || jq -e 'length == 1' "$T/sd" >/dev/null || grep -q 'not served' "$T/sd"
	unserve
}

@test "pages: nothing of it is markup" {
	evil_host
	SERVE_AS=()
	! unshare -C true 2>/dev/null || SERVE_AS=(unshare -C)
	serving
	local page
	for page in / /debug/pprof/ /view; do
		get "$page" -D "$T/head" >"$T/page"
		lacks grep -a 'alert(1)' "$T/page"
		grep -qi "^content-security-policy: default-src 'none'" "$T/head"
		lacks grep -qi unsafe "$T/head"
		grep -qi '^x-content-type-options: nosniff' "$T/head"
	done
	# the links of the list lead to the service
	local link
	link=$(get / | grep -oE 'view\?service=[^"]+' | head -n 1)
	[[ $(status "/$link") == 200 ]]
	[[ $(status "/${link/view/debug/pprof/heap}") == 200 ]]
	unserve
}
