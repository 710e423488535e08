/* smaps.h - /proc/PID/smaps: the mappings of a process and what is resident. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SMAPS_H
#define SEEP_SMAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is known of a mapping by its line and by its neighbours. */
enum smaps_kind {
	SMAPS_ANONYMOUS, /* private, without a file */
	SMAPS_HEAP,      /* [heap] */
	SMAPS_STACK,     /* [stack], or a mapping right above a guard page */
	SMAPS_MODULE,    /* of a file that is executed, or of the kernel */
	SMAPS_SHARED,    /* shared memory: shm, memfd, shared anonymous */
	SMAPS_FILE,      /* of any other file */
	SMAPS_COLLECTOR, /* a library of seep */
};

struct smaps_area {
	uint64_t start, end;
	uint64_t rss, swap, huge; /* bytes; huge: anonymous, in huge pages */
	uint32_t kind;            /* enum smaps_kind */
	const char *name;         /* "" if it has none; inside the text */
};

/* By address. The text of the file must live as long. */
struct smaps {
	struct smaps_area *at;
	size_t count, room;
};

/*
 * Parses untrusted text, and changes it: names end with a NUL. Lines that make
 * no sense are left out, and so are mappings that are not in order. -ENOMEM.
 */
int smaps_parse(char *text, struct smaps *ret);
void smaps_release(struct smaps *s);

/* The mapping at this address; NULL: none. */
const struct smaps_area *smaps_at(const struct smaps *s, uint64_t address);

/* /proc/PID/smaps_rollup, in bytes. */
struct smaps_sums {
	uint64_t rss, swap;
	uint64_t hugetlb; /* private and shared; the kernel has it beside Rss */
};

/* False: there is no Rss. */
bool smaps_rollup(const char *text, struct smaps_sums *ret);

#endif
