/* record_opts.h - the command line of seep record. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECORD_OPTS_H
#define SEEP_RECORD_OPTS_H

#include "command/options/opts.h"
#include "follow/recorder/record_run.h"

extern const struct opts_group record_opts_groups[];

/* A mistake is one line and exit 2; --help prints and exits 0. */
void record_opts_parse(const struct cmd *self, int argc, char **argv, struct record_options *o);

#endif
