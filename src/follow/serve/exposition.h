/* exposition.h - what /metrics says. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EXPOSITION_H
#define SEEP_EXPOSITION_H

#include "follow/serve/http.h"
#include "follow/serve/metrics.h"
#include "follow/serve/services.h"

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
void exposition_services(struct metrics *m, const struct services *s, const struct live *l,
    const char *only, bool per_process);

/* What reading them costs. */
void exposition_cost(struct metrics *m, const struct live *l, const struct exposition_cost *cost);

#endif
