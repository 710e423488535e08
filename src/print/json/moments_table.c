/* moments_table.c - one process at several moments, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/moments_table.h"

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
static int put_changes(struct json *out, const struct snapshots_moment *row, size_t number,
    struct names *names, const struct view_options *options, int mode)
{
	struct view_options o = *options;
	struct view_side before;
	struct view *v;
	int err;

	json_key(out, "since");
	if (mode == SNAPSHOTS_EACH || number == 0) {
		json_null(out, NULL);
		json_null(out, "sites");
		return 0;
	}
	json_number(out, NULL, mode == SNAPSHOTS_DELTAS ? number : 1);
	snapshots_options(row, number, mode, &o, &before);
	err = view_new(row[number].session, names, &o, &v);
	if (err < 0)
		return err;
	err = diff_json_sites(out, v, o.metric);
	view_free(v);
	return err;
}

static int put_row(struct json *out, const struct snapshots_moment *row, size_t count,
    struct names *names, const struct view_options *options, int mode)
{
	const struct process *first = row[0].process;
	int err = 0;

	json_object(out, NULL);
	json_number(out, "pid", first->header.pid);
	json_hex(out, "uuid", first->header.uuid, sizeof(first->header.uuid));
	json_text(out, "exe", first->header.exe);
	json_rows(out, "moments");
	for (size_t i = 0; i < count && err == 0; i++) {
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
		err = put_changes(out, row, i, names, options, mode);
		json_end(out);
	}
	json_end(out);
	json_end(out);
	return err;
}

int moments_table_write(FILE *out, struct session *const *sessions, size_t count,
    struct names *names, const struct view_options *options, int mode, const char *version)
{
	struct json to;
	struct snapshots_moment *list;
	size_t n;
	int err;

	err = snapshots_find(sessions, count, options->pid, &list, &n);
	if (err < 0)
		return err;
	to = json_begin(out, version);
	json_text(&to, "kind", mode_word(mode));
	json_list(&to, "processes");
	for (size_t i = 0; i < n && err == 0;) {
		size_t row = snapshots_row(list + i, n - i);
		err = put_row(&to, list + i, row, names, options, mode);
		i += row;
	}
	free(list);
	return json_finish(&to, err);
}
