/* moments_table.c - one process at several moments, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/moments_table.h"

#include <errno.h>
#include <stdlib.h>

#include "print/json/figures.h"
#include "print/json/report_json.h"

static void put_row(FILE *out, const struct snapshots_moment *row, size_t count)
{
	const struct process *first = row[0].process;

	(void)fprintf(out, "{\"pid\":%u", first->header.pid);
	json_hex(out, "uuid", first->header.uuid, sizeof(first->header.uuid));
	json_text(out, "exe", first->header.exe);
	(void)fputs(",\"moments\":[", out);
	for (size_t i = 0; i < count; i++) {
		const struct process *p = row[i].process;

		(void)fprintf(out, "%s{\"number\":%zu", i ? ",\n" : "\n", i + 1);
		json_text(out, "label", p->is_snapshot ? p->header.snapshot_label : NULL);
		json_boolean(out, "snapshot", p->is_snapshot);
		json_time(out, "time", row[i].time_ns);
		json_number(
		    out, "after_ms", (row[i].time_ns - first->header.start_realtime_ns) / 1000000);
		(void)fprintf(out, ",\"totals\":{\"sites\":%zu", p->site_count);
		json_figures(out, &p->totals);
		(void)fputs("},\"since\":null,\"sites\":null}", out);
	}
	(void)fputs("]}", out);
}

int moments_table_write(
    FILE *out, struct session *const *sessions, size_t count, uint32_t pid, const char *version)
{
	struct snapshots_moment *list;
	const char *comma = "";
	size_t n;
	int err;

	err = snapshots_find(sessions, count, pid, &list, &n);
	if (err < 0)
		return err;
	(void)fprintf(out, "{\"schema\":%d", JSON_SCHEMA);
	json_text(out, "seep", version);
	json_text(out, "kind", "snapshots");
	(void)fputs(",\"processes\":[", out);
	for (size_t i = 0; i < n;) {
		size_t row = snapshots_row(list + i, n - i);

		(void)fputs(comma, out);
		comma = ",";
		put_row(out, list + i, row);
		i += row;
	}
	(void)fputs("]}\n", out);
	free(list);
	return ferror(out) ? -EIO : 0;
}
