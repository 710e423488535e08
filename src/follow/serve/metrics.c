/* metrics.c - numbers in the text formats of Prometheus. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/serve/metrics.h"

#include <strings.h>

#include "kit/words/text.h"

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
