/* board.c - the rows that top shows, made of the looks of the engine. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/top/board.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/proc/procfs_group.h"
#include "view/sites/enum_words.h"
#include "kit/data/capped.h"
#include "kit/os/clock.h"
#include "kit/data/room.h"

static const struct live_totals *look_at(const struct live_process *p, uint64_t look)
{
	return &p->ring[look % LIVE_LOOKS];
}

static void find_rates(const struct live_process *p, struct board_process *ret)
{
	uint64_t last = p->looks - 1;
	uint64_t back = last < BOARD_RATE_LOOKS ? last : BOARD_RATE_LOOKS;
	const struct live_totals *then, *now;
	double seconds;

	if (p->looks < 2)
		return;
	now = look_at(p, last);
	then = look_at(p, last - back);
	if (now->at_ns <= then->at_ns)
		return;
	seconds = (double)(now->at_ns - then->at_ns) / 1e9;
	ret->has_rates = true;
	ret->growth = (double)capped_change(now->live_bytes, then->live_bytes) / seconds;
	ret->allocations_rate =
	    (double)capped_difference(now->allocations, then->allocations) / seconds;
	ret->frees_rate = (double)capped_difference(now->frees, then->frees) / seconds;
}

static void find_trend(const struct live_process *p, struct trend *ret)
{
	uint64_t values[TREND_LOOKS];
	uint64_t count = p->looks < TREND_LOOKS ? p->looks : TREND_LOOKS;

	for (uint64_t i = 0; i < count; i++)
		values[i] = look_at(p, p->looks - count + i)->live_bytes;
	trend_of(ret, values, count);
}

void board_process_of(const struct live_process *p, uint64_t boot_ns, struct board_process *ret)
{
	*ret = (struct board_process){
	    .number = p->number,
	    .state = p->state,
	    .cause = p->cause,
	    .cause_number = p->cause_number,
	    .is_silent = p->is_silent,
	    .has_unit = p->has_unit,
	    .has_container = p->has_container,
	    .pid = p->pid,
	    .inner_pid = p->inner_pid,
	    .uid = p->uid,
	    .mode = p->header.mode,
	    .run_state = p->header.state,
	    .inert_reason = p->header.inert_reason,
	    .sample_bytes = p->header.sample_bytes,
	    .now = p->now,
	    .since_bytes = capped_change(p->now.live_bytes, p->base.live_bytes),
	    .limit = p->limit,
	    .used = p->used,
	    .sites = p->site_count,
	    .age_ns = capped_difference(boot_ns, p->start_ns),
	};
	memcpy(ret->uuid, p->header.uuid, sizeof(ret->uuid));
	memcpy(ret->program, p->program, sizeof(ret->program));
	memcpy(ret->service, p->service, sizeof(ret->service));
	/* at its end the clock of a process stands still */
	if (p->state == LIVE_ENDED)
		ret->age_ns = capped_difference(
		    ret->age_ns, capped_difference(clock_ns(CLOCK_MONOTONIC), p->ended_ns));
	find_rates(p, ret);
	find_trend(p, &ret->trend);
	if (p->state == LIVE_ENDED)
		ret->growth = ret->allocations_rate = ret->frees_rate = 0;
}

static const char *signal_name(int number, char buffer[BOARD_CAUSE])
{
	const char *name = sigabbrev_np(number);

	if (name)
		(void)snprintf(buffer, BOARD_CAUSE, "SIG%s", name);
	else
		(void)snprintf(buffer, BOARD_CAUSE, "signal %d", number);
	return buffer;
}

static const char *ended_mode(char buffer[BOARD_CAUSE], const struct board_process *p)
{
	switch (p->cause) {
	case LIVE_CAUSE_EXIT:
		if (p->cause_number < 0)
			break;
		(void)snprintf(buffer, BOARD_CAUSE, "exit %d", p->cause_number);
		return buffer;
	case LIVE_CAUSE_SIGNAL:
		return signal_name(p->cause_number, buffer);
	case LIVE_CAUSE_OOM:
		return "oom";
	case LIVE_CAUSE_EXEC:
		return "exec";
	case LIVE_CAUSE_UNKNOWN:
		break;
	}
	return p->cause == LIVE_CAUSE_EXIT ? "exited" : "ended";
}

const char *board_mode(char buffer[BOARD_CAUSE], const struct board_process *p)
{
	if (p->state == LIVE_ENDED)
		return ended_mode(buffer, p);
	if (p->is_silent)
		return "silent";
	if (p->run_state == SEG_INERT)
		return "inert";
	return enum_words_mode(p->mode);
}

const char *board_cause(char buffer[BOARD_SENTENCE], const struct board_process *p)
{
	char name[BOARD_CAUSE];

	buffer[0] = '\0';
	if (p->state != LIVE_ENDED)
		return buffer;
	switch (p->cause) {
	case LIVE_CAUSE_EXIT:
		if (p->cause_number >= 0)
			(void)snprintf(
			    buffer, BOARD_SENTENCE, "exited with status %d", p->cause_number);
		else
			(void)snprintf(buffer, BOARD_SENTENCE, "exited");
		return buffer;
	case LIVE_CAUSE_SIGNAL:
		(void)snprintf(
		    buffer, BOARD_SENTENCE, "killed by %s", signal_name(p->cause_number, name));
		return buffer;
	case LIVE_CAUSE_OOM:
		return "killed by the kernel: out of memory";
	case LIVE_CAUSE_EXEC:
		return "called exec: it is another program now";
	case LIVE_CAUSE_UNKNOWN:
		break;
	}
	return "ended; the cause is not known";
}

const char *board_name(char buffer[BOARD_NAME], const struct board_process *p)
{
	if (p->has_unit && p->service[0])
		return p->service;
	if (!p->has_container)
		return p->program;
	(void)snprintf(
	    buffer, BOARD_NAME, "%.*s@%.*s", LIVE_NAME - 1, p->program, LIVE_NAME - 1, p->service);
	return buffer;
}

/* Whoever is in a container, too, sees programs and not its id. */
static void find_own(struct board_list *b)
{
	struct procfs_group group;

	if (b->is_own_known)
		return;
	b->is_own_known = true;
	if (procfs_group_of(getpid(), &group) == 0)
		(void)snprintf(b->own, sizeof(b->own), "%s", group.container);
}

int board_list_fill(struct board_list *b, const struct live *l)
{
	uint64_t boot_ns = clock_ns(CLOCK_BOOTTIME);

	find_own(b);
	b->count = b->running = 0;
	b->live_bytes = 0;
	b->growth = 0;
	for (size_t i = 0; i < engine_count(l); i++) {
		struct board_process *row;
		int err = room_make(&b->rows, &b->room, b->count, sizeof(*b->rows));

		if (err < 0)
			return err;
		row = &b->rows[b->count++];
		board_process_of(engine_at(l, i), boot_ns, row);
		if (row->has_container && strcmp(row->service, b->own) == 0)
			row->has_container = false;
		if (row->state == LIVE_ENDED)
			continue;
		b->running++;
		b->live_bytes = capped_sum(b->live_bytes, row->now.live_bytes);
		b->growth += row->growth;
	}
	return 0;
}

void board_list_release(struct board_list *b)
{
	free(b->rows);
	*b = (struct board_list){0};
}
