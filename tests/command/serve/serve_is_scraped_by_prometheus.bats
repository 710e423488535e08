#!/usr/bin/env bats
# serve_is_scraped_by_prometheus - a real Prometheus takes the metrics of seep serve, and they are those of the report.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/serve.bash

# prometheus_with CONFIGURATION: in the background, its address in $PROM
prometheus_with() {
	need prometheus
	local try
	echo "$1" >"$T/prometheus.yml"
	for try in 1 2 3; do
		PROM=127.0.0.1:$(free_port)
		prometheus --config.file="$T/prometheus.yml" --storage.tsdb.path="$T/tsdb" \
			--web.listen-address="$PROM" >"$T/prometheus.log" 2>&1 3>&- &
		PROMETHEUS=$!
		PIDS+=("$PROMETHEUS")
		eventually prometheus_is_up_or_ended
		! kill -0 "$PROMETHEUS" 2>/dev/null || return 0
	done
	cat "$T/prometheus.log"
	return 1
}
prometheus_is_up_or_ended() {
	curl -s "http://$PROM/-/ready" | grep -qi ready || ! kill -0 "$PROMETHEUS" 2>/dev/null
}

# query EXPRESSION: the first value of the answer, or nothing
query() {
	curl -sS --get "http://$PROM/api/v1/query" --data-urlencode "query=$1" |
		jq -r '.data.result[0].value[1] // empty'
}
answers() { [[ $(query "$1") == "$2" ]]; }
total() { from_report "p[0]['totals']['$1']"; }

# name of the only service: a unit, a container or a program
service() { get /sd | jq -r '.[0].labels.__param_service'; }

# metric NAME: its value, without labels or with those of the only service
metric() { get /metrics | sed -nE "s/^$1(\{[^}]*\})? //p"; }

@test "it scrapes, and answers with the figures of the report" {
	waiting
	printf '\n\n\n' >&9
	answered third
	"$SEEP" report --format json "$HOST" >"$T/report.json"
	serving --per-process --top 2
	prometheus_with "
global: {scrape_interval: 1s}
scrape_configs:
  - job_name: seep
    static_configs: [{targets: ['127.0.0.1:$PORT']}]
  - job_name: services
    http_sd_configs: [{url: '$AT/sd', refresh_interval: 1s}]
    relabel_configs:
      - {source_labels: [__meta_seep_service], target_label: instance}
"
	eventually answers 'seep_heap_live_bytes{job="seep"}' "$(total live_bytes)"
	answers 'seep_heap_live_blocks{job="seep"}' "$(total live_blocks)"
	answers 'seep_heap_peak_bytes{job="seep"}' "$(total peak_bytes)"
	answers 'seep_heap_allocations_total{job="seep"}' "$(total allocations)"
	answers 'seep_heap_allocated_bytes_total{job="seep"}' "$(total allocated_bytes)"
	answers 'seep_heap_frees_total{job="seep"}' "$(total frees)"
	answers 'seep_processes{job="seep"}' 1
	answers 'seep_sample_bytes{job="seep"}' 0
	answers "seep_process_live_bytes{job=\"seep\",pid=\"$HOST\",program=\"toggled\"}" "$(total live_bytes)"
	# sites by fingerprint, the largest first; they are counted beside
	eventually answers 'sum(seep_site_live_bytes{job="seep"})' "$(total live_bytes)"
	answers 'count(seep_site_live_bytes{job="seep",function=~"alloc_.*"})' 2
	[[ $(query 'max(seep_site_live_bytes{job="seep"})') -eq 30000 ]]
	# the targets of /sd: one for each service, with its own figures alone
	eventually answers "seep_heap_live_bytes{job=\"services\",instance=\"$(service)\"}" "$(total live_bytes)"
	answers 'up{job="services"}' 1
	[[ -z $(query 'seep_build_info{job="services"}') ]]
	kill -TERM "$PROMETHEUS"
	wait "$PROMETHEUS" || true
	unserve
}

@test "promtool finds nothing to complain about" {
	need promtool
	waiting
	printf '\n\n' >&9
	answered second
	serving --per-process --top 3
	eventually has_sites
	get /metrics -D "$T/head" >"$T/metrics"
	grep -qi 'content-type: text/plain; version=0.0.4' "$T/head"
	promtool check metrics <"$T/metrics" >"$T/said" 2>&1
	[[ ! -s $T/said ]]
	get "/metrics?service=$(service)" | promtool check metrics
}
has_sites() { get /metrics | grep -q '^seep_site_live_bytes{'; }

@test "OpenMetrics by Accept" {
	waiting
	serving
	get /metrics -D "$T/head" -H 'Accept: application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1' >"$T/metrics"
	grep -qi 'content-type: application/openmetrics-text; version=1.0.0' "$T/head"
	[[ $(tail -n 1 "$T/metrics") == '# EOF' ]]
	grep -qx '# TYPE seep_heap_allocations counter' "$T/metrics"
	grep -q '^seep_heap_allocations_total{' "$T/metrics"
	get /metrics -D "$T/head" -H 'Accept: application/openmetrics-text;q=0.1, text/plain' >"$T/metrics"
	grep -qi 'content-type: text/plain' "$T/head"
	lacks grep -q EOF "$T/metrics"
}

@test "counters do not fall when processes die" {
	serving
	local before=0 now i
	for i in 1 2 3; do
		rm -f "$T/lines" "$T/out"
		waiting
		printf '\n\n' >&9
		answered second
		eventually counted $((i * 3000))
		now=$(metric seep_heap_allocations_total)
		[[ $now -ge $before ]]
		before=$now
		if [[ $i -eq 2 ]]; then
			kill -KILL "$HOST"
			exec 9>&-
			wait "$HOST" || true
		else
			ends_after_second
		fi
		eventually none_runs
		[[ $(metric seep_heap_allocations_total) -ge $before ]]
		[[ $(metric seep_heap_live_bytes) -eq 0 ]]
		before=$(metric seep_heap_allocations_total)
	done
	# the third step has 500 more, in the first and in the last one
	[[ $before -eq $((3 * 3000 + 2 * 500)) ]]
	# and when the engine has forgotten them
	sleep 11
	[[ $(metric seep_heap_allocations_total) -eq $before ]]
	unserve
}
counted() { [[ $(metric seep_heap_allocations_total) -ge $1 ]]; }
none_runs() { [[ $(metric seep_processes) -eq 0 ]]; }

@test "watch --listen serves the same" {
	waiting
	printf '\n\n' >&9
	answered second
	PORT=$(free_port)
	AT=http://127.0.0.1:$PORT
	"$SEEP" watch --history "$T/history" --listen "127.0.0.1:$PORT" "$DIR" 2>"$T/watch.err" 3>&- &
	local watch=$!
	PIDS+=("$watch")
	eventually counted 3000
	get "/debug/pprof/heap?pid=$HOST" >"$T/heap.pb.gz"
	gunzip -t "$T/heap.pb.gz"
	get /api/report | jq -e '.processes[0].totals.live_bytes == 160000' >/dev/null
	# the history goes on meanwhile
	ends_after_second
	eventually none_runs
	kill -TERM "$watch"
	wait "$watch"
	[[ -n $(find "$T/history" -name '*.seep') ]]
	[[ ! -s $T/watch.err ]]
}
