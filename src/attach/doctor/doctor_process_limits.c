/* doctor_process_limits.c - limits of a running process that concern the collector. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>

#include "attach/doctor/doctor_parts.h"
#include "host/memory/foreign.h"
#include "format/medium.h"
#include "kit/words/words.h"

/* Less than this is soon used up by tables that grow. */
#define LOCKED_ROOM (UINT64_C(4) << 20)

/* The soft limit in a line of /proc/PID/limits. */
static uint64_t limit_of(const char *limits, const char *name)
{
	const char *line = limits ? strstr(limits, name) : NULL;
	unsigned long long value;
	char *end;

	if (!line)
		return UINT64_MAX;
	line += strlen(name);
	value = strtoull(line, &end, 10);
	return end > line ? value : UINT64_MAX; /* "unlimited" */
}

size_t doctor_process_limits(struct doctor_report *r, pid_t pid)
{
	char *limits = NULL;
	size_t len, bad = 0;

	if (foreign_text(pid, "limits", &limits, &len) < 0)
		return 0;
	if (limit_of(limits, "Max file size") / MEDIUM_FILE_SHARE < MEDIUM_ROOM_MIN) {
		doctor_add(r, DOCTOR_FAIL, "limits", "raise it (ulimit -f, LimitFSIZE=)",
		    "its limit on file sizes is too low for a segment");
		bad++;
	}
	if (limit_of(limits, "Max address space") / MEDIUM_SPACE_SHARE < MEDIUM_ROOM_MIN) {
		doctor_add(r, DOCTOR_FAIL, "limits", "raise it (ulimit -v, LimitAS=)",
		    "its limit on address space is too low for a segment");
		bad++;
	}
	free(limits);
	return bad;
}

/* ---- locked memory: see doctor_unit_locked() ---- */

/* A number in a line of /proc/PID/status; 0: there is none. */
static uint64_t number_of(const char *status, const char *name, int base)
{
	const char *line = strstr(status, name);

	return line ? strtoull(line + strlen(name), NULL, base) : 0;
}

void doctor_process_locked(struct doctor_report *r, pid_t pid, const char *locker)
{
	char *limits = NULL, *status = NULL;
	char have[WORDS_MAX], most[WORDS_MAX];
	uint64_t locked, limit;
	bool is_free;
	size_t len;

	if (foreign_text(pid, "limits", &limits, &len) < 0 ||
	    foreign_text(pid, "status", &status, &len) < 0)
		goto out;
	limit = limit_of(limits, "Max locked memory");
	locked = number_of(status, "\nVmLck:", 10) << 10;
	is_free = limit == UINT64_MAX || number_of(status, "\nCapEff:", 16) >> CAP_IPC_LOCK & 1;
	if (locked == 0)
		doctor_add(r, DOCTOR_OK, "limits", NULL,
		    "it has locked no memory, so its limit on that does not "
		    "matter");
	else if (is_free || !locker[0] || (locked < limit && limit - locked >= LOCKED_ROOM))
		doctor_add(r, DOCTOR_OK, "limits", NULL, "it has locked %s, and has room for more",
		    words_bytes(have, locked));
	else
		doctor_add(r, DOCTOR_WARN, "limits",
		    "raise it (ulimit -l, LimitMEMLOCK=) while it is traced",
		    "it has locked %s of at most %s (%s calls mlockall), "
		    "against which the collector's memory counts: new stacks "
		    "find no room, and its own malloc can fail",
		    words_bytes(have, locked), words_bytes(most, limit), locker);
out:
	free(limits);
	free(status);
}
