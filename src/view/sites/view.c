/* view.c - the sites of a session that a report shows, with named stacks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/sites/view.h"

#include "analysis/score/score.h"
#include "view/stacks/blame.h"
#include "view/sites/older.h"
#include "view/sites/view_parts.h"

/* For the whole view, and for both sides of a comparison. */
static uint32_t temporary_ticks(const struct session *s, const struct view_options *o)
{
	uint32_t ticks = view_temporary_ticks(s, o->only, o->pid);
	uint32_t other = 0;

	if (o->before)
		other = view_temporary_ticks(o->before->session, o->before->only, o->pid);
	if (other > ticks)
		ticks = other;
	return ticks > 0 && o->temporary_ticks > ticks ? o->temporary_ticks : ticks;
}

void view_free(struct view *v)
{
	if (!v)
		return;
	free(v->sites);
	while (v->chunks) {
		struct view_chunk *next = v->chunks->next;

		free(v->chunks);
		v->chunks = next;
	}
	frames_free(v->table);
	free(v);
}

static bool size_fits(const struct view_options *o, const struct process_site *s)
{
	uint64_t low = s->size_min, high = s->size_max;

	if (low == 0 && high == 0 && s->figures.allocations > 0)
		low = high = s->figures.allocated_bytes / s->figures.allocations;
	return high >= o->min_size && (o->max_size == 0 || low <= o->max_size);
}

/* Does the filter on functions and modules keep this stack? */
static int passes(struct view_builder *b, size_t count)
{
	const struct view_options *o = b->options;
	uint8_t all = 0;

	if (!o->include && !o->exclude && !o->module && !o->exclude_module)
		return 1;
	for (size_t i = 0; i < count; i++) {
		uint8_t v = view_verdict(b, b->numbers[i]);

		if (v == 0)
			return -ENOMEM;
		all |= v;
	}
	return (!o->include || all & VERDICT_INCLUDE) && (!o->module || all & VERDICT_MODULE) &&
	    !(all & (VERDICT_EXCLUDE | VERDICT_EXCLUDE_MODULE));
}

static void count_in(struct view_sum *sum, const struct view_site *site)
{
	sum->sites++;
	view_add(&sum->figures, &site->figures);
	view_add(&sum->before, &site->before);
}

/* Must it be left out? Then it is counted. Negative: -ENOMEM. */
static int is_suppressed(struct view_builder *b, struct view_site *site, size_t count)
{
	const struct view_options *o = b->options;
	const struct view_figures *f;
	int64_t entry;

	if (!o->suppress)
		return 0;
	entry = view_suppression(b, site, count);
	if (entry == -ENOMEM)
		return -ENOMEM;
	if (entry < 0)
		return 0;
	site->suppression = suppress_entry(o->suppress, (size_t)entry)->name;
	count_in(&b->view->suppressed, site);
	if (o->keep_suppressed)
		return 0;
	f = b->is_before ? &site->before : &site->figures;
	suppress_add_match(o->suppress, entry, view_blocks(f, o->metric), view_bytes(f, o->metric));
	return 1;
}

/* Adds a site that has something of the metric. */
static int choose(struct view_builder *b, const struct process *p, const struct process_site *s,
    struct view_site *site)
{
	struct view *v = b->view;
	int n, answer;

	n = view_name_stack(b, p, s->stack, site);
	if (n < 0)
		return n;
	answer = passes(b, (size_t)n);
	if (answer == 0)
		count_in(&v->filtered, site);
	if (answer <= 0)
		return answer;
	answer = is_suppressed(b, site, (size_t)n);
	if (answer != 0)
		return answer < 0 ? answer : 0;
	count_in(&v->chosen, site);
	answer = view_shape_stack(b, site, (size_t)n);
	if (answer < 0)
		return answer;
	site->ages = s->ages;
	return view_add_site(b, site);
}

/* Of the heap, of the pools that were selected, or mappings? */
static bool is_of_kind(const struct view_options *o, const struct view_site *s)
{
	if (o->pool)
		return s->pool && regexec(o->pool, s->pool, 0, NULL, 0) == 0;
	if (o->mappings || s->kind == SEG_SITE_MAPPING)
		return o->mappings && s->kind == SEG_SITE_MAPPING;
	return s->kind != SEG_SITE_USER || o->all_kinds;
}

/* Of the functions inlined at this place, the user's own. */
static int name_freers(
    struct view_builder *b, const struct process_site *s, struct verdict_found *ret)
{
	struct view *v = b->view;

	for (size_t i = 0; s->freed_by && i < s->freed_by->count; i++) {
		const struct process_freer *f = &s->freed_by->at[i];
		struct frames_span span;
		int err = frames_find(v->table, f->frame, false, &span);

		v->frames = frames_list(v->table, &v->frame_count);
		if (err < 0)
			return err;
		verdict_add_freer(ret,
		    span.numbers[blame_find(v->frames, span.numbers, (uint32_t)span.count)],
		    f->count);
	}
	return 0;
}

/* A copy that is freed with the view and can be changed. */
static int keep_verdict(
    struct view_builder *b, const struct process_site *s, size_t number, struct view_site *site)
{
	const struct verdict_found *found = verdict_index_find(&b->judged, number);

	if (!found || b->is_before)
		return 0;
	site->verdict = view_keep(b->view, found, sizeof(*found));
	return site->verdict ? name_freers(b, s, site->verdict) : -ENOMEM;
}

/* The score, and who frees the siblings of a leak. */
static int keep_score(struct view_builder *b, const struct process_site *s, uint32_t process,
    size_t number, struct view_site *site)
{
	const struct verdict_found none = {.freer_count = 0};

	if (b->is_before || b->options->figures)
		return 0; /* of another moment */
	site->score = scores_of(b->side.session, b->side.session->processes[process], number);
	if (!site->score || site->score->class != SCORE_LEAK || site->verdict)
		return 0;
	site->verdict = view_keep(b->view, &none, sizeof(none));
	return site->verdict ? name_freers(b, s, site->verdict) : -ENOMEM;
}

/* The verdicts on a process, or on the one that the options name. */
static int begin_verdicts(struct view_builder *b, const struct process *p)
{
	const struct process *judged = b->options->judged;

	verdict_index_release(&b->judged);
	return verdict_index_make(p, judged ? judged : p, b->options->judged_below, &b->judged);
}

static int look_at(struct view_builder *b, uint32_t process, size_t number)
{
	const struct view_options *o = b->options;
	struct view *v = b->view;
	const struct process *p = b->side.session->processes[process];
	const struct process_site *s = &p->sites[number];
	struct view_figures figures = view_figures_of(b, process, number);
	int err;
	struct view_site site = {
	    .process = v->is_merged ? VIEW_MERGED : process,
	    .site = (uint32_t)number,
	    .id = s->id,
	    .count = 1,
	    .kind = s->kind,
	    .api = s->api,
	    .age_flags = p->temporary_ticks == 0        ? VIEW_AGES_UNKNOWN
	        : p->temporary_ticks == SEG_YOUNG_TICKS ? VIEW_AGES_COARSE
	                                                : 0,
	    .pool = s->kind == SEG_SITE_USER ? p->pools[s->pool].name : NULL,
	    .samples = s->samples,
	    .size_min = s->size_min,
	    .size_max = s->size_max,
	    .first_ns = process_time_ns(p, s->first_tick),
	    .last_ns = process_time_ns(p, s->last_tick),
	    .now_ns = p->header.start_realtime_ns + p->duration_ns,
	};

	if (o->verdict_only && !verdict_index_find(&b->judged, number))
		return 0;
	if (!is_of_kind(o, &site) || (o->id != VIEW_ANY && s->id != o->id) ||
	    (o->metric != VIEW_ALL && view_blocks(&figures, o->metric) == 0))
		return 0;
	*(b->is_before ? &site.before : &site.figures) = figures;
	err = keep_verdict(b, s, number, &site);
	if (err == 0)
		err = keep_score(b, s, process, number, &site);
	if (err < 0 || (o->score_only && (!site.score || site.score->class == SCORE_CHURN)))
		return err;
	if (!size_fits(o, s)) {
		count_in(&v->filtered, &site);
		return 0;
	}
	return choose(b, p, s, &site);
}

static int look_at_side(struct view_builder *b)
{
	const struct session *s = b->side.session;
	int err = 0;

	for (size_t i = 0; i < s->count && err == 0; i++) {
		const struct process *p = s->processes[i];

		if ((b->options->pid != VIEW_ANY && p->header.pid != b->options->pid) ||
		    (b->side.only && b->side.only != p))
			continue;
		err = frames_begin(b->view->table, p, (uint32_t)i * 2 + b->is_before);
		if (err == 0)
			err = begin_verdicts(b, p);
		for (size_t k = 0; k < p->site_count && err == 0; k++)
			err = look_at(b, (uint32_t)i, k);
	}
	return err;
}

/* Is it unchanged? By the metric; for VIEW_ALL all figures must be equal. */
static bool is_unchanged(const struct view_site *s, const struct view_options *o)
{
	int metric = o->metric;

	if (o->with_holds &&
	    (s->before.holds_bytes != s->figures.holds_bytes ||
	        s->before.held_bytes != s->figures.held_bytes))
		return false;
	if (metric == VIEW_ALL)
		return memcmp(&s->before.all, &s->figures.all, sizeof(s->before.all)) == 0;
	return view_bytes(&s->before, metric) == view_bytes(&s->figures, metric) &&
	    view_blocks(&s->before, metric) == view_blocks(&s->figures, metric);
}

/* Removes sites of a comparison that have not changed. */
static void drop_unchanged(struct view *v, const struct view_options *o)
{
	size_t kept = 0;

	for (size_t i = 0; i < v->site_count; i++) {
		struct view_site *s = &v->sites[i];

		if (!is_unchanged(s, o))
			v->sites[kept++] = *s;
	}
	v->unchanged = v->site_count - kept;
	v->site_count = kept;
}

int view_new(const struct session *s, struct names *names, const struct view_options *options,
    struct view **ret)
{
	struct view_builder *b = calloc(1, sizeof(*b));
	struct view *v = calloc(1, sizeof(*v));
	int err = -ENOMEM;

	if (!b || !v)
		goto out;
	v->session = s;
	v->is_compared = options->before != NULL;
	v->is_grouped = options->group || v->is_compared;
	v->is_merged = options->merge || v->is_compared;
	v->by_function = options->by_function;
	v->temporary_ticks = temporary_ticks(s, options);
	v->within = options->within;
	v->lifetimes = options->lifetimes;
	b->view = v;
	b->options = options;
	b->side = (struct view_side){.session = s,
	    .only = options->only,
	    .figures = options->figures,
	    .rss_account = options->rss_account};
	err = frames_new(names, &v->table);
	if (err == 0 && options->join_programs)
		frames_join_programs(v->table);
	if (err == 0 && options->brief_names)
		frames_shorten(v->table);
	if (err == 0)
		err = look_at_side(b);
	if (err == 0 && options->before) {
		b->side = *options->before;
		b->is_before = true;
		err = look_at_side(b);
		drop_unchanged(v, options);
	}
	if (err < 0)
		goto out;
	*ret = v;
	v = NULL;
out:
	if (b) {
		dict_release(&b->index);
		verdict_index_release(&b->judged);
		free(b->verdicts);
	}
	free(b);
	view_free(v);
	return err;
}
