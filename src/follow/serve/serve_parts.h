/* serve_parts.h - what the files of serve.h share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SERVE_PARTS_H
#define SEEP_SERVE_PARTS_H

#include "base/std.h"
#include "follow/serve/clerk.h"
#include "follow/serve/http.h"
#include "follow/serve/serve.h"
#include "follow/serve/metrics.h"

struct serve {
	const struct serve_plan *plan;
	struct engine *live; /* the loop's */
	struct services *services;
	struct http *http;
	struct clerks *clerks;
	int epoll; /* of both */
	char *token;
	int listen_fd;
	bool is_alone; /* no other loop looks */
	uint64_t looked_ns, looks, look_ns;
	/* metrics of sites, as a child has written them */
	struct serve_sites {
		char *text;
		size_t len;
		bool is_busy;
		uint64_t begun_ns, next_ns;
	} sites;
};

/* A look has been taken, which began then. */
void serve_looked(struct serve *s, uint64_t begun_ns);

/* ---- serve_replies.c ---- */

/* As in struct http_plan; the context is the struct serve. */
void serve_answer(void *context, struct http_exchange *x);
void serve_gone(void *context, struct http_exchange *x);

/* ---- serve_pages: the small pages: services, profiles, targets for Prometheus ---- */

/* The policy of these pages: no script, and style from us alone. */
#define PAGES_POLICY \
	"default-src 'none'; style-src 'self'; base-uri 'none'; " \
	"form-action 'none'; frame-ancestors 'none'"

/* /style.css */
extern const char pages_style[];

/* / */
void serve_pages_home(
    FILE *out, const struct services *s, const struct engine *l, const char *version);

/* /debug/pprof/ */
void serve_pages_profiles(FILE *out, const struct services *s, const char *version);

/* /sd: a target for each service; `host` is ours, as the client knows it. */
void serve_pages_targets(FILE *out, const struct services *s, const char *host);

/* Of all services: "a, b, c", escaped, for a message. */
void serve_pages_names(FILE *out, const struct services *s);

#endif
