/* budget.c - how much memory a segment and our tables may take. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/segment/budget.h"

#include <sys/resource.h>

#include "collector/segment/cgroup.h"
#include "collector/segment/config.h"
#include "collector/segment/kernel.h"
#include "format/format.h"
#include "format/medium.h"

enum {
	MIB = 1 << 20,
	FIXED_BYTES = 4 * MIB, /* if pages cannot be populated later */
};

static uint64_t min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* A share of a limit on memory; UINT64_MAX if there is none. */
static uint64_t share_of(int limit, uint64_t part)
{
	uint64_t bytes = kernel_limit(limit);

	return bytes == RLIM_INFINITY ? UINT64_MAX : bytes / part;
}

uint64_t budget_of_tables(void)
{
	/* files are address space, too, but no data */
	return min64(share_of(RLIMIT_AS, 8), share_of(RLIMIT_DATA, 4));
}

static uint64_t bounded(uint64_t b, const struct statfs *fs, bool populate)
{
	uint64_t left = cgroup_left();

	/* pages are taken when they are needed, so a small promise is kept */
	if (left != UINT64_MAX)
		b = min64(b,
		    left / MEDIUM_GROUP_SHARE < MEDIUM_GROUP_MIN ? MEDIUM_GROUP_MIN
		                                                 : left / MEDIUM_GROUP_SHARE);
	b = min64(b, (uint64_t)fs->f_bavail * (uint64_t)fs->f_bsize / MEDIUM_FREE_SHARE);
	b = min64(b, kernel_limit(RLIMIT_FSIZE) / MEDIUM_FILE_SHARE);
	b = min64(b, share_of(RLIMIT_AS, MEDIUM_SPACE_SHARE));
	if (!populate)
		b = min64(b, FIXED_BYTES);
	return b & ~(uint64_t)(SEG_EXTENT_STEP - 1);
}

uint64_t budget_of_segment(const struct statfs *fs, bool populate)
{
	return bounded(config.budget ? config.budget : MEDIUM_ROOM_MAX, fs, populate);
}

uint64_t budget_of_log(const struct statfs *fs, bool populate)
{
	return bounded(config.log_pool, fs, populate);
}
