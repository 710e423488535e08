#!/usr/bin/env bats
# fleet_files_are_valid - alerts, dashboard and configurations of contrib/ hold against what seep really says.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/serve.bash
load ../../lib/push.bash

C=$repo/contrib

@test "every alert fires for what it is meant for, and for nothing else" {
	need promtool
	promtool check rules "$C/prometheus/seep.rules.yml"
	cd "$C/prometheus"
	promtool test rules seep.rules.test.yml
	# no alert without a test
	grep -oP '(?<=alert: ).*' seep.rules.yml | sort >"$T/alerts"
	grep -oP '(?<=alertname: ).*' seep.rules.test.yml | sort -u | diff "$T/alerts" -
}

@test "the drop-in gives seep-watch.service the network" {
	need systemd-analyze
	mkdir -p "$T/unit/seep-watch.service.d"
	sed "s|@bindir@/seep|$SEEP|" "$C/systemd/seep-watch.service" >"$T/unit/seep-watch.service"
	cp "$C/systemd/network.conf" "$T/unit/seep-watch.service.d"
	systemd-analyze verify --man=no "$T/unit/seep-watch.service" >"$T/said" 2>&1
	cat "$T/said"
	[[ ! -s $T/said ]]
}

@test "the configuration of Prometheus is one" {
	need promtool
	mkdir "$T/etc"
	sed "s|/etc/prometheus|$T/etc|" "$C/prometheus/prometheus.yml" >"$T/etc/prometheus.yml"
	cp "$C/prometheus/seep.rules.yml" "$T/etc"
	echo 0123456789abcdef >"$T/etc/seep-token"
	promtool check config "$T/etc/prometheus.yml"
}

# expressions of rules and dashboard, one in a line, with all variables filled in
expressions() {
	"$PYTHON" - "$C" <<'END'
import json, re, subprocess, sys
def panels(dashboard):
    for p in dashboard["panels"]:
        yield p
        yield from p.get("panels", [])
dashboard = json.load(open(sys.argv[1] + "/grafana/seep-services.json"))
seen = [t["expr"] for p in panels(dashboard) for t in p.get("targets", [])]
assert len(seen) > 20
ids = [p["id"] for p in panels(dashboard)]
assert len(ids) == len(set(ids))
known = {v["name"] for v in dashboard["templating"]["list"]}
for v in dashboard["templating"]["list"][1:]:
    seen.append("count by (%s) (%s)" % (v["definition"].rstrip(")").split(", ")[-1],
        re.match(r"label_values\((.*), \w+\)", v["definition"]).group(1)))
text = open(sys.argv[1] + "/prometheus/seep.rules.yml").read()
for block in re.findall(r"expr: (?:>\n((?:          .*\n)+)|(.*)\n)", text):
    # a rule that is not broken has no answer: its parts must have one
    for metric in re.findall(r"\bseep_\w+\b", "".join(block)):
        seen.append(metric)
for e in seen:
    e = " ".join(e.split())
    e = e.replace("$__rate_interval", "1m").replace("$job", "seep")
    e = re.sub(r"\$(\w+)", lambda m: ".*" if m.group(1) in known else sys.exit(m.group(0)), e)
    print(e)
END
}

@test "a real Prometheus evaluates every expression of dashboard and alerts, with an answer" {
	need prometheus
	local port expression
	server
	port=$(free_port)
	mkfifo "$T/busy"
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$HOSTS/busy_sites" 50 1000000 \
		<"$T/busy" >"$T/busy.out" 3>&- 7>&- &
	PIDS+=($!)
	exec 8>"$T/busy"
	eventually grep -q ready "$T/busy.out"
	"$SEEP" watch --history "$T/history" --listen "127.0.0.1:$port" --push "$AT" --every 1s "$DIR" \
		2>"$T/watch.err" 3>&- 7>&- 8>&- &
	WATCH=$!
	PIDS+=("$WATCH")
	echo "
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: ['$C/prometheus/seep.rules.yml']
scrape_configs:
  - job_name: seep
    static_configs: [{targets: ['127.0.0.1:$port']}]" >"$T/prometheus.yml"
	PROM=127.0.0.1:$(free_port)
	prometheus --config.file="$T/prometheus.yml" --storage.tsdb.path="$T/tsdb" \
		--web.listen-address="$PROM" >"$T/prometheus.log" 2>&1 3>&- 7>&- 8>&- &
	PIDS+=($!)
	ask() { # EXPRESSION
		curl -sS --get "http://$PROM/api/v1/query" --data-urlencode "query=$1" >"$T/answer" &&
			jq -e '.status == "success"' "$T/answer" >"$T/status"
	}
	has_answer() { ask "$1" && jq -e '.data.result | length > 0' "$T/answer" >"$T/status"; }
	eventually has_answer 'seep_push_accepted_total > 0'
	eventually has_answer 'count_over_time(seep_heap_live_bytes[1m]) > 3'
	expressions >"$T/expressions"
	[[ $(wc -l <"$T/expressions") -gt 30 ]]
	while read -r expression; do
		case $expression in
		# this machine's cgroup may have no limit, and nothing may be lost
		*seep_cgroup_memory* | *seep_losses_total*) ask "$expression" ;;
		*) eventually has_answer "$expression" ;;
		esac || {
			echo "no answer: $expression"
			cat "$T/answer"
			return 1
		}
	done <"$T/expressions"
	# the rules were evaluated, and none has failed
	curl -sS "http://$PROM/api/v1/rules" >"$T/rules"
	jq -e '[.data.groups[].rules[].health] | length == 8 and all(. == "ok" or . == "unknown")' "$T/rules"
	kill -TERM "$WATCH"
	wait "$WATCH"
}

@test "configurations that were not run here say so, and ask for paths that are served" {
	local file
	for file in "$C"/parca/parca.yaml "$C"/alloy/seep.alloy "$C"/otel-collector/collector.yaml; do
		grep -q 'not run here' "$file"
		grep -q /debug/pprof/ "$file"
	done
	"$PYTHON" -c 'import sys, yaml
for f in sys.argv[1:]: yaml.safe_load(open(f))' "$C/parca/parca.yaml" "$C/otel-collector/collector.yaml" 2>"$T/err" ||
		grep -q "No module named 'yaml'" "$T/err"
	waiting
	printf '\n' >&9
	answered first
	serving
	# each path that they name is there
	grep -ohE '/debug/pprof/[a-z]+' "$C"/{parca,alloy,otel-collector}/* | sort -u >"$T/paths"
	[[ -s $T/paths ]]
	while read -r file; do
		[[ $(status "$file") == 200 ]]
	done <"$T/paths"
	unserve
	printf '\n\n\n' >&9
	exec 9>&-
	wait "$HOST"
}
