/* sites_json.c - the sites of a view as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/processes.h"

#include "base/std.h"
#include "print/json/leaks_json.h"
#include "print/json/json_parts.h"
#include "view/sites/ages.h"
#include "view/stacks/fingerprint.h"
#include "view/sites/enum_words.h"
#include "kit/json/json_put.h"

/*
 * When live blocks were allocated, in equal parts of the process's time. Sites
 * of several processes together have no such time.
 */
static void put_births(struct json *out, const struct process_ages *ages, const struct process *p)
{
	uint64_t slots[SEG_BIRTH_SLOTS];

	if (!p || !ages || !ages->births_known)
		return;
	for (int i = 0; i < SEG_BIRTH_SLOTS; i++)
		slots[i] = ages->births[i];
	json_numbers(out, "live_births", slots, SEG_BIRTH_SLOTS);
}

/* Ages at death; ages, births and sizes of live blocks, if the process has counted them. */
static void put_histograms(
    struct json *out, const struct view_site *s, const struct process *p, bool brief)
{
	uint64_t values[PROCESS_AGES + PROCESS_STEPS + PROCESS_SIZES];
	const struct process_ages *ages = s->ages;

	ages_deaths(s, values);
	if (out->is_reading)
		json_null(out, "ages");
	else
		json_numbers(out, "ages", values, PROCESS_AGES);
	if (ages_young(s, values))
		json_numbers(out, "ages_fine", values, PROCESS_STEPS);
	if (!brief)
		put_births(out, ages, p);
	if (ages && ages->live_ages_known)
		json_numbers(out, "live_ages", ages->living, PROCESS_AGES);
	else
		json_null(out, "live_ages");
	if (brief) /* keys keep their places */
		put_births(out, ages, p);
	if (!ages || !ages->sizes_known) {
		json_null(out, "live_sizes");
		return;
	}
	for (int i = 0; i < PROCESS_SIZES; i++)
		values[i] = ages->sizes[i];
	json_numbers(out, "live_sizes", values, PROCESS_SIZES);
}

/* What all sites of a list have in common. */
struct list {
	const struct view *view;
	const struct process *process; /* NULL: of several together */
	struct fingerprints *prints;
	struct frames_table *frames;
	struct series_list *series;
	const struct older *older;
	bool brief; /* the shared form leaves out values that are null or 0 */
};

static int put_site(struct json *out, const struct list *l, const struct view_site *s)
{
	const struct view_figures *f = &s->figures;
	const struct process *p = l->process;
	struct fingerprint print;
	unsigned brief;
	int err;

	json_object(out, NULL);
	brief = l->brief ? out->depth : 0;
	json_number(out, "id", s->id);
	json_text(out, "kind", enum_words_kind(s->kind));
	json_text(out, "api", enum_words_api(s->api));
	out->brief = brief;
	json_text(out, "pool", s->pool);
	json_figures(out, FIGURES_COUNTED, f);
	json_number(out, "samples", s->samples);
	json_figures_errors(out, s->samples > 0 || (p && p->header.sample_bytes > 0),
	    f->variance_live, f->variance_allocated);
	json_number(out, "size_min", s->size_min);
	json_number(out, "size_max", s->size_max);
	json_time(out, "first_time", s->first_ns);
	json_time(out, "last_time", s->last_ns);
	put_histograms(out, s, p, l->brief);
	json_figures(out, FIGURES_TEMPORARY, f);
	out->brief = 0; /* what is known of it by another reading is there if it is 0, too */
	rss_json_site(out, p, f);
	inventory_json_site(out, p, s->id);
	out->brief = brief;
	if (l->older)
		json_figures(out, FIGURES_OLDER, f);
	log_json_site(out, l->view, s);
	if (!l->brief || s->verdict || s->score) {
		json_key(out, "verdict");
		verdict_json_site(out, l->view, s);
	}
	series_list_put(out, l->series, s->site);
	fingerprints_site(l->prints, s, &print);
	json_format(out, "fingerprint", "\"%016" PRIx64 "\"", print.hash);
	json_text(out, "suppression", s->suppression);
	out->brief = 0;
	json_text(out, "stack", enum_words_stack(s->stack_flags));
	json_number(out, "sites", s->count);
	if (s->own > 0)
		json_number(out, "own", s->own);
	err = frames_table_put(out, l->frames, s);
	json_end(out);
	return err;
}

int json_sites(struct json *out, const struct view *v, const struct process *p,
    struct series_list *series, struct json_writer *w)
{
	enum { SITE_BYTES = 700 }; /* of a site without its frames, about */
	struct list l = {.view = v,
	    .process = p,
	    .series = series,
	    .older = w->older,
	    .brief = w->table != NULL};
	int err = frames_table_new(v, w->table, &l.frames);

	if (err < 0)
		return err;
	err = fingerprints_new(v, &l.prints);
	if (err < 0)
		goto out;
	json_rows(out, "sites");
	for (size_t i = 0; i < v->site_count && !ferror(out->file) && err == 0; i++)
		err = put_site(out, &l, &v->sites[i]);
	json_end(out);
	w->bytes += frames_table_bytes(l.frames) + v->site_count * SITE_BYTES;
out:
	fingerprints_free(l.prints);
	frames_table_free(l.frames);
	return err;
}

void json_sites_temporary(struct json *out, const struct view *v)
{
	json_number_or_null(out, "temporary_within_ms", v->temporary_ticks > 0 && !v->within,
	    ages_temporary_ns(v) / 1000000);
	if (v->within)
		json_number(out, "temporary_within_allocations", lifetimes_within(v->within));
}

void json_sites_sum(struct json *out, const char *name, const struct view_sum *sum)
{
	json_object(out, name);
	json_number(out, "sites", sum->sites);
	json_figures(out, FIGURES_COUNTED | FIGURES_TEMPORARY, &sum->figures);
	json_end(out);
}
