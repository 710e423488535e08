/* site_metrics.h - metrics of the sites that hold most. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SITE_METRICS_H
#define SEEP_SITE_METRICS_H

#include <stdio.h>

#include "names/find/names.h"
#include "session/load/session.h"
#include "view/suppress/suppress.h"

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
