/* score_began.c - when growth began, and which mark or snapshot was near. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/score_list.h"

#include <math.h>

#include "analysis/score/score.h"
#include "kit/words/text.h"
#include "kit/words/words.h"

#define S 1000000000.0

enum {
	PART = 16, /* of its life: nearer is near, and earlier is the start */
	CLOCK_BYTES = 32,
};
static const double LONG_AGO_S = 20 * 3600.0; /* then the day matters */

/* ---- what was near ---- */

static void offer(
    struct score_began *b, double most_s, const char *kind, const char *label, double time_s)
{
	double after_s = b->at_s - time_s;

	if (fabs(after_s) > most_s || (b->near_kind && fabs(b->after_s) <= fabs(after_s)))
		return;
	b->near_kind = kind;
	b->after_s = after_s;
	(void)snprintf(b->near_label, sizeof(b->near_label), "%s", label);
}

/* Marks of the program, by its own clock. */
static void look_at_marks(struct score_began *b, const struct process *p, double most_s)
{
	double tick_s = (double)p->header.tick_ns / S;

	for (size_t i = 0; i < p->mark_count; i++) {
		const struct seg_mark *m = &p->marks[i];
		double at_s = (double)m->tick * tick_s + (double)m->after_ns / S;
		char label[SEG_LABEL_BYTES + 1];

		if (m->kind != SEG_MARK_PROGRAM)
			continue;
		(void)snprintf(label, sizeof(label), "%.*s", (int)SEG_LABEL_BYTES, m->label);
		offer(b, most_s, "mark", label, at_s * scores_clock());
	}
}

static void look_at_snapshots(
    struct score_began *b, const struct session *s, const struct process *p, double most_s)
{
	for (size_t i = 0; i < s->snapshot_count; i++) {
		const struct session_snapshot *x = &s->snapshots[i];
		char number[CLOCK_BYTES];

		if (memcmp(x->uuid, p->header.uuid, sizeof(x->uuid)) != 0 ||
		    x->time_ns < p->header.start_realtime_ns)
			continue;
		(void)snprintf(number, sizeof(number), "%" PRIu32, x->number);
		offer(b, most_s, "snapshot", x->label[0] ? x->label : number,
		    (double)(x->time_ns - p->header.start_realtime_ns) / S * scores_clock());
	}
}

bool score_began(
    const struct session *s, uint32_t process, const struct score *x, struct score_began *ret)
{
	const struct process *p = process < s->count ? s->processes[process] : NULL;
	double until_s = p ? scores_until_s(p) : 0, near_s = until_s / PART;
	double real_s = x->began_s / scores_clock();
	uint64_t start_ns;

	if (!p || (x->class != SCORE_LEAK && x->class != SCORE_GROWTH) || !(x->began_s > near_s) ||
	    x->began_s > until_s)
		return false;
	start_ns = p->header.start_realtime_ns;
	*ret = (struct score_began){.at_s = x->began_s,
	    .is_long_ago = (until_s - x->began_s) / scores_clock() > LONG_AGO_S};
	/* a clock that cannot be says nothing */
	if (start_ns > 0 && start_ns < INT64_MAX && real_s * S < 0x1p62)
		ret->time_ns = start_ns + (uint64_t)(real_s * S);
	look_at_marks(ret, p, near_s);
	look_at_snapshots(ret, s, p, near_s);
	return true;
}

/* ---- words ---- */

/* "14:20", by the local time of the reader. */
static bool put_clock(FILE *out, const struct score_began *b)
{
	time_t at = (time_t)((double)b->time_ns / S + 30); /* whole minutes */
	char text[CLOCK_BYTES];
	struct tm tm;

	if (b->time_ns == 0 || !localtime_r(&at, &tm) ||
	    strftime(text, sizeof(text), b->is_long_ago ? "%Y-%m-%d %H:%M" : "%H:%M", &tm) == 0)
		return false;
	(void)fprintf(out, " about %s,", text);
	return true;
}

void score_began_print(FILE *out, const struct score *x, const struct score_began *b)
{
	(void)fputs(x->class == SCORE_LEAK ? "the leak began" : "growth began", out);
	(void)put_clock(out, b);
	if (!b->near_kind) {
		(void)fprintf(out, " %s after the start\n", WORDS_TIME((uint64_t)(b->at_s * S)));
		return;
	}
	(void)fprintf(out, " %s %s %s `", WORDS_TIME((uint64_t)(fabs(b->after_s) * S)),
	    b->after_s < 0 ? "before" : "after", b->near_kind);
	text_print(out, b->near_label);
	(void)fputs("`\n", out);
}
