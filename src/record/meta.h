/* meta.h - the text entries of a recording: about the run, who is missing. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECORD_META_H
#define SEEP_RECORD_META_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/bundle.h"

struct meta {
	const char *version; /* of seep */
	const char *session;
	const char *program;  /* the file that was run */
	char *const *command; /* its arguments, ends with NULL */
	pid_t pid;            /* its process */
	uint64_t start_ns;    /* since 1970, as meta_now_ns() gave it */
	int status;           /* as of waitpid() */
	bool follow;          /* children were recorded, too */
};

uint64_t meta_now_ns(void);

/* Lines key=value, see docs/RECORDING.md; the run ends now. */
int meta_write(const struct meta *m, struct bundle_writer *w);

/* A process of the tree that was not traced, and why. */
int meta_write_untraced(
    struct bundle_writer *w, pid_t pid, const char *exe, const char *reason);

#endif
