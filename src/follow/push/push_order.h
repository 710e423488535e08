/* push_order.h - what a user has said about pushing, not yet checked. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PUSH_ORDER_H
#define SEEP_PUSH_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "names/find/names.h"

struct push_order {
	const char *url;
	const char *token_file, *tenant; /* NULL: none */
	const char *const *labels;       /* NAME=VALUE */
	size_t label_count;
	uint64_t every_ns;              /* 0: once */
	const char *const *directories; /* as in struct live_plan */
	const pid_t *pids;
	size_t pid_count;
	struct names_options naming;
	const char *version; /* of seep */
	/* A line for the user, without its end; safe to print. */
	void (*say)(void *context, const char *text);
	void *context;
};

#endif
