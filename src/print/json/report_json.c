/* report_report_json.c - a session as JSON, whole and stable: keys are only ever added. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/report_json.h"

#include <errno.h>
#include <inttypes.h>

#include "print/json/frames_table.h"
#include "print/json/processes.h"
#include "print/json/program_reports.h"
#include "print/json/sites_json.h"
#include "view/sites/enum_words.h"

/* All processes as one, site by site; null if --merge was not given. */
static int merged(FILE *out, const struct session *s, struct names *names,
    const struct view_options *options, struct json_writer *w)
{
	struct series_list none = {0};
	struct view *v;
	int err;

	json_key(out, "merged");
	if (!options->merge) {
		(void)fputs("null", out);
		return 0;
	}
	err = view_new(s, names, options, &v);
	if (err < 0)
		return err;
	(void)fputs("{\"schema\":1", out);
	json_sites_temporary(out, v);
	json_sites_sum(out, "chosen", &v->chosen);
	json_sites_sum(out, "filtered", &v->filtered);
	json_sites_sum(out, "suppressed", &v->suppressed);
	err = json_sites(out, v, NULL, &none, w);
	(void)putc('}', out);
	view_free(v);
	return err;
}

void report_json_marks(FILE *out, const struct session *s)
{
	(void)fputs(",\"marks\":[", out);
	for (size_t i = 0; i < s->mark_count; i++) {
		const struct session_mark *m = &s->marks[i];

		(void)fprintf(
		    out, "%s{\"time_us\":%" PRIu64 ",\"pid\":%u", i ? "," : "", m->time_us, m->pid);
		json_text(out, "kind", enum_words_mark(m->kind));
		json_text(out, "label", m->label);
		(void)putc('}', out);
	}
	(void)putc(']', out);
}

/* The run as a whole; null if the input is no recording. */
static void recording(FILE *out, const struct session *s)
{
	json_key(out, "recording");
	if (!s->line) {
		(void)fputs("null", out);
		return;
	}
	(void)fprintf(
	    out, "{\"start_ns\":%" PRIu64 ",\"until_us\":%" PRIu64, s->start_ns, s->until_us);
	report_json_marks(out, s);
	(void)putc('}', out);
}

static void notes(FILE *out, const struct session *s, const struct names *names)
{
	char *const *list;
	size_t n = names_notes(names, &list);

	(void)fputs(",\"notes\":[", out);
	for (size_t i = 0; i < s->note_count; i++) {
		if (i)
			(void)putc(',', out);
		json_string(out, s->notes[i]);
	}
	for (size_t i = 0; i < n; i++) {
		if (i || s->note_count)
			(void)putc(',', out);
		json_string(out, list[i]);
	}
	(void)putc(']', out);
}

/*
 * Frames without a name because there was no time or no jail; no key if none.
 */
static void name_gaps(FILE *out, const struct names *names)
{
	struct names_gaps g;

	names_gaps(names, &g);
	if (g.late_frames == 0 && g.unconfined_modules == 0 && g.left_processes == 0)
		return;
	(void)fprintf(out,
	    ",\"names_missing\":{\"late_frames\":%zu,\"late_modules\":%zu,"
	    "\"unconfined_modules\":%zu,\"left_processes\":%zu}",
	    g.late_frames, g.late_modules, g.unconfined_modules, g.left_processes);
}

/* What the reader left out because of its limits; usually there is no key. */
static void reader_lost(FILE *out, const struct session *s)
{
	const struct session_lost *l = &s->lost;

	if (!l->processes && !l->files && !l->marks && !l->points)
		return;
	(void)fprintf(out,
	    ",\"lost\":{\"processes\":%" PRIu64 ",\"files\":%" PRIu64 ",\"marks\":%" PRIu64
	    ",\"points\":%" PRIu64 "}",
	    l->processes, l->files, l->marks, l->points);
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
	static const struct view_options all;
	struct json_writer w = {0};
	struct view_options o = options ? *options : all;
	const char *comma = "";
	int err = 0;

	if (form->shared && frames_table_shared_new(&w.table) < 0)
		return -ENOMEM;
	w.older = o.older;
	o.metric = VIEW_ALL;
	o.all_kinds = true;
	o.keep_suppressed = true;
	(void)fprintf(out, "{\"schema\":%d", JSON_SCHEMA);
	json_text(out, "seep", version);
	json_boolean(out, "complete", !s->is_truncated);
	if (s->early_exec.processes > 0)
		(void)fprintf(out,
		    ",\"early_exec\":{\"processes\":%" PRIu64 ",\"allocations\":%" PRIu64
		    ",\"allocated_bytes\":%" PRIu64 "}",
		    s->early_exec.processes, s->early_exec.allocations,
		    s->early_exec.allocated_bytes);
	if (s->title)
		json_text(out, "reading", s->title);
	reader_lost(out, s);
	recording(out, s);
	program_reports_snapshots(out, s);
	(void)fputs(",\"processes\":[", out);
	for (size_t i = 0; i < s->count && !ferror(out) && err == 0; i++) {
		const struct process *p = s->processes[i];

		if (o.pid != VIEW_ANY && p->header.pid != o.pid)
			continue;
		(void)fputs(comma, out);
		comma = ",";
		err = json_processes_put(out, s, p, names, &o, &w);
	}
	(void)putc(']', out);
	if (err == 0)
		err = merged(out, s, names, &o, &w);
	if (err == 0 && w.table)
		frames_table_shared_put(out, w.table);
	frames_table_shared_free(w.table);
	if (err < 0)
		return err;
	form->bytes = w.bytes;
	notes(out, s, names);
	name_gaps(out, names);
	(void)fputs("}\n", out);
	return ferror(out) ? -EIO : 0;
}
