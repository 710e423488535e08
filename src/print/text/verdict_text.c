/* verdict_text.c - verdicts as text: what is lost, and how that is known. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/text/verdict_text.h"

#include "base/std.h"
#include "print/text/layout.h"
#include "names/find/program.h"
#include "view/sites/enum_words.h"
#include "kit/data/capped.h"
#include "kit/words/text.h"

enum {
	CALLERS = 5, /* names after the frame that heads a stack */
	FREERS = 2,
	FREER_PERCENT = 10, /* a function that frees less is left out */
	NAMED = 10,         /* processes in a sentence */
	AGE_MIN = 100       /* ms: shorter times are not known */
};

void verdict_text_hang(const struct layout *p, const char *head, const char *text)
{
	struct hanging h;

	if (!hanging_begin(p, &h))
		return;
	(void)fprintf(h.page.out, "%s\n", text);
	hanging_end(p, &h, head);
}

/* ---- one site ---- */

/* Hostile figures may add up to more than a number of bytes can be. */
static uint64_t whole(double bytes)
{
	return bytes < 0x1p63 ? (uint64_t)bytes : INT64_MAX;
}

/* Replaces "@" by a word for the blocks, and "~" by its possessive. */
static void print_words(FILE *out, const char *words, bool is_one)
{
	for (; *words; words++) {
		if (*words == '@')
			(void)fputs(is_one ? "it" : "them", out);
		else if (*words == '~')
			(void)fputs(is_one ? "its" : "their", out);
		else
			(void)putc(*words, out);
	}
}

/* What became of other candidates, if somebody counted them. */
static void print_note(
    FILE *out, const struct verdict_note_text *note, const struct verdict_part *part)
{
	if (note->bit == VERDICT_HIDES && part->freed_late > 0)
		(void)fprintf(out,
		    "%s seemed lost in 2 looks or more, then %s freed: this "
		    "place hides pointers",
		    WORDS_COUNTED(part->freed_late, "block"), words_was(part->freed_late));
	else
		print_words(out, note->words, part->blocks == 1);
}

/* Prints why it has this class. */
static void print_basis(FILE *out, const struct verdict_line *line, const struct verdicts *v)
{
	bool is_one = line->part.blocks == 1, is_first = true;
	const struct verdict_note_text *note;

	if (line->class == VERDICT_LEAK) {
		print_words(out, "nothing points to @ (", is_one);
		if (v->at_exit)
			(void)fputs("at its exit)", out);
		else
			(void)fprintf(
			    out, "%u look%s of %u)", v->looks, v->looks == 1 ? "" : "s", v->looks);
		return;
	}
	for (size_t i = 0; (note = verdict_note_text(i)) != NULL; i++) {
		if (!(line->part.notes & note->bit) || note->bit == VERDICT_UNLOADED)
			continue;
		(void)fputs(is_first ? "" : "; ", out);
		print_note(out, note, &line->part);
		is_first = false;
	}
	if (is_first)
		print_words(out, "nothing certain points to @", is_one);
}

static void print_figures(
    const struct layout *p, const struct verdict_line *line, const struct verdicts *v)
{
	struct verdict_rate rate;
	struct hanging h;

	if (!hanging_begin(p, &h))
		return;
	if (line->part.blocks > 0) {
		(void)fprintf(h.page.out, "%s %s", WORDS_COUNTED(line->part.blocks, "block"),
		    WORDS_BYTES(line->part.bytes));
		if (verdict_rate(&line->part, &rate))
			(void)fprintf(h.page.out, " +%s/h", WORDS_BYTES(whole(rate.bytes)));
		(void)fputs(": ", h.page.out);
	}
	print_basis(h.page.out, line, v);
	(void)putc('\n', h.page.out);
	hanging_end(p, &h, line->class == VERDICT_LEAK ? "LEAK" : "POSSIBLE");
}

/* Prints how the lost blocks hold each other. */
static void print_roles(FILE *out, const struct verdict_part *part)
{
	if (part->indirect_blocks == 0 && part->cycle_blocks == 0)
		return;
	if (part->direct_blocks == 0) {
		(void)fputs("held only by other lost blocks; ", out);
		return;
	}
	(void)fprintf(out, "%s lost", WORDS_COUNT(part->direct_blocks));
	if (part->cycle_blocks > 0)
		(void)fprintf(out, " (%s in cycles)", WORDS_COUNT(part->cycle_blocks));
	if (part->indirect_blocks > 0)
		(void)fprintf(out, ", %s held only by these", WORDS_COUNT(part->indirect_blocks));
	(void)fputs("; ", out);
}

static void print_name(FILE *out, const struct layout *p, const struct frame *x)
{
	const char *base = text_base(x->module);
	const char *name = p->full_names ? x->function : x->brief;

	if (name)
		text_print(out, name);
	else if (base)
		(void)fprintf(out, "%s+0x%llx", base, (unsigned long long)x->offset);
	else
		(void)fprintf(out, "0x%llx", (unsigned long long)x->offset);
}

void verdict_text_place(
    const struct layout *p, FILE *out, const struct view *v, const struct view_site *s)
{
	struct layout whole_names = *p; /* lines are broken between these */
	uint32_t i;

	whole_names.out = out;
	whole_names.width = 0;
	whole_names.colour = false;
	if (!s) {
		(void)fputs("allocated by a parent of which nothing is left", out);
		return;
	}
	for (i = s->own; i < s->frame_count && i <= s->own + CALLERS; i++) {
		const struct frame *x = &v->frames[s->frames[i]];

		(void)fputs(i > s->own ? " <- " : "", out);
		if (i == s->own)
			layout_frame(&whole_names, x, 0, 0, LAYOUT_PLAIN);
		else
			print_name(out, p, x);
	}
	if (i < s->frame_count)
		(void)fputs(" <- ...", out);
	if (s->frame_count == 0)
		(void)fputs("(no frames)", out);
}

/* When the first and the last of them were allocated. */
static void print_births(FILE *out, const struct verdict_line *line)
{
	uint64_t old = line->part.first_age, young = line->part.last_age;

	if (line->is_inherited) {
		(void)fputs(", allocated before the fork", out);
		return;
	}
	if (old / 1000000 < AGE_MIN)
		return;
	if (old - young < old / 10)
		(void)fprintf(out, ", allocated %s ago", WORDS_TIME(old));
	else
		(void)fprintf(out, ", allocated %s to %s ago", WORDS_TIME(old), WORDS_TIME(young));
}

bool verdict_text_freers(const struct layout *p, FILE *out, const char *before,
    const struct view *v, const struct view_site *s)
{
	const struct verdict_found *f = s ? s->verdict : NULL;
	struct layout whole_names = *p;
	uint64_t all = 0;

	for (uint32_t i = 0; f && i < f->freer_count; i++)
		all = capped_sum(all, f->freers[i].count);
	if (all == 0)
		return false;
	whole_names.out = out;
	whole_names.width = 0;
	whole_names.colour = false;
	(void)fputs(before, out);
	for (uint32_t i = 0; i < f->freer_count && i < FREERS; i++) {
		const struct verdict_freer *x = &f->freers[i];
		double percent = (double)x->count / (double)all * 100;

		if (i > 0 && percent < FREER_PERCENT)
			break;
		(void)fputs(i > 0 ? ", " : "", out);
		layout_frame(&whole_names, &v->frames[x->frame], 0, 0, LAYOUT_PLAIN);
		if (f->freer_count > 1)
			(void)fprintf(out, " (%.0f %%)", percent);
	}
	return true;
}

/* Prints the position, and everything else that is known of them. */
static void print_details(const struct layout *p, const struct verdict_line *line)
{
	const struct verdict_part *part = &line->part;
	struct verdict_rate rate;
	struct hanging h;
	FILE *out;

	if (!hanging_begin(p, &h))
		return;
	out = h.page.out;
	print_roles(out, part);
	verdict_text_place(p, out, line->view, line->site);
	if (part->type) {
		(void)fputs(", type ", out);
		text_print(out, part->type);
	}
	print_births(out, line);
	if (verdict_rate(part, &rate))
		(void)fprintf(out, " (95 %%: %s to %s an hour)", WORDS_BYTES(whole(rate.low)),
		    WORDS_BYTES(whole(rate.high)));
	(void)verdict_text_freers(
	    p, out, "; others of this place are freed in ", line->view, line->site);
	if (part->notes & VERDICT_UNLOADED)
		(void)fputs(", by a library that is unloaded since", out);
	(void)putc('\n', out);
	hanging_end(p, &h, NULL);
}

/* ---- one process ---- */

void verdict_text_who(FILE *out, const struct process *p)
{
	text_print(out, program_name(&p->header));
	/* of another pid namespace: first the one by which we know it */
	if (p->running_pid > 0 && (uint32_t)p->running_pid != p->header.pid)
		(void)fprintf(
		    out, " (pid %d, %u in its own namespace)", (int)p->running_pid, p->header.pid);
	else
		(void)fprintf(out, " (pid %u)", p->header.pid);
}

static void print_sum(FILE *out, const struct verdict_sum *sum)
{
	(void)fprintf(out, "%s (%s)", WORDS_COUNTED(sum->blocks, "block"), WORDS_BYTES(sum->bytes));
}

/* Memory that was not read, by cause. */
static void print_unread(FILE *out, const struct verdicts *v)
{
	const struct {
		uint64_t bytes;
		const char *words;
	} causes[] = {
	    {v->swapped_bytes, "that is swapped out"},
	    {v->unreadable_bytes, "of other memory"},
	    {v->device_bytes, "of devices"},
	    {v->ring_bytes, "of io_uring"},
	};

	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (causes[i].bytes > 0)
			(void)fprintf(out, " Not read: %s %s.", WORDS_BYTES(causes[i].bytes),
			    causes[i].words);
}

/* What the looks could not read, and which results are not shown. */
static void print_limits(FILE *out, const struct verdicts *v, const struct verdict_list *l)
{
	uint64_t blocks = capped_sum(l->leak.suppressed.blocks + l->leak.filtered.blocks,
	    l->possible.suppressed.blocks + l->possible.filtered.blocks);
	uint64_t bytes = capped_sum(l->leak.suppressed.bytes + l->leak.filtered.bytes,
	    l->possible.suppressed.bytes + l->possible.filtered.bytes);

	print_unread(out, v);
	if (v->heads_only)
		(void)fputs(" Some blocks are not known, so all memory between "
		            "the others counts as holding pointers: of lost "
		            "structures only the heads are found.",
		    out);
	if (v->ignored_blocks > 0)
		(void)fprintf(out, " Kept on purpose (seep_ignore): %s (%s).",
		    WORDS_COUNTED(v->ignored_blocks, "block"), WORDS_BYTES(v->ignored_bytes));
	if (blocks > 0)
		(void)fprintf(out, " Left out by filters and suppressions: %s (%s).",
		    WORDS_COUNTED(blocks, "block"), WORDS_BYTES(bytes));
	if (v->refused_blocks > 0)
		(void)fprintf(
		    out, " %s of the list cannot be.", WORDS_COUNTED(v->refused_blocks, "block"));
}

static void print_how(FILE *out, const struct verdicts *v)
{
	(void)fprintf(out, " %s", WORDS_COUNTED(v->looks, "look"));
	if (v->looks > 1)
		(void)fprintf(out, " in %s", WORDS_TIME(v->end_ns - v->begin_ns));
	if (v->stopped)
		(void)fprintf(out, "; it was stopped for %s.", WORDS_TIME(v->pause_ns));
	else
		(void)fputs(v->at_exit ? ", at its exit." : "; it ran on.", out);
}

static uint64_t hidden(const struct verdict_sums *s)
{
	return capped_sum(s->suppressed.blocks, s->filtered.blocks);
}

/* The last sentence, or the only one if nothing was found. */
static void print_sentence(
    const struct layout *p, const struct process *process, const struct verdict_list *l)
{
	const struct verdicts *v = process->verdicts;
	const struct verdict_sum all = {.blocks = v->blocks, .bytes = v->bytes};
	bool clean = l->leak.shown.places + l->possible.shown.places + hidden(&l->leak) +
	        hidden(&l->possible) ==
	    0;
	struct layout_text t;

	layout_begin(p, &t);
	if (clean) {
		(void)fputs("No leak: all ", t.file);
	} else if (l->leak.shown.places == 0) {
		(void)fputs(hidden(&l->leak) > 0 ? "No other leak among the "
		                                 : "No certain leak among the ",
		    t.file);
	} else {
		print_sum(t.file, &l->leak.shown);
		(void)fprintf(
		    t.file, " leaked at %s, of ", WORDS_COUNTED(l->leak.shown.places, "place"));
	}
	print_sum(t.file, &all);
	(void)fputs(" of ", t.file);
	verdict_text_who(t.file, process);
	(void)fputs(clean ? " can be reached." : ".", t.file);
	print_how(t.file, v);
	print_limits(t.file, v, l);
	(void)putc('\n', t.file);
	layout_end(p, &t);
}

static void print_unjudged(const struct layout *p, const struct process *process)
{
	struct layout_text t;

	layout_begin(p, &t);
	(void)fputs("Not judged: ", t.file);
	verdict_text_who(t.file, process);
	(void)fprintf(t.file, ": %s.\n", verdict_why_not_words(process));
	layout_end(p, &t);
}

/* Prints what follows the lines, or replaces them. */
static void print_end(const struct layout *p, const struct session *s,
    const struct process *process, const struct verdict_list *l)
{
	switch (verdict_state(s, process)) {
	case VERDICT_STATE_NONE:
		break;
	case VERDICT_STATE_UNJUDGED:
		print_unjudged(p, process);
		break;
	case VERDICT_STATE_JUDGED:
		print_sentence(p, process, l);
		break;
	}
}

static void print_lines(
    const struct layout *p, const struct verdict_list *l, const struct verdicts *v, unsigned top)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < l->count; i++) {
		if (top > 0 && i >= top) {
			bytes = capped_sum(bytes, l->lines[i].part.bytes);
			continue;
		}
		print_figures(p, &l->lines[i], v);
		print_details(p, &l->lines[i]);
	}
	if (top > 0 && l->count > top)
		(void)fprintf(p->out, "%s with %s (--top 0: all).\n",
		    WORDS_COUNTED(l->count - top, "more place"), WORDS_BYTES(bytes));
}

void verdict_text_list(const struct layout *p, const struct session *s,
    const struct process *process, const struct verdict_list *l, unsigned top)
{
	if (verdict_state(s, process) == VERDICT_STATE_JUDGED)
		print_lines(p, l, process->verdicts, top);
	print_end(p, s, process, l);
}

void verdict_text_sentence(const struct layout *p, const struct session *s,
    const struct process *process, const struct verdict_list *sums)
{
	print_end(p, s, process, sums);
}

/* Prints its list or, if it is not judged, one sentence. -ENOMEM. */
static int write_process(const struct layout *p, const struct session *s,
    const struct process *process, struct names *names, const struct body_options *options)
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

/* Processes of one state in one sentence; a few by name. */
static void print_others(const struct layout *p, const struct session *s, uint32_t pid, bool judged)
{
	enum verdict_state state = judged ? VERDICT_STATE_JUDGED : VERDICT_STATE_UNJUDGED;
	const char *before = judged ? "No leak in " : "Not judged: ";
	size_t count = 0;
	struct layout_text t;

	layout_begin(p, &t);
	for (size_t i = 0; i < s->count; i++) {
		const struct process *x = s->processes[i];

		if ((pid != VIEW_ANY && x->header.pid != pid) || verdict_state(s, x) != state ||
		    (judged && x->verdicts->count > 0))
			continue;
		if (count++ >= NAMED)
			continue;
		(void)fputs(before, t.file);
		verdict_text_who(t.file, x);
		if (!judged)
			(void)fprintf(t.file, ": %s", verdict_why_not_words(x));
		before = judged ? ", " : "; ";
	}
	if (count > NAMED)
		(void)fprintf(t.file, "%s%s", before, WORDS_COUNTED(count - NAMED, "more process"));
	if (count > 0)
		(void)fputs(".\n", t.file);
	layout_end(p, &t);
}

int verdict_text_open(const struct layout *p, const struct session *s, struct names *names,
    const struct body_options *options)
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
		err = write_process(p, s, one, names, options);
	} else {
		for (size_t i = 0; i < s->count && err == 0; i++) {
			const struct process *x = s->processes[i];

			if ((pid != VIEW_ANY && x->header.pid != pid) ||
			    verdict_state(s, x) != VERDICT_STATE_JUDGED || x->verdicts->count == 0)
				continue;
			if (told++ > 0)
				(void)putc('\n', p->out);
			err = write_process(p, s, x, names, options);
		}
		print_others(p, s, pid, true);
		print_others(p, s, pid, false);
	}
	(void)putc('\n', p->out);
	return err;
}
