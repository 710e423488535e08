/* program_reports.c - what programs reported through seep.h, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/json_parts.h"

#include "print/json/processes.h"
#include "kit/json/json_put.h"
#include "view/sites/enum_words.h"

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
