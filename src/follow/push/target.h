/* target.h - the URL of a server of profiles. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TARGET_H
#define SEEP_TARGET_H

#include <stdbool.h>

#include "kit/os/fault.h"

enum { TARGET_BYTES = 2048 };

struct target {
	char url[TARGET_BYTES];   /* of the procedure Push */
	char shown[TARGET_BYTES]; /* as it was given; safe to print */
	bool is_encrypted;
	bool is_local; /* the host is this machine */
};

/*
 * http://HOST[:PORT][/PATH] or https://...; -EINVAL with words for all else. No
 * user and password: others can read the command line.
 */
int target_read(const char *text, struct target *ret, struct fault *where);

/* May it be sent as a header field: X-Scope-OrgID? */
bool target_is_tenant(const char *text);

#endif
