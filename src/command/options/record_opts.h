/* record_opts.h - the command line of seep record. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECORD_OPTS_H
#define SEEP_RECORD_OPTS_H

#include "command/options/opts.h"
#include "follow/recorder/record_run.h"
#include "session/load/session.h"

extern const struct opts_group record_opts_groups[];

/* A mistake is one line and exit 2; --help prints and exits 0. */
void record_opts_parse(const struct cmd *self, int argc, char **argv, struct record_options *o);

/* ---- rss_opts: --rss: reads which pages of running processes are resident ---- */

#define RSS_OPTS_MEANING \
	"show where the resident memory (RSS) of a process is: living blocks, " \
	"free parts of the heap and who keeps them, stacks, files; adds the " \
	"columns holds (resident pages that the blocks of a site keep) and " \
	"pins (the part that is not its own)"

/*
 * Reads the running processes of a session, which must not be too many; others
 * have a reading from their snapshot or recording, or none. Ends the program:
 * exit 3 if a process cannot be read, 2 if there is no reading at all.
 */
void rss_opts_read(const char *command, struct session *s, uint32_t pid);

#endif
