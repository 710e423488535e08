/* verdict_json.c - verdicts as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/processes.h"

#include "findings/score_list.h"
#include "analysis/score/score.h"
#include "kit/data/capped.h"
#include "kit/json/json_put.h"

void verdict_json_rate(struct json *out, bool is_known, double bytes, double low, double high)
{
	json_fraction_or_null(out, "rate", is_known, 0, bytes);
	json_fraction_or_null(out, "rate_low", is_known, 0, low);
	json_fraction_or_null(out, "rate_high", is_known, 0, high);
}

static void notes(struct json *out, uint32_t bits)
{
	const struct verdict_note_text *n;

	json_list(out, "notes");
	for (size_t i = 0; (n = verdict_note_text(i)) != NULL; i++) {
		if (!(bits & n->bit))
			continue;
		json_text(out, NULL, n->key);
	}
	json_end(out);
}

/*
 * Functions that free other blocks of this site, with their share of the frees
 * that were seen.
 */
static void freed_by(struct json *out, const struct view *v, const struct view_site *s)
{
	const struct verdict_found *f = s ? s->verdict : NULL;
	uint64_t sum = 0;

	json_list(out, "freed_by");
	for (uint32_t i = 0; f && i < f->freer_count; i++)
		sum = capped_sum(sum, f->freers[i].count);
	for (uint32_t i = 0; f && i < f->freer_count; i++) {
		const struct frame *x = &v->frames[f->freers[i].frame];

		json_object(out, NULL);
		frames_table_put_place(out, x);
		json_fraction(out, "share", 3, sum ? (double)f->freers[i].count / (double)sum : 0);
		json_end(out);
	}
	json_end(out);
}

/* Writes the object without its closing brace. */
static void put_part(struct json *out, const struct view *v, const struct view_site *s,
    uint32_t class, const struct verdict_part *p)
{
	struct verdict_rate r = {0};
	bool has_rate = verdict_rate(p, &r);

	json_object(out, NULL);
	json_text(out, "class", verdict_class_key(class));
	json_text(out, "basis", "unreachable");
	json_number_or_null(out, "confidence", class == VERDICT_LEAK, 1);
	json_number(out, "blocks", p->blocks);
	json_number(out, "bytes", p->bytes);
	json_number(out, "direct_blocks", p->direct_blocks);
	json_number(out, "direct_bytes", p->direct_bytes);
	json_number(out, "indirect_blocks", p->indirect_blocks);
	json_number(out, "indirect_bytes", p->indirect_bytes);
	json_number(out, "cycle_blocks", p->cycle_blocks);
	json_number(out, "cycle_bytes", p->cycle_bytes);
	verdict_json_rate(out, has_rate, r.bytes, r.low, r.high);
	json_number(out, "looks", p->looks);
	json_time(out, "first_birth", p->first_ns);
	json_time(out, "last_birth", p->last_ns);
	json_number(out, "held_again", p->held_again);
	json_number(out, "freed_late", p->freed_late);
	freed_by(out, v, s);
	json_null(out, "held_by");
	json_text(out, "type", p->type);
	notes(out, p->notes);
}

void verdict_json_part(struct json *out, const struct view *v, const struct view_site *s,
    uint32_t class, const struct verdict_part *p)
{
	put_part(out, v, s, class, p);
	json_end(out);
}

/* When it began as a time, and what was near; null: with the process. */
static void put_began(struct json *out, const struct view *v, const struct view_site *s)
{
	struct score_began b = {0};
	bool is_late = score_began(v->session, s->process, s->score, &b);

	json_fraction(out, "began_s", 1, s->score->began_s);
	json_time(out, "began", b.time_ns); /* null if it is 0 */
	if (!is_late || !b.near_kind) {
		json_null(out, "began_near");
		return;
	}
	json_object(out, "began_near");
	json_text(out, "kind", b.near_kind);
	json_text(out, "label", b.near_label);
	json_fraction(out, "after_s", 1, b.after_s);
	json_end(out);
}

/* Ages alone: what leaks or grows may still be reachable. */
void verdict_json_score(
    struct json *out, const struct view *v, const struct view_site *s, const char *held_by)
{
	const struct score *x = s->score;
	bool is_bad = x->class == SCORE_LEAK || x->class == SCORE_GROWTH;

	json_object(out, NULL);
	json_text(out, "class", score_class_key(x->class));
	json_text(out, "basis", score_basis_key(x->basis));
	json_fraction_or_null(out, "confidence", is_bad, 4, x->confidence);
	json_fraction(out, "blocks", 0, x->blocks);
	json_fraction(out, "bytes", 0, x->bytes);
	verdict_json_rate(out, x->has_rate, x->rate, x->low, x->high);
	if (x->class == SCORE_LEAK) {
		json_fraction(out, "siblings_freed", 6, x->freed_share);
		json_fraction(out, "siblings_within_s", 1, x->within_s);
	}
	if (is_bad)
		put_began(out, v, s);
	if (x->class == SCORE_STEADY)
		json_fraction(out, "built_s", 1, x->built_s);
	freed_by(out, v, s);
	json_text(out, "held_by", held_by);
	json_null(out, "type");
	json_numbers(out, "notes", NULL, 0);
	json_null(out, "also");
	json_end(out);
}

void verdict_json_site(struct json *out, const struct view *v, const struct view_site *s)
{
	const struct verdict_found *f = s->verdict;
	bool is_leak;

	if (!f || (f->leak.looks == 0 && f->possible.looks == 0)) {
		if (s->score)
			verdict_json_score(out, v, s, NULL);
		else
			json_null(out, NULL);
		return;
	}
	is_leak = f->leak.looks > 0;
	put_part(out, v, s, is_leak ? VERDICT_LEAK : VERDICT_POSSIBLE,
	    is_leak ? &f->leak : &f->possible);
	json_key(out, "also");
	if (is_leak && f->possible.looks > 0)
		verdict_json_part(out, v, s, VERDICT_POSSIBLE, &f->possible);
	else
		json_null(out, NULL);
	json_end(out);
}

static void sums(struct json *out, const struct verdicts *v, uint32_t class)
{
	uint64_t places, blocks, bytes;

	verdict_total(v, class, &places, &blocks, &bytes);
	JSON_OBJECT(out, verdict_class_key(class), {"places", places}, {"blocks", blocks},
	    {"bytes", bytes});
}

/* Sites of ancestors, which are not among the sites of the process. */
static void inherited(struct json *out, const struct session *s, const struct process *p)
{
	const struct verdicts *v = p->verdicts;

	json_list(out, "inherited");
	for (size_t i = 0; i < v->count; i++) {
		const struct verdict_site *x = &v->sites[i];
		const struct process *owner = verdict_owner(s, p, x->site);

		if (owner == p)
			continue;
		json_object(out, NULL);
		json_number(out, "id", x->site);
		json_number_or_null(out, "pid", owner, owner ? owner->header.pid : 0);
		json_text(out, "class", verdict_class_key(x->class));
		json_number(out, "blocks", x->blocks);
		json_number(out, "bytes", x->bytes);
		json_number(out, "direct_blocks", x->direct_blocks);
		json_number(out, "indirect_blocks", x->indirect_blocks);
		json_text(out, "type", x->type);
		notes(out, x->notes);
		json_end(out);
	}
	json_end(out);
}

static void judged(struct json *out, const struct session *s, const struct process *p)
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

void verdict_json_process(struct json *out, const struct session *s, const struct process *p)
{
	enum verdict_state state = verdict_state(s, p);
	bool is_judged = state == VERDICT_STATE_JUDGED;

	if (state == VERDICT_STATE_NONE)
		return;
	json_object(out, "leaks");
	json_boolean(out, "judged", is_judged);
	json_text(out, "reason", is_judged ? NULL : verdict_reason_key(verdict_why_not(p)));
	if (is_judged)
		judged(out, s, p);
	json_end(out);
}
