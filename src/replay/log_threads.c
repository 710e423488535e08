/* log_threads.c - the processes and threads of a log, and where their events end. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/compose.h"

#include "kit/data/room.h"

bool log_threads_is_event(const struct events_event *e)
{
	return e->kind == EVENTS_ALLOC || e->kind == EVENTS_FREE || e->kind == EVENTS_REALLOC;
}

static bool is_number(const void *items, uint32_t item, const void *key)
{
	const struct log_threads_thread *all = items;

	return all[item].number == *(const uint32_t *)key;
}

static struct log_threads_process *process_of(struct log_threads *t, const struct logcode_head *h)
{
	struct log_threads_process *p;

	for (size_t i = t->count; i-- > 0;)
		if (memcmp(t->processes[i].uuid, h->uuid, 16) == 0)
			return &t->processes[i];
	if (room_make(&t->processes, &t->room, t->count, sizeof(*p)) < 0)
		return NULL;
	p = &t->processes[t->count++];
	memset(p, 0, sizeof(*p));
	memcpy(p->uuid, h->uuid, sizeof(p->uuid));
	p->pid = h->pid;
	return p;
}

int log_threads_count(void *context, const struct events_event *e)
{
	struct log_threads *t = context;
	struct log_threads_process *p;
	uint32_t at;

	if (!log_threads_is_event(e))
		return 0;
	p = process_of(t, e->process);
	if (!p || room_make(&p->threads, &p->room, p->count, sizeof(*p->threads)) < 0)
		return -ENOMEM;
	if (p->events >= t->events_max)
		return 0;
	if (dict_find(&p->by_number, dict_hash(e->thread, 0, 0), is_number, p->threads, &e->thread,
	        (uint32_t)p->count, &at) < 0)
		return -ENOMEM;
	if (at == p->count)
		p->threads[p->count++] =
		    (struct log_threads_thread){.number = e->thread, .tid = e->tid};
	p->threads[at].last = ++p->events;
	return 0;
}

const struct log_threads_thread *log_threads_find(
    const struct log_threads_process *p, uint32_t number)
{
	uint32_t at;

	if (!dict_seek(&p->by_number, dict_hash(number, 0, 0), is_number, p->threads, &number, &at))
		return NULL;
	return &p->threads[at];
}

/* Number 0 is of events of several threads. */
uint32_t log_threads_main(const struct log_threads_process *p)
{
	uint32_t first = 0;

	for (size_t i = p->count; i-- > 0;) {
		if (p->threads[i].number != 0)
			first = p->threads[i].number;
		if (p->threads[i].number != 0 && p->threads[i].tid == p->pid)
			return first;
	}
	return first;
}

const struct log_threads_process *log_threads_most(const struct log_threads *t, uint32_t pid)
{
	const struct log_threads_process *best = NULL;

	for (size_t i = 0; i < t->count; i++)
		if ((pid == 0 || t->processes[i].pid == pid) &&
		    (!best || t->processes[i].events > best->events))
			best = &t->processes[i];
	return best;
}

void log_threads_release(struct log_threads *t)
{
	for (size_t i = 0; i < t->count; i++) {
		dict_release(&t->processes[i].by_number);
		free(t->processes[i].threads);
	}
	free(t->processes);
	*t = (struct log_threads){0};
}
