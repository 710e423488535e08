/* snapshots.c - shows one process at several moments, by its snapshots. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/growth.h"

#include "base/std.h"
/* When the state of a process was taken, since 1970. */
static uint64_t time_of(const struct process *p)
{
	if (p->header.snapshot_realtime_ns > 0)
		return p->header.snapshot_realtime_ns;
	return p->header.start_realtime_ns + p->duration_ns;
}

static int by_process_and_time(const void *a, const void *b)
{
	const struct snapshots_moment *x = a, *y = b;
	const struct seg_header *h = &x->process->header;
	const struct seg_header *k = &y->process->header;
	int n;

	if (h->start_realtime_ns != k->start_realtime_ns)
		return h->start_realtime_ns < k->start_realtime_ns ? -1 : 1;
	n = memcmp(h->uuid, k->uuid, sizeof(h->uuid));
	if (n != 0)
		return n;
	/* the segment itself is later than its snapshots */
	if (x->process->is_snapshot != y->process->is_snapshot)
		return x->process->is_snapshot ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (h->snapshot_number > k->snapshot_number) -
	    (h->snapshot_number < k->snapshot_number);
}

int snapshots_find(struct session *const *sessions, size_t count, uint32_t pid,
    struct snapshots_moment **ret, size_t *ret_count)
{
	struct snapshots_moment *list;
	size_t room = 0, n = 0;

	for (size_t i = 0; i < count; i++)
		room += sessions[i]->count;
	list = calloc(room + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < sessions[i]->count; k++) {
			const struct process *p = sessions[i]->processes[k];

			if (pid != VIEW_ANY && p->header.pid != pid)
				continue;
			list[n++] = (struct snapshots_moment){
			    .session = sessions[i], .process = p, .time_ns = time_of(p)};
		}
	}
	if (n == 0) {
		free(list);
		return -ESRCH;
	}
	qsort(list, n, sizeof(*list), by_process_and_time);
	/* the clock of a segment ticks in tenths of a second */
	for (size_t i = 1; i < n; i++)
		if (list[i].time_ns < list[i - 1].time_ns && snapshots_row(&list[i - 1], 2) == 2)
			list[i].time_ns = list[i - 1].time_ns;
	*ret = list;
	*ret_count = n;
	return 0;
}

size_t snapshots_row(const struct snapshots_moment *list, size_t count)
{
	size_t n = 1;

	while (n < count &&
	    memcmp(list[0].process->header.uuid, list[n].process->header.uuid,
	        sizeof(list[0].process->header.uuid)) == 0)
		n++;
	return n;
}
