/* sites_json.c - the sites of a view as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/sites_json.h"

#include <inttypes.h>

#include "print/json/figures.h"
#include "print/json/inventory_json.h"
#include "print/json/log_json.h"
#include "print/json/rss_json.h"
#include "print/json/verdict_json.h"
#include "view/sites/ages.h"
#include "view/stacks/fingerprint.h"
#include "print/json/json_older.h"
#include "view/sites/enum_words.h"
#include "kit/json/json_put.h"

/*
 * When live blocks were allocated, in equal parts of the process's time. Sites
 * of several processes together have no such time.
 */
static bool births(
    const struct process_ages *ages, const struct process *p, uint64_t ret[SEG_BIRTH_SLOTS])
{
	if (!p || !ages || !ages->births_known)
		return false;
	for (int i = 0; i < SEG_BIRTH_SLOTS; i++)
		ret[i] = ages->births[i];
	return true;
}

/* Ages, births and sizes of live blocks, if the process has counted them. */
static void living(struct json *out, const struct process_ages *ages, const struct process *p)
{
	uint64_t sizes[PROCESS_SIZES], slots[SEG_BIRTH_SLOTS];

	if (births(ages, p, slots))
		json_numbers(out, "live_births", slots, SEG_BIRTH_SLOTS);
	if (ages && ages->live_ages_known)
		json_numbers(out, "live_ages", ages->living, PROCESS_AGES);
	else
		json_null(out, "live_ages");
	if (!ages || !ages->sizes_known) {
		json_null(out, "live_sizes");
		return;
	}
	for (int i = 0; i < PROCESS_SIZES; i++)
		sizes[i] = ages->sizes[i];
	json_numbers(out, "live_sizes", sizes, PROCESS_SIZES);
}

static void number_unless_zero(struct json *out, const char *name, uint64_t value)
{
	if (value > 0)
		json_number(out, name, value);
}

static void text_unless_null(struct json *out, const char *name, const char *value)
{
	if (value)
		json_text(out, name, value);
}

/* Writes the array without the zeros at its end. */
static void short_list(struct json *out, const char *name, const uint64_t *values, size_t count)
{
	while (count > 0 && values[count - 1] == 0)
		count--;
	json_list(out, name);
	for (size_t i = 0; i < count; i++)
		json_number(out, NULL, values[i]);
	json_end(out);
}

static void short_histograms(struct json *out, const struct view_site *s, const struct process *p)
{
	const struct process_ages *ages = s->ages;
	uint64_t values[PROCESS_AGES + PROCESS_SIZES];

	ages_deaths(s, values);
	short_list(out, "ages", values, PROCESS_AGES);
	if (ages_young(s, values))
		short_list(out, "ages_fine", values, PROCESS_STEPS);
	if (ages && ages->live_ages_known)
		short_list(out, "live_ages", ages->living, PROCESS_AGES);
	if (births(ages, p, values))
		short_list(out, "live_births", values, SEG_BIRTH_SLOTS);
	if (!ages || !ages->sizes_known)
		return;
	for (int i = 0; i < PROCESS_SIZES; i++)
		values[i] = ages->sizes[i];
	short_list(out, "live_sizes", values, PROCESS_SIZES);
}

/* The shared form leaves out values that are null or 0. */
static int short_site(struct json *out, const struct view *v, const struct view_site *s,
    const struct process *p, const struct fingerprints *prints, struct frames_table *frames,
    struct series_list *series, const struct older *older)
{
	const struct view_figures *f = &s->figures;
	struct fingerprint print;
	int err;

	json_object(out, NULL);
	json_number(out, "id", s->id);
	json_text(out, "kind", enum_words_kind(s->kind));
	json_text(out, "api", enum_words_api(s->api));
	text_unless_null(out, "pool", s->pool);
	number_unless_zero(out, "allocations", f->all.allocations);
	number_unless_zero(out, "allocated_bytes", f->all.allocated_bytes);
	number_unless_zero(out, "frees", f->all.frees);
	number_unless_zero(out, "freed_bytes", f->all.freed_bytes);
	number_unless_zero(out, "live_blocks", f->all.live_blocks);
	number_unless_zero(out, "live_bytes", f->all.live_bytes);
	number_unless_zero(out, "peak_blocks", f->all.peak_blocks);
	number_unless_zero(out, "peak_bytes", f->all.peak_bytes);
	number_unless_zero(out, "samples", s->samples);
	if (s->samples > 0 || (p && p->header.sample_bytes > 0))
		json_figures_errors(out, true, f->variance_live, f->variance_allocated);
	number_unless_zero(out, "size_min", s->size_min);
	number_unless_zero(out, "size_max", s->size_max);
	json_time(out, "first_time", s->first_ns);
	json_time(out, "last_time", s->last_ns);
	short_histograms(out, s, p);
	number_unless_zero(out, "temporary_blocks", f->temporary_blocks);
	number_unless_zero(out, "temporary_bytes", f->temporary_bytes);
	rss_json_site(out, p, f);
	inventory_json_site(out, p, s->id);
	json_older_site(out, older, f, true);
	log_json_site(out, v, s);
	if (s->verdict || s->score) {
		json_key(out, "verdict");
		verdict_json_site(out, v, s);
	}
	if (series_list_has(series, s->site))
		series_list_put(out, series, s->site);
	fingerprints_site(prints, s, &print);
	json_format(out, "fingerprint", "\"%016" PRIx64 "\"", print.hash);
	text_unless_null(out, "suppression", s->suppression);
	json_text(out, "stack", enum_words_stack(s->stack_flags));
	json_number(out, "sites", s->count);
	number_unless_zero(out, "own", s->own);
	err = frames_table_put(out, frames, s);
	json_end(out);
	return err;
}

/* `p` is NULL if the site belongs to several processes together. */
static void site(struct json *out, const struct view *v, const struct view_site *s,
    const struct process *p, const struct fingerprints *prints, struct frames_table *cache,
    struct series_list *series, const struct older *older)
{
	const struct view_figures *f = &s->figures;
	uint64_t deaths[PROCESS_AGES], steps[PROCESS_STEPS];
	struct fingerprint print;

	json_object(out, NULL);
	json_number(out, "id", s->id);
	json_text(out, "kind", enum_words_kind(s->kind));
	json_text(out, "api", enum_words_api(s->api));
	json_text(out, "pool", s->pool);
	json_figures(out, &f->all);
	json_number(out, "samples", s->samples);
	json_figures_errors(out, s->samples > 0 || (p && p->header.sample_bytes > 0),
	    f->variance_live, f->variance_allocated);
	json_number(out, "size_min", s->size_min);
	json_number(out, "size_max", s->size_max);
	json_time(out, "first_time", s->first_ns);
	json_time(out, "last_time", s->last_ns);
	ages_deaths(s, deaths);
	json_numbers(out, "ages", deaths, PROCESS_AGES);
	if (ages_young(s, steps))
		json_numbers(out, "ages_fine", steps, PROCESS_STEPS);
	living(out, s->ages, p);
	json_number(out, "temporary_blocks", f->temporary_blocks);
	json_number(out, "temporary_bytes", f->temporary_bytes);
	rss_json_site(out, p, f);
	inventory_json_site(out, p, s->id);
	json_older_site(out, older, f, false);
	log_json_site(out, v, s);
	json_key(out, "verdict");
	verdict_json_site(out, v, s);
	series_list_put(out, series, s->site);
	fingerprints_site(prints, s, &print);
	json_format(out, "fingerprint", "\"%016" PRIx64 "\"", print.hash);
	json_text(out, "suppression", s->suppression);
	json_text(out, "stack", enum_words_stack(s->stack_flags));
	json_number(out, "sites", s->count);
	number_unless_zero(out, "own", s->own);
	(void)frames_table_put(out, cache, s); /* frames in full: cannot fail */
	json_end(out);
}

/* All sites of a view, as an array. */
int json_sites(struct json *out, const struct view *v, const struct process *p,
    struct series_list *series, struct json_writer *w)
{
	enum { SITE_BYTES = 700 }; /* of a site without its frames, about */
	struct fingerprints *prints = NULL;
	struct frames_table *cache;
	int err = frames_table_new(v, w->table, &cache);

	if (err < 0)
		return err;
	err = fingerprints_new(v, &prints);
	if (err < 0)
		goto out;
	json_rows(out, "sites");
	for (size_t i = 0; i < v->site_count && !ferror(out->file) && err == 0; i++) {
		if (w->table)
			err = short_site(out, v, &v->sites[i], p, prints, cache, series, w->older);
		else
			site(out, v, &v->sites[i], p, prints, cache, series, w->older);
	}
	json_end(out);
	w->bytes += frames_table_bytes(cache) + v->site_count * SITE_BYTES;
out:
	fingerprints_free(prints);
	frames_table_free(cache);
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
	json_figures(out, &sum->figures.all);
	json_number(out, "temporary_blocks", sum->figures.temporary_blocks);
	json_number(out, "temporary_bytes", sum->figures.temporary_bytes);
	json_end(out);
}
