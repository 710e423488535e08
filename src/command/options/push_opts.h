/* push_opts.h - the options of pushing, for push and watch. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PUSH_OPTS_H
#define SEEP_PUSH_OPTS_H

#include "command/options/opts.h"
#include "command/shell/targets.h"
#include "follow/push/push_order.h"

struct push_opts {
	const char *url; /* watch --push; push has it as an operand */
	const char *token_file, *tenant;
	struct opts_list labels;
	uint64_t every_ns; /* 0: not given */
};

extern const struct opts_option push_opts_rows[];  /* seep push */
extern const struct opts_option push_opts_watch[]; /* seep watch --push */

/*
 * What can be checked without seep-net is; a mistake ends the program. The
 * result points into o, naming and targets.
 */
void push_opts_finish(const char *command, const struct push_opts *o,
    const struct names_options *naming, const struct targets *targets, struct push_order *ret);

#endif
