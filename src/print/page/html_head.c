/* html_head.c - the head of a page, as JSON: everything that is not a column. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/page/html_parts.h"

#include "base/std.h"
#include "segments/read/losses.h"
#include "print/json/leaks_json.h"
#include "print/json/report_json.h"
#include "print/json/json_parts.h"
#include "print/json/processes.h"
#include "kit/json/json_put.h"
#include "view/sites/older.h"
#include "names/find/program.h"
#include "print/text/report_text.h"
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

/* `reading`: the title of a recording at a moment, or NULL. */
static void write_notes(struct json *out, char *const *notes, size_t count, const char *reading)
{
	const char *lacks = "a reading has no peaks, ages, verdicts and resident memory; "
	                    "a 0 there says nothing";
	char *note;

	json_list(out, "notes");
	for (size_t i = 0; i < count; i++)
		json_text(out, NULL, notes[i]);
	if (reading && asprintf(&note, "%s: %s", reading, lacks) > 0) {
		json_text(out, NULL, note);
		free(note);
	}
	json_end(out);
}

static void write_recording(struct json *out, const struct session *s, const struct html_moments *m)
{
	if (!s->line) {
		json_null(out, "recording");
		return;
	}
	json_object(out, "recording");
	json_number(out, "start_ms", s->start_ns / NS_PER_MS);
	json_number(out, "until_us", s->until_us);
	json_number(out, "width_us", m->width_us);
	json_number(out, "moments", m->count);
	json_number(out, "changes", m->changes);
	report_json_marks(out, s);
	json_end(out);
}

/* The times of snapshots, for the time line. */
static void write_snapshots(struct json *out, const struct session *s)
{
	json_list(out, "snapshots");
	for (size_t i = 0; i < s->snapshot_count; i++) {
		const struct session_snapshot *x = &s->snapshots[i];

		json_object(out, NULL);
		json_number(out, "time_ms", x->time_ns / NS_PER_MS);
		json_number(out, "pid", x->pid);
		json_text(out, "label", x->label);
		json_end(out);
	}
	json_end(out);
}

static void write_input(struct json *out, const struct html *h, size_t i)
{
	const struct view *v = h->inputs[i].view;
	const struct session *s = v->session;

	json_object(out, NULL);
	json_text(out, "title", h->inputs[i].title);
	json_boolean(out, "complete", !s->is_truncated);
	write_recording(out, s, &h->moments[i]);
	json_sites_sum(out, "filtered", &v->filtered);
	write_snapshots(out, s);
	write_notes(out, s->notes, s->note_count, s->title);
	json_end(out);
}

/* ---- processes ---- */

static void write_totals(struct json *out, const struct process *p)
{
	json_object(out, "totals");
	json_number(out, "sites", p->site_count);
	json_figures(out, FIGURES_COUNTED, &p->totals);
	json_boolean(out, "peak_exact", p->peak_exact);
	json_number(out, "error_live", process_error(process_variance_live(p)));
	json_number(out, "error_allocated", process_error(process_variance_allocated(p)));
	json_end(out);
}

/* The paragraph that opens every report. */
static int write_summary(struct json *out, const struct process *p)
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

static void write_marks(struct json *out, const struct process *p)
{
	json_list(out, "marks");
	for (size_t i = 0; i < p->mark_count; i++) {
		const struct seg_mark *m = &p->marks[i];

		json_object(out, NULL);
		json_number(
		    out, "time_ms", (process_time_ns(p, m->tick) + m->after_ns) / NS_PER_MS);
		json_number(out, "kind", m->kind);
		json_text(out, "label", m->label);
		json_end(out);
	}
	json_end(out);
}

static void write_end(struct json *out, const struct process *p)
{
	json_text(out, "end", enum_words_end(p->end));
	json_number_or_null(out, "exit_status", p->exit_status >= 0, (uint64_t)p->exit_status);
	json_number_or_null(out, "signal", p->signal > 0, (uint64_t)p->signal);
}

static int write_group(struct json *out, const struct html_group *g)
{
	const struct process *p = g->process;
	const struct seg_header *h = &p->header;

	json_object(out, NULL);
	json_number(out, "input", g->input);
	json_number(out, "pid", h->pid);
	json_number(out, "ppid", h->ppid);
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
static int write_mappings(struct json *out, const struct html *h, const struct html_group *g)
{
	const struct html_input *in = &h->inputs[g->input];
	struct json_writer w = {0};

	if (!in->names)
		return 0;
	return json_mappings(out, in->view->session, g->process, in->names, in->filters, &w);
}

/* ---- all ---- */

static void write_words(struct json *out)
{
	const struct losses_name *names;
	size_t n;

	names = losses_names(&n);
	json_object(out, "words");
	for (size_t i = 0; i < n; i++) {
		json_line(out);
		json_text(out, names[i].key, names[i].words);
	}
	json_end(out);
}

static void write_strings(struct json *out, const struct html_frames *f)
{
	json_line(out);
	json_rows(out, "strings");
	for (size_t i = 0; i < f->string_count; i++)
		json_text(out, NULL, f->strings[i]);
	json_end(out);
}

/* What "older" means here, and sentences about how well it is known. */
static int write_older(struct json *out, const struct older *o)
{
	char *text = NULL, *rest, *line, age[WORDS_MAX];
	struct older_about a;
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
	json_object(out, "older");
	json_number(out, "asked_ms", a.asked_ns / NS_PER_MS);
	json_number(out, "than_ms", a.age_ns / NS_PER_MS);
	json_text(out, "than", words_time(age, a.age_ns));
	json_list(out, "remarks");
	rest = text;
	while ((line = strsep(&rest, "\n")) != NULL && *line)
		json_text(out, NULL, line);
	json_end(out);
	json_end(out);
	free(text);
	return 0;
}

/* One limit for all inputs: html_write_sessions() has set it. */
static void write_temporary(struct json *out, const struct html *h)
{
	size_t most = 0;

	for (size_t i = 0; i < h->input_count; i++)
		if (h->inputs[i].view->temporary_ticks > h->inputs[most].view->temporary_ticks)
			most = i;
	if (h->input_count > 0)
		json_sites_temporary(out, h->inputs[most].view);
}

/* Of a page with one input: that of the process that had most memory. */
static int write_inventory(struct json *out, const struct html *h)
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
	return found ? inventory_json_page(out, found, found->inventory) : 0;
}

static int write_head(struct json *out, struct html *h)
{
	const struct html_options *o = h->options;
	int err = 0;

	json_object(out, NULL);
	json_number(out, "page", PAGE_VERSION);
	json_text(out, "seep", o->version);
	if (o->refresh)
		json_text(out, "refresh", o->refresh);
	json_text(out, "metric", o->older ? "older" : word_of_metric(o->metric));
	if (err == 0 && o->older)
		err = write_older(out, o->older);
	json_boolean(out, "compare", o->compare);
	json_format(out, "threshold", "%g", h->threshold);
	write_temporary(out, h);
	json_rows(out, "inputs");
	for (size_t i = 0; i < h->input_count; i++)
		write_input(out, h, i);
	json_end(out);
	json_line(out);
	json_rows(out, "processes");
	for (size_t i = 0; i < h->group_count && err == 0; i++) {
		err = write_group(out, &h->groups[i]);
		if (err == 0)
			err = write_mappings(out, h, &h->groups[i]);
		if (err == 0)
			err = html_verdict_group(out, h, i);
		json_end(out);
	}
	json_end(out);
	write_notes(out, o->notes, o->note_count, NULL);
	html_verdict_rows(out, h);
	if (o->census)
		json_copy(out, o->census, strlen(o->census));
	else if (err == 0)
		err = write_inventory(out, h);
	write_words(out);
	write_strings(out, &h->frames);
	html_blob_directory(out, &h->blob);
	return json_finish(out, err);
}

int html_head_write(struct html *h, char **ret, size_t *ret_len)
{
	char *text = NULL;
	size_t len = 0;
	struct json out = {.file = open_memstream(&text, &len)};
	int err;

	if (!out.file)
		return -ENOMEM;
	err = write_head(&out, h);
	if (fclose(out.file) != 0)
		err = -ENOMEM;
	if (err < 0) {
		free(text);
		return err;
	}
	*ret = text;
	*ret_len = len;
	return 0;
}
