/* events_out_lines.c - the lines of memtrail dump and of mmleak.so. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/export/callers.h"
#include "print/export/events_out.h"
#include "view/sites/enum_words.h"
#include "kit/words/text.h"

/* Of each site of the view, made when it is needed. */
struct lines {
	char **stacks;     /* memtrail: text */
	uint64_t *callers; /* mmleak: address; 1: not looked up yet */
	char here[PATH_MAX + 1];
	size_t here_len; /* 0: not known */
};

static int begin(struct events_out *o)
{
	size_t count = o->view->site_count + 1;
	struct lines *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	o->more = l;
	l->stacks = calloc(count, sizeof(*l->stacks));
	l->callers = calloc(count, sizeof(*l->callers));
	if (!l->stacks || !l->callers)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		l->callers[i] = 1;
	if (getcwd(l->here, PATH_MAX)) {
		l->here_len = strlen(l->here);
		if (l->here[l->here_len - 1] != '/')
			l->here[l->here_len++] = '/';
	}
	return 0;
}

static void release(struct events_out *o)
{
	struct lines *l = o->more;

	if (!l)
		return;
	for (size_t i = 0; l->stacks && i < o->view->site_count; i++)
		free(l->stacks[i]);
	free(l->stacks);
	free(l->callers);
	free(l);
	o->more = NULL;
}

/* ---- memtrail ---- */

/*
 *	NUMBER: 0xADDRESS +BYTES
 *		malloc
 *		FUNCTION [FILE:LINE]
 *		MODULE+0xOFFSET
 *
 * and an empty line. A free has -BYTES and no stack. A code address has one line,
 * that of the innermost function. A block of 0 bytes counts as one byte.
 */
static void put_frame(FILE *out, const struct lines *l, const struct frame *f)
{
	const char *file = f->file;

	(void)putc('\t', out);
	if (!f->function) {
		if (f->module) {
			text_print(out, f->module);
			(void)putc('+', out);
		}
		(void)fprintf(out, "0x%" PRIx64 "\n", f->offset);
		return;
	}
	text_print(out, f->function);
	if (file && f->line > 0) {
		if (l->here_len > 0 && strncmp(file, l->here, l->here_len) == 0)
			file += l->here_len;
		(void)fputs(" [", out);
		text_print(out, file);
		(void)fprintf(out, ":%" PRIu32 "]", f->line);
	}
	(void)putc('\n', out);
}

static char *make_stack(const struct events_out *o, const struct view_site *s)
{
	bool is_first = true;
	char *text = NULL;
	size_t len;
	FILE *memory = open_memstream(&text, &len);

	if (!memory)
		return NULL;
	(void)fprintf(memory, "\t%s\n", enum_words_api(s->api));
	for (uint32_t i = 0; i < s->frame_count; i++) {
		const struct frame *f = &o->view->frames[s->frames[i]];

		if (is_first && !f->is_missing)
			put_frame(memory, o->more, f);
		is_first = !f->inlined;
	}
	if (fclose(memory) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

static void put_event(
    const struct events_out *o, const struct events_out_block *b, const char *sign)
{
	(void)fprintf(o->out, "%" PRIu64 ": 0x%08" PRIx64 " %s%" PRIu64 "\n", o->stamp, b->key,
	    sign, b->size ? b->size : 1);
}

static int memtrail_come(struct events_out *o, const struct events_out_block *b)
{
	struct lines *l = o->more;

	put_event(o, b, "+");
	if (b->site != EVENTS_OUT_NOWHERE) {
		char **stack = &l->stacks[b->site];

		if (!*stack)
			*stack = make_stack(o, &o->view->sites[b->site]);
		if (!*stack)
			return -ENOMEM;
		(void)fputs(*stack, o->out);
	}
	(void)putc('\n', o->out);
	return 0;
}

static int memtrail_go(struct events_out *o, const struct events_out_block *b)
{
	put_event(o, b, "-");
	(void)putc('\n', o->out);
	return 0;
}

const struct events_out_writer events_out_memtrail = {
    .begin = begin,
    .come = memtrail_come,
    .go = memtrail_go,
    .release = release,
};

/* ---- mmleak ---- */

/*
 * "ADDRESS CALLER BYTES" for an allocation, "ADDRESS CALLER" for a free. Nobody
 * has logged who frees, so this caller is NULL, as printf() shows it.
 */
#define NO_CALLER "(nil)"

static int mmleak_come(struct events_out *o, const struct events_out_block *b)
{
	struct lines *l = o->more;
	uint64_t caller = 0;

	if (b->site != EVENTS_OUT_NOWHERE) {
		const struct view_site *s = &o->view->sites[b->site];
		const struct callers_row row = {.site = s, .frame_count = s->frame_count};

		caller = l->callers[b->site];
		if (caller == 1)
			caller = callers_absolute(o->view, &row, o->number);
		l->callers[b->site] = caller;
	}
	(void)fprintf(o->out, "0x%" PRIx64 " ", b->key);
	if (caller != 0)
		(void)fprintf(o->out, "0x%" PRIx64, caller);
	else
		(void)fputs(NO_CALLER, o->out);
	(void)fprintf(o->out, " %" PRIu64 "\n", b->size);
	return 0;
}

static int mmleak_go(struct events_out *o, const struct events_out_block *b)
{
	(void)fprintf(o->out, "0x%" PRIx64 " " NO_CALLER "\n", b->key);
	return 0;
}

const struct events_out_writer events_out_mmleak = {
    .begin = begin,
    .come = mmleak_come,
    .go = mmleak_go,
    .release = release,
};
