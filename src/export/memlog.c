/* memlog.c - libmtrace's report: what each stack holds, or has more or less. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "export/export.h"
#include "report/words.h"

enum { FRAMES = 10 }; /* as there, where it is fixed at build time */

/* Numbers have signs: since another report they may fall. */
struct row {
	const struct view_site *site;
	int64_t bytes, blocks;
};

static int64_t
change(uint64_t now, uint64_t before)
{
	uint64_t n = now > before ? now - before : before - now;

	if (n > INT64_MAX)
		n = INT64_MAX;
	return now > before ? (int64_t)n : -(int64_t)n;
}

static int
larger(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	if (x->blocks != y->blocks)
		return x->blocks > y->blocks ? -1 : 1;
	return (x->site > y->site) - (x->site < y->site);
}

static void
write_stack(
    FILE *out, const struct view *v, const struct view_site *s, unsigned depth)
{
	for (uint32_t i = 0; i < s->frame_count; i++) {
		const struct frame *f = &v->frames[s->frames[i]];

		if (i == depth) {
			(void)fprintf(out, "\t... %" PRIu32 " more\n",
			    s->frame_count - i);
			break;
		}
		(void)putc('\t', out);
		if (f->function)
			words_print(out, f->function);
		else
			(void)fprintf(out, "0x%" PRIx64, f->offset);
		if (f->file) {
			(void)fputs(" at ", out);
			words_print(out, f->file);
			if (f->line > 0)
				(void)fprintf(out, ":%" PRIu32, f->line);
		}
		if (f->module) {
			(void)fputs(" in ", out);
			words_print(out, f->module);
		}
		(void)putc('\n', out);
	}
}

static void
add(int64_t *sum, int64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = n < 0 ? INT64_MIN : INT64_MAX;
}

/* The rows of one process, or of all: VIEW_MERGED. */
static int
write_rows(FILE *out, const struct view *v, uint32_t process,
    const struct export_options *o)
{
	struct row *rows = calloc(v->site_count + 1, sizeof(*rows));
	int64_t bytes = 0, blocks = 0;
	size_t n = 0;

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < v->site_count; i++) {
		const struct view_site *s = &v->sites[i];
		const struct process_figures *now = &s->figures.all;
		const struct process_figures *then = &s->before.all;

		if (s->process != process)
			continue;
		rows[n].site = s;
		rows[n].bytes = change(now->live_bytes, then->live_bytes);
		rows[n].blocks = change(now->live_blocks, then->live_blocks);
		add(&bytes, rows[n].bytes);
		add(&blocks, rows[n++].blocks);
	}
	qsort(rows, n, sizeof(*rows), larger);
	(void)fprintf(out,
	    "%" PRId64 " bytes in %" PRId64 " blocks by %zu stacks\n", bytes,
	    blocks, n);
	for (size_t i = 0; i < n && (o->top == 0 || i < o->top); i++) {
		(void)fprintf(out,
		    "\n%" PRId64 " bytes in %" PRId64 " blocks, %s\n",
		    rows[i].bytes, rows[i].blocks,
		    words_api(rows[i].site->api));
		write_stack(out, v, rows[i].site, o->depth ? o->depth : FRAMES);
	}
	free(rows);
	return 0;
}

static int
write_memlog(FILE *out, const struct view *v, const struct export_options *o)
{
	int err = 0;

	if (v->is_merged) {
		(void)fputs(o->since ? "# all processes, since before\n"
		                     : "# all processes\n",
		    out);
		err = write_rows(out, v, VIEW_MERGED, o);
	}
	for (uint32_t i = 0; !v->is_merged && i < v->session->count && err == 0;
	     i++) {
		const struct process *p = v->session->processes[i];
		const char *base = frames_base(p->header.exe);

		(void)fprintf(out, "%s# ", i ? "\n" : "");
		words_print(out, base && *base ? base : "(no name)");
		(void)fprintf(
		    out, " (pid %u), %s\n", p->header.pid, words_end(p->end));
		err = write_rows(out, v, i, o);
	}
	if (err < 0)
		return err;
	return ferror(out) ? -EIO : 0;
}

const struct export_format export_memlog = {
    .name = "memlog",
    .extension = ".memlog",
    .what = "libmtrace's report: bytes and blocks of each stack, largest "
            "first",
    .flags = EXPORT_GROUPED | EXPORT_SINCE | EXPORT_TOP,
    .write = write_memlog,
};
