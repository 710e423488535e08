/* spare_text.c - what the sites of a process could give back, as text. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/text/verdict_text.h"

#include "base/std.h"
#include "view/sites/enum_words.h"

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

static void print_foot(const struct layout *page, const struct process *p, const struct census *c,
    const struct spare *s, size_t shown)
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
	print_foot(page, p, c, s, shown);
}
