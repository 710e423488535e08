/* serve_opts.h - the options of the server, for serve and watch. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SERVE_OPTS_H
#define SEEP_SERVE_OPTS_H

#include "command/options/opts.h"
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

#endif
