/* record_opts.h - the command line of seep record. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECORD_OPTS_H
#define SEEP_RECORD_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "command/options/opts.h"
#include "recording/file/chapter.h"

struct record_options {
	const char *output; /* NULL: seep.data, and an old one is renamed */
	bool force;
	bool require;
	bool quiet;
	bool no_follow;
	bool wait;
	bool no_deepbind;
	bool mappings;
	bool no_guess, runtime_names;
	uint64_t leaks_ns;      /* between looks for lost blocks; 0: none */
	bool retained, types;   /* what each look also keeps */
	uint64_t log_bytes;     /* of the event log; 0: none */
	bool last;              /* keep the last events of each thread */
	uint64_t rss_ns;        /* between readings of pages; 0: none */
	bool no_symbols;        /* do not store names of functions */
	const char *debug_dirs; /* where else to look for them */
	const char *export;     /* a format to write at the end; NULL: none */
	unsigned depth;
	uint64_t interval_ns;           /* 0: gets longer with time */
	uint64_t sample_bytes;          /* 0: exact */
	uint64_t max_bytes;             /* of the recording */
	struct opts_list rotate;        /* TIME, SIZE, as they were given */
	struct chapter_limits chapters; /* all 0: no chapters */
	char **command;
};

extern const struct opts_group record_opts_groups[];

/* A mistake is one line and exit 2; --help prints and exits 0. */
void record_opts_parse(const struct cmd *self, int argc, char **argv, struct record_options *o);

/* Is the output a folder of chapters? */
bool record_opts_rotate(const struct record_options *o);

/*
 * Does the name of the output contain %p, which is known only when the command
 * runs?
 */
bool record_opts_needs_pid(const struct record_options *o);

/*
 * Expands the name of the output: %p pid of the command, %h host, %e name of
 * the command, %t seconds since 1970, %% a percent sign. False: too long.
 */
bool record_opts_output(const struct record_options *o, pid_t pid, char *to, size_t bytes);

#endif
