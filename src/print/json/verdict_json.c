/* verdict_json.c - verdicts as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/verdict_json.h"

#include <inttypes.h>

#include "print/json/frames_table.h"
#include "findings/score_began.h"
#include "analysis/score/score.h"
#include "kit/data/capped.h"
#include "kit/json/json_put.h"

static void rate(FILE *out, const struct verdict_part *p)
{
	struct verdict_rate r;

	if (verdict_rate(p, &r))
		(void)fprintf(out, ",\"rate\":%.0f,\"rate_low\":%.0f,\"rate_high\":%.0f", r.bytes,
		    r.low, r.high);
	else
		(void)fputs(",\"rate\":null,\"rate_low\":null,"
		            "\"rate_high\":null",
		    out);
}

static void notes(FILE *out, uint32_t bits)
{
	const struct verdict_note_text *n;
	const char *comma = "";

	(void)fputs(",\"notes\":[", out);
	for (size_t i = 0; (n = verdict_note_text(i)) != NULL; i++) {
		if (!(bits & n->bit))
			continue;
		(void)fprintf(out, "%s\"%s\"", comma, n->key);
		comma = ",";
	}
	(void)putc(']', out);
}

/*
 * Functions that free other blocks of this site, with their share of the frees
 * that were seen.
 */
static void freed_by(FILE *out, const struct view *v, const struct view_site *s)
{
	const struct verdict_found *f = s ? s->verdict : NULL;
	uint64_t sum = 0;

	(void)fputs(",\"freed_by\":[", out);
	for (uint32_t i = 0; f && i < f->freer_count; i++)
		sum = capped_sum(sum, f->freers[i].count);
	for (uint32_t i = 0; f && i < f->freer_count; i++) {
		const struct frame *x = &v->frames[f->freers[i].frame];

		(void)fputs(i ? ",{" : "{", out);
		frames_table_put_place(out, x);
		(void)fprintf(
		    out, ",\"share\":%.3f}", sum ? (double)f->freers[i].count / (double)sum : 0);
	}
	(void)putc(']', out);
}

/* Writes the object without its closing brace. */
static void put_part(FILE *out, const struct view *v, const struct view_site *s, uint32_t class,
    const struct verdict_part *p)
{
	(void)fprintf(out, "{\"class\":\"%s\",\"basis\":\"unreachable\",\"confidence\":%s",
	    verdict_class_key(class), class == VERDICT_LEAK ? "1" : "null");
	json_number(out, "blocks", p->blocks);
	json_number(out, "bytes", p->bytes);
	json_number(out, "direct_blocks", p->direct_blocks);
	json_number(out, "direct_bytes", p->direct_bytes);
	json_number(out, "indirect_blocks", p->indirect_blocks);
	json_number(out, "indirect_bytes", p->indirect_bytes);
	json_number(out, "cycle_blocks", p->cycle_blocks);
	json_number(out, "cycle_bytes", p->cycle_bytes);
	rate(out, p);
	json_number(out, "looks", p->looks);
	json_time(out, "first_birth", p->first_ns);
	json_time(out, "last_birth", p->last_ns);
	json_number(out, "held_again", p->held_again);
	json_number(out, "freed_late", p->freed_late);
	freed_by(out, v, s);
	(void)fputs(",\"held_by\":null", out);
	json_text(out, "type", p->type);
	notes(out, p->notes);
}

void verdict_json_part(FILE *out, const struct view *v, const struct view_site *s, uint32_t class,
    const struct verdict_part *p)
{
	put_part(out, v, s, class, p);
	(void)putc('}', out);
}

/* When it began as a time, and what was near; null: with the process. */
static void put_began(FILE *out, const struct view *v, const struct view_site *s)
{
	struct score_began b = {0};
	bool is_late = score_began(v->session, s->process, s->score, &b);

	(void)fprintf(out, ",\"began_s\":%.1f", s->score->began_s);
	json_time(out, "began", b.time_ns); /* null if it is 0 */
	json_key(out, "began_near");
	if (!is_late || !b.near_kind) {
		(void)fputs("null", out);
		return;
	}
	(void)fprintf(out, "{\"kind\":\"%s\"", b.near_kind);
	json_text(out, "label", b.near_label);
	(void)fprintf(out, ",\"after_s\":%.1f}", b.after_s);
}

/* Ages alone: what leaks or grows may still be reachable. */
void verdict_json_score(
    FILE *out, const struct view *v, const struct view_site *s, const char *held_by)
{
	const struct score *x = s->score;
	bool is_bad = x->class == SCORE_LEAK || x->class == SCORE_GROWTH;

	(void)fprintf(out, "{\"class\":\"%s\",\"basis\":\"%s\"", score_class_key(x->class),
	    score_basis_key(x->basis));
	json_key(out, "confidence");
	if (is_bad)
		(void)fprintf(out, "%.4f", x->confidence);
	else
		(void)fputs("null", out);
	(void)fprintf(out, ",\"blocks\":%.0f,\"bytes\":%.0f", x->blocks, x->bytes);
	if (x->has_rate)
		(void)fprintf(out, ",\"rate\":%.0f,\"rate_low\":%.0f,\"rate_high\":%.0f", x->rate,
		    x->low, x->high);
	else
		(void)fputs(",\"rate\":null,\"rate_low\":null,"
		            "\"rate_high\":null",
		    out);
	if (x->class == SCORE_LEAK)
		(void)fprintf(out, ",\"siblings_freed\":%.6f,\"siblings_within_s\":%.1f",
		    x->freed_share, x->within_s);
	if (is_bad)
		put_began(out, v, s);
	if (x->class == SCORE_STEADY)
		(void)fprintf(out, ",\"built_s\":%.1f", x->built_s);
	freed_by(out, v, s);
	json_text(out, "held_by", held_by);
	(void)fputs(",\"type\":null,\"notes\":[],\"also\":null}", out);
}

void verdict_json_site(FILE *out, const struct view *v, const struct view_site *s)
{
	const struct verdict_found *f = s->verdict;
	bool is_leak;

	if (!f || (f->leak.looks == 0 && f->possible.looks == 0)) {
		if (s->score)
			verdict_json_score(out, v, s, NULL);
		else
			(void)fputs("null", out);
		return;
	}
	is_leak = f->leak.looks > 0;
	put_part(out, v, s, is_leak ? VERDICT_LEAK : VERDICT_POSSIBLE,
	    is_leak ? &f->leak : &f->possible);
	json_key(out, "also");
	if (is_leak && f->possible.looks > 0)
		verdict_json_part(out, v, s, VERDICT_POSSIBLE, &f->possible);
	else
		(void)fputs("null", out);
	(void)putc('}', out);
}

static void sums(FILE *out, const struct verdicts *v, uint32_t class)
{
	uint64_t places, blocks, bytes;

	verdict_total(v, class, &places, &blocks, &bytes);
	json_key(out, verdict_class_key(class));
	(void)fprintf(out, "{\"places\":%" PRIu64 ",\"blocks\":%" PRIu64 ",\"bytes\":%" PRIu64 "}",
	    places, blocks, bytes);
}

/* Sites of ancestors, which are not among the sites of the process. */
static void inherited(FILE *out, const struct session *s, const struct process *p)
{
	const struct verdicts *v = p->verdicts;
	const char *comma = "";

	(void)fputs(",\"inherited\":[", out);
	for (size_t i = 0; i < v->count; i++) {
		const struct verdict_site *x = &v->sites[i];
		const struct process *owner = verdict_owner(s, p, x->site);

		if (owner == p)
			continue;
		(void)fprintf(out, "%s{\"id\":%u,\"pid\":", comma, x->site);
		if (owner)
			(void)fprintf(out, "%u", owner->header.pid);
		else
			(void)fputs("null", out);
		json_text(out, "class", verdict_class_key(x->class));
		json_number(out, "blocks", x->blocks);
		json_number(out, "bytes", x->bytes);
		json_number(out, "direct_blocks", x->direct_blocks);
		json_number(out, "indirect_blocks", x->indirect_blocks);
		json_text(out, "type", x->type);
		notes(out, x->notes);
		(void)putc('}', out);
		comma = ",";
	}
	(void)putc(']', out);
}

static void judged(FILE *out, const struct session *s, const struct process *p)
{
	const struct verdicts *v = p->verdicts;

	json_number(out, "looks", v->looks);
	json_boolean(out, "at_exit", v->at_exit);
	json_boolean(out, "stopped", v->stopped);
	json_number(out, "pause_ns", v->pause_ns);
	json_boolean(out, "heads_only", v->heads_only);
	json_number(out, "begin_ns", v->begin_ns);
	json_number(out, "end_ns", v->end_ns);
	json_number(out, "blocks", v->blocks);
	json_number(out, "bytes", v->bytes);
	sums(out, v, VERDICT_LEAK);
	sums(out, v, VERDICT_POSSIBLE);
	json_number(out, "refused_blocks", v->refused_blocks);
	json_number(out, "ignored_blocks", v->ignored_blocks);
	json_number(out, "ignored_bytes", v->ignored_bytes);
	json_number(out, "unread_bytes", verdict_unread_bytes(v));
	json_number(out, "swapped_bytes", v->swapped_bytes);
	json_number(out, "unreadable_bytes", v->unreadable_bytes);
	json_number(out, "device_bytes", v->device_bytes);
	json_number(out, "ring_bytes", v->ring_bytes);
	inherited(out, s, p);
}

void verdict_json_process(FILE *out, const struct session *s, const struct process *p)
{
	enum verdict_state state = verdict_state(s, p);
	bool is_judged = state == VERDICT_STATE_JUDGED;

	if (state == VERDICT_STATE_NONE)
		return;
	(void)fprintf(out, ",\"leaks\":{\"judged\":%s", is_judged ? "true" : "false");
	json_text(out, "reason", is_judged ? NULL : verdict_reason_key(verdict_why_not(p)));
	if (is_judged)
		judged(out, s, p);
	(void)putc('}', out);
}
