/* program_reports.c - what programs reported through seep.h, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/program_reports.h"

#include "print/json/figures.h"
#include "kit/json/json_put.h"
#include "view/sites/enum_words.h"

static void snapshot_info(FILE *out, const struct seg_header *h)
{
	json_key(out, "snapshot_info");
	if (h->snapshot_reason == SEG_SNAPSHOT_NONE) {
		(void)fputs("null", out);
		return;
	}
	(void)fprintf(out, "{\"number\":%u", h->snapshot_number);
	json_text(out, "label", h->snapshot_label);
	json_text(out, "reason", enum_words_snapshot(h->snapshot_reason));
	json_time(out, "time", h->snapshot_realtime_ns);
	json_number(out, "time_ns", h->snapshot_realtime_ns);
	(void)putc('}', out);
}

static void snapshot_signal(FILE *out, const struct seg_header *h)
{
	static const char *const states[] = {
	    [SEG_SIGNAL_INSTALLED] = "installed",
	    [SEG_SIGNAL_UNFIT] = "unfit",
	    [SEG_SIGNAL_TAKEN] = "taken",
	    [SEG_SIGNAL_FAILED] = "failed",
	};
	uint32_t state = h->signal_state;

	json_key(out, "snapshot_signal");
	if (state == SEG_SIGNAL_NONE) {
		(void)fputs("null", out);
		return;
	}
	(void)fprintf(out, "{\"number\":%u", h->signal);
	json_text(
	    out, "state", state < sizeof(states) / sizeof(states[0]) ? states[state] : "other");
	(void)putc('}', out);
}

void program_reports_snapshot(FILE *out, const struct seg_header *h)
{
	snapshot_info(out, h);
	snapshot_signal(out, h);
	if (h->snapshot_error)
		json_number(out, "snapshot_error", h->snapshot_error);
}

void program_reports_snapshots(FILE *out, const struct session *s)
{
	(void)fputs(",\"snapshots\":[", out);
	for (size_t i = 0; i < s->snapshot_count; i++) {
		const struct session_snapshot *x = &s->snapshots[i];

		(void)fprintf(out, "%s{\"pid\":%u", i ? "," : "", x->pid);
		json_hex(out, "uuid", x->uuid, sizeof(x->uuid));
		json_number(out, "number", x->number);
		json_text(out, "label", x->label);
		json_text(out, "reason", enum_words_snapshot(x->reason));
		json_time(out, "time", x->time_ns);
		json_number(out, "time_ns", x->time_ns);
		json_text(out, "path", x->path);
		(void)putc('}', out);
	}
	(void)putc(']', out);
}

void program_reports_pools(FILE *out, const struct process *p)
{
	(void)fputs(",\"pools\":[", out);
	for (size_t i = 0; i < p->pool_count; i++) {
		const struct process_pool *pool = &p->pools[i];

		(void)fputs(i ? ",{\"name\":" : "{\"name\":", out);
		json_string(out, pool->name);
		json_number(out, "sites", pool->site_count);
		json_figures(out, &pool->figures);
		(void)putc('}', out);
	}
	(void)putc(']', out);
}
