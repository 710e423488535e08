/* metrics.c - numbers in the text formats of Prometheus. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/serve/metrics.h"

#include <strings.h>
#include <sys/resource.h>

#include "host/proc/procfs.h"
#include "kit/os/clock.h"
#include "kit/words/text.h"
#include "segments/read/losses.h"

void metrics_family(struct metrics *m, const char *name, enum metrics_type type, const char *help)
{
	/* the older format names a counter as its samples are named */
	const char *end = type == METRICS_COUNTER && !m->is_open ? "_total" : "";

	m->name = name;
	m->type = type;
	(void)fprintf(m->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, end, help, name, end,
	    type == METRICS_COUNTER ? "counter" : "gauge");
}

/* Odd characters are escaped as everywhere, and then as the format wants. */
static void put_value(FILE *out, const char *value)
{
	char shown[TEXT_ESCAPED];

	while (*value) {
		(void)text_next(&value, shown);
		for (const char *p = shown; *p; p++) {
			if (*p == '\\' || *p == '"')
				(void)putc('\\', out);
			(void)putc(*p, out);
		}
	}
}

static void put_labels(struct metrics *m, va_list labels)
{
	const char *name, *before = "{";

	(void)fprintf(m->out, "%s%s", m->name, m->type == METRICS_COUNTER ? "_total" : "");
	while ((name = va_arg(labels, const char *)) != NULL) {
		(void)fprintf(m->out, "%s%s=\"", before, name);
		put_value(m->out, va_arg(labels, const char *));
		(void)putc('"', m->out);
		before = ",";
	}
	(void)fputs(*before == ',' ? "} " : " ", m->out);
}

void metrics_put(struct metrics *m, uint64_t value, ...)
{
	va_list labels;

	va_start(labels, value);
	put_labels(m, labels);
	va_end(labels);
	(void)fprintf(m->out, "%" PRIu64 "\n", value);
}

void metrics_put_seconds(struct metrics *m, double value, ...)
{
	va_list labels;

	va_start(labels, value);
	put_labels(m, labels);
	va_end(labels);
	(void)fprintf(m->out, "%.6f\n", value);
}

void metrics_end(struct metrics *m)
{
	if (m->is_open)
		(void)fputs("# EOF\n", m->out);
}

/* The q of one entry of Accept, which ends at `end`; 1 without one. */
static double quality(const char *entry, const char *end)
{
	for (const char *p = entry; p < end; p++)
		if (*p == ';') {
			p += 1 + strspn(p + 1, " \t");
			if (p + 1 < end && (*p == 'q' || *p == 'Q') && p[1] == '=')
				return strtod(p + 2, NULL);
		}
	return 1;
}

static bool is_type(const char *entry, const char *end, const char *type)
{
	size_t len = strlen(type);

	return (size_t)(end - entry) >= len && strncasecmp(entry, type, len) == 0 &&
	    (entry + len == end || strchr("; \t", entry[len]));
}

bool metrics_wants_open(const char *accept)
{
	double open = 0, text = 0;

	while (accept && *accept) {
		const char *end = accept + strcspn(accept, ",");
		double q;

		accept += strspn(accept, " \t");
		q = quality(accept, end);
		if (is_type(accept, end, "application/openmetrics-text"))
			open = q > open ? q : open;
		else if (is_type(accept, end, "text/plain"))
			text = q > text ? q : text;
		accept = *end ? end + 1 : end;
	}
	return open > 0 && open >= text;
}

/* ---- exposition: what /metrics says ---- */

/* ---- services ---- */

#define ROW(field) offsetof(struct services_row, field)

/* One number of every service. */
static const struct figure {
	const char *name;
	size_t at;
	const char *help;
	enum metrics_type type;
	bool is_optional; /* absent if it is 0: not known, or none */
} figures[] = {
    {"seep_heap_live_bytes", ROW(live_bytes), "Requested bytes that are allocated and not freed.",
        METRICS_GAUGE, false},
    {"seep_heap_live_blocks", ROW(live_blocks), "Blocks that are allocated and not freed.",
        METRICS_GAUGE, false},
    {"seep_heap_peak_bytes", ROW(peak_bytes),
        "Highest live bytes of each running process, added up.", METRICS_GAUGE, false},
    {"seep_heap_allocations", ROW(all.allocations),
        "Allocations, those of processes that have ended included.", METRICS_COUNTER, false},
    {"seep_heap_allocated_bytes", ROW(all.allocated_bytes), "Requested bytes of all allocations.",
        METRICS_COUNTER, false},
    {"seep_heap_frees", ROW(all.frees), "Blocks that were freed.", METRICS_COUNTER, false},
    {"seep_heap_freed_bytes", ROW(all.freed_bytes), "Requested bytes of blocks that were freed.",
        METRICS_COUNTER, false},
    {"seep_lost_events", ROW(all.lost), "Allocations and frees that are missing in the figures.",
        METRICS_COUNTER, false},
    {"seep_unread_processes", ROW(unread),
        "Processes of which the last look could not read everything.", METRICS_GAUGE, false},
    {"seep_sample_bytes", ROW(sample_bytes),
        "Mean distance of samples in bytes; 0: every allocation is recorded.", METRICS_GAUGE,
        false},
    {"seep_resident_bytes", ROW(resident), "Resident memory of the running processes, added up.",
        METRICS_GAUGE, false},
    {"seep_cgroup_memory_limit_bytes", ROW(limit),
        "The tightest memory limit of its cgroups; absent: none.", METRICS_GAUGE, true},
    {"seep_cgroup_memory_bytes", ROW(used),
        "Memory in use in the cgroup that has this limit, or in its own.", METRICS_GAUGE, true},
};

static uint64_t number_at(const void *of, size_t at)
{
	uint64_t value;

	memcpy(&value, (const char *)of + at, sizeof(value));
	return value;
}

static bool is_meant(const struct services_row *r, const char *only)
{
	return !only || strcmp(r->name, only) == 0;
}

static void put_figure(
    struct metrics *m, const struct services *s, const char *only, const struct figure *f)
{
	metrics_family(m, f->name, f->type, f->help);
	for (size_t i = 0; i < services_count(s); i++) {
		const struct services_row *r = services_at(s, i);
		uint64_t value = number_at(r, f->at);

		if (is_meant(r, only) && (value > 0 || !f->is_optional))
			metrics_put(m, value, "service", r->name, METRICS_LAST);
	}
}

static void put_processes(struct metrics *m, const struct services *s, const char *only)
{
	metrics_family(m, "seep_processes", METRICS_GAUGE, "Traced processes that run.");
	for (size_t i = 0; i < services_count(s); i++) {
		const struct services_row *r = services_at(s, i);

		if (is_meant(r, only))
			metrics_put(m, r->processes, "service", r->name, METRICS_LAST);
	}
}

/* By name, those that there are: there are some forty names. */
static void put_losses(struct metrics *m, const struct services *s, const char *only)
{
	size_t count;
	const struct losses_name *names = losses_names(&count);

	metrics_family(m, "seep_losses", METRICS_COUNTER,
	    "What was not recorded, was cut or was merged, by name; absent: 0.");
	for (size_t i = 0; i < services_count(s); i++) {
		const struct services_row *r = services_at(s, i);

		for (size_t k = 0; is_meant(r, only) && k < count; k++) {
			uint64_t n = r->all.counts[names[k].count];

			if (names[k].class == LOSSES_LOSS && n > 0)
				metrics_put(
				    m, n, "service", r->name, "loss", names[k].key, METRICS_LAST);
		}
	}
}

/* ---- processes ---- */

#define PROCESS(field) offsetof(struct engine_process, field)

static const struct figure process_figures[] = {
    {"seep_process_live_bytes", PROCESS(now.live_bytes),
        "Requested bytes of a process that are allocated and not freed.", METRICS_GAUGE, false},
    {"seep_process_live_blocks", PROCESS(now.live_blocks),
        "Blocks of a process that are allocated and not freed.", METRICS_GAUGE, false},
    {"seep_process_peak_bytes", PROCESS(now.peak_bytes), "Highest live bytes of a process.",
        METRICS_GAUGE, false},
    {"seep_process_resident_bytes", PROCESS(now.resident), "Resident memory of a process.",
        METRICS_GAUGE, true},
    {"seep_process_allocations", PROCESS(now.allocations), "Allocations of a process.",
        METRICS_COUNTER, false},
    {"seep_process_allocated_bytes", PROCESS(now.allocated_bytes),
        "Requested bytes of all allocations of a process.", METRICS_COUNTER, false},
};

static void put_process_figure(struct metrics *m, const struct services *s, const struct engine *l,
    const char *only, const struct figure *f)
{
	metrics_family(m, f->name, f->type, f->help);
	for (size_t i = 0; i < engine_count(l); i++) {
		const struct engine_process *p = engine_at(l, i);
		const struct services_row *r = services_of(s, p);
		uint64_t value = number_at(p, f->at);
		char pid[16];

		/* of who is out of sight, only the process knows its pid */
		(void)snprintf(pid, sizeof(pid), "%d", (int)(p->pid > 0 ? p->pid : p->inner_pid));
		if (r && p->state == LIVE_RUNS && is_meant(r, only) &&
		    (value > 0 || !f->is_optional))
			metrics_put(m, value, "service", r->name, "pid", pid, "program", p->program,
			    METRICS_LAST);
	}
}

void exposition_services(struct metrics *m, const struct services *s, const struct engine *l,
    const char *only, bool per_process)
{
	put_processes(m, s, only);
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		put_figure(m, s, only, &figures[i]);
	put_losses(m, s, only);
	for (size_t i = 0; per_process && i < sizeof(process_figures) / sizeof(process_figures[0]);
	     i++)
		put_process_figure(m, s, l, only, &process_figures[i]);
}

/* ---- cost ---- */

static double seconds_of(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

/* That of the processes that write profiles and pages included. */
static double cpu_seconds(void)
{
	struct rusage own = {0}, children = {0};

	(void)getrusage(RUSAGE_SELF, &own);
	(void)getrusage(RUSAGE_CHILDREN, &children);
	return seconds_of(&own.ru_utime) + seconds_of(&own.ru_stime) +
	    seconds_of(&children.ru_utime) + seconds_of(&children.ru_stime);
}

static void put_one(
    struct metrics *m, const char *name, enum metrics_type type, uint64_t value, const char *help)
{
	metrics_family(m, name, type, help);
	metrics_put(m, value, METRICS_LAST);
}

static void put_http(struct metrics *m, const struct http_counts *h)
{
	put_one(m, "seep_http_connections", METRICS_GAUGE, h->open, "Connections that are open.");
	put_one(m, "seep_http_connections_refused", METRICS_COUNTER, h->refused + h->evicted,
	    "Connections that were refused, or gave way to newer ones.");
	metrics_family(
	    m, "seep_http_responses", METRICS_COUNTER, "Replies, by hundreds of their status.");
	for (unsigned i = 2; i < 6; i++) {
		char code[4] = {(char)('0' + i), 'x', 'x', '\0'};

		metrics_put(m, h->replies[i], "code", code, METRICS_LAST);
	}
}

void exposition_cost(struct metrics *m, const struct engine *l, const struct exposition_cost *cost)
{
	const struct engine_missing missing = engine_missing(l);

	metrics_family(m, "seep_build_info", METRICS_GAUGE, "The version of seep; 1.");
	metrics_put(m, 1, "version", cost->version, METRICS_LAST);
	metrics_family(m, "process_cpu_seconds", METRICS_COUNTER,
	    "CPU time of the reader, its own processes included.");
	metrics_put_seconds(m, cpu_seconds(), METRICS_LAST);
	put_one(m, "process_resident_memory_bytes", METRICS_GAUGE, procfs_resident(getpid()),
	    "Resident memory of the reader.");
	put_one(m, "seep_looks", METRICS_COUNTER, cost->looks,
	    "Times that the counters of all processes were read.");
	metrics_family(
	    m, "seep_look_seconds", METRICS_COUNTER, "Time that reading the counters took.");
	metrics_put_seconds(m, (double)cost->look_ns / 1e9, METRICS_LAST);
	put_one(m, "seep_unlisted_processes", METRICS_GAUGE, missing.processes,
	    "Traced processes that there was no room for.");
	put_one(m, "seep_unlisted_files", METRICS_GAUGE, missing.files,
	    "Segment files that were not looked into.");
	put_one(m, "seep_profiles", METRICS_COUNTER, cost->jobs,
	    "Profiles, pages and reports that were asked for.");
	put_one(m, "seep_profiles_failed", METRICS_COUNTER, cost->jobs_failed,
	    "Those that could not be written.");
	put_http(m, &cost->http);
}
