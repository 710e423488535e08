/* verdict_text.c - what is lost, in plain text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/verdict_text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "report/program.h"
#include "report/words.h"
#include "util/text.h"

enum {
	INDENT = 9,
	FRAMES = 6, /* of a stack, from the user's own on */
	FREERS = 2,
	FREER_PERCENT = 10, /* who frees less is left out */
};

/* ---- words ---------------------------------------------------------------- */

const char *
verdict_text_reason(uint32_t reason)
{
	switch (reason) {
	case VERDICT_ENDED:
		return "it ended, or became another program, during a look";
	case VERDICT_NO_RIGHT:
		return "its memory may not be read";
	case VERDICT_OLD_CELLS:
		return "its collector is an older one that keeps no exact "
		       "addresses of blocks";
	case VERDICT_NO_LIVE_MAP:
		return "it has no list of its blocks that could be read";
	case VERDICT_TOO_LARGE:
		return "it is too large for --max-memory";
	case VERDICT_NO_ANSWER:
		return "its memory does not come";
	default:
		return "looking at it failed";
	}
}

struct note {
	uint32_t bit;
	const char *key, *words;
};

/*
 * In the order of weight: the first one that holds is the reason. "@" is what
 * the blocks are called, "~" whose something is.
 */
static const struct note notes_of[] = {
    {VERDICT_HIDES, "hides", NULL},
    {VERDICT_MOVES, "moves",
        "nothing pointed to @ in any look, but others of this place seemed "
        "lost and were held again: it moves pointers"},
    {VERDICT_UNSEEN_FREES, "unseen_frees",
        "nothing points to @, but some calls of free passed the collector by"},
    {VERDICT_UNREAD, "unread",
        "nothing points to @ in the memory that could be read"},
    {VERDICT_ONE_LOOK, "one_look",
        "nothing points to @, in one look while threads ran"},
    {VERDICT_PAST_END, "past_end", "held only by pointers one past ~ end"},
    {VERDICT_MISALIGNED, "misaligned",
        "held only by pointers that are not at a multiple of 8"},
    {VERDICT_BELOW_SP, "below_sp",
        "held only by what is left below a stack pointer"},
    {VERDICT_HEADS_ONLY, "heads_only", NULL},
    {VERDICT_UNLOADED, "unloaded", NULL},
};

static void
put_words(FILE *out, const char *words, bool is_one)
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

const char *
verdict_text_note(uint32_t notes, size_t i)
{
	for (size_t k = 0; k < sizeof(notes_of) / sizeof(notes_of[0]); k++)
		if (notes & notes_of[k].bit && i-- == 0)
			return notes_of[k].key;
	return NULL;
}

static void
put_hiding(FILE *out, const struct verdict_site *x)
{
	char a[WORDS_COUNTED];

	(void)fprintf(out,
	    "%s seemed lost in 2 looks or more, then %s freed: this place "
	    "hides pointers",
	    words_counted(a, x->freed_late, "block"), words_was(x->freed_late));
}

static void
put_reason(
    FILE *out, const struct verdict_list *l, const struct verdict_site *x)
{
	if (x->class == VERDICT_LEAK) {
		(void)fprintf(out, "nothing points to %s (%u %s of %u)",
		    x->blocks == 1 ? "it" : "them", l->verdicts->looks,
		    l->verdicts->looks == 1 ? "look" : "looks",
		    l->verdicts->looks);
		return;
	}
	if (x->notes & VERDICT_HIDES) {
		put_hiding(out, x);
		return;
	}
	for (size_t k = 0; k < sizeof(notes_of) / sizeof(notes_of[0]); k++)
		if (x->notes & notes_of[k].bit && notes_of[k].words) {
			put_words(out, notes_of[k].words, x->blocks == 1);
			return;
		}
	put_words(out, "nothing certain points to @", x->blocks == 1);
}

/* ---- an entry ------------------------------------------------------------- */

static void
put_rate(FILE *out, const struct verdict_rate *r)
{
	char a[WORDS_MAX];

	if (r->is_known)
		(void)fprintf(
		    out, " +%s/h", words_bytes(a, (uint64_t)r->bytes));
}

static void
put_head(const struct layout *p, const struct verdict_list *l,
    const struct verdict_entry *e)
{
	const struct verdict_site *x = &e->sum;
	bool is_leak = x->class == VERDICT_LEAK;
	char a[WORDS_COUNTED], b[WORDS_MAX];
	struct layout_text t;

	(void)fprintf(p->out, "%s%s%s ",
	    layout_colour(p, is_leak ? LAYOUT_MORE : LAYOUT_STRONG),
	    is_leak ? "LEAK    " : "POSSIBLE", layout_colour(p, LAYOUT_PLAIN));
	layout_begin(p, &t);
	if (x->blocks > 0) {
		(void)fprintf(t.file, "%s %s",
		    words_counted(a, x->blocks, "block"),
		    words_bytes(b, x->bytes));
		put_rate(t.file, &e->rate);
		(void)fputs(": ", t.file);
	}
	put_reason(t.file, l, x);
	(void)fputs("\n", t.file);
	layout_end(p, &t);
}

static void
put_where(FILE *out, const struct frame *f, bool with_line)
{
	if (f->brief || f->function)
		text_print(out, f->brief ? f->brief : f->function);
	else if (f->module)
		text_print(out, text_base(f->module));
	else
		(void)fprintf(out, "0x%" PRIx64, f->offset);
	if (with_line && f->file && f->line) {
		const char *slash = strrchr(f->file, '/');

		(void)putc(' ', out);
		text_print(out, slash ? slash + 1 : f->file);
		(void)fprintf(out, ":%u", f->line);
	}
}

/* "lose app.c:9 <- serve <- main", from the user's own frame on. */
static void
put_stack(
    FILE *out, const struct verdict_list *l, const struct verdict_entry *e)
{
	const struct view_site *s = e->site;
	size_t count, shown = 0;

	if (!s) {
		(void)fputs(e->is_inherited
		        ? "allocated by a parent of which nothing is left"
		        : "(unknown stack)",
		    out);
		return;
	}
	count = view_without_start(l->view->frames, s->frames, s->frame_count);
	for (size_t i = s->own; i < count; i++) {
		const struct frame *f = &l->view->frames[s->frames[i]];

		if (shown == FRAMES) {
			(void)fputs(" <- ...", out);
			break;
		}
		if (shown > 0)
			(void)fputs(" <- ", out);
		put_where(out, f, shown == 0);
		shown++;
	}
	if (shown == 0)
		(void)fputs("(no frames)", out);
}

static void
put_roles(FILE *out, const struct verdict_site *x)
{
	char a[WORDS_MAX], b[WORDS_MAX];

	if (x->direct_blocks + x->indirect_blocks == 0)
		return;
	if (x->indirect_blocks == 0 && x->cycle_blocks == 0)
		return;
	if (x->direct_blocks == 0) {
		(void)fputs("held only by other lost blocks; ", out);
		return;
	}
	(void)fprintf(out, "%s lost", words_count(a, x->direct_blocks));
	if (x->cycle_blocks > 0)
		(void)fprintf(
		    out, " (%s in cycles)", words_count(b, x->cycle_blocks));
	if (x->indirect_blocks > 0)
		(void)fprintf(out, ", %s held only by these",
		    words_count(b, x->indirect_blocks));
	(void)fputs("; ", out);
}

/* When the first and the last of them were allocated. */
static void
put_births(
    FILE *out, const struct verdict_list *l, const struct verdict_entry *e)
{
	const struct verdict_site *x = &e->sum;
	uint64_t tick = l->process->header.tick_ns;
	uint64_t now = l->verdicts->end_ns;
	uint64_t first = x->first_birth * tick, last = x->last_birth * tick;
	char a[WORDS_MAX], b[WORDS_MAX];

	if (x->blocks == 0)
		return;
	if (e->is_inherited) {
		(void)fputs(", allocated before the fork", out);
		return;
	}
	if (now < last)
		now = last;
	if (x->blocks == 1 || first == last)
		(void)fprintf(
		    out, ", allocated %s ago", words_time(a, now - last));
	else
		(void)fprintf(out, ", allocated %s to %s ago",
		    words_time(a, now - first), words_time(b, now - last));
}

/* Who frees other blocks of this place: where a path may be missing. */
static void
put_freers(FILE *out, const struct verdict_entry *e)
{
	if (e->freer_count == 0)
		return;
	(void)fputs("; others of this place are freed in ", out);
	for (size_t i = 0; i < e->freer_count && i < FREERS; i++) {
		const struct verdict_freer *f = &e->freers[i];

		if (i > 0 && f->share * 100 < FREER_PERCENT)
			break;
		(void)fputs(i > 0 ? ", " : "", out);
		if (f->function)
			text_print(out, f->function);
		else
			text_print(out, f->module ? text_base(f->module) : "?");
		if (e->freer_count > 1)
			(void)fprintf(out, " (%.0f %%)", f->share * 100);
	}
}

static void
put_details(const struct layout *p, const struct verdict_list *l,
    const struct verdict_entry *e)
{
	const struct verdict_site *x = &e->sum;
	char a[WORDS_MAX], b[WORDS_MAX];
	struct layout_text t;

	(void)fprintf(p->out, "%*s", INDENT, "");
	layout_begin(p, &t);
	put_roles(t.file, x);
	put_stack(t.file, l, e);
	if (x->type) {
		(void)fputs(", type ", t.file);
		text_print(t.file, x->type);
	}
	put_births(t.file, l, e);
	if (e->rate.is_known)
		(void)fprintf(t.file, " (95 %%: %s to %s an hour)",
		    words_bytes(a, (uint64_t)e->rate.low),
		    words_bytes(b, (uint64_t)e->rate.high));
	put_freers(t.file, e);
	if (x->notes & VERDICT_UNLOADED)
		(void)fputs(", by a library that is unloaded since", t.file);
	(void)putc('\n', t.file);
	layout_end(p, &t);
}

/* ---- the sentence --------------------------------------------------------- */

static void
put_looks(
    FILE *out, const struct verdicts *v, const struct verdict_text_options *o)
{
	char a[WORDS_COUNTED], b[WORDS_MAX];

	(void)fprintf(out, " %s", words_counted(a, v->looks, "look"));
	if (v->looks > 1)
		(void)fprintf(
		    out, " in %s", words_time(b, v->end_ns - v->begin_ns));
	if (o->pause_ns > 0)
		(void)fprintf(out, "; it was stopped for %s.",
		    words_time(b, o->pause_ns));
	else if (v->at_exit)
		(void)fputs("; the last at its exit.", out);
	else
		(void)fputs("; it ran on.", out);
}

static void
put_unread(FILE *out, uint64_t bytes, const char *words)
{
	char a[WORDS_MAX];

	if (bytes > 0)
		(void)fprintf(
		    out, " Not read: %s %s.", words_bytes(a, bytes), words);
}

static void
put_limits(FILE *out, const struct verdict_list *l)
{
	const struct verdicts *v = l->verdicts;
	char a[WORDS_COUNTED], b[WORDS_MAX];

	put_unread(out, v->swapped_bytes,
	    "that is swapped out (--swap reads it, which fetches it)");
	put_unread(out, v->unreadable_bytes, "of other memory");
	put_unread(out, v->device_bytes, "of devices");
	put_unread(out, v->ring_bytes, "of io_uring");
	if (v->heads_only)
		(void)fputs(" Some blocks are not known, so all memory between "
		            "the others counts as holding pointers: of lost "
		            "structures only the heads are found.",
		    out);
	if (v->ignored_blocks > 0)
		(void)fprintf(out, " Kept on purpose (seep_ignore): %s (%s).",
		    words_counted(a, v->ignored_blocks, "block"),
		    words_bytes(b, v->ignored_bytes));
	if (l->left_out.sites > 0)
		(void)fprintf(out,
		    " Left out by filters and suppressions: %s (%s).",
		    words_counted(a, l->left_out.blocks, "block"),
		    words_bytes(b, l->left_out.bytes));
	if (v->refused_blocks > 0)
		(void)fprintf(out, " %s of the list cannot be.",
		    words_counted(a, v->refused_blocks, "block"));
}

static void
put_program(FILE *out, const struct process *p)
{
	text_print(out, program_name(&p->header));
	(void)fprintf(out, " (pid %u)", p->header.pid);
}

static void
put_sentence(const struct layout *p, const struct verdict_list *l,
    const struct verdict_text_options *o)
{
	const struct verdicts *v = l->verdicts;
	char a[WORDS_COUNTED], b[WORDS_MAX], c[WORDS_COUNTED], d[WORDS_MAX];
	char f[WORDS_COUNTED];
	struct layout_text t;

	layout_begin(p, &t);
	if (l->leaks.sites == 0 && l->possible.sites == 0 &&
	    l->left_out.sites == 0)
		(void)fprintf(t.file, "No leak: all %s (%s) of ",
		    words_counted(a, v->blocks, "block"),
		    words_bytes(b, v->bytes));
	else if (l->leaks.sites == 0)
		(void)fprintf(t.file, "No certain leak among the %s (%s) of ",
		    words_counted(a, v->blocks, "block"),
		    words_bytes(b, v->bytes));
	else
		(void)fprintf(t.file, "%s (%s) lost at %s, of %s (%s) of ",
		    words_counted(a, l->leaks.blocks, "block"),
		    words_bytes(b, l->leaks.bytes),
		    words_counted(c, l->leaks.sites, "place"),
		    words_counted(f, v->blocks, "block"),
		    words_bytes(d, v->bytes));
	put_program(t.file, l->process);
	(void)fputs(l->leaks.sites + l->possible.sites + l->left_out.sites == 0
	        ? " can be reached."
	        : ".",
	    t.file);
	put_looks(t.file, v, o);
	put_limits(t.file, l);
	(void)putc('\n', t.file);
	layout_end(p, &t);
}

int
verdict_text_write(const struct layout *p, const struct verdict_list *l,
    const struct verdict_text_options *o)
{
	char a[WORDS_COUNTED], b[WORDS_MAX];
	struct verdict_sum rest = {0};

	for (size_t i = 0; i < l->count; i++) {
		const struct verdict_entry *e = &l->at[i];

		if (o->top > 0 && i >= o->top) {
			rest.sites++;
			rest.bytes += e->sum.bytes;
			continue;
		}
		put_head(p, l, e);
		put_details(p, l, e);
	}
	if (rest.sites > 0)
		(void)fprintf(p->out, "%s with %s (--top 0: all).\n",
		    words_counted(a, rest.sites, "more place"),
		    words_bytes(b, rest.bytes));
	put_sentence(p, l, o);
	return ferror(p->out) ? -EIO : 0;
}
