/* report_report_json.c - a session as JSON, whole and stable: keys are only ever added. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/report_json.h"

#include "print/json/processes.h"
#include "print/json/json_parts.h"
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
