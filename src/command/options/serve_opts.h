/* serve_opts.h - the options of the server and of pushing, also for watch. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SERVE_OPTS_H
#define SEEP_SERVE_OPTS_H

#include "command/options/opts.h"
#include "command/shell/input.h"
#include "follow/push/push.h"
#include "follow/serve/serve.h"

struct serve_opts {
	const char *listen; /* NULL: not given */
	const char *token_file;
	bool no_auth, per_process;
	unsigned top;
	struct opts_list hosts;
};

/* They fill a struct serve_opts. */
extern const struct opts_option serve_opts_rows[];

/*
 * Fills the server's part of the plan. Exits with 2 if the address is none, or
 * is open to other machines and nothing says who may ask.
 */
void serve_opts_finish(const char *command, const struct serve_opts *o,
    const struct names_options *naming, struct serve_plan *ret);

/* ---- push_opts: the options of pushing, for push and watch ---- */

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
