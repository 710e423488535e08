/* check.c - does a run keep within the limits for its heap? */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/check.h"

#include "findings/check_parts.h"
#include "view/stacks/fingerprint.h"
#include "view/sites/verdict.h"
#include "analysis/score/score.h"
#include "kit/data/capped.h"

static const struct check_rule_text rules[CHECK_RULES] = {
    [CHECK_LEAK] = {"leak", "Memory is not freed at the end of the program",
        "Free it, or accept it with --suppress or --write-baseline."},
    [CHECK_NEW] = {"new-leak", "Memory that is not in the baseline is not freed",
        "Free it, or write a new baseline with --write-baseline."},
    [CHECK_GROWN] = {"grown-leak", "More memory is not freed than the baseline lists",
        "Find out why it grew, or write a new baseline with --write-baseline."},
    [CHECK_MAX_LIVE] = {"max-live", "More memory is live at the end than --max-live allows",
        "seep report --live shows what it is."},
    [CHECK_MAX_LEAKED] = {"max-leaked", "More memory is not freed than --max-leaked allows",
        "seep report --live shows what it is."},
    [CHECK_MAX_PEAK] = {"max-peak", "More memory was live at one moment than --max-peak allows",
        "seep report --peak shows what it was."},
    [CHECK_POSSIBLE] = {"possible-leak", "Nothing certain points to memory any more",
        "seep leaks shows why it is not certain; --fail-on possible asked."},
    [CHECK_UNJUDGED] = {"unjudged", "A process ended before anybody could look for lost memory",
        "Let it end by exit, or by returning from main."},
    [CHECK_GROWTH] = {"growth", "Memory is added all the time and not freed",
        "seep report shows the rate, and who frees other blocks; "
        "--fail-on growth asked."},
};

const struct check_rule_text *check_rules(void)
{
	return rules;
}

void check_free(struct check *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->site_count; i++)
		free(c->sites[i].text);
	for (size_t i = 0; i < c->note_count; i++)
		free(c->notes[i]);
	free(c->sites);
	free(c->notes);
	free(c->processes);
	baseline_release(&c->now);
	free(c);
}

void check_sum_add(struct check_sum *to, uint64_t bytes, uint64_t blocks, double variance)
{
	to->sites++;
	to->bytes = capped_sum(to->bytes, bytes);
	to->blocks = capped_sum(to->blocks, blocks);
	to->variance += variance;
}

int check_note(struct check *c, const char *fmt, ...)
{
	char **notes = reallocarray(c->notes, c->note_count + 1, sizeof(char *));
	va_list ap;
	char *text;
	int n;

	if (!notes)
		return -ENOMEM;
	c->notes = notes;
	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return -ENOMEM;
	notes[c->note_count++] = text;
	return 0;
}

/* Does the score say that the site is a leak, or probably one? */
static bool grows(const struct check *c, const struct check_site *x)
{
	const struct score *s = x->site->score;

	return c->options->fail_on_growth && s &&
	    (s->class == SCORE_LEAK || (s->class == SCORE_GROWTH && s->confidence >= SCORE_LIKELY));
}

/* Hostile figures may be larger than a number of bytes can be. */
static uint64_t whole(double n)
{
	return n > 0 ? n < 0x1p63 ? (uint64_t)(n + 0.5) : INT64_MAX : 0;
}

/*
 * The blocks of a site that count: all live ones, or those that looks found
 * lost, or, if growth was asked for, those of sites that grow. The figures of an
 * inherited site are those of the ancestor, where they count; only what a look
 * has found is of this process.
 */
static void weigh(const struct check *c, struct check_site *x, bool is_inherited)
{
	const struct view_figures *f = &x->site->figures;
	const struct verdict_found *v = x->site->verdict;

	x->by_verdict = c->processes[x->process].by_verdict;
	if (!is_inherited && grows(c, x) && !(v && v->leak.blocks > 0)) {
		x->bytes = whole(x->site->score->bytes);
		x->blocks = whole(x->site->score->blocks);
		x->rule = CHECK_GROWTH;
		x->by_verdict = false;
		return;
	}
	if (!x->by_verdict && (is_inherited || c->options->fail_on_growth))
		return;
	if (!x->by_verdict) {
		x->bytes = f->all.live_bytes;
		x->blocks = f->all.live_blocks;
		x->variance = f->variance_live;
		return;
	}
	if (!v)
		return;
	x->bytes = v->leak.bytes;
	x->blocks = v->leak.blocks;
	x->rule = x->blocks > 0 ? CHECK_LEAK : CHECK_POSSIBLE;
	if (c->options->fail_on_possible) {
		x->bytes = capped_sum(x->bytes, v->possible.bytes);
		x->blocks = capped_sum(x->blocks, v->possible.blocks);
	}
}

static int add_site(struct check *c, const struct check_input *input, uint32_t process,
    const struct view *v, const struct view_site *site, bool is_inherited,
    const struct fingerprint *f)
{
	struct check_site *x = &c->sites[c->site_count];

	*x = (struct check_site){.input = input,
	    .view = v,
	    .site = site,
	    .process = process,
	    .place = site->own,
	    .fingerprint = f->hash};
	weigh(c, x, is_inherited);
	if (x->blocks == 0)
		return 0;
	x->text = strdup(f->text);
	if (!x->text)
		return -ENOMEM;
	c->site_count++;
	return baseline_add(&c->now,
	    &(struct baseline_item){.hash = f->hash,
	        .bytes = x->bytes,
	        .blocks = x->blocks,
	        .variance = x->variance,
	        .text = x->text});
}

/* Do the blocks of this process count? */
static bool counts(const struct check_process *x)
{
	if (x->standing == CHECK_REPLACED && x->by_verdict)
		return !x->is_unjudged; /* lost before the exec: counts */
	return x->standing == CHECK_JUDGED;
}

/* Adds all sites of a view; `only` is the process of all, or UINT32_MAX. */
static int add_view(struct check *c, const struct check_input *input, const struct view *v,
    uint32_t first, uint32_t only)
{
	struct fingerprints *f;
	int err = fingerprints_new(v, &f);

	for (size_t k = 0; k < v->site_count && err == 0; k++) {
		const struct view_site *s = &v->sites[k];
		uint32_t n = first + (only == UINT32_MAX ? s->process : only);
		struct fingerprint print;

		if (!counts(&c->processes[n]) || s->suppression)
			continue;
		fingerprints_site(f, s, &print);
		err = add_site(c, input, n, v, s, only != UINT32_MAX, &print);
	}
	fingerprints_free(f);
	return err;
}

static int add_sites(struct check *c)
{
	uint32_t first = 0; /* process of this input */
	size_t count = 0;
	int err = 0;

	for (size_t i = 0; i < c->input_count; i++) {
		const struct check_input *input = &c->inputs[i];

		count += input->view->site_count;
		for (size_t k = 0; k < input->inherited_count; k++)
			count += input->inherited[k].view->site_count;
	}
	c->sites = calloc(count + 1, sizeof(*c->sites));
	if (!c->sites)
		return -ENOMEM;
	for (size_t i = 0; i < c->input_count && err == 0; i++) {
		const struct check_input *input = &c->inputs[i];

		err = add_view(c, input, input->view, first, UINT32_MAX);
		for (size_t k = 0; k < input->inherited_count && err == 0; k++)
			err = add_view(
			    c, input, input->inherited[k].view, first, input->inherited[k].process);
		first += (uint32_t)input->session->count;
	}
	baseline_sort(&c->now);
	return err;
}

int check_new(const struct check_input *inputs, size_t count, const struct check_options *options,
    struct check **ret)
{
	struct check *c = calloc(1, sizeof(*c));
	int err = -ENOMEM;

	if (!c)
		return err;
	c->options = options;
	c->inputs = inputs;
	c->input_count = count;
	err = check_processes(c);
	if (err == 0)
		err = add_sites(c);
	if (err == 0)
		err = check_judge(c);
	if (err < 0)
		check_free(c);
	else
		*ret = c;
	return err;
}
