/* score_json.c - how fast a process grows, and until when, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/json_parts.h"

#include "analysis/rss/rss_reading.h"
#include "analysis/score/score.h"
#include "findings/score_list.h"
#include "kit/json/json_put.h"
#include "print/json/processes.h"
#include "print/text/report_text.h"

struct tally {
	unsigned sites;
	double bytes;
};

static void put_tally(struct json *out, const char *key, const struct tally *t)
{
	json_object(out, key);
	json_number(out, "places", t->sites);
	json_fraction(out, "bytes", 0, t->bytes);
	json_end(out);
}

static void put_forecast(struct json *out, const struct score_list *l)
{
	if (!l->limit.kind) {
		json_null(out, "forecast");
		return;
	}
	json_object(out, "forecast");
	json_text(out, "limit", score_list_limit_key(l->limit.kind));
	json_number(out, "limit_bytes", l->limit.limit);
	json_number(out, "used_bytes", l->limit.used);
	json_fraction(out, "hours", 3, l->forecast.hours);
	json_fraction(out, "hours_low", 3, l->forecast.low);
	json_fraction(out, "hours_high", 3, l->forecast.high);
	json_text(out, "of", "heap");
	json_end(out);
}

void score_json_process(struct json *out, const struct session *s, const struct process *p)
{
	struct tally tally[SCORE_CHURN + 1] = {{0}};
	struct score_list l = {0};
	struct process *own = NULL;

	for (size_t i = 0; i < s->count; i++)
		if (s->processes[i] == p)
			own = s->processes[i];
	if (!own)
		return;
	for (size_t i = 0; i < p->site_count; i++) {
		const struct score *x = scores_of(s, own, i);

		if (!x)
			continue;
		tally[x->class].sites++;
		tally[x->class].bytes += x->bytes;
	}
	if (!p->scores)
		return;
	score_list_look_ahead(s, own, &l);
	json_object(out, "growth");
	json_fraction(out, "seen_s", 1, l.rate.seen_s);
	for (int i = SCORE_LEAK; i <= SCORE_CHURN; i++)
		put_tally(out, score_class_key((enum score_class)i), &tally[i]);
	verdict_json_rate(out, true, l.rate.bytes, l.rate.low, l.rate.high);
	json_fraction_or_null(out, "outside_rate", l.has_outside, 0, l.outside);
	put_forecast(out, &l);
	json_end(out);
}

/* ---- rss_json: the account of resident memory as JSON ---- */

static void classes(struct json *out, const struct rss_account *r)
{
	json_object(out, "classes");
	for (int i = 0; i < RSS_CLASSES; i++)
		json_number(out, rss_rules_key((enum rss_class)i), r->classes[i]);
	json_end(out);
}

static void mappings(struct json *out, const struct rss_account *r)
{
	json_list(out, "mappings");
	for (size_t i = 0; i < r->area_count; i++) {
		const struct rss_area *a = &r->areas[i];

		json_object(out, NULL);
		json_number(out, "start", a->start);
		json_number(out, "end", a->end);
		json_number(out, "bytes", a->bytes);
		json_text(out, "name", a->name[0] ? a->name : NULL);
		json_end(out);
	}
	json_end(out);
	json_number(out, "mapping_count", r->areas_count);
}

static void advice(struct json *out, const struct rss_account *r)
{
	static const char *const words[] = {"free", "arenas", "pinned"};
	unsigned rules = rss_rules(r, rss_rules_most_pins(r));

	json_list(out, "advice");
	for (unsigned i = 0; i < 3; i++) {
		if (!(rules & 1u << i))
			continue;
		json_text(out, NULL, words[i]);
	}
	json_end(out);
}

static void point(struct json *out, const struct rss_account *r)
{
	JSON_OBJECT(out, NULL, {"time_ms", r->time_ns / 1000000}, {"took_ms", r->took_ns / 1000000},
	    {"live_bytes", r->classes[RSS_LIVE]}, {"heap_bytes", rss_account_heap(r)},
	    {"rss_bytes", r->rss_bytes});
}

static void course(struct json *out, const struct process *p)
{
	json_list(out, "course");
	for (size_t i = 0; i < p->earlier_count; i++)
		point(out, &p->earlier[i]);
	point(out, p->rss_account);
	json_end(out);
}

void rss_json_process(struct json *out, const struct process *p)
{
	const struct rss_account *r = p->rss_account;
	bool is_split;

	if (!r)
		return;
	is_split = r->lack == RSS_SPLIT;
	json_object(out, "rss");
	json_number(out, "rss_bytes", r->rss_bytes);
	json_number(out, "swap_bytes", r->swap_bytes);
	json_number(out, "hugetlb_bytes", r->hugetlb_bytes);
	json_signed(out, "moved_bytes", r->moved_bytes);
	json_number(out, "time_ms", r->time_ns / 1000000);
	json_number(out, "took_ms", r->took_ns / 1000000);
	json_number(out, "page_bytes", r->page_bytes);
	json_boolean(out, "split", is_split);
	json_text(out, "why", is_split ? NULL : rss_reading_why(r->lack));
	json_boolean(out, "partial", r->is_partial);
	classes(out, r);
	json_number(out, "heap_bytes", rss_account_heap(r));
	json_number(out, "heap_swap_bytes", r->heap_swap_bytes);
	json_number(out, "huge_bytes", r->huge_bytes);
	json_numbers(out, "fills", r->fills, RSS_FILLS);
	json_number(out, "blocks", r->blocks);
	json_number(out, "block_bytes", r->block_bytes);
	json_number(out, "arenas", r->arenas);
	json_number(out, "arena_free_bytes", r->arena_free_bytes);
	JSON_OBJECT(out, "inherited", {"live_bytes", r->inherited_live},
	    {"holds_bytes", r->inherited_holds});
	JSON_OBJECT(
	    out, "other_sites", {"live_bytes", r->rest_live}, {"holds_bytes", r->rest_holds});
	mappings(out, r);
	advice(out, r);
	course(out, p);
	json_end(out);
}

void rss_json_site(struct json *out, const struct process *p, const struct view_figures *f)
{
	if (p ? p->rss_account && p->rss_account->lack == RSS_SPLIT : f->holds_bytes > 0)
		json_figures(out, FIGURES_PAGES, f);
}
