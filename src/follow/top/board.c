/* board.c - the rows that top shows, made of the looks of the engine. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/top/board.h"

#include "host/proc/procfs_group.h"
#include "kit/data/capped.h"
#include "kit/data/room.h"
#include "kit/os/clock.h"
#include "view/sites/enum_words.h"

static const struct engine_totals *look_at(const struct engine_process *p, uint64_t look)
{
	return &p->ring[look % LIVE_LOOKS];
}

static void find_rates(const struct engine_process *p, struct board_process *ret)
{
	uint64_t last = p->looks - 1;
	uint64_t back = last < BOARD_RATE_LOOKS ? last : BOARD_RATE_LOOKS;
	const struct engine_totals *then, *now;
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

static void find_trend(const struct engine_process *p, struct trend *ret)
{
	uint64_t values[TREND_LOOKS];
	uint64_t count = p->looks < TREND_LOOKS ? p->looks : TREND_LOOKS;

	for (uint64_t i = 0; i < count; i++)
		values[i] = look_at(p, p->looks - count + i)->live_bytes;
	trend_of(ret, values, count);
}

void board_process_of(const struct engine_process *p, uint64_t boot_ns, struct board_process *ret)
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

int board_list_fill(struct board_list *b, const struct engine *l)
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

/* ---- brief: figures in a few columns, for tables that are read at a glance ---- */

/* Three digits and a unit. */
static void scale(char buffer[BRIEF_MAX], uint64_t n, double unit, const char *letters)
{
	double value = (double)n;
	size_t i = 0;

	if (n < (uint64_t)unit && n < 1000) {
		(void)snprintf(buffer, BRIEF_MAX, "%" PRIu64, n);
		return;
	}
	value /= unit;
	while (value >= 999.5 && letters[i + 1]) {
		value /= unit;
		i++;
	}
	(void)snprintf(buffer, BRIEF_MAX, "%.*f%c",
	    value < 9.995       ? 2
	        : value < 99.95 ? 1
	                        : 0,
	    value, letters[i]);
}

const char *brief_bytes(char buffer[BRIEF_MAX], uint64_t n)
{
	scale(buffer, n, 1024, "KMGTPE");
	return buffer;
}

const char *brief_change(char buffer[BRIEF_MAX], int64_t n)
{
	uint64_t size = n < 0 ? -(uint64_t)n : (uint64_t)n;
	char digits[BRIEF_MAX];

	scale(digits, size, 1024, "KMGTPE");
	(void)snprintf(buffer, BRIEF_MAX, "%s%.8s", n < 0 ? "-" : n > 0 ? "+" : "", digits);
	return buffer;
}

const char *brief_count(char buffer[BRIEF_MAX], uint64_t n)
{
	scale(buffer, n, 1000, "kMGTPE");
	return buffer;
}

const char *brief_rate(char buffer[BRIEF_MAX], double n)
{
	if (n < 0.05)
		return strcpy(buffer, "0");
	if (n < 9.95) {
		(void)snprintf(buffer, BRIEF_MAX, "%.1f", n);
		return buffer;
	}
	return brief_count(buffer, n < 1.8e19 ? (uint64_t)(n + 0.5) : UINT64_MAX);
}

const char *brief_age(char buffer[BRIEF_MAX], uint64_t ns)
{
	uint64_t s = ns / 1000000000;

	if (s < 60)
		(void)snprintf(buffer, BRIEF_MAX, "%" PRIu64 "s", s);
	else if (s < 3600)
		(void)snprintf(buffer, BRIEF_MAX, "%" PRIu64 "m%02" PRIu64, s / 60, s % 60);
	else if (s < 86400)
		(void)snprintf(buffer, BRIEF_MAX, "%" PRIu64 "h%02" PRIu64, s / 3600, s / 60 % 60);
	else
		(void)snprintf(
		    buffer, BRIEF_MAX, "%" PRIu64 "d", s / 86400 < 9999 ? s / 86400 : 9999);
	return buffer;
}

const char *brief_share(char buffer[BRIEF_MAX], uint64_t part, uint64_t whole)
{
	double percent;

	if (whole == 0)
		return strcpy(buffer, "-");
	percent = (double)part / (double)whole * 100;
	if (percent >= 999.5)
		return strcpy(buffer, ">999%");
	(void)snprintf(buffer, BRIEF_MAX, "%.*f%%", percent < 99.95 ? 1 : 0, percent);
	return buffer;
}

/* ---- trend: how a figure went in the last looks, as one short line ---- */

enum { SPAN_PART = 50 }; /* the least span: this part of the highest value */

void trend_of(struct trend *t, const uint64_t *values, size_t count)
{
	size_t skip = count > TREND_LOOKS ? count - TREND_LOOKS : 0;
	uint64_t low = UINT64_MAX, high = 0, span;

	values += skip;
	count -= skip;
	for (size_t i = 0; i < count; i++) {
		low = values[i] < low ? values[i] : low;
		high = values[i] > high ? values[i] : high;
	}
	t->count = (uint8_t)count;
	span = high > low ? high - low : 0;
	if (span < high / SPAN_PART)
		span = high / SPAN_PART;
	for (size_t i = 0; i < count; i++) {
		double part = span ? (double)(values[i] - low) / (double)span : 0;

		t->level[i] = (uint8_t)(part * (TREND_LEVELS - 1) + 0.5);
	}
}

void trend_flat(struct trend *t, size_t count)
{
	t->count = (uint8_t)(count > TREND_LOOKS ? TREND_LOOKS : count);
	memset(t->level, 0, sizeof(t->level));
}

const char *trend_text(char buffer[TREND_MAX], const struct trend *t, size_t columns, bool utf8)
{
	size_t used, at = 0;

	if (columns > TREND_LOOKS)
		columns = TREND_LOOKS;
	used = t->count < columns ? t->count : columns;
	memset(buffer, ' ', columns - used);
	at = columns - used;
	for (size_t c = 0; c < used; c++) {
		size_t from = c * t->count / used;
		size_t to = (c + 1) * t->count / used;
		unsigned level = 0;

		for (size_t i = from; i < to; i++)
			level = t->level[i] > level ? t->level[i] : level;
		if (utf8) { /* U+2581 .. U+2588 */
			buffer[at++] = '\xe2';
			buffer[at++] = '\x96';
			buffer[at++] = (char)(0x81 + level);
		} else {
			buffer[at++] = (char)('0' + level);
		}
	}
	buffer[at] = '\0';
	return buffer;
}
