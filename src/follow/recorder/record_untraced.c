/* record_untraced.c - says why a command of seep record is not traced. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/recorder/record_run.h"

#include <sys/resource.h>

#include "segments/read/losses.h"
#include "segments/find/procs.h"
#include "segments/find/segment_dir.h"
#include "format/medium.h"

/* A collector that finds less room than 256 KiB does nothing. */
static const char *tight_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	    limit.rlim_cur / MEDIUM_FILE_SHARE < MEDIUM_ROOM_MIN)
		return "the limit on file sizes is too low (ulimit -f)";
	if (getrlimit(RLIMIT_AS, &limit) == 0 &&
	    limit.rlim_cur / MEDIUM_SPACE_SHARE < MEDIUM_ROOM_MIN)
		return "the limit on address space is too low (ulimit -v)";
	return NULL;
}

void record_say_not_arrived(struct record_run *r)
{
	const char *why = tight_limit(), *refused;
	size_t count;
	bool more;

	if (r->said_why)
		return;
	r->said_why = true;
	if (!why && getenv("SEEP_ONLY"))
		why = "SEEP_ONLY is set, and it may be none of its names";
	refused_report(&r->segment_dir, NULL, &count, &more, &refused);
	if (!why && count > 0)
		why = refused;
	if (!why)
		why = "the reason is not known; maybe it, or a program that "
		      "started it, clears the environment, or it ended too early";
	r->say("no collector in %s (pid %d): %s", r->options.command[0], (int)r->launch.pid, why);
}

/* The command has become another program by exec. */
static void say_replaced(struct record_run *r)
{
	struct inspect in;
	bool can_run;

	if (r->said_why)
		return;
	can_run = inspect_pid(r->launch.pid, &in);
	if (in.program[0] == '\0')
		return; /* it is just ending, and has no program any more */
	r->said_why = true;
	if (can_run && in.kind != INSPECT_FINE)
		r->say("%s", in.message);
	else
		r->say("%s (pid %d) has become %s, which has no collector: was "
		       "the environment cleared?",
		    r->options.command[0], (int)r->launch.pid, in.program);
}

void record_say_declined(struct record_run *r, uint32_t reason, uint32_t place_owner, bool whole)
{
	if (r->said_why)
		return;
	r->said_why = true;
	if (reason == SEG_INERT_PLACE) {
		r->say("%s (pid %d) is not traced: %s (uid %u); have it "
		       "removed",
		    r->options.command[0], (int)r->launch.pid, losses_inert(reason), place_owner);
		return;
	}
	r->say("%s (pid %d) is %s: %s", r->options.command[0], (int)r->launch.pid,
	    whole                                ? "not traced"
	        : reason == SEG_INERT_OWN_MALLOC ? "hardly traced, or not at all"
	                                         : "maybe traced in part only",
	    losses_inert(reason));
}

void record_check_arrival(struct record_run *r)
{
	struct seg_header h;

	if (!segment_dir_find(&r->segment_dir, r->launch.pid, &h))
		record_say_not_arrived(r);
	else if (!procs_has_segment(r->launch.pid))
		say_replaced(r);
	else if (h.state == SEG_INERT || h.inert_reason != SEG_INERT_NONE)
		record_say_declined(r, h.inert_reason, h.place_owner, h.state == SEG_INERT);
}
