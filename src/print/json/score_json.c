/* score_json.c - how fast a process grows, and until when, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/score_json.h"

#include "print/json/verdict_json.h"
#include "analysis/score/scores.h"
#include "findings/score_list.h"
#include "kit/json/json_put.h"

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
