/* site.c - prints everything that is known of one site. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/text/report_text.h"

#include "base/std.h"
#include "session/timeline/timeline.h"
#include "view/sites/ages.h"
#include "view/stacks/fingerprint.h"
#include "names/find/program.h"
#include "print/text/layout.h"
#include "view/sites/enum_words.h"
#include "kit/words/text.h"

enum { BARS = 40, POINTS = 2000 };

static void print_figures(const struct layout *p, const struct view_site *s,
    const struct process *process, uint64_t within_ns)
{
	const struct process_figures *f = &s->figures.all;
	char young[WORDS_MAX + 8] = "freed young";
	const struct {
		const char *name;
		uint64_t bytes, blocks;
		double variance;
	} rows[] = {
	    {"live", f->live_bytes, f->live_blocks, s->figures.variance_live},
	    {"at the peak", f->peak_bytes, f->peak_blocks, view_variance(&s->figures, VIEW_PEAK)},
	    {"allocated", f->allocated_bytes, f->allocations, s->figures.variance_allocated},
	    {"freed", f->freed_bytes, f->frees, 0},
	    {young, s->figures.temporary_bytes, s->figures.temporary_blocks, 0},
	};

	if (within_ns > 0)
		(void)snprintf(young, sizeof(young), "freed <%s", WORDS_TIME(within_ns));
	(void)fprintf(p->out, "%-14s %15s %13s\n", "", "bytes", "blocks");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)fprintf(p->out, "%-14s %15s %13s", rows[i].name, WORDS_COUNT(rows[i].bytes),
		    WORDS_COUNT(rows[i].blocks));
		if (rows[i].variance > 0)
			(void)fprintf(p->out, "  +-%s",
			    WORDS_COUNTED(process_error(rows[i].variance), "byte"));
		(void)putc('\n', p->out);
	}
	if (process->header.sample_bytes > 0)
		(void)fprintf(p->out, "Estimated from %s.\n", WORDS_COUNTED(s->samples, "sample"));
}

static void print_times(
    const struct layout *p, const struct view_site *s, const struct process *process)
{
	uint64_t start = process->header.start_realtime_ns;
	char c[AGES_MAX];
	struct layout_text t;

	layout_begin(p, &t);
	(void)fprintf(
	    t.file, "Sizes: %s byte%s", ages_sizes(c, s), words_ending(s->size_max, "byte"));
	if (s->figures.all.allocations > 0)
		(void)fprintf(t.file, ", %s on average",
		    WORDS_COUNT(s->figures.all.allocated_bytes / s->figures.all.allocations));
	(void)fprintf(t.file, ". First allocation %s after the start, last %s.\n",
	    WORDS_TIME(s->first_ns > start ? s->first_ns - start : 0),
	    WORDS_TIME(s->last_ns > start ? s->last_ns - start : 0));
	layout_end(p, &t);
}

/* The lower end of a class; for the first class, its upper end. */
typedef const char *bound_words(char buffer[WORDS_MAX], int class);

static const char *age_words(char buffer[WORDS_MAX], int class)
{
	return words_time(buffer, ages_bound_ns(class ? class : 1));
}

static const char *step_words(char buffer[WORDS_MAX], int class)
{
	return words_time(buffer, ages_all_bound_ns(class ? class : 1));
}

static const char *size_words(char buffer[WORDS_MAX], int class)
{
	return words_bytes(buffer, UINT64_C(1) << (class ? class : 1));
}

/* One line for each class that occurs. */
static void print_classes(const struct layout *p, const char *title, const uint64_t *blocks,
    int count, bound_words *bound)
{
	uint64_t most = 0;
	char a[WORDS_MAX];

	for (int i = 0; i < count; i++)
		most = blocks[i] > most ? blocks[i] : most;
	if (most == 0)
		return;
	(void)fprintf(p->out, "\n%s\n", title);
	for (int i = 0; i < count; i++) {
		int n = (int)((double)blocks[i] / (double)most * BARS + 0.5);

		if (blocks[i] == 0)
			continue;
		(void)fprintf(p->out, "%8s %-11s %13s  ", i ? "from" : "below", bound(a, i),
		    WORDS_COUNT(blocks[i]));
		for (int k = 0; k < n || k == 0; k++)
			(void)putc('#', p->out);
		(void)putc('\n', p->out);
	}
}

/* Says what is not known of some or all live blocks. */
static void print_remark(const struct layout *p, const struct view_site *s, uint64_t told)
{
	uint64_t live = s->figures.all.live_blocks;
	bool aged = s->ages && s->ages->live_ages_known;
	struct layout_text t;

	if (told == live || (live == 0 && !aged))
		return;
	(void)putc('\n', p->out);
	layout_begin(p, &t);
	if (!aged)
		(void)fputs("Ages and sizes of live blocks are not known, because a "
		            "process counts them when it exits.\n",
		    t.file);
	else if (!s->ages->sizes_known)
		(void)fputs("Sizes of live blocks are not known, because the version "
		            "of seep that recorded this did not count them.\n",
		    t.file);
	else
		(void)fprintf(t.file,
		    "Ages and sizes are of %s, counted at another moment than "
		    "the %s that %s.\n",
		    WORDS_COUNTED(told, s->samples ? "sampled block" : "block"), WORDS_COUNT(live),
		    live == 1 ? "lives" : "live");
	layout_end(p, &t);
}

/*
 * What came at the start of a process is another thing than what comes all the
 * time, even where the oldest and the youngest are the same.
 */
static void print_births(
    const struct layout *p, const struct process *process, const struct view_site *s)
{
	enum { LEAST = 3, LEAST_NS = 1000000000 };
	uint64_t births[SEG_BIRTH_SLOTS], slot_ns, all = 0;
	struct layout_text t;

	if (!ages_births(s, process, births, &slot_ns))
		return;
	for (int i = 0; i < SEG_BIRTH_SLOTS; i++)
		all += births[i];
	if (all < LEAST || slot_ns * SEG_BIRTH_SLOTS < LEAST_NS)
		return;
	(void)putc('\n', p->out);
	layout_begin(p, &t);
	(void)fprintf(t.file,
	    "Of the live blocks half were allocated in the last %s, nine "
	    "tenths in the last %s, of %s.\n",
	    WORDS_TIME(ages_births_since(births, slot_ns, 50)),
	    WORDS_TIME(ages_births_since(births, slot_ns, 90)),
	    WORDS_TIME(slot_ns * SEG_BIRTH_SLOTS));
	layout_end(p, &t);
}

/* Ages and sizes, if they are known. */
static void print_histograms(
    const struct layout *p, const struct process *process, const struct view_site *s)
{
	const struct process_ages *ages = s->ages;
	uint64_t sizes[PROCESS_SIZES], deaths[AGES_ALL], told = 0;

	if (ages && ages->live_ages_known)
		print_classes(p, "Age of live blocks:", ages->living, PROCESS_AGES, age_words);
	print_births(p, process, s);
	if (ages && ages->sizes_known) {
		for (int i = 0; i < PROCESS_SIZES; i++) {
			sizes[i] = ages->sizes[i];
			told += sizes[i];
		}
		print_classes(p, "Size of live blocks:", sizes, PROCESS_SIZES, size_words);
	}
	print_remark(p, s, told);
	if (s->age_flags & VIEW_AGES_UNKNOWN)
		return;
	if (s->age_flags) {
		ages_deaths(s, deaths);
		print_classes(p, "Age at death:", deaths, PROCESS_AGES, age_words);
	} else {
		ages_all(s, deaths);
		print_classes(p, "Age at death:", deaths, AGES_ALL, step_words);
	}
}

static void print_course(const struct layout *p, const struct session *s,
    const struct process *process, const struct view_site *site)
{
	struct timeline_series series = {.site = site->site};

	if (!s->line || timeline_series(s->line, process, &series, 1, POINTS) < 0)
		return;
	spark_write(p, "Live bytes", series.points, series.count);
	free(series.points);
}

/* The exact position: the path of the source, the offset in the module. */
static void print_place(const struct layout *p, const struct frame *x)
{
	char *text = NULL;
	int n;

	if (x->file)
		n = asprintf(&text, "%s:%" PRIu32 ", %s+0x%" PRIx64 "%s", x->file, x->line,
		    x->module ? x->module : "(no module)", x->offset,
		    x->inlined ? ", inlined" : "");
	else
		n = asprintf(
		    &text, "%s+0x%" PRIx64, x->module ? x->module : "(no module)", x->offset);
	if (n < 0)
		return;
	(void)fprintf(p->out, "%7s%s", "", layout_colour(p, LAYOUT_DIM));
	layout_fit(p, text, layout_room(p, 7));
	(void)fprintf(p->out, "%s\n", layout_colour(p, LAYOUT_PLAIN));
	free(text);
}

static void print_stack(const struct layout *p, const struct view *v, const struct view_site *s)
{
	(void)fprintf(p->out, "\n%s in\n", enum_words_api(s->api));
	for (uint32_t i = 0; i < s->frame_count; i++) {
		const struct frame *x = &v->frames[s->frames[i]];

		(void)fprintf(p->out, "%5" PRIu32 "  ", i + 1);
		layout_frame(p, x, s->repeats ? s->repeats[i] : 1, 7, LAYOUT_STRONG);
		(void)putc('\n', p->out);
		if (!x->is_missing)
			print_place(p, x);
	}
}

static void print_site(const struct layout *p, const struct session *s, const struct view *v,
    const struct view_site *site, const struct fingerprints *prints, bool stack_first)
{
	const struct process *process = s->processes[site->process];
	struct fingerprint print;

	(void)fprintf(p->out, "%sSite %u%s of ", layout_colour(p, LAYOUT_STRONG), site->id,
	    layout_colour(p, LAYOUT_PLAIN));
	text_print(p->out, program_name(&process->header));
	(void)fprintf(p->out, " (pid %u)", process->header.pid);
	if (site->pool) {
		(void)fputs(", pool \"", p->out);
		text_print(p->out, site->pool);
		(void)putc('"', p->out);
	}
	(void)fputs(stack_first ? ":\n" : ":\n\n", p->out);
	if (stack_first) {
		print_stack(p, v, site);
		(void)putc('\n', p->out);
	}
	print_figures(p, site, process, ages_temporary_ns(v));
	(void)putc('\n', p->out);
	print_times(p, site, process);
	print_course(p, s, process, site);
	fingerprints_site(prints, site, &print);
	(void)fprintf(p->out, "Fingerprint: %016" PRIx64 ".\n", print.hash);
	if (site->suppression) {
		(void)fputs("Suppressed as: ", p->out);
		text_print(p->out, site->suppression);
		(void)fputs(".\n", p->out);
	}
	print_histograms(p, process, site);
	if (!stack_first)
		print_stack(p, v, site);
}

static int write_sites(const struct layout *p, const struct session *s, struct names *names,
    const struct view_options *options, uint32_t id, bool stack_first)
{
	struct view_options o = *options;
	struct fingerprints *prints = NULL;
	struct view *v;
	size_t found = 0;
	int err;

	o.metric = VIEW_ALL;
	o.all_kinds = true;
	o.keep_suppressed = true;
	o.group = o.merge = false;
	o.id = id;
	err = view_new(s, names, &o, &v);
	if (err < 0)
		return err;
	err = fingerprints_new(v, &prints);
	for (size_t i = 0; i < v->site_count && err == 0; i++) {
		(void)fputs(found++ ? "\n" : "", p->out);
		print_site(p, s, v, &v->sites[i], prints, stack_first);
	}
	fingerprints_free(prints);
	view_free(v);
	if (err == 0 && found == 0)
		return -ENOENT;
	return err < 0 ? err : ferror(p->out) ? -EIO : 0;
}

int site_write(const struct layout *p, const struct session *s, struct names *names,
    const struct view_options *options, uint32_t id)
{
	return write_sites(p, s, names, options, id, false);
}

int site_write_stack_first(const struct layout *p, const struct session *s, struct names *names,
    const struct view_options *options, uint32_t id)
{
	return write_sites(p, s, names, options, id, true);
}
