/* births.h - ages and births of the blocks of a process, as a recorder read them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TRACE_BIRTHS_H
#define SEEP_TRACE_BIRTHS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

/*
 * A process that is killed leaves no ages of its live blocks, so `seep record`
 * reads them from its memory from time to time; the last reading counts. Numbers
 * only, never an address.
 */
enum {
	BIRTHS_DEATHS = SEG_AGE_STEPS + SEG_AGE_BUCKETS + 1,
	BIRTHS_LIVING = SEG_AGE_BUCKETS + 1,
	BIRTHS_SITES_MAX = 1 << 20,
	BIRTHS_LIMITS = 8,
};

/* A site with live blocks at that time. */
struct births_site {
	uint32_t site; /* id in the process's segment */
	uint32_t first_tick;
	uint64_t blocks, bytes; /* live */
	uint64_t moved;         /* youngest deaths that may be reallocs */
	uint64_t
	    deaths[BIRTHS_DEATHS]; /* [0]: below a tick; [i]: from 2^(i-1) */
	uint64_t living[BIRTHS_LIVING];   /* as in struct process_ages */
	uint64_t births[SEG_BIRTH_SLOTS]; /* until `tick` */
};

/* A bound of the memory of the process; numbers never change their meaning. */
enum births_limit_kind {
	BIRTHS_LIMIT_GROUP = 1,      /* memory.max, limit_in_bytes */
	BIRTHS_LIMIT_GROUP_HIGH = 2, /* memory.high, soft_limit_in_bytes */
	BIRTHS_LIMIT_SPACE = 3,      /* RLIMIT_AS */
	BIRTHS_LIMIT_DATA = 4,       /* RLIMIT_DATA */
	BIRTHS_LIMIT_MACHINE = 5,    /* MemTotal; used: what is not available */
};
struct births_limit {
	uint32_t kind; /* enum births_limit_kind, or one of a later version */
	uint64_t limit, used;
};

struct births {
	uint32_t tick; /* when it was read */
	struct births_limit limits[BIRTHS_LIMITS];
	size_t limit_count;
	struct births_site *sites; /* by id */
	size_t count;
};

/*
 * The bytes of an entry RECORDING_AGES after the uuid of the process; the caller
 * frees them. -ENOMEM; -EFBIG beyond BIRTHS_SITES_MAX.
 */
int births_encode(const struct births *a, uint8_t **ret, size_t *ret_len);

/* Decodes untrusted bytes. -EBADMSG: they are damaged; -ENOMEM. */
int births_decode(const uint8_t *bytes, size_t len, struct births *ret);
void births_release(struct births *a);

/* The site with this id; NULL: it had no live block. */
const struct births_site *births_find(const struct births *a, uint32_t id);

#endif
