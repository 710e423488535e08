/* check.c - does a run hold what was promised of its heap? */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/fingerprint.h"
#include "reader/losses.h"
#include "report/program.h"
#include "report/words.h"
#include "util/capped.h"

enum { ENDS_TOLD = 5 }; /* processes of one kind of end, by name */

static const struct check_rule_text rules[CHECK_RULES] = {
    [CHECK_LEAK] = {"leak", "Memory is not freed at the end of the program",
        "Free it, or accept it: --suppress, --write-baseline."},
    [CHECK_NEW] = {"new-leak",
        "Memory is not freed that the baseline does not know",
        "Free it, or write the baseline anew: --write-baseline."},
    [CHECK_GROWN] = {"grown-leak",
        "More memory is not freed than the baseline has",
        "Find out why it grew, or write the baseline anew."},
    [CHECK_MAX_LIVE] = {"max-live",
        "More memory is live at the end than --max-live allows",
        "seep report --live shows what it is."},
    [CHECK_MAX_LEAKED] = {"max-leaked",
        "More memory is not freed than --max-leaked allows",
        "seep report --live shows what it is."},
    [CHECK_MAX_PEAK] = {"max-peak",
        "More memory was live at one moment than --max-peak allows",
        "seep report --peak shows what it was."},
};

const struct check_rule_text *
check_rules(void)
{
	return rules;
}

void
check_free(struct check *c)
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

static void
add_up(struct check_sum *to, uint64_t bytes, uint64_t blocks, double variance)
{
	to->sites++;
	to->bytes = capped_sum(to->bytes, bytes);
	to->blocks = capped_sum(to->blocks, blocks);
	to->variance += variance;
}

int
check_note(struct check *c, const char *fmt, ...)
{
	char **notes =
	    reallocarray(c->notes, c->note_count + 1, sizeof(char *));
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

/* ---- processes ---- */

static const char *
name_of(const struct process *p)
{
	return program_name(&p->header);
}

static enum check_standing
standing_of(const struct check_options *o, const struct process *p)
{
	if (o->pid != 0 && p->header.pid != o->pid)
		return CHECK_LEFT_OUT;
	/* by its path, or as it was started */
	if (o->exe && regexec(o->exe, p->header.exe, 0, NULL, 0) != 0 &&
	    regexec(o->exe, name_of(p), 0, NULL, 0) != 0)
		return CHECK_LEFT_OUT;
	if (p->totals.allocations == 0 &&
	    (p->header.state == SEG_INERT || p->header.mode == SEG_MODE_OFF ||
	        p->header.mode == SEG_MODE_DORMANT ||
	        p->header.counts[SEG_EVENTS_OFF] > 0))
		return CHECK_UNTRACED;
	return p->end == PROCESS_EXEC ? CHECK_REPLACED : CHECK_JUDGED;
}

/* How it ended, where that says something about its figures. */
static int
note_end(struct check *c, const struct process *p)
{
	const char *name = name_of(p);
	unsigned pid = p->header.pid;

	if (p->end != PROCESS_EXITED && p->end <= PROCESS_GONE &&
	    ++c->ends[p->end] > ENDS_TOLD)
		return 0;
	if (p->is_snapshot)
		return check_note(c,
		    "%s (pid %u): a snapshot; what was live then may have "
		    "been freed later",
		    name, pid);
	switch (p->end) {
	case PROCESS_RUNNING:
		return check_note(c,
		    "%s (pid %u) still ran; what was live then may be freed "
		    "later",
		    name, pid);
	case PROCESS_KILLED:
		if (p->signal > 0)
			return check_note(c,
			    "%s (pid %u) was killed by signal %d (%s); it is "
			    "judged by what was live then",
			    name, pid, p->signal, strsignal(p->signal));
		/* fall through */
	case PROCESS_GONE:
		return check_note(c,
		    "%s (pid %u) ended by a signal or by _exit; it is judged by "
		    "what was live then",
		    name, pid);
	case PROCESS_UNKNOWN:
		return check_note(c,
		    "%s (pid %u): how it ended is not known; it is judged by "
		    "what was live then",
		    name, pid);
	default:
		return 0;
	}
}

/*
 * Calls of these passed the collector by, nobody knows how many: a block that
 * looks leaked may have been freed, and a leak may be missing.
 */
static bool
is_unsure(enum seg_count count)
{
	return count == SEG_DEEPBIND_LOADS || count == SEG_MALLOC_BEFORE;
}

/* What is missing in the figures. */
static int
note_losses(struct check *c, const struct process *p)
{
	static const enum seg_count matter[] = {SEG_LOST_EVENTS, SEG_LOST_FREES,
	    SEG_SPILL_FULL, SEG_CHILDREN_UNTRACED, SEG_CHILDREN_EARLY,
	    SEG_EVENTS_OFF, SEG_EARLY_EVENTS, SEG_DEEPBIND_LOADS,
	    SEG_MALLOC_BEFORE};
	const struct losses_name *names;
	size_t count;
	int err = 0;

	names = losses_names(&count);
	for (size_t i = 0; i < sizeof(matter) / sizeof(matter[0]); i++)
		for (size_t k = 0; k < count && err == 0; k++) {
			uint64_t n = p->header.counts[matter[i]];
			char buffer[WORDS_LOSS];

			if (names[k].count != matter[i] || n == 0)
				continue;
			c->is_damaged |= is_unsure(matter[i]);
			err = check_note(c,
			    "%s (pid %u): its figures are not complete: %s",
			    name_of(p), p->header.pid,
			    words_loss(buffer, n, names[k].words));
		}
	return err;
}

/* Blocks that the executable frees by itself are no leaks, but look like it. */
static int
note_own(struct check *c, const struct process *p)
{
	if (!losses_is_own(p->header.inert_reason) ||
	    p->header.state == SEG_INERT)
		return 0;
	c->is_damaged |= p->header.counts[SEG_MISSED_FREES] > 0 ||
	    p->header.counts[SEG_UNKNOWN_FREES] > 0;
	return check_note(c, "%s (pid %u): maybe only a part was traced: %s",
	    name_of(p), p->header.pid, losses_inert(p->header.inert_reason));
}

static int
note_process(struct check *c, const struct check_process *x)
{
	const struct process *p = x->process;
	int err;

	if (x->standing == CHECK_UNTRACED)
		return check_note(c, "%s (pid %u) was not traced: %s",
		    name_of(p), p->header.pid,
		    p->header.state == SEG_INERT
		        ? losses_inert(p->header.inert_reason)
		        : "recording was off");
	if (p->is_unfinished) {
		c->is_damaged = true;
		err = check_note(c,
		    "%s (pid %u): its end is missing in the recording; the "
		    "figures are of %.1f s",
		    name_of(p), p->header.pid, (double)p->as_of_us / 1e6);
		return err < 0 ? err : note_losses(c, p);
	}
	if (p->header.state == SEG_INERT) {
		c->is_damaged = true;
		err = check_note(c, "%s (pid %u): tracing ended early: %s",
		    name_of(p), p->header.pid,
		    losses_inert(p->header.inert_reason));
	} else {
		err = note_end(c, p);
	}
	if (err == 0)
		err = note_own(c, p);
	return err < 0 ? err : note_losses(c, p);
}

/* One sentence where there would be many. */
static int
note_more_ends(struct check *c)
{
	size_t more = 0, replaced = c->ends[PROCESS_EXEC];
	char buffer[WORDS_COUNTED];
	int err = 0;

	for (int i = 0; i <= PROCESS_GONE; i++)
		if (i != PROCESS_EXEC && c->ends[i] > ENDS_TOLD)
			more += c->ends[i] - ENDS_TOLD;
	if (more > 0)
		err = check_note(c,
		    "%zu more ended by a signal or by _exit, or still ran",
		    more);
	if (err == 0 && replaced > 0)
		err = check_note(c,
		    "%s went on as another program (exec); of %s only the peak "
		    "is judged",
		    words_counted(buffer, replaced, "process"),
		    replaced == 1 ? "it" : "these");
	return err;
}

static int
add_processes(struct check *c)
{
	size_t count = 0;

	for (size_t i = 0; i < c->input_count; i++)
		count += c->inputs[i].session->count;
	c->processes = calloc(count + 1, sizeof(*c->processes));
	if (!c->processes)
		return -ENOMEM;
	for (size_t i = 0; i < c->input_count; i++) {
		const struct session *s = c->inputs[i].session;

		if (s->is_truncated) {
			c->is_damaged = true;
			if (check_note(c, "%s: damaged, or its end is missing",
			        c->inputs[i].name) < 0)
				return -ENOMEM;
		}
		for (size_t k = 0; k < s->count; k++) {
			struct check_process *x =
			    &c->processes[c->process_count++];
			const struct process *p = s->processes[k];

			*x = (struct check_process){.input = &c->inputs[i],
			    .process = p,
			    .standing = standing_of(c->options, p)};
			if (x->standing == CHECK_LEFT_OUT) {
				c->left_out++;
				continue;
			}
			if (note_process(c, x) < 0)
				return -ENOMEM;
			c->judged_count += x->standing != CHECK_UNTRACED;
			if (p->header.sample_bytes > c->sample_bytes)
				c->sample_bytes = p->header.sample_bytes;
			if (x->standing == CHECK_JUDGED)
				add_up(&c->live, p->totals.live_bytes,
				    p->totals.live_blocks,
				    process_variance_live(p));
		}
	}
	return note_more_ends(c);
}

/* ---- sites ---- */

static int
add_site(struct check *c, const struct check_input *input, uint32_t process,
    const struct view_site *site, const struct fingerprint *f)
{
	struct check_site *x = &c->sites[c->site_count];

	*x = (struct check_site){.input = input,
	    .site = site,
	    .process = process,
	    .place = site->own,
	    .fingerprint = f->hash,
	    .text = strdup(f->text)};
	if (!x->text)
		return -ENOMEM;
	c->site_count++;
	return baseline_add(&c->now,
	    &(struct baseline_item){.hash = f->hash,
	        .bytes = site->figures.all.live_bytes,
	        .blocks = site->figures.all.live_blocks,
	        .variance = site->figures.variance_live,
	        .text = x->text});
}

static int
add_sites(struct check *c)
{
	uint32_t first = 0; /* process of this input */
	size_t count = 0;
	int err = 0;

	for (size_t i = 0; i < c->input_count; i++)
		count += c->inputs[i].view->site_count;
	c->sites = calloc(count + 1, sizeof(*c->sites));
	if (!c->sites)
		return -ENOMEM;
	for (size_t i = 0; i < c->input_count && err == 0; i++) {
		const struct view *v = c->inputs[i].view;
		struct fingerprints *f;

		err = fingerprints_new(v, &f);
		if (err < 0)
			return err;
		for (size_t k = 0; k < v->site_count && err == 0; k++) {
			uint32_t n = first + v->sites[k].process;
			struct fingerprint print;

			if (c->processes[n].standing != CHECK_JUDGED)
				continue;
			fingerprints_site(f, &v->sites[k], &print);
			err =
			    add_site(c, &c->inputs[i], n, &v->sites[k], &print);
		}
		fingerprints_free(f);
		first += (uint32_t)c->inputs[i].session->count;
	}
	baseline_sort(&c->now);
	return err;
}

/* ---- the verdict ---- */

static double
slack(const struct check *c, uint64_t known)
{
	return (double)known * c->options->tolerance_percent / 100;
}

static bool
has_grown(const struct check *c, const struct baseline_item *now,
    const struct baseline_item *known)
{
	double bytes = slack(c, known->bytes);

	if (bytes < (double)c->options->tolerance_bytes)
		bytes = (double)c->options->tolerance_bytes;
	/* sampled: only what chance does not explain */
	if ((double)now->bytes - (double)process_error(now->variance) >
	    (double)known->bytes + bytes)
		return true;
	/* many empty blocks leak, too */
	return c->sample_bytes == 0 && c->options->tolerance_bytes == 0 &&
	    (double)now->blocks >
	    (double)known->blocks + slack(c, known->blocks);
}

static uint64_t
growth(uint64_t now, uint64_t known)
{
	return now > known ? now - known : 0;
}

/* Leaked: all of what is new, and by how much the others have grown. */
static void
compare(struct check *c)
{
	for (size_t i = 0; i < c->now.count; i++) {
		struct baseline_item *now = &c->now.items[i];
		struct baseline_item *known =
		    baseline_find(c->options->baseline, now->hash);

		if (!known) {
			add_up(
			    &c->leaked, now->bytes, now->blocks, now->variance);
			continue;
		}
		known->is_met = true;
		now->is_met = !has_grown(c, now, known);
		if (now->is_met)
			add_up(
			    &c->known, now->bytes, now->blocks, now->variance);
		else
			add_up(&c->leaked, growth(now->bytes, known->bytes),
			    growth(now->blocks, known->blocks), now->variance);
	}
}

static void
judge_site(struct check *c, struct check_site *x)
{
	const struct process_figures *f = &x->site->figures.all;
	struct check_process *p = &c->processes[x->process];
	const struct baseline_item *known = NULL, *now;

	x->rule = CHECK_LEAK;
	if (c->options->baseline) {
		known = baseline_find(c->options->baseline, x->fingerprint);
		now = baseline_find(&c->now, x->fingerprint);
		if (now && now->is_met)
			return;
		x->rule = known ? CHECK_GROWN : CHECK_NEW;
	} else {
		add_up(&c->leaked, f->live_bytes, f->live_blocks,
		    x->site->figures.variance_live);
	}
	if (known) {
		x->known_bytes = known->bytes;
		x->known_blocks = known->blocks;
	}
	x->fails = true;
	c->failed_count++;
	p->leaked_bytes = capped_sum(p->leaked_bytes, f->live_bytes);
	p->leaked_blocks = capped_sum(p->leaked_blocks, f->live_blocks);
}

static void
add_bound(struct check *c, enum check_rule rule,
    const struct check_limit *limit, uint64_t value, double variance,
    const struct check_process *p)
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
	away =
	    value > limit->bytes ? value - limit->bytes : limit->bytes - value;
	b->fails = value > limit->bytes;
	b->is_close = away < b->error;
	c->fails = c->fails || b->fails;
	c->bound_count++;
}

static void
judge_bounds(struct check *c)
{
	const struct check_options *o = c->options;
	const struct check_process *high = NULL;
	double variance = 0;

	for (size_t i = 0; i < c->process_count; i++) {
		const struct check_process *x = &c->processes[i];

		if (x->standing == CHECK_LEFT_OUT ||
		    x->standing == CHECK_UNTRACED)
			continue;
		if (!high ||
		    x->process->totals.peak_bytes >
		        high->process->totals.peak_bytes)
			high = x;
	}
	add_bound(c, CHECK_MAX_LIVE, &o->max_live, c->live.bytes,
	    c->live.variance, NULL);
	add_bound(c, CHECK_MAX_LEAKED, &o->max_leaked, c->leaked.bytes,
	    c->leaked.variance, NULL);
	if (!high)
		return;
	/* its share of the variance of all that was allocated */
	if (high->process->totals.allocated_bytes > 0)
		variance = process_variance_allocated(high->process) *
		    (double)high->process->totals.peak_bytes /
		    (double)high->process->totals.allocated_bytes;
	add_bound(c, CHECK_MAX_PEAK, &o->max_peak,
	    high->process->totals.peak_bytes, variance, high);
}

static int
in_order(const void *a, const void *b)
{
	const struct check_site *x = a, *y = b;
	uint64_t v = x->site->figures.all.live_bytes;
	uint64_t w = y->site->figures.all.live_bytes;

	if (x->fails != y->fails)
		return x->fails ? -1 : 1;
	if (v != w)
		return v > w ? -1 : 1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->site->id > y->site->id) - (x->site->id < y->site->id);
}

static int
judge(struct check *c)
{
	const struct check_options *o = c->options;
	bool any_is_bad =
	    !o->max_live.given && !o->max_leaked.given && !o->max_peak.given;
	char buffer[WORDS_MAX];

	if (o->baseline)
		compare(c);
	for (size_t i = 0; i < c->site_count; i++)
		judge_site(c, &c->sites[i]);
	qsort(c->sites, c->site_count, sizeof(*c->sites), in_order);
	judge_bounds(c);
	/* a limit on what is leaked says how much of it is fine */
	if (o->baseline && !o->max_leaked.given)
		any_is_bad = true;
	if (any_is_bad && c->failed_count > 0)
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
		    words_bytes(buffer, c->sample_bytes));
	return 0;
}

int
check_new(const struct check_input *inputs, size_t count,
    const struct check_options *options, struct check **ret)
{
	struct check *c = calloc(1, sizeof(*c));
	int err = -ENOMEM;

	if (!c)
		return err;
	c->options = options;
	c->inputs = inputs;
	c->input_count = count;
	err = add_processes(c);
	if (err == 0)
		err = add_sites(c);
	if (err == 0)
		err = judge(c);
	if (err < 0)
		check_free(c);
	else
		*ret = c;
	return err;
}
