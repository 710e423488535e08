/* report_json.c - a session as JSON, whole and stable: keys are only ever added. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/report_json.h"

#include "kit/json/json_put.h"
#include "print/json/json_parts.h"
#include "print/json/processes.h"
#include "session/process/stacks.h"
#include "view/sites/enum_words.h"

/* All processes as one, site by site; null if --merge was not given. */
static int merged(struct json *out, const struct session *s, struct names *names,
    const struct view_options *options, struct json_writer *w)
{
	struct series_list none = {0};
	struct view *v;
	int err;

	json_key(out, "merged");
	if (!options->merge) {
		json_null(out, NULL);
		return 0;
	}
	err = view_new(s, names, options, &v);
	if (err < 0)
		return err;
	json_object(out, NULL);
	json_number(out, "schema", 1);
	json_sites_temporary(out, v);
	json_sites_sum(out, "chosen", &v->chosen);
	json_sites_sum(out, "filtered", &v->filtered);
	json_sites_sum(out, "suppressed", &v->suppressed);
	err = json_sites(out, v, NULL, &none, w);
	json_end(out);
	view_free(v);
	return err;
}

void report_json_marks(struct json *out, const struct session *s)
{
	json_list(out, "marks");
	for (size_t i = 0; i < s->mark_count; i++) {
		const struct session_mark *m = &s->marks[i];

		json_object(out, NULL);
		json_number(out, "time_us", m->time_us);
		json_number(out, "pid", m->pid);
		json_text(out, "kind", enum_words_mark(m->kind));
		json_text(out, "label", m->label);
		json_end(out);
	}
	json_end(out);
}

/* The run as a whole; null if the input is no recording. */
static void recording(struct json *out, const struct session *s)
{
	if (!s->line) {
		json_null(out, "recording");
		return;
	}
	json_object(out, "recording");
	json_number(out, "start_ns", s->start_ns);
	json_number(out, "until_us", s->until_us);
	report_json_marks(out, s);
	json_end(out);
}

static void notes(struct json *out, const struct session *s, const struct names *names)
{
	char *const *list;
	size_t n = names_notes(names, &list);

	json_list(out, "notes");
	for (size_t i = 0; i < s->note_count; i++)
		json_text(out, NULL, s->notes[i]);
	for (size_t i = 0; i < n; i++)
		json_text(out, NULL, list[i]);
	json_end(out);
}

/*
 * Frames without a name because there was no time or no jail; no key if none.
 */
static void name_gaps(struct json *out, const struct names *names)
{
	struct names_gaps g;

	names_gaps(names, &g);
	if (g.late_frames == 0 && g.unconfined_modules == 0 && g.left_processes == 0)
		return;
	JSON_OBJECT(out, "names_missing", {"late_frames", g.late_frames},
	    {"late_modules", g.late_modules}, {"unconfined_modules", g.unconfined_modules},
	    {"left_processes", g.left_processes});
}

/* What the reader left out because of its limits; usually there is no key. */
static void reader_lost(struct json *out, const struct session *s)
{
	const struct session_lost *l = &s->lost;

	if (!l->processes && !l->files && !l->marks && !l->points)
		return;
	JSON_OBJECT(out, "lost", {"processes", l->processes}, {"files", l->files},
	    {"marks", l->marks}, {"points", l->points});
}

int report_json_write(FILE *out, const struct session *s, struct names *names,
    const struct view_options *options, const char *version)
{
	struct json_form whole = {0};

	return report_json_write_form(out, s, names, options, version, &whole);
}

int report_json_write_form(FILE *out, const struct session *s, struct names *names,
    const struct view_options *options, const char *version, struct json_form *form)
{
	struct json to;
	static const struct view_options all;
	struct json_writer w = {0};
	struct view_options o = options ? *options : all;
	int err = 0;

	if (form->shared && frames_table_shared_new(&w.table) < 0)
		return -ENOMEM;
	w.older = o.older;
	o.metric = VIEW_ALL;
	o.all_kinds = true;
	o.keep_suppressed = true;
	to = json_begin(out, version);
	json_boolean(&to, "complete", !s->is_truncated);
	if (s->early_exec.processes > 0)
		JSON_OBJECT(&to, "early_exec", {"processes", s->early_exec.processes},
		    {"allocations", s->early_exec.allocations},
		    {"allocated_bytes", s->early_exec.allocated_bytes});
	to.is_reading = s->title != NULL;
	if (s->title)
		json_text(&to, "reading", s->title);
	reader_lost(&to, s);
	recording(&to, s);
	program_reports_snapshots(&to, s);
	json_list(&to, "processes");
	for (size_t i = 0; i < s->count && !ferror(out) && err == 0; i++) {
		const struct process *p = s->processes[i];

		if (o.pid != VIEW_ANY && p->header.pid != o.pid)
			continue;
		err = json_processes_put(&to, s, p, names, &o, &w);
	}
	json_end(&to);
	if (err == 0)
		err = merged(&to, s, names, &o, &w);
	if (err == 0 && w.table)
		frames_table_shared_put(&to, w.table);
	frames_table_shared_free(w.table);
	if (err < 0)
		return err;
	form->bytes = w.bytes;
	notes(&to, s, names);
	name_gaps(&to, names);
	return json_finish(&to, 0);
}

/* ---- growth_json: what grew between two moments, as JSON ---- */

static int put_stretch(struct json *out, const struct session *s, struct growth_stretch *x,
    struct names *names, const struct view_options *options)
{
	const struct seg_header *h = &x->process->header;
	struct view *v = NULL;
	int err = growth_view(x, s, names, options, &v);

	if (err == 0) {
		json_object(out, NULL);
		json_number(out, "pid", h->pid);
		json_hex(out, "uuid", h->uuid, sizeof(h->uuid));
		json_text(out, "exe", h->exe);
		json_number(out, "from_us", x->from_us);
		json_number(out, "to_us", x->to_us);
		err = diff_json_sites(out, v, options->metric);
		json_end(out);
	}
	view_free(v);
	growth_release(x);
	return err;
}

int growth_json_write(FILE *out, const struct session *s, struct names *names,
    const struct view_options *options, const struct growth_moment *from,
    const struct growth_moment *to, const char *version)
{
	struct json j;
	struct growth_stretch *list;
	size_t n;
	int err;

	err = growth_stretches(s, options->pid, from, to, &list, &n);
	if (err < 0)
		return err;
	j = json_begin(out, version);
	json_text(&j, "kind", "growth");
	json_list(&j, "processes");
	for (size_t i = 0; i < n && i < GROWTH_PROCESSES && err == 0; i++)
		err = put_stretch(&j, s, &list[i], names, options);
	json_end(&j);
	json_number(&j, "more_processes", n > GROWTH_PROCESSES ? n - GROWTH_PROCESSES : 0);
	free(list);
	return json_finish(&j, err);
}

/* ---- moments_table: one process at several moments, as JSON ---- */

static void put_row(struct json *out, const struct snapshots_moment *row, size_t count)
{
	const struct process *first = row[0].process;

	json_object(out, NULL);
	json_number(out, "pid", first->header.pid);
	json_hex(out, "uuid", first->header.uuid, sizeof(first->header.uuid));
	json_text(out, "exe", first->header.exe);
	json_rows(out, "moments");
	for (size_t i = 0; i < count; i++) {
		const struct process *p = row[i].process;

		json_object(out, NULL);
		json_number(out, "number", i + 1);
		json_text(out, "label", p->is_snapshot ? p->header.snapshot_label : NULL);
		json_boolean(out, "snapshot", p->is_snapshot);
		json_time(out, "time", row[i].time_ns);
		json_number(
		    out, "after_ms", (row[i].time_ns - first->header.start_realtime_ns) / 1000000);
		json_object(out, "totals");
		json_number(out, "sites", p->site_count);
		json_figures(out, FIGURES_COUNTED, &p->totals);
		json_end(out);
		json_null(out, "since");
		json_null(out, "sites");
		json_end(out);
	}
	json_end(out);
	json_end(out);
}

int moments_table_write(
    FILE *out, struct session *const *sessions, size_t count, uint32_t pid, const char *version)
{
	struct json to;
	struct snapshots_moment *list;
	size_t n;
	int err;

	err = snapshots_find(sessions, count, pid, &list, &n);
	if (err < 0)
		return err;
	to = json_begin(out, version);
	json_text(&to, "kind", "snapshots");
	json_list(&to, "processes");
	for (size_t i = 0; i < n;) {
		size_t row = snapshots_row(list + i, n - i);

		put_row(&to, list + i, row);
		i += row;
	}
	free(list);
	return json_finish(&to, 0);
}

/* ---- json_size: estimates the size of JSON before it is written ---- */

enum {
	SITE_BYTES = 700,  /* of a site without its frames, about */
	FRAME_BYTES = 110, /* of a frame without its texts */
	ROUGH_BYTES = 400, /* of a frame with them */
};

static bool is_wanted(const struct process *p, const struct view_options *o)
{
	return o->pid == VIEW_ANY || p->header.pid == o->pid;
}

/* Uses the number of frames alone. */
static uint64_t rough(const struct session *s, const struct view_options *o)
{
	static uint64_t frames[STACKS_MAX_FRAMES];
	uint64_t bytes = 0;
	uint32_t flags;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = s->processes[i];

		for (size_t k = 0; is_wanted(p, o) && k < p->site_count; k++)
			bytes += SITE_BYTES +
			    ROUGH_BYTES *
			        stacks_frames(p->stacks, p->sites[k].stack, frames,
			            STACKS_MAX_FRAMES, &flags);
	}
	return o->merge ? 2 * bytes : bytes;
}

static uint64_t text_bytes(const char *text)
{
	return text ? strlen(text) : 0;
}

static int size_of_view(const struct view *v, uint64_t *bytes)
{
	uint32_t *lengths = calloc(v->frame_count + 1, sizeof(*lengths));

	if (!lengths)
		return -ENOMEM;
	for (size_t i = 0; i < v->frame_count; i++) {
		const struct frame *f = &v->frames[i];

		lengths[i] = (uint32_t)(FRAME_BYTES + text_bytes(f->function) +
		    text_bytes(f->symbol) + text_bytes(f->file) + text_bytes(f->module));
	}
	for (size_t i = 0; i < v->site_count; i++) {
		*bytes += SITE_BYTES;
		for (uint32_t k = 0; k < v->sites[i].frame_count; k++)
			*bytes += lengths[v->sites[i].frames[k]];
	}
	free(lengths);
	return 0;
}

int json_size(const struct session *s, struct names *names, const struct view_options *options,
    uint64_t enough, uint64_t *ret)
{
	struct view_options o = *options;
	uint64_t bytes = 0;
	int err = 0;

	*ret = rough(s, options);
	if (*ret < enough / 4)
		return 0;
	o.metric = VIEW_ALL;
	o.all_kinds = o.keep_suppressed = true;
	o.group = o.merge = false;
	for (size_t i = 0; i < s->count && err == 0; i++) {
		struct view *v;

		o.only = s->processes[i];
		if (!is_wanted(o.only, options))
			continue;
		err = view_new(s, names, &o, &v);
		if (err < 0)
			return err;
		err = size_of_view(v, &bytes);
		view_free(v);
	}
	*ret = options->merge ? 2 * bytes : bytes;
	return err;
}
