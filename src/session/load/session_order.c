/* session_order.c - which segments are of one process, and in which order. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "segments/find/proc.h"
#include "session/load/load_parts.h"

enum {
	EXEC_NEAR = 256,      /* segments of one pid that are compared */
	PARENT_NEAR = 64,     /* processes among which a parent is looked for */
	COARSE_NS = 10000000, /* a tick of the coarse clock, at most */
};

/* If a process has ended and has a later segment, it called exec. */
void session_mark_exec(struct process *const *list, size_t count, const struct seg_header *later)
{
	for (size_t i = 0; i < count; i++) {
		struct process *p = list[i];

		if ((p->end == PROCESS_GONE || p->end == PROCESS_UNKNOWN) &&
		    proc_superseded(&p->header, later))
			p->end = PROCESS_EXEC;
	}
}

static int by_start(const void *a, const void *b)
{
	const struct process *x = *(struct process *const *)a;
	const struct process *y = *(struct process *const *)b;

	if (x->header.start_realtime_ns != y->header.start_realtime_ns)
		return x->header.start_realtime_ns < y->header.start_realtime_ns ? -1 : 1;
	if (x->header.pid != y->header.pid)
		return x->header.pid < y->header.pid ? -1 : 1;
	return (x->header.sequence > y->header.sequence) -
	    (x->header.sequence < y->header.sequence);
}

/*
 * Every command that a shell starts begins as a forked child with a few events,
 * whose memory is gone after its exec. Such a segment is counted, and not
 * listed.
 */
static void set_early_exec_aside(struct session *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++) {
		struct process *p = s->processes[i];

		if (p->end != PROCESS_EXEC || !process_ended_early(p)) {
			s->processes[kept++] = p;
			continue;
		}
		s->early_exec.processes++;
		s->early_exec.allocations += p->totals.allocations;
		s->early_exec.allocated_bytes += p->totals.allocated_bytes;
		process_free(p);
	}
	s->count = kept;
}

/* By pid, then by start. */
static int by_pid(const void *a, const void *b)
{
	const struct process *x = *(struct process *const *)a;
	const struct process *y = *(struct process *const *)b;

	if (x->header.pid != y->header.pid)
		return x->header.pid < y->header.pid ? -1 : 1;
	return (x->header.start_monotonic_ns > y->header.start_monotonic_ns) -
	    (x->header.start_monotonic_ns < y->header.start_monotonic_ns);
}

/*
 * An exec keeps the pid, so only segments of one pid are compared; they stand
 * together. A pid has a few segments. A hostile directory may have hundreds of
 * thousands, so each is compared with the nearest ones only.
 */
static void mark_all_exec(struct session *s)
{
	struct process **list = s->processes;

	if (s->count > 1)
		qsort(list, s->count, sizeof(struct process *), by_pid);
	for (size_t i = 0, end; i < s->count; i = end) {
		for (end = i + 1; end < s->count && list[end]->header.pid == list[i]->header.pid;
		     end++)
			;
		for (size_t k = i; k < end; k++) {
			size_t first = k - i > EXEC_NEAR ? k - EXEC_NEAR : i;
			size_t last = end - k > EXEC_NEAR ? k + EXEC_NEAR : end;

			session_mark_exec(list + first, last - first, &list[k]->header);
		}
	}
}

/*
 * The place of its parent, if that stands behind it although it started first: a
 * forked child reads the kernel's coarse clock, which is up to a tick behind the
 * exact one that the parent may have read. 0: it is in order.
 */
static size_t late_parent(const struct session *s, size_t child)
{
	static const uint8_t none[16];
	const struct seg_header *h = &s->processes[child]->header;

	if (memcmp(h->parent_uuid, none, sizeof(none)) == 0)
		return 0;
	for (size_t i = child + 1; i < s->count && i <= child + PARENT_NEAR; i++) {
		const struct seg_header *k = &s->processes[i]->header;

		if (k->start_realtime_ns - h->start_realtime_ns > COARSE_NS)
			return 0;
		if (memcmp(k->uuid, h->parent_uuid, sizeof(none)) == 0)
			return i;
	}
	return 0;
}

static void put_behind_parents(struct session *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct process *p = s->processes[i];
		size_t to = late_parent(s, i);

		/* hostile parents may be in a circle, so the tries are counted */
		for (int n = 0; to > 0 && n < PARENT_NEAR; n++) {
			memmove(&s->processes[i], &s->processes[i + 1],
			    (to - i) * sizeof(struct process *));
			s->processes[to] = p;
			p = s->processes[i];
			to = late_parent(s, i);
		}
	}
}

void session_put_in_order(struct session *s)
{
	mark_all_exec(s);
	set_early_exec_aside(s);
	if (s->count > 1)
		qsort(s->processes, s->count, sizeof(struct process *), by_start);
	put_behind_parents(s);
}
