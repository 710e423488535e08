/* html_sites.c - the figures of a page's sites, one column each. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/page/html_parts.h"
#include "view/sites/ages.h"
#include "view/sites/enum_words.h"

enum { NS_PER_MS = 1000000 };

/* Words are texts of the page; if memory runs out, the page has failed. */
static int put_word(struct html *h, enum html_column column, const char *text)
{
	uint32_t number;
	int err = html_frames_string(&h->frames, text, &number);

	if (err == 0)
		html_blob_put(&h->blob, column, number);
	return err;
}

static void put_figures(struct html *h, const struct view_figures *f)
{
	/* the columns of blocks above an age are empty unless they were asked for */
	for (unsigned i = 0; i < FIGURES; i++)
		if (figures[i].group != FIGURES_OLDER || h->options->older)
			html_blob_put(
			    &h->blob, HTML_SITE_FIGURES + i, figures_value(&figures[i], f));
	html_blob_put(&h->blob, HTML_SITE_ERROR_LIVE, process_error(f->variance_live));
	html_blob_put(&h->blob, HTML_SITE_ERROR_ALLOCATED, process_error(f->variance_allocated));
}

/* Writes only counts that are not zero: site, age, count. */
static void put_ages(struct html_blob *b, size_t row, const struct view_site *s)
{
	const struct process_ages *ages = s->ages;
	bool known = ages && ages->live_ages_known;
	uint64_t deaths[PROCESS_AGES];

	html_blob_put(b, HTML_SITE_AGES_KNOWN, known);
	ages_deaths(s, deaths);
	for (int i = 0; i < PROCESS_AGES; i++) {
		if (deaths[i] > 0) {
			html_blob_put(b, HTML_DEATH_SITE, row);
			html_blob_put(b, HTML_DEATH_AGE, (uint64_t)i);
			html_blob_put(b, HTML_DEATH_COUNT, deaths[i]);
		}
		if (known && ages->living[i] > 0) {
			html_blob_put(b, HTML_LIVING_SITE, row);
			html_blob_put(b, HTML_LIVING_AGE, (uint64_t)i);
			html_blob_put(b, HTML_LIVING_COUNT, ages->living[i]);
		}
	}
}

/* The same of the steps within the first age. */
static void put_steps(struct html_blob *b, size_t row, const struct view_site *s)
{
	uint64_t steps[PROCESS_STEPS];
	bool known = ages_young(s, steps);

	html_blob_put(b, HTML_SITE_STEPS_KNOWN, known);
	for (int i = 0; known && i < PROCESS_STEPS; i++) {
		if (steps[i] == 0)
			continue;
		html_blob_put(b, HTML_YOUNG_SITE, row);
		html_blob_put(b, HTML_YOUNG_STEP, (uint64_t)i);
		html_blob_put(b, HTML_YOUNG_COUNT, steps[i]);
	}
}

/* The same of sizes. */
static void put_sizes(struct html_blob *b, size_t row, const struct process_ages *ages)
{
	bool known = ages && ages->sizes_known;

	html_blob_put(b, HTML_SITE_SIZES_KNOWN, known);
	for (int i = 0; known && i < PROCESS_SIZES; i++) {
		if (ages->sizes[i] == 0)
			continue;
		html_blob_put(b, HTML_SIZE_SITE, row);
		html_blob_put(b, HTML_SIZE_CLASS, (uint64_t)i);
		html_blob_put(b, HTML_SIZE_COUNT, ages->sizes[i]);
	}
}

/* The same of times of allocation; sites of several processes have none. */
static void put_births(struct html_blob *b, size_t row, const struct process_ages *ages)
{
	for (int i = 0; ages && ages->births_known && i < SEG_BIRTH_SLOTS; i++) {
		if (ages->births[i] == 0)
			continue;
		html_blob_put(b, HTML_BIRTH_SITE, row);
		html_blob_put(b, HTML_BIRTH_SLOT, (uint64_t)i);
		html_blob_put(b, HTML_BIRTH_COUNT, ages->births[i]);
	}
}

/* Since the process began. */
static uint64_t since_ms(const struct html_group *g, uint64_t ns)
{
	return ns / NS_PER_MS - g->process->header.start_realtime_ns / NS_PER_MS;
}

static int put_site(struct html *h, size_t row)
{
	const struct html_row *r = &h->rows[row];
	const struct html_group *g = &h->groups[r->group];
	const struct view_site *s = r->site;
	struct html_blob *b = &h->blob;
	bool is_other = r->other > 0;
	int err;

	html_blob_put(b, HTML_SITE_STACK, r->stack);
	html_blob_put(b, HTML_SITE_ID, s->id);
	html_blob_put(b, HTML_SITE_MERGED, is_other ? s->count : 0);
	put_figures(h, &s->figures);
	html_blob_put(b, HTML_SITE_SAMPLES, s->samples);
	html_blob_put(b, HTML_SITE_SIZE_MIN, s->size_min);
	html_blob_put(b, HTML_SITE_SIZE_MAX, s->size_max);
	html_blob_put(b, HTML_SITE_FIRST_MS, since_ms(g, s->first_ns));
	html_blob_put(b, HTML_SITE_LAST_MS, since_ms(g, s->last_ns));
	put_ages(b, row, s);
	put_steps(b, row, s);
	put_sizes(b, row, s->ages);
	put_births(b, row, is_other ? NULL : s->ages);
	err = put_word(h, HTML_SITE_KIND, enum_words_kind(s->kind));
	if (err == 0)
		err = put_word(h, HTML_SITE_API, is_other ? NULL : enum_words_api(s->api));
	if (err == 0)
		err = put_word(
		    h, HTML_SITE_STATE, is_other ? NULL : enum_words_stack(s->stack_flags));
	if (err == 0)
		err = put_word(h, HTML_SITE_POOL, s->pool);
	if (err == 0)
		err = put_word(h, HTML_SITE_SUPPRESSION, s->suppression);
	return err;
}

int html_sites_put(struct html *h)
{
	int err = 0;

	for (size_t i = 0; i < h->row_count && err == 0; i++)
		err = put_site(h, i);
	return err;
}
