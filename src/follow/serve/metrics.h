/* metrics.h - what /metrics says: sums of services and sites. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_METRICS_H
#define SEEP_METRICS_H

#include "base/std.h"
#include "follow/engine/engine.h"
#include "follow/history/store.h"
#include "follow/serve/http.h"
#include "names/find/names.h"
#include "session/load/session.h"
#include "view/suppress/suppress.h"

#define METRICS_TEXT "text/plain; version=0.0.4; charset=utf-8"
#define METRICS_OPEN "application/openmetrics-text; version=1.0.0; charset=utf-8"

enum metrics_type {
	METRICS_GAUGE,
	METRICS_COUNTER, /* its samples end in _total, which its name does not */
};

/* A text that is being written. */
struct metrics {
	FILE *out;
	bool is_open; /* OpenMetrics; else the format 0.0.4 */
	const char *name;
	enum metrics_type type;
};

/* Whoever has metrics of his own to add. */
struct metrics_source {
	void (*put)(void *context, struct metrics *m);
	void *context;
};

/*
 * Begins a family: all samples of one name stand together. Texts are borrowed
 * until the next one; `help` is one line.
 */
void metrics_family(struct metrics *m, const char *name, enum metrics_type type, const char *help);

#define METRICS_LAST ((const char *)NULL)

/*
 * A sample; labels are pairs of name and value, METRICS_LAST at the end. Values are
 * untrusted: whatever they contain, the text stays well-formed.
 */
void metrics_put(struct metrics *m, uint64_t value, ...) __attribute__((sentinel));

/* The same for a number of seconds. */
void metrics_put_seconds(struct metrics *m, double value, ...) __attribute__((sentinel));

/* After the last sample. */
void metrics_end(struct metrics *m);

/* Does the value of a header "Accept" (or NULL) prefer OpenMetrics? */
bool metrics_wants_open(const char *accept);

/* ---- services: sums of the traced processes of each service ---- */

/*
 * A service has the name of its folder in a history: printable ASCII, and no
 * two services share one. Forked children belong to the service of their
 * parent. Counters never fall: those of a process that has ended stay in the
 * sums of its service.
 */

/* Counters: what a process, or all processes so far, have added up. */
struct services_counts {
	uint64_t allocations, allocated_bytes, frees, freed_bytes, lost;
	uint64_t counts[SEG_COUNTS];
};

struct services_row {
	char name[FOLDER_NAME_BYTES];
	enum folder_kind kind;
	uid_t uid;
	struct services_counts ended; /* of those that are listed no more */
	struct services_counts all;
	/* of those that run; the limit is the smallest one, 0: none */
	uint64_t live_bytes, live_blocks, peak_bytes, resident;
	uint64_t limit, used, sample_bytes;
	size_t processes;
	uint64_t unread;  /* processes whose last look has read less than all */
	uint64_t used_ns; /* CLOCK_MONOTONIC, when one ran last */
};

struct services;

/* NULL: no memory. The engine outlives it. */
struct services *services_new(struct engine *l);
void services_free(struct services *s); /* NULL is fine */

/* After each look of the engine. -ENOMEM: some are missing until the next. */
int services_update(struct services *s);

/* In the order in which they were met. */
size_t services_count(const struct services *s);
const struct services_row *services_at(const struct services *s, size_t i);

/* NULL: there is none of that name. */
const struct services_row *services_find(const struct services *s, const char *name);

/* The service of a process that is listed; NULL: none, there was no memory. */
const struct services_row *services_of(const struct services *s, const struct engine_process *p);

/* ---- exposition: what /metrics says ---- */

/* What our own work costs. */
struct exposition_cost {
	uint64_t looks, look_ns;
	uint64_t jobs, jobs_failed;
	struct http_counts http;
	const char *version;
};

/*
 * The services, or only the one of this name (NULL: all), and by process if
 * `per_process` is set.
 */
void exposition_services(struct metrics *m, const struct services *s, const struct engine *l,
    const char *only, bool per_process);

/* What reading them costs. */
void exposition_cost(struct metrics *m, const struct engine *l, const struct exposition_cost *cost);

/* ---- site_metrics: metrics of the sites that hold most ---- */

/*
 * Never stacks: a label with a stack makes as many series as there are stacks. A
 * site is known by its fingerprint (view/stacks/fingerprint.h), which stays the same
 * when the program is built again and is that of `seep check`.
 */
struct sites;

struct sites *site_metrics_new(unsigned top); /* NULL: no memory */
void site_metrics_free(struct sites *s);      /* NULL is fine */

/* Those of a service that hold most live bytes. -ENOMEM. */
int site_metrics_add(struct sites *s, const char *service, const struct session *session,
    struct names *names, struct suppress *suppress);

/* Families of metrics, which both text formats allow. */
void site_metrics_write(const struct sites *s, FILE *out);

#endif
