/* namer_parts.h - what the two sides of a namer say to each other. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMER_PARTS_H
#define SEEP_NAMER_PARTS_H

#include "follow/top/namer.h"

/*
 * Both sides are the same program, one forked from the other, so structs travel
 * as they are. Each request has one answer.
 */
enum { NAMER_MAGIC = 0x524d414e, NAMER_BYTES_MAX = 256 << 20 };

struct namer_request {
	uint32_t magic, kind; /* enum namer_kind */
	pid_t pid;
	struct namer_page page;
	struct namer_filter filter;
};

/*
 * Followed by `bytes`: of a table `count` sites, `id_count` ids, and texts, to
 * which the text pointers of the sites are offsets + 1; of a page its text.
 */
struct namer_answer {
	uint32_t magic, kind; /* enum namer_kind */
	uint64_t bytes, count, id_count;
};

/* A helper: answers requests until the other side is gone. */
int namer_serve(int fd, void *plan);

#endif
