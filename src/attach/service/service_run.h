/* service_run.h - what the parts of seep service share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SERVICE_RUN_H
#define SEEP_SERVICE_RUN_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "attach/service/dropin.h"
#include "attach/service/unit.h"

enum service_format { SERVICE_TEXT, SERVICE_JSON };

struct service_options {
	bool is_user, is_runtime, is_dormant, is_dry, restarts, no_deepbind;
	const char *only;
	uint64_t sample_bytes;
	unsigned depth;
	int format; /* enum service_format, of status */
};

/* A unit, and the place of our drop-in for it. */
struct service_run {
	struct service_options options;
	struct unit unit;
	char path[PATH_MAX];
};

/* For messages: "systemctl --user restart". */
static inline const char *service_run_scope(const struct service_run *r)
{
	return r->options.is_user ? " --user" : "";
}

/* Prints what is known of it, in lines of so many columns (0: no limit). -ENOMEM. */
int service_status(const struct service_run *r, unsigned columns);

#endif
