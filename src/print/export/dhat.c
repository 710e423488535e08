/* dhat.c - DHAT's file, version 2: dh_view.html and Firefox Profiler. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/export/export.h"
#include "print/export/texts.h"
#include "view/sites/ages.h"
#include "kit/json/json_put.h"
#include "view/sites/enum_words.h"
#include "kit/words/text.h"

/*
 * Program points, each with a stack of numbers into a table of frames. The
 * table comes last, so frames are numbered as they occur. The viewer expects
 * every stack once, so the api and the process become frames, too.
 */
enum { APIS = 256 };

struct dhat {
	struct json out;
	const struct view *view;
	struct modules modules;
	uint32_t *of_frame;   /* number in the table; 0: not used */
	uint32_t *of_process; /* the same */
	uint32_t of_api[APIS];
	const void **table; /* frame or process of each number, in order */
	uint8_t *kinds;     /* enum entry */
	uint32_t count;
};

enum entry { ENTRY_FRAME, ENTRY_PROCESS, ENTRY_API };

static uint32_t number_of(struct dhat *d, uint32_t *number, enum entry kind, const void *what)
{
	if (*number == 0) {
		d->table[d->count] = what;
		d->kinds[d->count] = (uint8_t)kind;
		*number = ++d->count; /* the root is 0 */
	}
	return *number;
}

/* ---- points ---- */

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The sum saturates, because many blocks that live for weeks reach the limit. */
static void add_product(uint64_t *sum, uint64_t a, uint64_t b)
{
	uint64_t product;

	if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(*sum, product, sum))
		*sum = UINT64_MAX;
}

/*
 * How long its blocks lived together, at the least: ages are known by classes,
 * and each counts with the lower end of its own.
 */
static uint64_t lifetimes_us(const struct view_site *s)
{
	uint64_t us = 0, youngest = 0, steps[PROCESS_STEPS];

	if (s->now_ns > s->last_ns)
		youngest = (s->now_ns - s->last_ns) / 1000;
	if (ages_young(s, steps))
		for (int i = 0; i < PROCESS_STEPS; i++)
			add_product(&us, steps[i], ages_all_bound_ns(i) / 1000);
	for (int i = 0; s->ages && i < PROCESS_AGES; i++) {
		uint64_t bound_us = ages_bound_ns(i) / 1000;

		add_product(&us, s->ages->deaths[i], bound_us);
		if (s->ages->live_ages_known)
			add_product(&us, s->ages->living[i], larger(bound_us, youngest));
	}
	if (!s->ages || !s->ages->live_ages_known)
		add_product(&us, s->figures.all.live_blocks, youngest);
	return us;
}

/* A lower bound of the maximum: the peak, the end, and the largest block. */
static void put_maximum(struct json *out, const struct view_site *s)
{
	const struct process_figures *f = &s->figures.all;
	uint64_t bytes = larger(f->peak_bytes, f->live_bytes);
	uint64_t blocks = larger(f->peak_blocks, f->live_blocks);

	json_number(out, "mb", larger(bytes, s->size_max));
	json_number(out, "mbk", larger(blocks, f->allocations > 0));
}

static void put_point(struct dhat *d, const struct view_site *s)
{
	const struct process_figures *f = &s->figures.all;
	const struct session *session = d->view->session;

	json_object(&d->out, NULL);
	json_number(&d->out, "tb", f->allocated_bytes);
	json_number(&d->out, "tbk", f->allocations);
	json_number(&d->out, "tl", lifetimes_us(s));
	put_maximum(&d->out, s);
	json_number(&d->out, "gb", f->peak_bytes);
	json_number(&d->out, "gbk", f->peak_blocks);
	json_number(&d->out, "eb", f->live_bytes);
	json_number(&d->out, "ebk", f->live_blocks);
	json_list(&d->out, "fs");
	json_number(
	    &d->out, NULL, number_of(d, &d->of_api[s->api], ENTRY_API, enum_words_api(s->api)));
	for (uint32_t i = 0; i < s->frame_count; i++) {
		uint32_t n = s->frames[i];

		json_number(
		    &d->out, NULL, number_of(d, &d->of_frame[n], ENTRY_FRAME, &d->view->frames[n]));
	}
	if (s->process != VIEW_MERGED && session->count > 1)
		json_number(&d->out, NULL,
		    number_of(d, &d->of_process[s->process], ENTRY_PROCESS,
		        session->processes[s->process]));
	json_ends(&d->out, 2);
}

/* ---- the table ---- */

static void put_entry(struct dhat *d, uint32_t i)
{
	char *text = NULL;
	size_t len = 0;
	FILE *memory = open_memstream(&text, &len);

	if (memory && d->kinds[i] == ENTRY_FRAME)
		modules_put_frame(memory, &d->modules, d->table[i], "???");
	else if (memory && d->kinds[i] == ENTRY_API)
		(void)fprintf(memory, "0x0: %s (in the allocator)", (const char *)d->table[i]);
	else if (memory) {
		(void)putc('[', memory);
		texts_process(memory, d->table[i]);
		(void)putc(']', memory);
	}
	json_text(&d->out, NULL, memory && fclose(memory) == 0 ? text : "");
	free(text);
}

/* ---- the file ---- */

static void put_head(struct dhat *d, const struct export_options *o)
{
	const struct session *s = d->view->session;
	const struct process *first = NULL;
	uint64_t end_us = 0, peak_us = 0;
	char *text = NULL;
	size_t len = 0;
	FILE *memory;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = s->processes[i];
		uint64_t start = p->header.start_realtime_ns;
		uint64_t peak = process_time_ns(p, p->header.peak_tick);

		if (!export_has(o, p))
			continue;
		first = first ? first : p;
		end_us = larger(end_us, p->duration_ns / 1000);
		if (p == first && peak > start)
			peak_us = (peak - start) / 1000;
	}
	memory = open_memstream(&text, &len);
	if (memory && first)
		texts_command(memory, first);
	if (memory && fclose(memory) != 0) {
		free(text);
		text = NULL;
	}
	json_object(&d->out, NULL);
	json_number(&d->out, "dhatFileVersion", 2);
	json_text(&d->out, "mode", "heap");
	json_text(&d->out, "verb", "Allocated");
	json_boolean(&d->out, "bklt", true);
	json_boolean(&d->out, "bkacc", false);
	json_format(&d->out, "tu", "\"\\u00b5s\"");
	json_text(&d->out, "Mtu", "s");
	json_number(&d->out, "tuth", ages_temporary_ns(d->view) / 1000);
	json_text(&d->out, "cmd", text ? text : "");
	json_number(&d->out, "pid", first ? first->header.pid : 0);
	json_number(&d->out, "tg", peak_us < end_us ? peak_us : end_us);
	json_number(&d->out, "te", end_us);
	free(text);
}

static int dhat_init(struct dhat *d, FILE *out, const struct view *v)
{
	size_t most = v->frame_count + v->session->count + APIS;

	*d = (struct dhat){.out = {.file = out}, .view = v};
	d->of_frame = calloc(v->frame_count + 1, sizeof(*d->of_frame));
	d->of_process = calloc(v->session->count + 1, sizeof(*d->of_process));
	d->table = calloc(most, sizeof(*d->table));
	d->kinds = calloc(most, sizeof(*d->kinds));
	if (!d->of_frame || !d->of_process || !d->table || !d->kinds)
		return -ENOMEM;
	return modules_init(&d->modules, v->session);
}

static int write_dhat(FILE *out, const struct view *v, const struct export_options *o)
{
	struct dhat d;
	int err;

	err = dhat_init(&d, out, v);
	if (err < 0)
		goto out;
	put_head(&d, o);
	json_line(&d.out);
	json_rows(&d.out, "pps");
	for (size_t i = 0; i < v->site_count && !ferror(out); i++)
		put_point(&d, &v->sites[i]);
	json_end(&d.out);
	json_line(&d.out);
	json_list(&d.out, "ftbl");
	json_text(&d.out, NULL, "[root]");
	for (uint32_t i = 0; i < d.count; i++) {
		json_line(&d.out);
		put_entry(&d, i);
	}
	err = json_finish(&d.out, 0);
out:
	free(d.of_frame);
	free(d.of_process);
	free(d.table);
	free(d.kinds);
	modules_release(&d.modules);
	return err;
}

const struct export_format export_dhat = {
    .name = "dhat",
    .extension = ".dhat.json",
    .what = "DHAT's file: valgrind's dh_view.html, Firefox Profiler",
    .flags = EXPORT_GROUPED | EXPORT_DEAD | EXPORT_DEPTH,
    .write = write_dhat,
};
