/* doctor_unit_limits.c - limits of a unit: files, address space, memory, locked memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "attach/doctor/doctor_unit_parts.h"
#include "format/medium.h"
#include "kit/words/words.h"

enum { SMALL_MEMORY = 64 << 20 };

/* What systemd gives a service that does not set LimitMEMLOCK=. */
#define MEMLOCK_DEFAULT (UINT64_C(8) << 20)

/*
 * A number of bytes, as systemctl prints it or as a unit file has it: "64K",
 * "1M:2M", of which the first is the soft limit. UINT64_MAX for "infinity", ""
 * and all else.
 */
static uint64_t bytes_of(const struct unit *u, const char *name)
{
	static const char units[] = "KMGTPE";
	const char *text = unit_get(u, name), *unit;
	unsigned long long n;
	unsigned shift = 0;
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return UINT64_MAX;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (*end && (unit = strchr(units, *end))) {
		shift = 10 * (unsigned)(unit - units + 1);
		end++;
	}
	if (errno || (*end && *end != ':') || n > UINT64_MAX >> shift)
		return UINT64_MAX;
	return (uint64_t)n << shift;
}

/* The soft limit is the one that counts. */
static uint64_t limit_of(const struct unit *u, const char *name)
{
	char soft[64];

	(void)snprintf(soft, sizeof(soft), "%sSoft", name);
	return unit_get(u, soft)[0] ? bytes_of(u, soft) : bytes_of(u, name);
}

void doctor_unit_limits(struct doctor_unit_look *l)
{
	uint64_t file = limit_of(l->u, "LimitFSIZE");
	uint64_t space = limit_of(l->u, "LimitAS");
	uint64_t memory = bytes_of(l->u, "MemoryMax");
	char words[WORDS_MAX], share[WORDS_MAX];

	if (file / MEDIUM_FILE_SHARE < MEDIUM_ROOM_MIN)
		doctor_add(l->r, DOCTOR_FAIL, "limits", "raise it to 1M or more",
		    "LimitFSIZE= is %s, and a segment gets a quarter of that: "
		    "too little",
		    words_bytes(words, file));
	if (space / MEDIUM_SPACE_SHARE < MEDIUM_ROOM_MIN)
		doctor_add(l->r, DOCTOR_FAIL, "limits", "raise it",
		    "LimitAS= is %s, and a segment gets 1/%d of that: too "
		    "little",
		    words_bytes(words, space), MEDIUM_SPACE_SHARE);
	else if (space < (UINT64_C(1) << 30))
		doctor_add(l->r, DOCTOR_WARN, "limits", "raise it",
		    "LimitAS= is %s: the collector's tables take some of it, "
		    "and many stacks find no room",
		    words_bytes(words, space));
	if (memory < SMALL_MEMORY)
		doctor_add(l->r, DOCTOR_WARN, "memory",
		    "raise it by 16 MiB while the service is traced, or use "
		    "--sample",
		    "MemoryMax= is %s, and the pages of its segment (at most "
		    "%s) and of the collector's tables count against it",
		    words_bytes(words, memory),
		    words_bytes(share,
		        memory / MEDIUM_GROUP_SHARE > MEDIUM_GROUP_MIN ? memory / MEDIUM_GROUP_SHARE
		                                                       : MEDIUM_GROUP_MIN));
	else if (memory != UINT64_MAX)
		doctor_add(l->r, DOCTOR_OK, "memory", NULL,
		    "MemoryMax= is %s; the segment takes at most 1/%d of what "
		    "is left of it",
		    words_bytes(words, memory), MEDIUM_GROUP_SHARE);
}

/* ---- locked memory ---- */

/* Is it one of these capabilities? "~" names those that are not. */
static bool has_lock(const char *capabilities)
{
	bool is_named = strcasestr(capabilities, "cap_ipc_lock") != NULL;

	return is_named != (capabilities[0] == '~');
}

/* Whoever has CAP_IPC_LOCK may lock as much as he likes. */
static bool may_lock_all(const struct doctor_unit_look *l)
{
	const char *bound = unit_get(l->u, "CapabilityBoundingSet");

	if (unit_is_on(l->u, "PrivateUsers"))
		return false; /* it counts in the machine's namespace alone */
	if (l->is_user_known && l->user == 0)
		return !bound[0] || has_lock(bound);
	return has_lock(unit_get(l->u, "AmbientCapabilities"));
}

/*
 * The collector locks nothing. But mlockall(MCL_CURRENT) needs a limit as large
 * as the whole address space, with our part of it, and after
 * mlockall(MCL_FUTURE) our new tables and the program's own memory share what
 * the limit has left: either of them gets no more when it is used up. So the
 * program may fail where it would not without us; it is traced all the same.
 */
void doctor_unit_locked(struct doctor_unit_look *l, const char *locker)
{
	bool is_set = unit_get(l->u, "LimitMEMLOCK")[0] || unit_get(l->u, "LimitMEMLOCKSoft")[0];
	uint64_t limit = is_set ? limit_of(l->u, "LimitMEMLOCK") : MEMLOCK_DEFAULT;
	char words[WORDS_MAX];

	if (!locker[0])
		doctor_add(l->r, DOCTOR_OK, "limits", NULL,
		    "it does not lock its memory (mlockall), so LimitMEMLOCK= "
		    "does not matter");
	else if (limit == UINT64_MAX || may_lock_all(l))
		doctor_add(l->r, DOCTOR_OK, "limits", NULL,
		    "%s may lock all memory (mlockall), and is not limited in "
		    "that",
		    locker);
	else
		doctor_add(l->r, DOCTOR_WARN, "limits",
		    "if it does lock it, set LimitMEMLOCK=infinity while it is "
		    "traced",
		    "%s may lock all memory (mlockall), and LimitMEMLOCK= is %s, "
		    "against which the collector's memory counts: locking or "
		    "malloc can fail where they do not without it",
		    locker, words_bytes(words, limit));
}
