/* mappings_text.c - prints who mapped the memory that a process has mapped. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/text/report_text.h"

#include "base/std.h"
#include "session/process/live_ages.h"
#include "names/find/program.h"
#include "view/sites/enum_words.h"
#include "kit/words/text.h"

enum { FRAMES = 12, INDENT = 36 };

bool mappings_text_has(const struct process *x)
{
	return x->mapped.allocations > 0 || x->header.mapped_root != 0;
}

bool mappings_text_is_allocators(const struct process *x, const struct view_site *s)
{
	return x->sites[s->site].pool == SEG_MAPPING_OF_ALLOCATOR;
}

const struct mapped_site *mappings_text_resident(const struct process *x, const struct view_site *s)
{
	if (!x->resident || s->site >= x->resident->count)
		return NULL;
	return &x->resident->sites[s->site];
}

void mappings_text_write_line(const struct layout *p, const struct process *x)
{
	struct layout_text t;

	if (!mappings_text_has(x))
		return;
	layout_begin(p, &t);
	(void)fprintf(t.file, "Mappings of its own: %s in %s (--mappings shows by whom).\n",
	    WORDS_COUNTED(x->mapped.live_bytes, "byte"),
	    WORDS_COUNTED(x->mapped.live_blocks, "range"));
	layout_end(p, &t);
}

static int larger(const void *a, const void *b)
{
	const struct process_figures *x = &(*(const struct view_site *const *)a)->figures.all;
	const struct process_figures *y = &(*(const struct view_site *const *)b)->figures.all;

	if (x->live_bytes != y->live_bytes)
		return x->live_bytes > y->live_bytes ? -1 : 1;
	return (x->allocated_bytes < y->allocated_bytes) -
	    (x->allocated_bytes > y->allocated_bytes);
}

static uint64_t resident_in(const struct process *x)
{
	uint64_t sum = 0;

	for (size_t i = 0; x->resident && i < x->resident->count; i++)
		sum += x->resident->sites[i].resident_bytes;
	return sum;
}

static void print_heading(const struct layout *p, const struct process *x, size_t callers)
{
	uint64_t swapped = 0;
	struct layout_text t;

	for (size_t i = 0; x->resident && i < x->resident->count; i++)
		swapped += x->resident->sites[i].swapped_bytes;
	layout_begin(p, &t);
	text_print(t.file, program_name(&x->header));
	(void)fprintf(t.file, " (pid %u): %s in %s, mapped by %s", x->header.pid,
	    WORDS_COUNTED(x->mapped.live_bytes, "byte"),
	    WORDS_COUNTED(x->mapped.live_blocks, "range"), WORDS_COUNTED(callers, "caller"));
	if (x->resident)
		(void)fprintf(t.file, "; %s resident", WORDS_COUNTED(resident_in(x), "byte"));
	if (swapped)
		(void)fprintf(t.file, ", %s in swap", WORDS_COUNTED(swapped, "byte"));
	(void)fputs(".\n", t.file);
	layout_end(p, &t);
	if (x->resident && x->resident->is_partial)
		(void)fputs("Part of the table of mappings could not be read, "
		            "so more may be resident.\n",
		    p->out);
	if (x->header.counts[SEG_LOST_MAPPINGS])
		(void)fprintf(p->out, "%s found no room.\n",
		    WORDS_COUNTED(x->header.counts[SEG_LOST_MAPPINGS], "mapping event"));
}

static void print_stack(const struct layout *p, const struct process *x, const struct view *v,
    const struct view_site *s, bool is_short)
{
	if (mappings_text_is_allocators(x, s))
		(void)fputs("(of the allocator)\n", p->out);
	else if (s->frame_count == 0)
		(void)fputs("(no stack)\n", p->out);
	for (uint32_t i = 0; i < s->frame_count; i++) {
		if (i > 0)
			(void)fprintf(p->out, "%*s", INDENT, "");
		if (is_short && i == FRAMES) {
			(void)fputs("...\n", p->out);
			return;
		}
		layout_frame(p, &v->frames[s->frames[i]], s->repeats ? s->repeats[i] : 1, INDENT,
		    i == s->own ? LAYOUT_STRONG : LAYOUT_PLAIN);
		(void)putc('\n', p->out);
	}
}

static void print_row(const struct layout *p, const struct process *x, const struct view *v,
    const struct view_site *s, bool is_short)
{
	const struct mapped_site *now = mappings_text_resident(x, s);

	(void)fprintf(p->out, "%11s %11s %10s  ", WORDS_BYTES(s->figures.all.live_bytes),
	    now ? WORDS_BYTES(now->resident_bytes) : "-", WORDS_COUNT(s->figures.all.live_blocks));
	print_stack(p, x, v, s, is_short);
}

/*
 * Is it below the threshold, in size and in what is resident? A reserve of
 * gigabytes must not hide all that is really there.
 */
static bool is_small(const struct process *x, const struct view_site *s, double percent)
{
	const struct mapped_site *now = mappings_text_resident(x, s);

	return 100 * (double)s->figures.all.live_bytes < percent * (double)x->mapped.live_bytes &&
	    (!now || 100 * (double)now->resident_bytes <= percent * (double)resident_in(x));
}

static int print_table(const struct layout *p, const struct process *x, const struct view *v,
    const struct body_options *o)
{
	const struct view_site **rows = calloc(v->site_count + 1, sizeof(struct view_site *));
	size_t shown = 0;
	uint64_t rest = 0;

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < v->site_count; i++)
		rows[i] = &v->sites[i];
	qsort(rows, v->site_count, sizeof(struct view_site *), larger);
	if (v->site_count > 0)
		(void)fprintf(
		    p->out, "\n%11s %11s %10s  %s\n", "size", "resident", "ranges", "mapped by");
	for (size_t i = 0; i < v->site_count && !ferror(p->out); i++) {
		if ((o->top > 0 && shown >= o->top) ||
		    (shown > 0 && is_small(x, rows[i], o->threshold))) {
			rest += rows[i]->figures.all.live_bytes;
			continue;
		}
		print_row(p, x, v, rows[i], o->frames > 0);
		shown++;
	}
	if (shown < v->site_count)
		(void)fprintf(p->out, "%11s %11s %10s  %s below the threshold or beyond --top\n",
		    WORDS_BYTES(rest), "", "", WORDS_COUNTED(v->site_count - shown, "more caller"));
	free(rows);
	return 0;
}

static int print_process(const struct layout *p, const struct session *s, const struct process *x,
    struct names *names, const struct body_options *options)
{
	struct view_options o = options->view;
	struct view *v;
	int err;

	o.only = x;
	o.mappings = true;
	o.metric = VIEW_LIVE;
	o.group = o.merge = false;
	o.depth = 0;
	o.suppress = NULL;
	err = view_new(s, names, &o, &v);
	if (err < 0)
		return err;
	print_heading(p, x, v->site_count);
	err = print_table(p, x, v, options);
	view_free(v);
	return err;
}

int mappings_text_write(const struct layout *p, const struct session *s, struct names *names,
    const struct body_options *options)
{
	const uint32_t pid = options->view.pid;
	size_t found = 0, shown = 0;
	int err = 0;

	for (size_t i = 0; i < s->count && err == 0; i++) {
		const struct process *x = s->processes[i];

		if (pid != VIEW_ANY && x->header.pid != pid)
			continue;
		found++;
		if (!mappings_text_has(x))
			continue;
		(void)fputs(shown++ ? "\n" : "", p->out);
		err = print_process(p, s, x, names, options);
	}
	if (err < 0)
		return err;
	if (shown == 0)
		return found ? -ENODATA : -ESRCH;
	return ferror(p->out) ? -EIO : 0;
}
