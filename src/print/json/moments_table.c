/* moments_table.c - one process at several moments, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/moments_table.h"

#include <errno.h>
#include <stdlib.h>

#include "print/json/diff_json.h"
#include "print/json/figures.h"
#include "print/json/report_json.h"

/* "snapshots", "deltas", "cumulative" */
static const char *mode_word(int mode)
{
	return mode == SNAPSHOTS_EACH  ? "snapshots"
	    : mode == SNAPSHOTS_DELTAS ? "deltas"
	                               : "cumulative";
}

/* The changes since another moment: ,"since":1,"metric":... or nulls. */
static int put_changes(FILE *out, const struct snapshots_moment *row, size_t number,
    struct names *names, const struct view_options *options, int mode)
{
	struct view_options o = *options;
	struct view_side before;
	struct view *v;
	int err;

	json_key(out, "since");
	if (mode == SNAPSHOTS_EACH || number == 0) {
		(void)fputs("null,\"sites\":null", out);
		return 0;
	}
	(void)fprintf(out, "%zu", mode == SNAPSHOTS_DELTAS ? number : 1);
	snapshots_options(row, number, mode, &o, &before);
	err = view_new(row[number].session, names, &o, &v);
	if (err < 0)
		return err;
	err = diff_json_sites(out, v, o.metric);
	view_free(v);
	return err;
}

static int put_row(FILE *out, const struct snapshots_moment *row, size_t count, struct names *names,
    const struct view_options *options, int mode)
{
	const struct process *first = row[0].process;
	int err = 0;

	(void)fprintf(out, "{\"pid\":%u", first->header.pid);
	json_hex(out, "uuid", first->header.uuid, sizeof(first->header.uuid));
	json_text(out, "exe", first->header.exe);
	(void)fputs(",\"moments\":[", out);
	for (size_t i = 0; i < count && err == 0; i++) {
		const struct process *p = row[i].process;

		(void)fprintf(out, "%s{\"number\":%zu", i ? ",\n" : "\n", i + 1);
		json_text(out, "label", p->is_snapshot ? p->header.snapshot_label : NULL);
		json_boolean(out, "snapshot", p->is_snapshot);
		json_time(out, "time", row[i].time_ns);
		json_number(
		    out, "after_ms", (row[i].time_ns - first->header.start_realtime_ns) / 1000000);
		(void)fprintf(out, ",\"totals\":{\"sites\":%zu", p->site_count);
		json_figures(out, &p->totals);
		(void)putc('}', out);
		err = put_changes(out, row, i, names, options, mode);
		(void)putc('}', out);
	}
	(void)fputs("]}", out);
	return err;
}

int moments_table_write(FILE *out, struct session *const *sessions, size_t count,
    struct names *names, const struct view_options *options, int mode, const char *version)
{
	struct snapshots_moment *list;
	const char *comma = "";
	size_t n;
	int err;

	err = snapshots_find(sessions, count, options->pid, &list, &n);
	if (err < 0)
		return err;
	(void)fprintf(out, "{\"schema\":%d", JSON_SCHEMA);
	json_text(out, "seep", version);
	json_text(out, "kind", mode_word(mode));
	(void)fputs(",\"processes\":[", out);
	for (size_t i = 0; i < n && err == 0;) {
		size_t row = snapshots_row(list + i, n - i);

		(void)fputs(comma, out);
		comma = ",";
		err = put_row(out, list + i, row, names, options, mode);
		i += row;
	}
	(void)fputs("]}\n", out);
	free(list);
	return err < 0 ? err : ferror(out) ? -EIO : 0;
}
