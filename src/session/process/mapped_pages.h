/* mapped_pages.h - reads from a running process which mappings its callers have. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_MAPPED_PAGES_H
#define SEEP_MAPPED_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/process/process.h"

/* What a site of mappings has now. */
struct mapped_site {
	uint64_t ranges, bytes;
	uint64_t resident_bytes, swapped_bytes;
};

/*
 * All mappings of a process that its collector knows (format/seg_mapped.h), and which
 * of their pages are in memory. The process runs meanwhile, so the figures
 * differ from those of its ledger by what happened in between.
 */
struct mapped {
	struct mapped_site *sites; /* by number of the site in the process */
	size_t count;
	bool is_partial; /* pages of the table were swapped out, or too many */
};

/*
 * Reads it into p->resident, which process_free() frees. -ESRCH: the process
 * does not run, or has ended meanwhile; -ENODATA: it has no such table; -EPERM,
 * -ETIMEDOUT and others as of foreign.h; -ENOMEM.
 */
int mapped_pages_read(struct process *p);

void mapped_pages_free(struct mapped *m);

#endif
