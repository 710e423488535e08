/* aging.h - ages and births of the blocks of a process, as a recorder read them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_AGING_H
#define SEEP_AGING_H

#include "base/std.h"
#include "format/format.h"
#include "host/proc/procfs_group.h"

/*
 * A process that is killed leaves no ages of its live blocks, so `seep record`
 * reads them from its memory from time to time; the last reading counts. Numbers
 * only, never an address.
 */
enum {
	AGING_DEATHS = SEG_AGE_STEPS + SEG_AGE_BUCKETS + 1,
	AGING_LIVING = SEG_AGE_BUCKETS + 1,
	AGING_SITES_MAX = 1 << 20,
};

/* A site with live blocks at that time. */
struct aging_site {
	uint32_t site; /* id in the process's segment */
	uint32_t first_tick;
	uint64_t blocks, bytes;           /* live */
	uint64_t moved;                   /* youngest deaths that may be reallocs */
	uint64_t deaths[AGING_DEATHS];    /* [0]: below a tick; [i]: from 2^(i-1) */
	uint64_t living[AGING_LIVING];    /* as in struct process_ages */
	uint64_t births[SEG_BIRTH_SLOTS]; /* until `tick` */
};

struct aging {
	uint32_t tick; /* when it was read */
	struct aging_limit limits[AGING_LIMITS];
	size_t limit_count;
	struct aging_site *sites; /* by id */
	size_t count;
};

/*
 * The bytes of an entry RECORDING_AGES after the uuid of the process; the caller
 * frees them. -ENOMEM; -EFBIG beyond AGING_SITES_MAX.
 */
int aging_encode(const struct aging *a, uint8_t **ret, size_t *ret_len);

/* Decodes untrusted bytes. -EBADMSG: they are damaged; -ENOMEM. */
int aging_decode(const uint8_t *bytes, size_t len, struct aging *ret);
void aging_release(struct aging *a);

/* The site with this id; NULL: it had no live block. */
const struct aging_site *aging_find(const struct aging *a, uint32_t id);

#endif
