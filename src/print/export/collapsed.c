/* collapsed.c - folded stacks: FlameGraph, inferno, speedscope. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/export/export.h"
#include "print/export/texts.h"

/*
 * A line is "outermost;...;innermost NUMBER". Semicolons separate frames, so a
 * colon replaces them in names; control bytes are already escaped. Frees text,
 * which may be NULL (out of memory): then nothing is written.
 */
static void put_without_semicolons(FILE *out, char *text)
{
	for (const char *c = text; c && *c; c++)
		(void)putc(*c == ';' ? ':' : *c, out);
	free(text);
}

static void write_name(FILE *out, const struct frame *f)
{
	put_without_semicolons(out, texts_name_of(f));
}

static void write_process(FILE *out, const struct process *p)
{
	put_without_semicolons(out, texts_process_of(p));
	(void)putc(';', out);
}

static void write_stack(
    FILE *out, const struct view *v, const struct view_site *s, struct texts *texts)
{
	if (s->process != VIEW_MERGED && v->session->count > 1)
		write_process(out, v->session->processes[s->process]);
	for (uint32_t i = s->frame_count; i-- > 0;) {
		texts_put(texts, s->frames[i], out);
		if (i > 0)
			(void)putc(';', out);
	}
	if (s->frame_count == 0)
		(void)fputs("(no frames)", out);
}

static int write_collapsed(FILE *out, const struct view *v, const struct export_options *o)
{
	struct texts *texts;
	int err;

	err = texts_new(v, write_name, &texts);
	if (err < 0)
		return err;
	for (size_t i = 0; i < v->site_count && !ferror(out); i++) {
		const struct view_site *s = &v->sites[i];
		uint64_t now = view_bytes(&s->figures, o->metric);
		uint64_t before = view_bytes(&s->before, o->metric);

		if (now == 0 && before == 0)
			continue;
		write_stack(out, v, s, texts);
		if (o->since)
			(void)fprintf(out, " %" PRIu64, before);
		(void)fprintf(out, " %" PRIu64 "\n", now);
	}
	texts_free(texts);
	return ferror(out) ? -EIO : 0;
}

const struct export_format export_collapsed = {
    .name = "collapsed",
    .extension = ".folded",
    .what = "a stack and its bytes on a line: flamegraph.pl, inferno, "
            "speedscope",
    .flags = EXPORT_GROUPED | EXPORT_METRIC | EXPORT_SINCE | EXPORT_DEPTH,
    .write = write_collapsed,
};
