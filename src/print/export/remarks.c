/* remarks.c - remarks about exported figures: estimates, losses, filters. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/export/export.h"

#include "print/export/texts.h"
#include "segments/read/losses.h"
#include "view/sites/enum_words.h"
#include "kit/words/text.h"

enum { PROCESSES = 16, NOTES = 16 }; /* listed one by one; more: a count */

static void put_losses(FILE *out, const struct process *p)
{
	const struct losses_name *names;
	const char *before = "; lost: ";
	char buffer[WORDS_LOSS];
	size_t n;

	names = losses_names(&n);
	for (size_t i = 0; i < n; i++) {
		uint64_t count = p->header.counts[names[i].count];

		if (count == 0 || names[i].class != LOSSES_LOSS)
			continue;
		(void)fprintf(out, "%s%s", before, enum_words_loss(buffer, count, names[i].words));
		before = ", ";
	}
}

static void put_process(FILE *out, const struct process *p)
{
	(void)fprintf(out, "pid %" PRIu32 " (%s", p->header.pid,
	    p->is_snapshot            ? "a snapshot"
	        : p->is_out_of_memory ? enum_words_end(p->end)
	                              : enum_words_ended(p));
	if (p->exit_status >= 0)
		(void)fprintf(out, ", status %d", p->exit_status);
	if (p->signal > 0)
		(void)fprintf(out, ", signal %d", p->signal);
	if (p->is_out_of_memory)
		(void)fputs(", out of memory", out);
	(void)fputs("): ", out);
	texts_command(out, p);
	if (p->header.sample_bytes > 0)
		(void)fprintf(out, "; estimates from samples, one in %" PRIu64 " bytes",
		    p->header.sample_bytes);
	if (!p->peak_exact)
		(void)fputs("; its peak is not exact", out);
	put_losses(out, p);
	(void)putc('\n', out);
}

static void put_processes(FILE *out, const struct session *s, const struct export_options *o)
{
	size_t seen = 0;

	for (size_t i = 0; i < s->count; i++)
		if (export_has(o, s->processes[i]) && seen++ < PROCESSES)
			put_process(out, s->processes[i]);
	if (seen > PROCESSES)
		(void)fprintf(out, "and %s\n", WORDS_COUNTED(seen - PROCESSES, "more process"));
	if (seen > 1)
		(void)fputs("peak figures of several processes are those of "
		            "each process's own peak\n",
		    out);
}

static void put_sum(FILE *out, const struct view_sum *sum, const char *how)
{
	char sites[WORDS_COUNTED_MAX];

	if (sum->sites > 0)
		(void)fprintf(out, "%s with %" PRIu64 " bytes live, %" PRIu64 " allocated, %s %s\n",
		    words_counted(sites, sum->sites, "site"), sum->figures.all.live_bytes,
		    sum->figures.all.allocated_bytes, words_is(sum->sites), how);
}

char *remarks_of(const struct view *v, const struct export_options *o)
{
	const struct session *s = v->session;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	(void)fprintf(out, "written by seep %s: requested bytes%s\n", o->version,
	    o->since ? ", as differences from before" : "");
	put_processes(out, s, o);
	put_sum(out, &v->filtered, "left out by filters");
	put_sum(out, &v->suppressed, "suppressed");
	if (s->is_truncated)
		(void)fputs("the input is cut off: figures are those of its "
		            "last complete part\n",
		    out);
	for (size_t i = 0; i < s->note_count && i < NOTES; i++) {
		text_print(out, s->notes[i]);
		(void)putc('\n', out);
	}
	if (s->note_count > NOTES)
		(void)fprintf(out, "and %s\n", WORDS_COUNTED(s->note_count - NOTES, "more note"));
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

void remarks_put(FILE *out, const char *remarks, const char *before, const char *after)
{
	while (*remarks) {
		size_t n = strcspn(remarks, "\n");

		(void)fprintf(out, "%s%.*s%s", before, (int)n, remarks, after);
		remarks += n + (remarks[n] != '\0');
	}
}
