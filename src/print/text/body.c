/* body.c - the part of a report below its heading: a tree or a table. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/text/body.h"

#include "base/std.h"
#include "view/sites/ages.h"
#include "view/sites/amount.h"
#include "view/sites/older.h"

static const char *bytes_of(int metric)
{
	static const char *const words[] = {
	    [VIEW_LIVE] = "live bytes",
	    [VIEW_PEAK] = "bytes at the peak",
	    [VIEW_ALLOCS] = "allocated bytes",
	    [VIEW_TEMPORARY] = "short-lived bytes",
	};

	return metric < VIEW_ALL ? words[metric] : "allocated bytes";
}

/* Defines "short-lived": recordings of older versions know it less exactly. */
static void print_temporary(const struct layout *p, const struct view *v)
{
	uint64_t within_ns = ages_temporary_ns(v);
	struct layout_text t;

	layout_begin(p, &t);
	if (v->within && lifetimes_within(v->within) == 0)
		(void)fputs("Temporary: blocks that a thread allocated and "
		            "freed before its next allocation.\n",
		    t.file);
	else if (v->within)
		(void)fprintf(t.file,
		    "Temporary: blocks that a thread allocated and freed, with "
		    "at most %s in between.\n",
		    WORDS_COUNTED(lifetimes_within(v->within), "allocation"));
	else if (within_ns == 0)
		(void)fputs("At which age blocks were freed was not recorded.\n", t.file);
	else
		(void)fprintf(t.file,
		    "Temporary: blocks freed within %s of their "
		    "allocation.%s\n",
		    WORDS_TIME(within_ns),
		    v->temporary_ticks < SEG_YOUNG_TICKS
		        ? ""
		        : " The version of seep that recorded this did not "
		          "count younger ages.");
	layout_end(p, &t);
}

/* The sums after filters, if there are any. */
static void print_filters(const struct layout *p, const struct view *v, int metric)
{
	uint64_t some = view_bytes(&v->chosen.figures, metric);
	uint64_t whole = some + view_bytes(&v->filtered.figures, metric);
	uint64_t sites = v->chosen.sites + v->filtered.sites;
	struct layout_text t;

	if (v->filtered.sites == 0)
		return;
	layout_begin(p, &t);
	(void)fprintf(t.file, "The filters leave %.1f%% of the %s: %s of %s, in %s of %s.\n",
	    whole ? 100.0 * (double)some / (double)whole : 0, bytes_of(metric), WORDS_COUNT(some),
	    WORDS_COUNT(whole), WORDS_COUNT(v->chosen.sites), WORDS_COUNTED(sites, "site"));
	layout_end(p, &t);
}

static void print_suppressed(
    const struct layout *p, const struct view *v, const struct body_options *o)
{
	uint64_t bytes = view_bytes(&v->suppressed.figures, o->view.metric);
	struct layout_text t;

	if (v->suppressed.sites == 0)
		return;
	layout_begin(p, &t);
	(void)fprintf(t.file, "%s in %s suppressed (--no-suppress shows %s).\n",
	    WORDS_COUNTED(bytes, "byte"),
	    WORDS_COUNTED(v->suppressed.sites, o->builtin_only ? "start-up remainder" : "place"),
	    v->suppressed.sites == 1 ? "it" : "them");
	layout_end(p, &t);
}

static const char *nothing_of(const struct view *v, const struct body_options *o)
{
	int metric = o->view.metric;
	static const char *const words[] = {
	    [VIEW_LIVE] = "No block is live.",
	    [VIEW_PEAK] = "No block was live at the peak.",
	    [VIEW_ALLOCS] = "Nothing was allocated.",
	    [VIEW_TEMPORARY] = "No block was freed soon after its allocation.",
	};

	if (v->is_compared)
		return v->unchanged ? "Nothing has changed." : "There is nothing.";
	if (v->filtered.sites > 0)
		return "The filters leave nothing.";
	if (v->suppressed.sites > 0)
		return o->older ? "Nothing else is that old." : "Nothing else is live.";
	if (o->older)
		return "No block is that old.";
	if (metric == VIEW_TEMPORARY && v->temporary_ticks == 0 && !v->within)
		return "So there is nothing to show.";
	return metric < VIEW_ALL ? words[metric] : words[VIEW_ALLOCS];
}

static int print_view(const struct layout *p, struct view *v, const struct body_options *o)
{
	const struct tree_print_options tree = {.tree = {.metric = o->view.metric,
	                                            .order = o->order,
	                                            .top_down = o->top_down,
	                                            .by_line = o->by_line,
	                                            .grown_first = o->grown_first},
	    .top = o->top,
	    .threshold = o->threshold,
	    .with_holds = o->rss};
	const struct table_options table = {.metric = o->view.metric,
	    .order = o->order,
	    .top = o->top,
	    .frames = o->frames,
	    .threshold = o->threshold,
	    .grown_first = o->grown_first,
	    .with_holds = o->rss};

	if (o->shape == BODY_TABLE)
		return table_text_write(p, v, &table);
	return tree_print_write(p, v, &tree);
}

/* Do the frames come from several programs? */
static bool has_programs(const struct view *v)
{
	const char *first = NULL;

	for (size_t i = 0; i < v->frame_count; i++) {
		const struct frame *x = &v->frames[i];

		if (!x->is_main || !x->module || x->is_any)
			continue;
		if (first && strcmp(first, x->module) != 0)
			return true;
		first = x->module;
	}
	return false;
}

/* How much is shown of a process (NULL: of all), and how exact it is. */
static void print_older(const struct layout *p, const struct older *o,
    const struct process *process, const struct process_figures *shown)
{
	struct older_about about;
	struct layout_text t;

	older_about(o, process, &about);
	layout_begin(p, &t);
	(void)fprintf(t.file, "Older than %s: %s in %s.\n", WORDS_TIME(about.age_ns),
	    WORDS_COUNTED(shown->live_bytes, "byte"), WORDS_COUNTED(shown->live_blocks, "block"));
	layout_end(p, &t);
	layout_begin(p, &t);
	older_remarks(t.file, &about);
	layout_end(p, &t);
}

int body_write_view(const struct layout *p, struct view *v, const struct body_options *options)
{
	struct layout page = *p;

	if (options->older)
		print_older(p, options->older, options->view.only, &v->chosen.figures.all);
	if (options->view.metric == VIEW_TEMPORARY)
		print_temporary(p, v);
	print_filters(p, v, options->view.metric);
	print_suppressed(p, v, options);
	(void)putc('\n', p->out);
	page.programs = has_programs(v);
	if (v->site_count > 0)
		return print_view(&page, v, options);
	(void)fprintf(p->out, "%s\n", nothing_of(v, options));
	return 0;
}

int body_write(const struct layout *p, const struct session *s, struct names *names,
    const struct body_options *options)
{
	struct view *v;
	int err;

	/* looking up names may take a while, so show first what is known */
	(void)fflush(p->out);
	err = view_new(s, names, &options->view, &v);
	if (err < 0)
		return err;
	err = body_write_view(p, v, options);
	view_free(v);
	return err;
}
