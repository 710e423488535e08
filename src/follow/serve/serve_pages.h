/* serve_serve_pages.h - the small pages: services, profiles, targets for Prometheus. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SERVE_PAGES_H
#define SEEP_SERVE_PAGES_H

#include <stdio.h>

#include "follow/serve/services.h"

/* The policy of these pages: no script, and style from us alone. */
#define PAGES_POLICY \
	"default-src 'none'; style-src 'self'; base-uri 'none'; " \
	"form-action 'none'; frame-ancestors 'none'"

/* /style.css */
extern const char pages_style[];

/* / */
void serve_pages_home(
    FILE *out, const struct services *s, const struct live *l, const char *version);

/* /debug/pprof/ */
void serve_pages_profiles(FILE *out, const struct services *s, const char *version);

/* /sd: a target for each service; `host` is ours, as the client knows it. */
void serve_pages_targets(FILE *out, const struct services *s, const char *host);

/* Of all services: "a, b, c", escaped, for a message. */
void serve_pages_names(FILE *out, const struct services *s);

#endif
