/* moments_table.c - one process at several moments, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/report_json.h"

#include "print/json/processes.h"

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
