/* processes.c - one process as JSON, with its totals, modules and sites. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/processes.h"

#include "base/std.h"
#include "kit/json/json_put.h"
#include "names/find/program.h"
#include "print/json/json_parts.h"
#include "segments/read/losses.h"
#include "view/sites/enum_words.h"

void json_processes_command(struct json *out, const struct seg_header *h)
{
	const char *p = h->command, *end = p + sizeof(h->command);

	json_list(out, "command");
	/* an empty argument differs from the end by the bytes after it */
	while (p < end && (*p || (p + 1 < end && p[1]))) {
		json_text(out, NULL, p);
		p += strnlen(p, (size_t)(end - p)) + 1;
	}
	json_end(out);
}

void json_processes_place(struct json *out, const struct seg_header *h)
{
	char text[REFUSED_DIRECTORY_BYTES];

	if (!refused_directory(h, text, sizeof(text)))
		return;
	json_object(out, "place_refused");
	json_text(out, "asked", h->place_asked);
	json_text(out, "reason", refused_directory_reason(h->place_refused));
	json_number(out, "detail", h->place_detail);
	json_text(out, "text", text);
	json_text(out, "setting", refused_directory_setting(h));
	json_end(out);
}

void json_processes_counts(
    struct json *out, const char *name, const struct seg_header *h, int class)
{
	const struct losses_name *names;
	size_t n;

	names = losses_names(&n);
	json_object(out, name);
	for (size_t i = 0; i < n; i++) {
		if ((int)names[i].class != class)
			continue;
		json_number(out, names[i].key, h->counts[names[i].count]);
	}
	json_end(out);
}

static void totals(struct json *out, const struct process *p)
{
	const struct losses_name *names;
	size_t n;

	json_object(out, "totals");
	json_number(out, "sites", p->site_count);
	json_figures(out, FIGURES_COUNTED, &p->totals);
	json_figures_errors(out, p->header.sample_bytes > 0, process_variance_live(p),
	    process_variance_allocated(p));
	json_boolean(out, "peak_exact", p->peak_exact);
	names = losses_names(&n);
	for (size_t i = 0; i < n; i++)
		if (names[i].class == LOSSES_TOTAL)
			json_number(out, names[i].key, p->header.counts[names[i].count]);
	json_end(out);
}

static void modules(struct json *out, const struct process *p)
{
	json_list(out, "modules");
	for (size_t i = 1; i < p->module_count; i++) {
		const struct process_module *m = &p->modules[i];

		if (m->end == 0)
			continue;
		json_object(out, NULL);
		json_number(out, "number", i);
		json_text(out, "path", m->path);
		json_hex(out, "build_id", m->build_id, m->build_id_bytes);
		json_number(out, "base", m->base);
		json_number(out, "start", m->start);
		json_number(out, "end", m->end);
		json_number(out, "generation", m->generation);
		json_boolean(out, "main", m->is_main);
		json_end(out);
	}
	json_end(out);
}

static void inherited(struct json *out, const struct process *p)
{
	json_list(out, "inherited");
	for (size_t i = 0; i < p->inherited_count; i++)
		JSON_OBJECT(out, NULL, {"id", p->inherited[i].id}, {"frees", p->inherited[i].frees},
		    {"freed_bytes", p->inherited[i].freed_bytes});
	json_end(out);
}

static void marks(struct json *out, const struct process *p)
{
	json_list(out, "marks");
	for (size_t i = 0; i < p->mark_count; i++) {
		const struct seg_mark *m = &p->marks[i];

		json_object(out, NULL);
		json_number(out, "sequence", m->sequence);
		json_number(out, "kind", m->kind);
		json_text(out, "label", m->label);
		json_time(out, "time", process_time_ns(p, m->tick) + m->after_ns);
		json_end(out);
	}
	json_end(out);
}

static void identity(struct json *out, const struct process *p)
{
	const struct seg_header *h = &p->header;

	json_object(out, NULL);
	json_number(out, "pid", h->pid);
	json_number(out, "ppid", h->ppid);
	json_hex(out, "uuid", h->uuid, sizeof(h->uuid));
	json_hex(out, "parent", h->parent_uuid, sizeof(h->parent_uuid));
	json_text(out, "program", program_name(h));
	json_text(out, "exe", h->exe);
	json_text(out, "start_dir", h->start_dir[0] ? h->start_dir : NULL);
	json_processes_command(out, h);
	json_boolean(out, "command_truncated", h->command_truncated != 0);
	json_time(out, "start", h->start_realtime_ns);
	json_number(out, "start_ns", h->start_realtime_ns);
	json_number(out, "duration_ms", p->duration_ns / 1000000);
	if (process_knows_births(p))
		json_number(
		    out, "live_births_ms", ((uint64_t)p->births_until + 1) * SEG_TICK_NS / 1000000);
	json_text(out, "end", enum_words_end(p->end));
	json_number_or_null(out, "exit_status", p->exit_status >= 0, (uint64_t)p->exit_status);
	json_number_or_null(out, "signal", p->signal > 0, (uint64_t)p->signal);
	if (p->is_out_of_memory)
		json_boolean(out, "out_of_memory", true);
	json_text(out, "mode", enum_words_mode(h->mode));
	json_text(out, "state", enum_words_state(h->state));
	json_text(out, "inert_reason",
	    h->state == SEG_INERT || h->inert_reason != SEG_INERT_NONE
	        ? losses_inert(h->inert_reason)
	        : NULL);
	if (h->inert_reason == SEG_INERT_PLACE)
		json_number(out, "place_owner", h->place_owner);
	json_processes_place(out, h);
	json_number(out, "sample_bytes", h->sample_bytes);
	json_text(out, "medium", enum_words_medium(h->medium));
	json_number(out, "first_id", h->first_id);
	json_text(out, "session", h->session);
	json_number(out, "sequence", h->sequence);
	json_number(out, "threads", h->threads);
	json_number(out, "max_frames", h->max_frames);
	json_boolean(out, "snapshot", p->is_snapshot);
	program_reports_snapshot(out, h);
	json_boolean(out, "end_state", !p->is_unfinished);
	json_number_or_null(out, "as_of_us", p->is_unfinished, p->as_of_us);
	json_text(out, "live_map", enum_words_cross_check(p->live_map));
	if (out->is_reading)
		json_null(out, "peak_time");
	else
		json_time(out, "peak_time", process_time_ns(p, h->peak_tick));
	JSON_OBJECT(out, "tables", {"total_bytes", h->total_bytes}, {"used_bytes", h->used_bytes},
	    {"own_bytes", h->own_bytes});
}

int json_processes_put(struct json *out, const struct session *s, const struct process *p,
    struct names *names, const struct view_options *options, struct json_writer *w)
{
	struct view_options o = *options;
	struct series_list series;
	struct view *v;
	int err;

	o.only = p;
	o.group = o.merge = false;
	err = view_new(s, names, &o, &v);
	if (err < 0)
		return err;
	identity(out, p);
	json_processes_counts(out, "lost", &p->header, LOSSES_LOSS);
	json_processes_counts(out, "counts", &p->header, LOSSES_FACT);
	totals(out, p);
	program_reports_pools(out, p);
	modules(out, p);
	inherited(out, p);
	marks(out, p);
	series_put(out, "timeline", p->points, p->point_count);
	json_sites_temporary(out, v);
	json_sites_sum(out, "filtered", &v->filtered);
	json_sites_sum(out, "suppressed", &v->suppressed);
	json_older_process(out, o.older, p);
	log_json_process(out, p);
	verdict_json_process(out, s, p);
	score_json_process(out, s, p);
	rss_json_process(out, p);
	series_list_init(&series, s, p);
	err = json_sites(out, v, p, &series, w);
	series_list_release(&series);
	if (err == 0)
		err = json_mappings(out, s, p, names, options, w);
	view_free(v);
	json_end(out);
	return err;
}

/* ---- program_reports: what programs reported through seep.h, as JSON ---- */

static void snapshot_info(struct json *out, const struct seg_header *h)
{
	if (h->snapshot_reason == SEG_SNAPSHOT_NONE) {
		json_null(out, "snapshot_info");
		return;
	}
	json_object(out, "snapshot_info");
	json_number(out, "number", h->snapshot_number);
	json_text(out, "label", h->snapshot_label);
	json_text(out, "reason", enum_words_snapshot(h->snapshot_reason));
	json_time(out, "time", h->snapshot_realtime_ns);
	json_number(out, "time_ns", h->snapshot_realtime_ns);
	json_end(out);
}

static void snapshot_signal(struct json *out, const struct seg_header *h)
{
	static const char *const states[] = {
	    [SEG_SIGNAL_INSTALLED] = "installed",
	    [SEG_SIGNAL_UNFIT] = "unfit",
	    [SEG_SIGNAL_TAKEN] = "taken",
	    [SEG_SIGNAL_FAILED] = "failed",
	};
	uint32_t state = h->signal_state;

	if (state == SEG_SIGNAL_NONE) {
		json_null(out, "snapshot_signal");
		return;
	}
	json_object(out, "snapshot_signal");
	json_number(out, "number", h->signal);
	json_text(
	    out, "state", state < sizeof(states) / sizeof(states[0]) ? states[state] : "other");
	json_end(out);
}

void program_reports_snapshot(struct json *out, const struct seg_header *h)
{
	snapshot_info(out, h);
	snapshot_signal(out, h);
	if (h->snapshot_error)
		json_number(out, "snapshot_error", h->snapshot_error);
}

void program_reports_snapshots(struct json *out, const struct session *s)
{
	json_list(out, "snapshots");
	for (size_t i = 0; i < s->snapshot_count; i++) {
		const struct session_snapshot *x = &s->snapshots[i];

		json_object(out, NULL);
		json_number(out, "pid", x->pid);
		json_hex(out, "uuid", x->uuid, sizeof(x->uuid));
		json_number(out, "number", x->number);
		json_text(out, "label", x->label);
		json_text(out, "reason", enum_words_snapshot(x->reason));
		json_time(out, "time", x->time_ns);
		json_number(out, "time_ns", x->time_ns);
		json_text(out, "path", x->path);
		json_end(out);
	}
	json_end(out);
}

void program_reports_pools(struct json *out, const struct process *p)
{
	json_list(out, "pools");
	for (size_t i = 0; i < p->pool_count; i++) {
		const struct process_pool *pool = &p->pools[i];

		json_object(out, NULL);
		json_text(out, "name", pool->name);
		json_number(out, "sites", pool->site_count);
		json_figures(out, FIGURES_COUNTED, &pool->figures);
		json_end(out);
	}
	json_end(out);
}
