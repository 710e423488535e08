/* by_type_text.c - live blocks by C++ type, as text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/text/verdict_text.h"

#include "base/std.h"
#include "kit/words/text.h"
#include "view/sites/enum_words.h"

enum { BLOCKS = 12, BYTES = 11, BASIS = 10, GAP = 2 };

/* "+1,234", "-5"; "0" for no difference */
static const char *signed_count(char to[WORDS_MAX + 1], uint64_t now, uint64_t before)
{
	uint64_t n = now > before ? now - before : before - now;

	(void)snprintf(to, WORDS_MAX + 1, "%s%s",
	    now > before       ? "+"
	        : now < before ? "-"
	                       : "",
	    WORDS_COUNT(n));
	return to;
}

static const char *signed_bytes(char to[WORDS_MAX + 1], uint64_t now, uint64_t before)
{
	uint64_t n = now > before ? now - before : before - now;

	(void)snprintf(to, WORDS_MAX + 1, "%s%s",
	    now > before       ? "+"
	        : now < before ? "-"
	                       : "",
	    n ? WORDS_BYTES(n) : "0");
	return to;
}

static int colour_of(const struct by_type *t, const struct by_type_row *x)
{
	if (!t->is_compared || x->bytes == x->old_bytes)
		return LAYOUT_PLAIN;
	return x->bytes > x->old_bytes ? LAYOUT_MORE : LAYOUT_LESS;
}

static void print_row(
    const struct layout *page, const struct by_type *t, const struct by_type_row *x)
{
	size_t used = BLOCKS + BYTES + GAP + BASIS + GAP;
	char a[WORDS_MAX + 1], b[WORDS_MAX + 1];
	const char *colour = layout_colour(page, colour_of(t, x));

	if (t->is_compared) {
		(void)fprintf(page->out, "%s%*s%*s%s", colour, BLOCKS,
		    signed_count(a, x->blocks, x->old_blocks), BYTES,
		    signed_bytes(b, x->bytes, x->old_bytes),
		    *colour ? layout_colour(page, LAYOUT_PLAIN) : "");
		used += BLOCKS + BYTES;
	}
	(void)fprintf(page->out, "%*s%*s  %-*s  ", BLOCKS, words_count(a, x->blocks), BYTES,
	    words_bytes(b, x->bytes), BASIS, by_type_basis_key(x->basis));
	layout_fit(page, x->name, layout_room(page, used));
	if (x->container) {
		(void)fprintf(page->out, "%s in %s%s", layout_colour(page, LAYOUT_DIM),
		    x->container, layout_colour(page, LAYOUT_PLAIN));
	}
	(void)putc('\n', page->out);
}

static void print_head(const struct layout *page, const struct process *p, const struct census *c,
    const struct by_type *t)
{
	struct layout_text h;

	layout_begin(page, &h);
	(void)fputs("Live blocks of ", h.file);
	verdict_text_who(h.file, p);
	(void)fprintf(h.file, " by C++ type: %s, %s", WORDS_COUNTED(t->all.blocks, "block"),
	    WORDS_BYTES(t->all.bytes));
	if (t->is_compared && t->taken_ns > t->old_taken_ns)
		(void)fprintf(h.file, "; the first two columns are the difference to %s before",
		    WORDS_TIME(t->taken_ns - t->old_taken_ns));
	else if (t->is_compared)
		(void)fputs("; the first two columns are the difference to the "
		            "earlier census",
		    h.file);
	(void)fputs(".\n", h.file);
	if (c->is_partial)
		(void)fputs("Some of its blocks are unknown, because it was "
		            "sampled, or allocated them before the collector "
		            "started or while recording was off.\n",
		    h.file);
	layout_end(page, &h);
	(void)putc('\n', page->out);
	if (t->count == 0)
		return;
	if (t->is_compared)
		(void)fprintf(page->out, "%*s%*s", BLOCKS, "+blocks", BYTES, "+bytes");
	(void)fprintf(
	    page->out, "%*s%*s  %-*s  type\n", BLOCKS, "blocks", BYTES, "bytes", BASIS, "known by");
}

static void print_foot(const struct layout *page, const struct by_type *t, size_t shown)
{
	struct layout_text h;

	layout_begin(page, &h);
	if (shown < t->count)
		(void)fprintf(h.file, "%s more not shown (--top 0 prints all).\n",
		    WORDS_COUNTED(t->count - shown, "type"));
	(void)fprintf(h.file,
	    "No type is known of %s, %s (%.1f %% of the "
	    "bytes): no vtable, and no container of C++ in "
	    "their stacks.\n",
	    WORDS_COUNTED(t->none.blocks, "block"), WORDS_BYTES(t->none.bytes),
	    t->all.bytes ? (double)t->none.bytes * 100 / (double)t->all.bytes : 0);
	if (t->filtered.blocks > 0)
		(void)fprintf(h.file, "Filtered: %s, %s.\n",
		    WORDS_COUNTED(t->filtered.blocks, "block"), WORDS_BYTES(t->filtered.bytes));
	layout_end(page, &h);
}

void by_type_text_write(const struct layout *page, const struct process *p, const struct census *c,
    const struct by_type *t, unsigned top)
{
	size_t shown = top && top < t->count ? top : t->count;

	print_head(page, p, c, t);
	for (size_t i = 0; i < shown; i++)
		print_row(page, t, &t->rows[i]);
	if (t->count > 0)
		(void)putc('\n', page->out);
	print_foot(page, t, shown);
}

/* ---- spare_text: what the sites of a process could give back, as text ---- */

static void print_part(
    const struct layout *page, const char *head, uint64_t blocks, uint64_t bytes, const char *words)
{
	char text[WORDS_COUNTED_MAX + WORDS_MAX + 64], a[WORDS_COUNTED_MAX];

	if (blocks == 0)
		return;
	(void)snprintf(text, sizeof(text), "%s %s: %s", words_counted(a, blocks, "block"),
	    WORDS_BYTES(bytes), words);
	verdict_text_hang(page, head, text);
}

static void print_line(const struct layout *page, const struct spare_line *x)
{
	char *text = NULL;
	size_t len;
	FILE *out;

	print_part(
	    page, "COPIES", x->sum.equal_blocks, x->sum.equal_bytes, "equal to other blocks");
	print_part(page, "ZEROS", x->sum.tail_blocks, x->sum.tail_bytes, "zeros at the end");
	print_part(page, "RESERVED", x->sum.unwritten_blocks, x->sum.unwritten_bytes,
	    "pages never written");
	out = open_memstream(&text, &len);
	if (!out)
		return;
	if (x->site)
		verdict_text_place(page, out, x->view, x->site);
	else
		(void)fputs("(a stack that is not known)", out);
	if (fclose(out) == 0)
		verdict_text_hang(page, NULL, text);
	free(text);
}

static void spare_text_print_foot(const struct layout *page, const struct process *p,
    const struct census *c, const struct spare *s, size_t shown)
{
	struct layout_text h;

	layout_begin(page, &h);
	if (shown < s->count)
		(void)fprintf(h.file, "%s more not shown (--top 0 prints all).\n",
		    WORDS_COUNTED(s->count - shown, "place"));
	verdict_text_who(h.file, p);
	(void)fprintf(
	    h.file, ": %s, %s.", WORDS_COUNTED(c->blocks, "block"), WORDS_BYTES(c->bytes));
	if (s->count == 0)
		(void)fputs(" No block is a copy of another, ends with many "
		            "zeros, or has pages never written.",
		    h.file);
	if (s->all.equal_blocks > 0)
		(void)fprintf(h.file, " Copies: %s, %s (%s different).",
		    WORDS_COUNTED(s->all.equal_blocks, "block"), WORDS_BYTES(s->all.equal_bytes),
		    WORDS_COUNT(c->equal_groups));
	if (s->all.tail_blocks > 0)
		(void)fprintf(h.file, " Zeros at the end: %s in %s.",
		    WORDS_BYTES(s->all.tail_bytes), WORDS_COUNTED(s->all.tail_blocks, "block"));
	if (s->all.unwritten_blocks > 0)
		(void)fprintf(h.file,
		    " Pages never written: %s in %s; these are asked for, but "
		    "take no memory.",
		    WORDS_BYTES(s->all.unwritten_bytes),
		    WORDS_COUNTED(s->all.unwritten_blocks, "block"));
	if (c->unread_blocks > 0)
		(void)fprintf(h.file,
		    " Not compared, because some of their "
		    "memory could not be read: %s.",
		    WORDS_COUNTED(c->unread_blocks, "block"));
	(void)putc('\n', h.file);
	layout_end(page, &h);
}

void spare_text_write(const struct layout *page, const struct process *p, const struct census *c,
    const struct spare *s, unsigned top)
{
	size_t shown = top && top < s->count ? top : s->count;

	for (size_t i = 0; i < shown; i++)
		print_line(page, &s->lines[i]);
	if (shown > 0)
		(void)putc('\n', page->out);
	spare_text_print_foot(page, p, c, s, shown);
}
