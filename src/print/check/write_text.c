/* write_text.c - the verdict of a check for people. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/check/write.h"
#include "view/suppress/suppress.h"
#include "view/sites/enum_words.h"
#include "kit/words/text.h"

static void headline(FILE *out, const struct check *c, const struct write_options *o)
{
	const char *word = c->is_damaged ? "UNKNOWN" : c->fails ? "FAIL" : "PASS";
	const char *colour = c->is_damaged ? "\033[1;33m" : c->fails ? "\033[1;31m" : "\033[1;32m";

	(void)fprintf(out, "%s%s%s: ", o->colour ? colour : "", word, o->colour ? "\033[0m" : "");
	if (c->is_damaged)
		(void)fprintf(out, "the input is incomplete, so a leak may be missing.%s",
		    c->failed_count ? " " : "\n");
	if (c->is_damaged && c->failed_count == 0)
		return;
	if (c->leaked.blocks == 0 && c->failed_count == 0) {
		if (c->options->fail_on_unjudged && c->unjudged_count > 0)
			(void)fprintf(
			    out, "%s not judged. ", WORDS_COUNTED(c->unjudged_count, "process"));
		(void)fputs(c->options->baseline
		        ? "Nothing leaks that the baseline does not have.\n"
		        : "Nothing leaks.\n",
		    out);
		return;
	}
	write_amount(out, c->leaked.bytes, c->leaked.blocks, c->leaked.variance);
	(void)fprintf(out, "%s %s %s, by %s.\n",
	    c->options->baseline ? " more than the baseline has" : "", words_was(c->leaked.blocks),
	    c->by_verdict_count > 0 ? "lost" : "not freed", WORDS_COUNTED(c->failed_count, "site"));
}

static void bounds(FILE *out, const struct check *c)
{
	for (size_t i = 0; i < c->bound_count; i++) {
		char *text = write_bound(&c->bounds[i]);

		(void)fprintf(
		    out, "  %s: %s.\n", c->bounds[i].fails ? "FAIL" : "PASS", text ? text : "");
		free(text);
	}
}

static int worse_process(const void *a, const void *b)
{
	const struct check_process *x = *(struct check_process *const *)a;
	const struct check_process *y = *(struct check_process *const *)b;

	if (x->leaked_bytes != y->leaked_bytes)
		return x->leaked_bytes > y->leaked_bytes ? -1 : 1;
	return (x > y) - (x < y);
}

static void process_row(FILE *out, const struct check_process *x)
{
	static const char *const standing[] = {[CHECK_JUDGED] = "",
	    [CHECK_REPLACED] = "  (peak only)",
	    [CHECK_UNTRACED] = "  (not traced)"};
	const struct process *p = x->process;
	const char *word = check_is_unjudged(x) ? "  (not judged)" : standing[x->standing];

	(void)fprintf(out, "%9u %-8s %15s %15s %15s  ", p->header.pid, enum_words_ended(p),
	    WORDS_COUNT(x->leaked_bytes), WORDS_COUNT(p->totals.live_bytes),
	    WORDS_COUNT(p->totals.peak_bytes));
	text_print(out, p->header.exe);
	(void)fprintf(out, "%s\n", word);
}

/* Only if there are several processes; the worst comes first. */
static void processes(FILE *out, const struct check *c, const struct write_options *o)
{
	struct check_process **order = calloc(c->process_count + 1, sizeof(struct check_process *));
	size_t n = 0;

	for (size_t i = 0; order && i < c->process_count; i++)
		if (c->processes[i].standing != CHECK_LEFT_OUT)
			order[n++] = &c->processes[i];
	if (n < 2) {
		free(order);
		return;
	}
	qsort(order, n, sizeof(struct check_process *), worse_process);
	(void)fprintf(out, "\n%9s %-8s %15s %15s %15s  %s\n", "pid", "end",
	    c->by_verdict_count > 0 ? "lost" : "not freed", "live bytes", "peak bytes", "program");
	for (size_t i = 0; i < n && (o->top == 0 || i < o->top); i++)
		process_row(out, order[i]);
	if (o->top > 0 && n > o->top)
		(void)fprintf(
		    out, "%9s %s (--top 0: all)\n", "", WORDS_COUNTED(n - o->top, "more process"));
	free(order);
}

static void frame(FILE *out, const struct check_site *x, size_t at, const struct write_options *o)
{
	const struct frame *f = &x->view->frames[x->site->frames[at]];

	(void)fputs(at < x->place ? "        -> " : "      ", out);
	write_function(out, f, o);
	if (!f->is_missing)
		write_where(out, f, o);
	if (x->site->repeats && x->site->repeats[at] > 1)
		(void)fprintf(out, " (recurs %u times)", x->site->repeats[at]);
	(void)putc('\n', out);
}

/*
 * First the user's own function, to the right what it calls, then its callers.
 */
static void stack(FILE *out, const struct check_site *x, const struct write_options *o)
{
	size_t count = view_without_start(x->view->frames, x->site->frames, x->site->frame_count);

	for (size_t i = 0; i < count; i++) {
		if (o->depth > 0 && i == o->depth) {
			(void)fprintf(out, "      ... %zu more\n", count - i);
			break;
		}
		frame(out, x, i <= x->place ? x->place - i : i, o);
	}
}

static void sites(FILE *out, const struct check *c, const struct write_options *o)
{
	uint64_t rest = 0, bytes = 0;

	for (size_t i = 0; i < c->failed_count; i++) {
		const struct check_site *x = &c->sites[i];
		char *text;

		if (o->top > 0 && i >= o->top) {
			rest++;
			bytes += x->bytes;
			continue;
		}
		text = write_site(c, x, o);
		(void)putc('\n', out);
		text_print(out, text ? text : "");
		free(text);
		if (c->process_count > 1) {
			(void)fputs(", in ", out);
			write_process(out, c->processes[x->process].process);
		}
		(void)fprintf(out, "  {%016" PRIx64 "}\n", x->fingerprint);
		stack(out, x, o);
	}
	if (rest > 0)
		(void)fprintf(out, "\n%s with %s (--top 0: all).\n",
		    WORDS_COUNTED(rest, "more site"), WORDS_BYTES(bytes));
}

/* Counts entries of the same name as one, as for the built-in groups. */
static void suppressed(FILE *out, const struct suppress *s)
{
	const char *before = "\nSuppressed: ";
	size_t count = s ? suppress_count(s) : 0;

	for (size_t i = 0; i < count;) {
		const struct suppress_entry *first = suppress_entry(s, i);
		struct check_sum sum = {0};

		for (; i < count; i++) {
			const struct suppress_entry *e = suppress_entry(s, i);

			if (strcmp(e->name, first->name) != 0)
				break;
			sum.bytes += e->bytes;
			sum.blocks += e->blocks;
		}
		if (sum.blocks == 0)
			continue;
		(void)fputs(before, out);
		before = ", ";
		text_print(out, first->name);
		(void)fputs(" (", out);
		write_amount(out, sum.bytes, sum.blocks, 0);
		(void)putc(')', out);
	}
	(void)fputs(*before == ',' ? ".\n" : "", out);
}

static void vanished(FILE *out, const struct check *c)
{
	const struct baseline *b = c->options->baseline;
	size_t gone = 0, told = 0;

	for (size_t i = 0; b && i < b->count; i++)
		gone += !b->items[i].is_met;
	if (gone > 0)
		(void)fprintf(out,
		    "\nGone since the baseline was written: %s. A new baseline "
		    "makes sure that it stays so.\n",
		    WORDS_COUNTED(gone, "site"));
	for (size_t i = 0; b && i < b->count && told < 20; i++) {
		const struct baseline_item *item = &b->items[i];

		if (item->is_met)
			continue;
		told++;
		(void)fputs("  ", out);
		write_amount(out, item->bytes, item->blocks, 0);
		(void)fputs(": ", out);
		text_print(out, item->text);
		(void)putc('\n', out);
	}
	if (gone > told)
		(void)fprintf(out, "  and %zu more\n", gone - told);
}

int write_text(FILE *out, const struct check *c, const struct write_options *o)
{
	headline(out, c, o);
	bounds(out, c);
	processes(out, c, o);
	if (c->lists_sites)
		sites(out, c, o);
	if (c->lists_sites && !c->options->baseline && c->by_verdict_count == 0 &&
	    !c->options->fail_on_growth)
		(void)fputs("\nWithout a baseline, every block that is live at exit "
		            "counts, even memory that programs like ls and git leave "
		            "to the kernel on purpose. Accept it with --write-baseline "
		            "FILE; then --baseline FILE fails only if a leak is new or "
		            "has grown. --exe RE checks only your own programs. "
		            "If CMD returns from main or calls exit, a recording made "
		            "with seep record --leaks also knows which of these blocks "
		            "are lost.\n",
		    out);
	if (c->options->baseline && c->known.sites > 0) {
		(void)fputs("\nIn the baseline: ", out);
		write_amount(out, c->known.bytes, c->known.blocks, c->known.variance);
		(void)fprintf(out, " of %s.\n", WORDS_COUNTED(c->known.sites, "site"));
	}
	vanished(out, c);
	suppressed(out, c->input_count ? c->inputs[0].suppress : NULL);
	for (size_t i = 0; i < c->note_count; i++) {
		(void)fputs(i ? "Note: " : "\nNote: ", out);
		text_print(out, c->notes[i]);
		(void)fputs(".\n", out);
	}
	return ferror(out) ? -EIO : 0;
}
