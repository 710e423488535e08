/* metrics.h - numbers in the text formats of Prometheus. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_METRICS_H
#define SEEP_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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

#endif
