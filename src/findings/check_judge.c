/* check_judge.c - the verdict on sites (by the baseline) and limits. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/check_parts.h"

#include "view/sites/enum_words.h"
#include "kit/data/capped.h"
#include "kit/data/sorted.h"

static double slack(const struct check *c, uint64_t known)
{
	return (double)known * c->options->tolerance_percent / 100;
}

static bool has_grown(
    const struct check *c, const struct baseline_item *now, const struct baseline_item *known)
{
	double bytes = slack(c, known->bytes);

	if (bytes < (double)c->options->tolerance_bytes)
		bytes = (double)c->options->tolerance_bytes;
	/* sampled: only growth beyond the confidence interval */
	if ((double)now->bytes - (double)process_error(now->variance) >
	    (double)known->bytes + bytes)
		return true;
	/* blocks of 0 bytes leak, too: compare their number */
	return c->sample_bytes == 0 && c->options->tolerance_bytes == 0 &&
	    (double)now->blocks > (double)known->blocks + slack(c, known->blocks);
}

static uint64_t growth(uint64_t now, uint64_t known)
{
	return now > known ? now - known : 0;
}

/* Leaked bytes: all bytes of new sites, and the growth of the others. */
static void compare(struct check *c)
{
	for (size_t i = 0; i < c->now.count; i++) {
		struct baseline_item *now = &c->now.items[i];
		struct baseline_item *known = baseline_find(c->options->baseline, now->hash);

		if (!known) {
			check_sum_add(&c->leaked, now->bytes, now->blocks, now->variance);
			continue;
		}
		known->is_met = true;
		now->is_met = !has_grown(c, now, known);
		if (now->is_met)
			check_sum_add(&c->known, now->bytes, now->blocks, now->variance);
		else
			check_sum_add(&c->leaked, growth(now->bytes, known->bytes),
			    growth(now->blocks, known->blocks), now->variance);
	}
}

static void judge_site(struct check *c, struct check_site *x)
{
	struct check_process *p = &c->processes[x->process];
	const struct baseline_item *known = NULL, *now;

	if (c->options->baseline) {
		known = baseline_find(c->options->baseline, x->fingerprint);
		now = baseline_find(&c->now, x->fingerprint);
		if (now && now->is_met)
			return;
		x->rule = known ? CHECK_GROWN : CHECK_NEW;
	} else {
		check_sum_add(&c->leaked, x->bytes, x->blocks, x->variance);
	}
	if (known) {
		x->known_bytes = known->bytes;
		x->known_blocks = known->blocks;
	}
	x->fails = true;
	c->failed_count++;
	p->leaked_bytes = capped_sum(p->leaked_bytes, x->bytes);
	p->leaked_blocks = capped_sum(p->leaked_blocks, x->blocks);
}

static void add_bound(struct check *c, enum check_rule rule, const struct check_limit *limit,
    uint64_t value, double variance, const struct check_process *p)
{
	struct check_bound *b = &c->bounds[c->bound_count];
	uint64_t away;

	if (!limit->given)
		return;
	*b = (struct check_bound){.rule = rule,
	    .value = value,
	    .error = process_error(variance),
	    .limit = limit->bytes,
	    .process = p};
	away = value > limit->bytes ? value - limit->bytes : limit->bytes - value;
	b->fails = value > limit->bytes;
	b->is_close = away < b->error;
	c->fails = c->fails || b->fails;
	c->bound_count++;
}

static void judge_bounds(struct check *c)
{
	const struct check_options *o = c->options;
	const struct check_process *high = NULL;
	double variance = 0;

	for (size_t i = 0; i < c->process_count; i++) {
		const struct check_process *x = &c->processes[i];

		if (x->standing == CHECK_LEFT_OUT || x->standing == CHECK_UNTRACED)
			continue;
		if (!high || x->process->totals.peak_bytes > high->process->totals.peak_bytes)
			high = x;
	}
	add_bound(c, CHECK_MAX_LIVE, &o->max_live, c->live.bytes, c->live.variance, NULL);
	add_bound(c, CHECK_MAX_LEAKED, &o->max_leaked, c->leaked.bytes, c->leaked.variance, NULL);
	if (!high)
		return;
	/* its share of the variance of everything that was allocated */
	if (high->process->totals.allocated_bytes > 0)
		variance = process_variance_allocated(high->process) *
		    (double)high->process->totals.peak_bytes /
		    (double)high->process->totals.allocated_bytes;
	add_bound(
	    c, CHECK_MAX_PEAK, &o->max_peak, high->process->totals.peak_bytes, variance, high);
}

BY(in_order, struct check_site, DOWN(fails) ?: DOWN(bytes) ?: UP(process) ?: UP(site->id))

int check_judge(struct check *c)
{
	const struct check_options *o = c->options;
	bool any_is_bad = !o->max_live.given && !o->max_leaked.given && !o->max_peak.given;

	if (o->baseline)
		compare(c);
	for (size_t i = 0; i < c->site_count; i++)
		judge_site(c, &c->sites[i]);
	qsort(c->sites, c->site_count, sizeof(*c->sites), in_order);
	judge_bounds(c);
	/* with a limit on leaks, a single new leak is no failure */
	if (o->baseline && !o->max_leaked.given)
		any_is_bad = true;
	if (any_is_bad && c->failed_count > 0)
		c->fails = true;
	if (o->fail_on_unjudged && c->unjudged_count > 0)
		c->fails = true;
	c->lists_sites = c->failed_count > 0 && any_is_bad;
	for (size_t i = 0; i < c->bound_count; i++)
		if (c->bounds[i].fails && c->bounds[i].rule != CHECK_MAX_PEAK)
			c->lists_sites = c->failed_count > 0;
	if (c->judged_count == 0) {
		c->is_damaged = true;
		return check_note(c, "no process was judged");
	}
	if (c->sample_bytes > 0)
		return check_note(c,
		    "sampled: one block in about %s was looked at; figures "
		    "are estimates, and a small leak may not be among them",
		    WORDS_BYTES(c->sample_bytes));
	return 0;
}
