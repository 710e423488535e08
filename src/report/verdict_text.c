/* verdict_text.c - verdicts as text: what is lost, and how that is known. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/verdict_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/program.h"
#include "report/shorten.h"
#include "report/words.h"
#include "util/text.h"

enum {
	INDENT = 10,   /* columns of "LEAK" and "POSSIBLE" */
	CALLERS = 3,   /* names behind the frame that heads a stack */
	NAMED = 10,    /* processes in a sentence */
	AGE_MIN = 1000 /* ms: younger than this tells nobody anything */
};

/* ---- lines with an indentation ---- */

/* Text that is written to .file comes out wrapped, behind the indentation. */
struct hanging {
	struct layout page; /* .out is a buffer */
	char *text;
	size_t len;
};

static bool
hanging_begin(const struct layout *p, struct hanging *h)
{
	*h = (struct hanging){.page = *p};
	h->page.colour = false;
	h->page.width = p->width > 2 * INDENT ? p->width - INDENT : 0;
	h->page.out = open_memstream(&h->text, &h->len);
	return h->page.out != NULL;
}

/* Prints the lines; the first one behind `head`, which has its columns. */
static void
hanging_end(const struct layout *p, struct hanging *h, const char *head)
{
	struct layout narrow = h->page;
	char *wrapped = NULL, *line, *rest;
	size_t len;

	if (fclose(h->page.out) != 0)
		goto out;
	narrow.out = open_memstream(&wrapped, &len);
	if (!narrow.out)
		goto out;
	layout_paragraph(&narrow, h->text, 0);
	if (fclose(narrow.out) != 0)
		goto out;
	for (line = strtok_r(wrapped, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (head)
			(void)fprintf(p->out, "%s%-*s%s",
			    layout_colour(p, LAYOUT_STRONG), INDENT, head,
			    layout_colour(p, LAYOUT_PLAIN));
		else
			(void)fprintf(p->out, "%*s", INDENT, "");
		(void)fprintf(p->out, "%s\n", line);
		head = NULL;
	}
out:
	free(wrapped);
	free(h->text);
}

/* ---- one place ---- */

static void
print_looks(FILE *out, const struct verdicts *v)
{
	char a[WORDS_COUNTED];

	(void)fputs(words_counted(a, v->looks, "look"), out);
	if (v->at_exit)
		(void)fputs(" at its exit", out);
}

/* Of hostile figures it may be more than a number of bytes can be. */
static uint64_t
whole(double bytes)
{
	return bytes < 0x1p63 ? (uint64_t)bytes : INT64_MAX;
}

static void
print_rate(FILE *out, const struct verdict_part *part)
{
	struct verdict_rate rate;
	char a[WORDS_MAX], b[WORDS_MAX], c[WORDS_MAX];

	if (!verdict_rate(part, &rate))
		return;
	(void)fprintf(out, ", +%s/h (%s to %s)",
	    words_bytes(a, whole(rate.bytes)), words_bytes(b, whole(rate.low)),
	    words_bytes(c, whole(rate.high)));
}

/* What became of others that had seemed lost, if somebody counted them. */
static void
print_note(FILE *out, const struct verdict_note_text *note,
    const struct verdict_part *part)
{
	char a[WORDS_COUNTED];

	if (note->bit == VERDICT_HIDES && part->freed_late > 0)
		(void)fprintf(out,
		    "%s seemed lost in two looks and %s freed then: this place "
		    "hides pointers",
		    words_counted(a, part->freed_late, "block"),
		    words_was(part->freed_late));
	else if (note->bit == VERDICT_MOVES && part->held_again > 0)
		(void)fprintf(out,
		    "%s seemed lost and %s held again: pointers move here",
		    words_counted(a, part->held_again, "block"),
		    words_was(part->held_again));
	else
		(void)fputs(note->words, out);
}

/* Why it has this class. */
static void
print_basis(
    FILE *out, const struct verdict_line *line, const struct verdicts *v)
{
	const struct verdict_note_text *note;
	const char *before = "";

	if (line->class == VERDICT_LEAK) {
		(void)fprintf(out, "nothing points to %s (",
		    line->part.blocks == 1 ? "it" : "them");
		print_looks(out, v);
		(void)putc(')', out);
		before = "; ";
	}
	for (size_t i = 0; (note = verdict_note_text(i)) != NULL; i++) {
		if (!(line->part.notes & note->bit))
			continue;
		(void)fputs(before, out);
		print_note(out, note, &line->part);
		before = "; ";
	}
	if (!*before)
		(void)fputs("nothing certain points to them", out);
}

static void
print_figures(const struct layout *p, const struct verdict_line *line,
    const struct verdicts *v)
{
	char a[WORDS_COUNTED], b[WORDS_MAX];
	struct hanging h;

	if (!hanging_begin(p, &h))
		return;
	if (line->part.blocks > 0) {
		(void)fprintf(h.page.out, "%s, %s",
		    words_counted(a, line->part.blocks, "block"),
		    words_bytes(b, line->part.bytes));
		print_rate(h.page.out, &line->part);
		(void)fputs(": ", h.page.out);
	}
	print_basis(h.page.out, line, v);
	(void)putc('\n', h.page.out);
	hanging_end(p, &h, line->class == VERDICT_LEAK ? "LEAK" : "POSSIBLE");
}

static void
print_name(FILE *out, const struct layout *p, const struct frame *x)
{
	const char *base = frames_base(x->module);
	const char *name = p->full_names ? x->function : x->brief;

	if (name)
		text_print(out, name);
	else if (base)
		(void)fprintf(
		    out, "%s+0x%llx", base, (unsigned long long)x->offset);
	else
		(void)fprintf(out, "0x%llx", (unsigned long long)x->offset);
}

/* "lose app.c:9 <- serve <- main" */
static void
print_stack(const struct layout *p, const struct verdict_line *line)
{
	const struct view_site *s = line->site;
	struct hanging h;
	uint32_t i;

	if (!hanging_begin(p, &h))
		return;
	h.page.width = 0; /* whole names: lines are broken between them */
	if (!s)
		(void)fputs("(allocated before the fork, in a process that is "
		            "not in this input)",
		    h.page.out);
	for (i = s ? s->own : 0; s && i < s->frame_count; i++) {
		const struct frame *x = &line->view->frames[s->frames[i]];

		if (i > s->own + CALLERS)
			break;
		if (i > s->own)
			(void)fputs(" <- ", h.page.out);
		if (i == s->own)
			layout_frame(&h.page, x, 0, 0, LAYOUT_PLAIN);
		else
			print_name(h.page.out, p, x);
	}
	if (s && i < s->frame_count)
		(void)fputs(" <- ...", h.page.out);
	(void)putc('\n', h.page.out);
	h.page.width = p->width > 2 * INDENT ? p->width - INDENT : 0;
	hanging_end(p, &h, NULL);
}

/* A clause more; "" before the first. */
static const char *
next_clause(FILE *out, const char *before)
{
	(void)fputs(before, out);
	return "; ";
}

static const char *
print_ages(FILE *out, const char *before, const struct verdict_part *part)
{
	char a[WORDS_MAX], b[WORDS_MAX];
	uint64_t old = part->first_age, young = part->last_age;

	if (old / 1000000 < AGE_MIN)
		return before;
	before = next_clause(out, before);
	if (old - young < old / 10)
		(void)fprintf(out, "about %s old", words_time(a, old));
	else
		(void)fprintf(out, "%s to %s old", words_time(b, young),
		    words_time(a, old));
	return before;
}

/* What else is known of them: how they hang together, when, which type. */
static void
print_evidence(const struct layout *p, const struct verdict_line *line)
{
	const struct verdict_part *part = &line->part;
	char a[WORDS_MAX], b[WORDS_MAX];
	const char *before = "";
	struct hanging h;
	FILE *out;

	if (!hanging_begin(p, &h))
		return;
	out = h.page.out;
	if (part->indirect_blocks > 0 && part->direct_blocks == 0) {
		before = next_clause(out, before);
		(void)fputs("held only by lost blocks", out);
	} else if (part->indirect_blocks > 0) {
		before = next_clause(out, before);
		(void)fprintf(out, "%s lost, %s held only by lost blocks",
		    words_count(a, part->direct_blocks),
		    words_count(b, part->indirect_blocks));
	}
	if (part->cycle_blocks > 0) {
		before = next_clause(out, before);
		(void)fprintf(
		    out, "%s in cycles", words_count(a, part->cycle_blocks));
	}
	if (part->type) {
		before = next_clause(out, before);
		(void)fputs("type ", out);
		text_print(out, part->type);
	}
	before = print_ages(out, before, part);
	if (*before)
		(void)putc('\n', out);
	hanging_end(p, &h, NULL);
}

/* ---- one process ---- */

static void
print_who(FILE *out, const struct process *p)
{
	text_print(out, program_name(&p->header));
	(void)fprintf(out, " (pid %u)", p->header.pid);
}

static void
print_sum(FILE *out, const struct verdict_sum *sum)
{
	char a[WORDS_COUNTED], b[WORDS_MAX];

	(void)fprintf(out, "%s (%s)", words_counted(a, sum->blocks, "block"),
	    words_bytes(b, sum->bytes));
}

/* Lines that are not printed, for whatever reason. */
static void
print_left_out(FILE *out, const struct verdict_list *l, size_t shown)
{
	const struct verdict_sums *const all[] = {&l->leak, &l->possible};
	static const char *const words[] = {"lost", "possibly lost"};
	char a[WORDS_COUNTED];

	if (shown < l->count)
		(void)fprintf(out, "%s beyond --top. ",
		    words_counted(a, l->count - shown, "more place"));
	for (int i = 0; i < 2; i++) {
		if (all[i]->suppressed.blocks > 0) {
			(void)fputs("Suppressed: ", out);
			print_sum(out, &all[i]->suppressed);
			(void)fprintf(out, " %s. ", words[i]);
		}
		if (all[i]->filtered.blocks > 0) {
			(void)fputs("Left out by the filters: ", out);
			print_sum(out, &all[i]->filtered);
			(void)fprintf(out, " %s. ", words[i]);
		}
	}
}

/* What the looks could not see. */
static void
print_limits(FILE *out, const struct verdicts *v)
{
	const struct {
		uint64_t bytes;
		const char *words;
	} causes[] = {
	    {v->swapped_bytes, "swapped out"},
	    {v->unreadable_bytes, "not readable"},
	    {v->device_bytes, "of devices"},
	    {v->ring_bytes, "of io_uring"},
	};
	const char *before = " Not read: ";
	char a[WORDS_COUNTED], b[WORDS_MAX];

	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		if (causes[i].bytes == 0)
			continue;
		(void)fprintf(out, "%s%s %s", before,
		    words_bytes(b, causes[i].bytes), causes[i].words);
		before = ", ";
	}
	if (*before == ',')
		(void)fputs("; pointers in there were not seen.", out);
	if (v->heads_only)
		(void)fputs(" Not all blocks are known, so only heads of lost "
		            "structures are found.",
		    out);
	if (v->refused_blocks > 0)
		(void)fprintf(out,
		    " %s of the live map cannot be, and %s left out.",
		    words_counted(a, v->refused_blocks, "block"),
		    words_was(v->refused_blocks));
	if (v->ignored_blocks > 0)
		(void)fprintf(out, " %s (%s) %s kept on purpose (seep_ignore).",
		    words_counted(a, v->ignored_blocks, "block"),
		    words_bytes(b, v->ignored_bytes),
		    words_is(v->ignored_blocks));
}

static void
print_how(FILE *out, const struct verdicts *v)
{
	char a[WORDS_MAX];

	(void)putc(' ', out);
	print_looks(out, v);
	if (v->looks > 1)
		(void)fprintf(
		    out, " in %s", words_time(a, v->end_ns - v->begin_ns));
	if (v->stopped)
		(void)fprintf(out, "; all its threads were stopped for %s",
		    words_time(a, v->pause_ns));
	else if (!v->at_exit)
		(void)fputs("; it ran on", out);
	(void)putc('.', out);
}

/* The sentence that ends it, and is all there is where nothing was found. */
static void
print_sentence(const struct layout *p, const struct process *process,
    const struct verdict_list *l, size_t shown)
{
	const struct verdicts *v = process->verdicts;
	const struct verdict_sum whole = {
	    .blocks = v->blocks, .bytes = v->bytes};
	uint64_t leaks = l->leak.shown.blocks + l->leak.suppressed.blocks +
	    l->leak.filtered.blocks;
	uint64_t possible = l->possible.shown.blocks +
	    l->possible.suppressed.blocks + l->possible.filtered.blocks;
	struct layout_text t;

	layout_begin(p, &t);
	print_left_out(t.file, l, shown);
	if (l->leak.shown.blocks > 0) {
		(void)fputs("Leaked: ", t.file);
		print_sum(t.file, &l->leak.shown);
		(void)fputs(" of the ", t.file);
		print_sum(t.file, &whole);
		(void)fputs(" of ", t.file);
	} else if (leaks > 0) {
		(void)fputs("No other leak among the ", t.file);
		print_sum(t.file, &whole);
		(void)fputs(" of ", t.file);
	} else if (possible > 0) {
		(void)fputs("No leak is proven among the ", t.file);
		print_sum(t.file, &whole);
		(void)fputs(" of ", t.file);
	} else {
		(void)fputs("No leak: all ", t.file);
		print_sum(t.file, &whole);
		(void)fputs(" of ", t.file);
	}
	print_who(t.file, process);
	if (leaks == 0 && possible == 0)
		(void)fputs(" can be reached", t.file);
	(void)putc('.', t.file);
	print_how(t.file, v);
	print_limits(t.file, v);
	(void)putc('\n', t.file);
	layout_end(p, &t);
}

static void
print_unjudged(const struct layout *p, const struct process *process)
{
	struct layout_text t;

	layout_begin(p, &t);
	(void)fputs("Not judged: ", t.file);
	print_who(t.file, process);
	(void)fprintf(
	    t.file, ": %s.\n", verdict_reason_words(verdict_why_not(process)));
	layout_end(p, &t);
}

/* What stands below the lines, or in their place. */
static void
print_end(const struct layout *p, const struct session *s,
    const struct process *process, const struct verdict_list *l, size_t shown)
{
	switch (verdict_state(s, process)) {
	case VERDICT_STATE_NONE:
		break;
	case VERDICT_STATE_UNJUDGED:
		print_unjudged(p, process);
		break;
	case VERDICT_STATE_JUDGED:
		print_sentence(p, process, l, shown);
		break;
	}
}

static size_t
print_lines(const struct layout *p, const struct verdict_list *l,
    const struct verdicts *v, unsigned top)
{
	size_t i;

	for (i = 0; i < l->count && (top == 0 || i < top); i++) {
		print_figures(p, &l->lines[i], v);
		print_stack(p, &l->lines[i]);
		print_evidence(p, &l->lines[i]);
	}
	return i;
}

void
verdict_text_list(const struct layout *p, const struct session *s,
    const struct process *process, const struct verdict_list *l, unsigned top)
{
	size_t shown = 0;

	if (verdict_state(s, process) == VERDICT_STATE_JUDGED)
		shown = print_lines(p, l, process->verdicts, top);
	print_end(p, s, process, l, shown);
}

void
verdict_text_sentence(const struct layout *p, const struct session *s,
    const struct process *process, const struct verdict_list *sums)
{
	print_end(p, s, process, sums, sums->count);
}

int
verdict_text_write(const struct layout *p, const struct session *s,
    const struct process *process, struct names *names,
    const struct body_options *options)
{
	struct verdict_list l;
	int err;

	err = verdict_list_make(s, process, names, &options->view, &l);
	if (err < 0)
		return err;
	verdict_text_list(p, s, process, &l, options->top);
	verdict_list_release(&l);
	return 0;
}

/* ---- all processes ---- */

/* Those of one state, in one sentence; a few by name. */
static void
print_others(
    const struct layout *p, const struct session *s, uint32_t pid, bool judged)
{
	enum verdict_state state =
	    judged ? VERDICT_STATE_JUDGED : VERDICT_STATE_UNJUDGED;
	const char *before = judged ? "No leak in " : "Not judged: ";
	size_t count = 0;
	struct layout_text t;
	char a[WORDS_COUNTED];

	layout_begin(p, &t);
	for (size_t i = 0; i < s->count; i++) {
		const struct process *x = s->processes[i];

		if ((pid != VIEW_ANY && x->header.pid != pid) ||
		    verdict_state(s, x) != state ||
		    (judged && x->verdicts->count > 0))
			continue;
		if (count++ >= NAMED)
			continue;
		(void)fputs(before, t.file);
		print_who(t.file, x);
		if (!judged)
			(void)fprintf(t.file, ": %s",
			    verdict_reason_words(verdict_why_not(x)));
		before = judged ? ", " : "; ";
	}
	if (count > NAMED)
		(void)fprintf(t.file, "%s%s", before,
		    words_counted(a, count - NAMED, "more process"));
	if (count > 0)
		(void)fputs(".\n", t.file);
	layout_end(p, &t);
}

int
verdict_text_open(const struct layout *p, const struct session *s,
    struct names *names, const struct body_options *options)
{
	uint32_t pid = options->view.pid;
	size_t chosen = 0, told = 0;
	const struct process *one = NULL;
	int err = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *x = s->processes[i];

		if (pid != VIEW_ANY && x->header.pid != pid)
			continue;
		if (verdict_state(s, x) != VERDICT_STATE_NONE) {
			one = x;
			chosen++;
		}
	}
	if (chosen == 0)
		return 0;
	if (chosen == 1) {
		err = verdict_text_write(p, s, one, names, options);
	} else {
		for (size_t i = 0; i < s->count && err == 0; i++) {
			const struct process *x = s->processes[i];

			if ((pid != VIEW_ANY && x->header.pid != pid) ||
			    verdict_state(s, x) != VERDICT_STATE_JUDGED ||
			    x->verdicts->count == 0)
				continue;
			if (told++ > 0)
				(void)putc('\n', p->out);
			err = verdict_text_write(p, s, x, names, options);
		}
		print_others(p, s, pid, true);
		print_others(p, s, pid, false);
	}
	(void)putc('\n', p->out);
	return err;
}
