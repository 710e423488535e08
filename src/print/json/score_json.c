/* score_json.c - how fast a process grows, and until when, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/score_json.h"

#include "analysis/score/scores.h"
#include "findings/score_list.h"
#include "kit/json/json_put.h"

struct tally {
	unsigned sites;
	double bytes;
};

static void put_tally(FILE *out, const char *key, const struct tally *t)
{
	json_key(out, key);
	(void)fprintf(out, "{\"places\":%u,\"bytes\":%.0f}", t->sites, t->bytes);
}

static void put_forecast(FILE *out, const struct score_list *l)
{
	json_key(out, "forecast");
	if (!l->limit.kind) {
		(void)fputs("null", out);
		return;
	}
	(void)fprintf(out, "{\"limit\":\"%s\"", score_list_limit_key(l->limit.kind));
	json_number(out, "limit_bytes", l->limit.limit);
	json_number(out, "used_bytes", l->limit.used);
	(void)fprintf(out,
	    ",\"hours\":%.3f,\"hours_low\":%.3f,\"hours_high\":%.3f"
	    ",\"of\":\"heap\"}",
	    l->forecast.hours, l->forecast.low, l->forecast.high);
}

void score_json_process(FILE *out, const struct session *s, const struct process *p)
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
	(void)fprintf(out, ",\"growth\":{\"seen_s\":%.1f", l.rate.seen_s);
	for (int i = SCORE_LEAK; i <= SCORE_CHURN; i++)
		put_tally(out, score_class_key((enum score_class)i), &tally[i]);
	(void)fprintf(out, ",\"rate\":%.0f,\"rate_low\":%.0f,\"rate_high\":%.0f", l.rate.bytes,
	    l.rate.low, l.rate.high);
	json_key(out, "outside_rate");
	if (l.has_outside)
		(void)fprintf(out, "%.0f", l.outside);
	else
		(void)fputs("null", out);
	put_forecast(out, &l);
	(void)putc('}', out);
}
