/* rss_text.c - the account of resident memory as text, and what to do about it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/text/report_text.h"

#include "base/std.h"
#include "analysis/rss/rss_reading.h"
#include "print/text/layout.h"
#include "view/sites/enum_words.h"
#include "kit/data/capped.h"
#include "kit/words/text.h"

enum {
	SAID_PERCENT = 10, /* thin pages below this share are not mentioned */
	COURSE_LINES = 12,
};

static const char *const titles[RSS_CLASSES] = {
    [RSS_LIVE] = "living blocks, as requested",
    [RSS_ROUNDING] = "headers and rounding of these blocks",
    [RSS_PARTLY] = "free parts of heap pages that have a living block",
    [RSS_FREE] = "heap pages without a living block: free, not returned",
    [RSS_HEAP] = "heap, not split",
    [RSS_STACKS] = "stacks",
    [RSS_MODULES] = "code and data of program and libraries",
    [RSS_ANONYMOUS] = "other anonymous mappings",
    [RSS_SHARED] = "shared memory",
    [RSS_FILES] = "files",
    [RSS_OURS] = "seep's own",
};

/* ---- lines ---- */

static const char *title_of(const struct rss_account *r, int class)
{
	if (r->lack == RSS_NO_SMAPS && class == RSS_HEAP)
		return "heap, stacks and other private memory, not split";
	if (r->lack == RSS_NO_SMAPS && class == RSS_FILES)
		return "code of program and libraries, and other files";
	return titles[class];
}

static double share_of(const struct rss_account *r, uint64_t bytes)
{
	return r->rss_bytes ? 100.0 * (double)bytes / (double)r->rss_bytes : 0;
}

static void print_amount(
    const struct layout *p, const struct rss_account *r, uint64_t bytes, bool is_minus)
{
	char a[WORDS_MAX], digits[WORDS_MAX + 1];

	(void)snprintf(digits, sizeof(digits), "%s%s", is_minus ? "-" : "", words_count(a, bytes));
	(void)fprintf(p->out, "%16s %5.1f%%  ", digits, share_of(r, bytes));
}

/* A name is the process's own text; without one, the range says where. */
static void print_area(
    const struct layout *p, const struct rss_account *r, const struct rss_area *a)
{
	char range[64];

	print_amount(p, r, a->bytes, false);
	(void)snprintf(range, sizeof(range), "%llx-%llx", (unsigned long long)a->start,
	    (unsigned long long)a->end);
	(void)fputs("    ", p->out);
	layout_fit(p, a->name[0] ? a->name : range, layout_room(p, 30));
	(void)putc('\n', p->out);
}

static void print_areas(const struct layout *p, const struct rss_account *r)
{
	uint64_t listed = 0, rest, bytes;

	for (size_t i = 0; i < r->area_count; i++) {
		print_area(p, r, &r->areas[i]);
		listed = capped_sum(listed, r->areas[i].bytes);
	}
	rest = capped_difference(r->areas_count, r->area_count);
	bytes = capped_difference(r->areas_bytes, listed);
	if (r->area_count == 0 || rest == 0)
		return;
	print_amount(p, r, bytes, false);
	(void)fprintf(p->out, "    %s\n", WORDS_COUNTED(rest, "smaller mapping"));
}

static void print_classes(const struct layout *p, const struct rss_account *r)
{
	bool is_split = r->lack == RSS_SPLIT;

	for (int i = 0; i < RSS_CLASSES; i++) {
		bool is_heap_part = i <= RSS_FREE;

		/* a heap is split, or it is not */
		if (r->classes[i] == 0 && (i == RSS_HEAP ? is_split : !(is_heap_part && is_split)))
			continue;
		print_amount(p, r, r->classes[i], false);
		(void)fprintf(p->out, "%s\n", title_of(r, i));
		if (i == RSS_ANONYMOUS)
			print_areas(p, r);
	}
	if (r->moved_bytes != 0) {
		print_amount(p, r,
		    r->moved_bytes < 0 ? -(uint64_t)r->moved_bytes : (uint64_t)r->moved_bytes,
		    r->moved_bytes < 0);
		(void)fputs("moved while it was read\n", p->out);
	}
}

/* ---- sentences ---- */

/* The user's own function of a site, as it is known in a view; for free(). */
static int name_of(const struct session *s, const struct process *process, struct names *names,
    uint32_t id, char **ret)
{
	const struct view_options o = {
	    .metric = VIEW_LIVE, .only = process, .id = id, .brief_names = true};
	struct view *v;
	int err = view_new(s, names, &o, &v);

	if (err < 0)
		return err;
	if (v->site_count > 0 && v->sites[0].frame_count > 0) {
		const struct view_site *x = &v->sites[0];
		const struct frame *f = &v->frames[x->frames[x->own]];

		*ret = f->function ? strdup(f->brief) : NULL;
	}
	if (!*ret && asprintf(ret, "site %u", id) < 0)
		*ret = NULL;
	view_free(v);
	return *ret ? 0 : -ENOMEM;
}

/* The site that holds most of the pages that are less than a quarter full. */
static const struct rss_site *most_thin(const struct rss_account *r)
{
	const struct rss_site *most = NULL;

	for (size_t i = 0; i < r->site_count; i++)
		if (r->sites[i].thin > (most ? most->thin : 0))
			most = &r->sites[i];
	return most;
}

static int say_thin(FILE *out, const struct rss_account *r, const struct session *s,
    const struct process *process, struct names *names)
{
	const struct rss_site *x = most_thin(r);
	uint64_t all = 0, percent;
	char *name = NULL, a[WORDS_MAX], b[WORDS_MAX];
	int err;

	for (int i = 0; i < RSS_FILLS; i++)
		all = capped_sum(all, r->fills[i]);
	percent = all ? (uint64_t)((double)r->fills[0] / (double)all * 100) : 0;
	if (percent < SAID_PERCENT || !x || r->fills[0] < r->rss_bytes / 100)
		return 0;
	err = name_of(s, process, names, x->id, &name);
	if (err < 0)
		return err;
	(void)fprintf(out,
	    "%u%% of the heap's pages with living blocks are less than a "
	    "quarter full; ",
	    (unsigned)percent);
	text_print(out, name);
	(void)fprintf(
	    out, " (%s live) holds %s of them. ", words_bytes(a, x->live), words_bytes(b, x->thin));
	free(name);
	return 0;
}

static void say_facts(FILE *out, const struct rss_account *r, unsigned rules)
{
	if (r->lack == RSS_SPLIT && r->classes[RSS_FREE] > 0)
		(void)fprintf(out, "Free and not returned: %s%s. ",
		    WORDS_BYTES(r->classes[RSS_FREE]),
		    !(rules & RULE_FREE) ? ""
		        : r->is_glibc    ? " (malloc_trim may give back up to that)"
		                         : " (kept by the allocator for later)");
	if (r->huge_bytes > 0)
		(void)fprintf(out,
		    "%s of the heap is in huge pages: each is kept resident as "
		    "a whole by a single block. ",
		    WORDS_BYTES(r->huge_bytes));
	if (r->heap_swap_bytes > 0)
		(void)fprintf(out, "%s of the heap is in swap. ", WORDS_BYTES(r->heap_swap_bytes));
	if (r->inherited_holds > 0)
		(void)fprintf(out,
		    "Blocks of the parent, from before the fork, hold %s (%s "
		    "live). ",
		    WORDS_BYTES(r->inherited_holds), WORDS_BYTES(r->inherited_live));
}

static int say_advice(FILE *out, const struct rss_account *r, const struct session *s,
    const struct process *process, struct names *names, unsigned rules)
{
	char a[WORDS_MAX], b[WORDS_MAX], c[WORDS_COUNTED_MAX], *name = NULL;
	const struct rss_site *x = rss_rules_most_pins(r);
	int err;

	if (rules & RULE_ARENAS)
		(void)fprintf(out,
		    "Its threads use %s of 64 MiB, with %s free in them: "
		    "MALLOC_ARENA_MAX=2 in the environment makes threads share "
		    "two. ",
		    words_counted(c, r->arenas, "arena"), words_bytes(a, r->arena_free_bytes));
	if (!(rules & RULE_PINNED))
		return 0;
	err = name_of(s, process, names, x->id, &name);
	if (err < 0)
		return err;
	text_print(out, name);
	(void)fprintf(out,
	    " keeps %s resident beyond its own %s: its blocks lie among freed "
	    "ones. Allocated together, from a pool of their own, they would "
	    "not. ",
	    words_bytes(a, x->holds - x->live), words_bytes(b, x->live));
	free(name);
	return 0;
}

static int print_sentences(const struct layout *p, const struct rss_account *r,
    const struct session *s, const struct process *process, struct names *names)
{
	unsigned rules = rss_rules(r, rss_rules_most_pins(r));
	struct layout_text t;
	int err;

	layout_begin(p, &t);
	err = say_thin(t.file, r, s, process, names);
	say_facts(t.file, r, rules);
	if (err == 0)
		err = say_advice(t.file, r, s, process, names, rules);
	if (r->lack != RSS_SPLIT)
		(void)fprintf(t.file,
		    "Note: the pages of the heap are not split, and no site "
		    "has held pages: %s. ",
		    rss_reading_why(r->lack));
	if (r->is_partial)
		(void)fputs("Note: some blocks are missing, because parts of "
		            "the list of blocks are in swap. ",
		    t.file);
	if (r->is_short)
		(void)fputs("Sites below 1% of the heap were not stored. ", t.file);
	(void)putc('\n', t.file);
	layout_end(p, &t);
	return err;
}

/* ---- the course ---- */

static const struct rss_account *reading_at(const struct process *p, size_t i)
{
	return i < p->earlier_count ? &p->earlier[i] : p->rss_account;
}

/* Live, held and RSS at some of the readings, evenly spread. */
static void print_course(const struct layout *p, const struct process *process)
{
	size_t count = process->earlier_count + 1, lines;

	if (count < 2)
		return;
	lines = count < COURSE_LINES ? count : COURSE_LINES;
	(void)fprintf(
	    p->out, "%zu readings:\n%12s %16s %16s %16s\n", count, "after", "live", "held", "RSS");
	for (size_t i = 0; i < lines; i++) {
		const struct rss_account *r = reading_at(process, i * (count - 1) / (lines - 1));

		(void)fprintf(p->out, "%12s %16s %16s %16s\n", WORDS_TIME(r->time_ns),
		    WORDS_COUNT(r->classes[RSS_LIVE]), WORDS_COUNT(rss_account_heap(r)),
		    WORDS_COUNT(r->rss_bytes));
	}
}

int rss_text_write(const struct layout *p, const struct session *s, const struct process *process,
    struct names *names, const struct view_options *options)
{
	const struct rss_account *r = process->rss_account;
	struct layout_text t;

	(void)options;
	if (!r)
		return 0;
	(void)putc('\n', p->out);
	layout_begin(p, &t);
	(void)fprintf(
	    t.file, "RSS %s, %s in swap", WORDS_BYTES(r->rss_bytes), WORDS_BYTES(r->swap_bytes));
	if (r->hugetlb_bytes > 0)
		(void)fprintf(t.file, ", %s in pages of hugetlbfs, which RSS does not contain",
		    WORDS_BYTES(r->hugetlb_bytes));
	(void)fprintf(t.file, "; read %s after its start", WORDS_TIME(r->time_ns));
	if (r->took_ns > 0)
		(void)fprintf(t.file, ", in %s", WORDS_TIME(r->took_ns));
	(void)fputs(":\n", t.file);
	layout_end(p, &t);
	print_classes(p, r);
	print_course(p, process);
	return print_sentences(p, r, s, process, names);
}

/* ---- under a verdict ---- */

/*
 * Of the free parts of pages, what a site keeps from being returned: its share of
 * pages without its bytes, and without headers and rounding, which are not free.
 */
static uint64_t pinned_of(const struct rss_account *r, const struct rss_site *x)
{
	uint64_t most = r->classes[RSS_PARTLY];
	double live = (double)r->classes[RSS_LIVE];
	double rounding = live > 0 ? (double)r->classes[RSS_ROUNDING] * (double)x->live / live : 0;
	double pins = (double)(x->holds - x->live) - rounding;

	if (pins >= (double)most)
		return most;
	return pins > 0 ? (uint64_t)pins : 0;
}

int rss_text_write_line(const struct layout *p, const struct session *s,
    const struct process *process, struct names *names)
{
	const struct rss_account *r = process->rss_account;
	const struct rss_site *x;
	char a[WORDS_MAX], b[WORDS_MAX], *name = NULL;
	uint64_t rest = 0;
	struct layout_text t;
	int err = 0;

	if (!r)
		return 0;
	x = rss_rules_most_pins(r);
	if (x)
		err = name_of(s, process, names, x->id, &name);
	if (err < 0)
		return err;
	for (int i = RSS_STACKS; i <= RSS_FILES; i++)
		rest = capped_sum(rest, r->classes[i]);
	layout_begin(p, &t);
	(void)fprintf(t.file, "RSS %s = ", words_bytes(a, r->rss_bytes));
	if (r->lack == RSS_SPLIT) {
		uint64_t loose = capped_sum(r->classes[RSS_PARTLY], r->classes[RSS_FREE]);

		(void)fprintf(t.file, "%s live + %s rounding + ",
		    words_bytes(a, r->classes[RSS_LIVE]), words_bytes(b, r->classes[RSS_ROUNDING]));
		(void)fprintf(t.file, "%s free inside the heap", words_bytes(a, loose));
		if (x && pinned_of(r, x) > 0) {
			(void)fprintf(t.file, " (%s pinned by ", words_bytes(a, pinned_of(r, x)));
			text_print(t.file, name);
			(void)putc(')', t.file);
		}
	} else {
		(void)fprintf(t.file, "%s heap", words_bytes(a, r->classes[RSS_HEAP]));
	}
	(void)fprintf(t.file, " + %s of seep + %s files, stacks and other mappings",
	    words_bytes(a, r->classes[RSS_OURS]), words_bytes(b, rest));
	if (r->moved_bytes != 0)
		(void)fprintf(t.file, " %c %s moved meanwhile", r->moved_bytes < 0 ? '-' : '+',
		    words_bytes(a,
		        r->moved_bytes < 0 ? -(uint64_t)r->moved_bytes : (uint64_t)r->moved_bytes));
	(void)fputs(".\n", t.file);
	layout_end(p, &t);
	free(name);
	return 0;
}
