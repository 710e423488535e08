/* leaktrace.c - the table that leaktrace's annotate.pl prints. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/export/callers.h"
#include "print/export/export.h"

/*
 * Columns with a tab between: addr of the call, bytes not freed, how often
 * memory was allocated there, how often such memory was freed, collisions of
 * its hash table (we have none), location. Most bytes first.
 */
static int write_process(
    FILE *out, const struct view *v, uint32_t process, const struct export_options *o)
{
	struct callers c;
	int err;

	err = callers_init(&c, v, process, o->depth ? o->depth : 1);
	if (err < 0)
		return err;
	callers_heading(out, v, process);
	(void)fputs("addr\tbytes\talloc\tfree\tcoll\tlocation\n", out);
	for (size_t i = 0; i < c.count && (o->top == 0 || i < o->top); i++) {
		const struct process_figures *f = &c.rows[i].figures.all;

		callers_address(out, v, &c.rows[i]);
		(void)fprintf(out, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t0\t", f->live_bytes,
		    f->allocations, f->frees);
		callers_location(out, v, &c.rows[i]);
		(void)putc('\n', out);
	}
	callers_release(&c);
	return 0;
}

static int write_leaktrace(FILE *out, const struct view *v, const struct export_options *o)
{
	int err = 0;

	for (uint32_t i = 0; i < v->session->count && err == 0; i++)
		if (callers_has(v, i) || v->session->count == 1)
			err = write_process(out, v, i, o);
	if (err < 0)
		return err;
	return ferror(out) ? -EIO : 0;
}

const struct export_format export_leaktrace = {
    .name = "leaktrace",
    .extension = ".txt",
    .what = "leaktrace's table: addr, bytes, alloc, free, coll, location",
    .flags = EXPORT_DEAD | EXPORT_TOP,
    .write = write_leaktrace,
};
