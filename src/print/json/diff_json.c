/* diff_json.c - two inputs compared, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/report_json.h"

#include "print/json/processes.h"
#include "view/sites/amount.h"
#include "print/text/body.h"

static const char *const metrics[] = {
    [VIEW_LIVE] = "live",
    [VIEW_PEAK] = "peak",
    [VIEW_ALLOCS] = "allocs",
    [VIEW_TEMPORARY] = "temporary",
};

/* A number with its sign. */
static void put_amount(struct json *out, const char *name, const struct amount *a)
{
	uint64_t n = a->plus >= a->minus ? a->plus - a->minus : a->minus - a->plus;

	json_format(out, name, "%s%" PRIu64, a->minus > a->plus ? "-" : "", n);
}

static void put_figures(struct json *out, const char *name, const struct view_figures *f)
{
	json_object(out, name);
	json_figures(out, FIGURES_TEMPORARY, f);
	json_figures(out, FIGURES_COUNTED, f);
	json_end(out);
}

/* A site and how it changed. */
struct row {
	const struct view_site *site;
	struct amounts amounts;
};

static int larger(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int n = amounts_compare(&x->amounts, &y->amounts, AMOUNT_BYTES);

	return n ? n : (x->site > y->site) - (x->site < y->site);
}

static void put_site(struct json *out, const struct row *row, const struct amounts *all, int metric,
    struct frames_table *frames)
{
	const struct view_site *s = row->site;
	struct amounts a = row->amounts;

	json_object(out, NULL);
	json_text(out, "change", table_text_change(s, metric));
	put_amount(out, "bytes", &a.bytes);
	put_amount(out, "blocks", &a.blocks);
	put_amount(out, "allocations", &a.calls);
	json_fraction(out, "share", 6, amount_share(&a.bytes, &all->bytes) / 100);
	if (a.variance > 0)
		JSON_OBJECT(out, "error", {"bytes", process_error(a.variance)});
	else
		json_null(out, "error");
	json_text(out, "kind", enum_words_kind(s->kind));
	json_text(out, "api", enum_words_api(s->api));
	json_number(out, "sites", s->count);
	put_figures(out, "before", &s->before);
	put_figures(out, "after", &s->figures);
	(void)frames_table_put(out, frames, s); /* full frames: cannot fail */
	json_end(out);
}

static void put_changes(struct json *out, const struct view *v, int metric)
{
	static const char *const words[] = {"new", "gone", "grown", "shrunk"};
	size_t counts[4] = {0};

	for (size_t i = 0; i < v->site_count; i++)
		for (size_t k = 0; k < 4; k++)
			counts[k] += strcmp(table_text_change(&v->sites[i], metric), words[k]) == 0;
	json_object(out, "changes");
	for (size_t k = 0; k < 4; k++)
		json_number(out, words[k], counts[k]);
	json_number(out, "unchanged", v->unchanged);
	json_end(out);
}

int diff_json_sites(struct json *out, const struct view *v, int metric)
{
	struct row *rows = calloc(v->site_count + 1, sizeof(*rows));
	struct frames_table *frames;
	struct amounts all;
	int err = rows ? frames_table_new(v, NULL, &frames) : -ENOMEM;

	if (err < 0) {
		free(rows);
		return err;
	}
	for (size_t i = 0; i < v->site_count; i++) {
		rows[i].site = &v->sites[i];
		amounts_of(v, &v->sites[i], metric, &rows[i].amounts);
	}
	qsort(rows, v->site_count, sizeof(*rows), larger);
	amounts_whole(v, metric, &all);
	json_text(out, "metric", metrics[metric]);
	json_sites_temporary(out, v);
	put_amount(out, "bytes", &all.bytes);
	put_amount(out, "blocks", &all.blocks);
	put_amount(out, "allocations", &all.calls);
	json_number(out, "changed_bytes",
	    all.bytes.plus > UINT64_MAX - all.bytes.minus ? UINT64_MAX
	                                                  : all.bytes.plus + all.bytes.minus);
	put_changes(out, v, metric);
	json_rows(out, "sites");
	for (size_t i = 0; i < v->site_count && !ferror(out->file); i++)
		put_site(out, &rows[i], &all, metric, frames);
	json_end(out);
	free(rows);
	frames_table_free(frames);
	return 0;
}

static void put_side(struct json *out, const char *name, const struct diff_side *side, uint32_t pid)
{
	json_object(out, name);
	json_text(out, "input", side->name);
	json_list(out, "processes");
	for (size_t i = 0; i < side->session->count; i++) {
		const struct process *p = side->session->processes[i];

		if ((side->only && side->only != p) || (pid != VIEW_ANY && p->header.pid != pid))
			continue;
		json_object(out, NULL);
		json_number(out, "pid", p->header.pid);
		json_hex(out, "uuid", p->header.uuid, sizeof(p->header.uuid));
		json_text(out, "exe", p->header.exe);
		json_number(out, "duration_ms", p->duration_ns / 1000000);
		json_text(out, "label", p->is_snapshot ? p->header.snapshot_label : NULL);
		json_object(out, "totals");
		json_number(out, "sites", p->site_count);
		json_figures(out, FIGURES_COUNTED, &p->totals);
		json_end(out);
		json_end(out);
	}
	json_end(out);
	json_end(out);
}

int diff_json_write(FILE *out, const struct diff_side *old, const struct diff_side *new,
    struct names *names, const struct view_options *options, const char *version)
{
	struct json to;
	struct view *v;
	int err;

	err = diff_view(old, new, names, options, &v);
	if (err < 0)
		return err;
	to = json_begin(out, version);
	json_text(&to, "kind", "diff");
	put_side(&to, "old", old, options->pid);
	put_side(&to, "new", new, options->pid);
	err = diff_json_sites(&to, v, options->metric);
	view_free(v);
	return json_finish(&to, err);
}
