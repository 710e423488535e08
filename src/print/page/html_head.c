/* html_head.c - the head of a page, as JSON: everything that is not a column. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "print/page/html_parts.h"
#include "segments/read/losses.h"
#include "print/json/inventory_json.h"
#include "print/json/report_json.h"
#include "print/json/mappings_json.h"
#include "print/json/processes.h"
#include "print/json/rss_json.h"
#include "print/json/sites_json.h"
#include "print/json/figures.h"
#include "kit/json/json_put.h"
#include "view/sites/older.h"
#include "names/find/program.h"
#include "print/text/summary.h"
#include "view/sites/enum_words.h"

enum { PAGE_VERSION = 1, NS_PER_MS = 1000000 };

static const char *word_of_metric(int metric)
{
	switch (metric) {
	case VIEW_PEAK:
		return "peak";
	case VIEW_ALLOCS:
		return "allocated";
	case VIEW_TEMPORARY:
		return "temporary";
	default:
		return "live";
	}
}

/* ---- inputs ---- */

static void write_notes(FILE *out, char *const *notes, size_t count)
{
	(void)putc('[', out);
	for (size_t i = 0; i < count; i++) {
		(void)fputs(i ? "," : "", out);
		json_string(out, notes[i]);
	}
	(void)putc(']', out);
}

static void write_recording(FILE *out, const struct session *s, const struct html_moments *m)
{
	json_key(out, "recording");
	if (!s->line) {
		(void)fputs("null", out);
		return;
	}
	(void)fprintf(out,
	    "{\"start_ms\":%" PRIu64 ",\"until_us\":%" PRIu64 ",\"width_us\":%" PRIu64
	    ",\"moments\":%zu,\"changes\":%zu",
	    s->start_ns / NS_PER_MS, s->until_us, m->width_us, m->count, m->changes);
	report_json_marks(out, s);
	(void)putc('}', out);
}

/* The times of snapshots, for the time line. */
static void write_snapshots(FILE *out, const struct session *s)
{
	json_key(out, "snapshots");
	(void)putc('[', out);
	for (size_t i = 0; i < s->snapshot_count; i++) {
		const struct session_snapshot *x = &s->snapshots[i];

		(void)fprintf(out, "%s{\"time_ms\":%" PRIu64 ",\"pid\":%u", i ? "," : "",
		    x->time_ns / NS_PER_MS, x->pid);
		json_text(out, "label", x->label);
		(void)putc('}', out);
	}
	(void)putc(']', out);
}

static void write_input(FILE *out, const struct html *h, size_t i)
{
	const struct view *v = h->inputs[i].view;
	const struct session *s = v->session;

	(void)fputs(i ? ",\n{\"title\":" : "\n{\"title\":", out);
	json_string(out, h->inputs[i].title);
	json_boolean(out, "complete", !s->is_truncated);
	write_recording(out, s, &h->moments[i]);
	json_sites_sum(out, "filtered", &v->filtered);
	write_snapshots(out, s);
	json_key(out, "notes");
	write_notes(out, s->notes, s->note_count);
	(void)putc('}', out);
}

/* ---- processes ---- */

static void write_totals(FILE *out, const struct process *p)
{
	json_key(out, "totals");
	(void)fprintf(out, "{\"sites\":%zu", p->site_count);
	json_figures(out, &p->totals);
	json_boolean(out, "peak_exact", p->peak_exact);
	json_number(out, "error_live", process_error(process_variance_live(p)));
	json_number(out, "error_allocated", process_error(process_variance_allocated(p)));
	(void)putc('}', out);
}

/* The paragraph that opens every report. */
static int write_summary(FILE *out, const struct process *p)
{
	char *text = NULL;
	size_t len;
	const struct layout page = {.out = open_memstream(&text, &len), .utf8 = true};

	if (!page.out)
		return -ENOMEM;
	summary_write(&page, p);
	if (fclose(page.out) != 0) {
		free(text);
		return -ENOMEM;
	}
	while (len > 0 && text[len - 1] == '\n')
		text[--len] = '\0';
	json_text(out, "summary", text);
	free(text);
	return 0;
}

static void write_marks(FILE *out, const struct process *p)
{
	json_key(out, "marks");
	(void)putc('[', out);
	for (size_t i = 0; i < p->mark_count; i++) {
		const struct seg_mark *m = &p->marks[i];

		(void)fprintf(out, "%s{\"time_ms\":%" PRIu64, i ? "," : "",
		    (process_time_ns(p, m->tick) + m->after_ns) / NS_PER_MS);
		json_number(out, "kind", m->kind);
		json_text(out, "label", m->label);
		(void)putc('}', out);
	}
	(void)putc(']', out);
}

static void write_end(FILE *out, const struct process *p)
{
	json_text(out, "end", enum_words_end(p->end));
	json_key(out, "exit_status");
	(void)fprintf(out, p->exit_status >= 0 ? "%d" : "null", p->exit_status);
	json_key(out, "signal");
	(void)fprintf(out, p->signal > 0 ? "%d" : "null", p->signal);
}

static int write_group(FILE *out, const struct html_group *g)
{
	const struct process *p = g->process;
	const struct seg_header *h = &p->header;

	(void)fprintf(out, "{\"input\":%u,\"pid\":%u,\"ppid\":%u", g->input, h->pid, h->ppid);
	json_hex(out, "uuid", h->uuid, sizeof(h->uuid));
	json_text(out, "exe", h->exe);
	json_text(out, "program", program_name(h));
	json_processes_command(out, h);
	json_number(out, "start_ms", h->start_realtime_ns / NS_PER_MS);
	json_number(out, "duration_ms", p->duration_ns / NS_PER_MS);
	if (process_knows_births(p))
		json_number(
		    out, "births_ms", ((uint64_t)p->births_until + 1) * SEG_TICK_NS / NS_PER_MS);
	write_end(out, p);
	json_text(out, "mode", enum_words_mode(h->mode));
	json_number(out, "sample_bytes", h->sample_bytes);
	json_text(out, "medium", enum_words_medium(h->medium));
	json_number(out, "threads", h->threads);
	json_number(out, "max_frames", h->max_frames);
	json_number(out, "peak_ms", process_time_ns(p, h->peak_tick) / NS_PER_MS);
	json_number(out, "own_bytes", h->own_bytes);
	json_number(out, "used_bytes", h->used_bytes);
	json_boolean(out, "snapshot", p->is_snapshot);
	json_number(out, "snapshot_ms", h->snapshot_realtime_ns / NS_PER_MS);
	json_text(out, "snapshot_label", h->snapshot_reason ? h->snapshot_label : NULL);
	json_number(out, "rows", g->count);
	json_number(out, "merged", g->merged);
	json_number(out, "points", g->points);
	json_number(out, "points_seen", p->point_count);
	write_totals(out, p);
	json_processes_counts(out, "counted", h, LOSSES_TOTAL);
	json_processes_counts(out, "lost", h, LOSSES_LOSS);
	json_processes_counts(out, "facts", h, LOSSES_FACT);
	rss_json_process(out, p);
	write_marks(out, p);
	return write_summary(out, p);
}

/* As in the JSON report, with frames in full: there are few. */
static int write_mappings(FILE *out, const struct html *h, const struct html_group *g)
{
	const struct html_input *in = &h->inputs[g->input];
	struct json_writer w = {0};

	if (!in->names)
		return 0;
	return json_mappings(out, in->view->session, g->process, in->names, in->filters, &w);
}

/* ---- all ---- */

static void write_words(FILE *out)
{
	const struct losses_name *names;
	size_t n;

	names = losses_names(&n);
	(void)fputs(",\"words\":{", out);
	for (size_t i = 0; i < n; i++) {
		(void)fprintf(out, "%s\n\"%s\":", i ? "," : "", names[i].key);
		json_string(out, names[i].words);
	}
	(void)putc('}', out);
}

static void write_strings(FILE *out, const struct html_frames *f)
{
	(void)fputs(",\n\"strings\":[", out);
	for (size_t i = 0; i < f->string_count; i++) {
		(void)fputs(i ? ",\n" : "\n", out);
		json_string(out, f->strings[i]);
	}
	(void)putc(']', out);
}

/* What "older" means here, and sentences about how well it is known. */
static int write_older(FILE *out, const struct older *o)
{
	char *text = NULL, *rest, *line, age[WORDS_MAX];
	struct older_about a;
	const char *comma = "";
	size_t len = 0;
	FILE *memory = open_memstream(&text, &len);

	if (!memory)
		return -ENOMEM;
	older_about(o, NULL, &a);
	older_remarks(memory, &a);
	if (fclose(memory) != 0) {
		free(text);
		return -ENOMEM;
	}
	json_key(out, "older");
	(void)fprintf(out, "{\"asked_ms\":%" PRIu64, a.asked_ns / NS_PER_MS);
	json_number(out, "than_ms", a.age_ns / NS_PER_MS);
	json_text(out, "than", words_time(age, a.age_ns));
	json_key(out, "remarks");
	(void)putc('[', out);
	rest = text;
	while ((line = strsep(&rest, "\n")) != NULL && *line) {
		(void)fputs(comma, out);
		json_string(out, line);
		comma = ",";
	}
	(void)fputs("]}", out);
	free(text);
	return 0;
}

/* One limit for all inputs: html_write_sessions() has set it. */
static void write_temporary(FILE *out, const struct html *h)
{
	size_t most = 0;

	for (size_t i = 0; i < h->input_count; i++)
		if (h->inputs[i].view->temporary_ticks > h->inputs[most].view->temporary_ticks)
			most = i;
	if (h->input_count > 0)
		json_sites_temporary(out, h->inputs[most].view);
}

/* Of a page with one input: that of the process that had most memory. */
static int write_inventory(FILE *out, const struct html *h)
{
	const struct process *found = NULL;

	for (size_t i = 0; i < h->group_count && h->input_count == 1; i++) {
		const struct process *p = h->groups[i].process;
		const struct inventory *v = p->inventory;

		if (v &&
		    (!found ||
		        v->all.bytes + v->counted.bytes >
		            found->inventory->all.bytes + found->inventory->counted.bytes))
			found = p;
	}
	return found ? inventory_json_page(out, found) : 0;
}

static int write_head(FILE *out, struct html *h)
{
	const struct html_options *o = h->options;
	int err = 0;

	(void)fprintf(out, "{\"page\":%d", PAGE_VERSION);
	json_text(out, "seep", o->version);
	if (o->refresh)
		json_text(out, "refresh", o->refresh);
	json_text(out, "metric", o->older ? "older" : word_of_metric(o->metric));
	if (err == 0 && o->older)
		err = write_older(out, o->older);
	json_boolean(out, "compare", o->compare);
	(void)fprintf(out, ",\"threshold\":%g", h->threshold);
	write_temporary(out, h);
	(void)fputs(",\"inputs\":[", out);
	for (size_t i = 0; i < h->input_count; i++)
		write_input(out, h, i);
	(void)fputs("],\n\"processes\":[", out);
	for (size_t i = 0; i < h->group_count && err == 0; i++) {
		(void)fputs(i ? ",\n" : "\n", out);
		err = write_group(out, &h->groups[i]);
		if (err == 0)
			err = write_mappings(out, h, &h->groups[i]);
		if (err == 0)
			err = html_verdict_group(out, h, i);
		(void)putc('}', out);
	}
	(void)putc(']', out);
	json_key(out, "notes");
	write_notes(out, o->notes, o->note_count);
	html_verdict_rows(out, h);
	if (o->census)
		(void)fputs(o->census, out);
	else if (err == 0)
		err = write_inventory(out, h);
	write_words(out);
	write_strings(out, &h->frames);
	json_key(out, "columns");
	html_blob_directory(out, &h->blob);
	(void)fputs("}\n", out);
	return err;
}

int html_head_write(struct html *h, char **ret, size_t *ret_len)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int err;

	if (!out)
		return -ENOMEM;
	err = write_head(out, h);
	if (fclose(out) != 0)
		err = -ENOMEM;
	if (err < 0) {
		free(text);
		return err;
	}
	*ret = text;
	*ret_len = len;
	return 0;
}
