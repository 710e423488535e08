/* post.h - sends requests with libcurl, one at a time, without waiting. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_POST_H
#define SEEP_POST_H

#include "follow/push/push.h"

/*
 * TLS with the certificates of the system, proxies as the environment says
 * (https_proxy, no_proxy). Redirects are not followed, so a token goes nowhere
 * else. Connecting takes 10 s at most, a request 30 s.
 */
struct post_plan {
	const char *url;        /* of the procedure */
	const char *token_file; /* read for each request; NULL: none */
	const char *tenant;     /* NULL: none */
	const char *version;    /* of seep */
};

struct post;

/* The texts of the plan stay the caller's. -ENOMEM. */
int post_new(const struct post_plan *plan, struct post **ret);
void post_free(struct post *p); /* NULL is fine */

/* Valid as long as p. */
struct push_transport post_transport(struct post *p);

#endif
