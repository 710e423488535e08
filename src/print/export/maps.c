/* maps.c - the modules of a process as /proc/PID/maps has them. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/export/callers.h"
#include "print/export/export.h"
#include "session/process/family.h"
#include "view/sites/enum_words.h"
#include "kit/words/text.h"

enum { PAGE = 4096 };

/*
 * mmleak keeps that file for eu-addr2line -M. We know of each module where it
 * was loaded and where its code is: one line from the one to the end of the
 * other.
 */
static void write_module(FILE *out, const struct process_module *m, size_t number)
{
	uint64_t start = m->base ? m->base : m->start;
	uint64_t end = (m->end + PAGE - 1) / PAGE * PAGE;
	const char *path = m->mapped ? m->mapped : relative_path(m);

	if (!path || path[0] != '/' || start >= end)
		return;
	/* readers take inode 0 for memory without a file */
	(void)fprintf(out, "%08" PRIx64 "-%08" PRIx64 " r-xp 00000000 00:01 %zu ",
	    start / PAGE * PAGE, end, number);
	text_print(out, path);
	(void)putc('\n', out);
}

static int write_maps(FILE *out, const struct view *v, const struct export_options *o)
{
	(void)o;
	for (uint32_t i = 0; i < v->session->count; i++) {
		const struct process *p = v->session->processes[i];

		if (v->session->count > 1 && !callers_has(v, i))
			continue;
		callers_heading(out, v, i);
		for (size_t k = 1; k < p->module_count; k++)
			write_module(out, &p->modules[k], k);
	}
	return ferror(out) ? -EIO : 0;
}

const struct export_format export_maps = {
    .name = "maps",
    .extension = ".maps",
    .what = "the modules where they were loaded, for eu-addr2line -M",
    .flags = EXPORT_DEAD,
    .write = write_maps,
};
