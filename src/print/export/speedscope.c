/* speedscope.c - a file for speedscope: one profile for each figure. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "print/export/export.h"
#include "print/export/functions.h"
#include "print/export/texts.h"
#include "kit/json/json_put.h"

struct profile {
	const char *name, *unit;
	int metric; /* enum view_metric */
	bool blocks;
};

/* The page has a menu to switch between these profiles. */
static const struct profile profiles[] = {
    {"live bytes", "bytes", VIEW_LIVE, false},
    {"peak bytes", "bytes", VIEW_PEAK, false},
    {"allocated bytes", "bytes", VIEW_ALLOCS, false},
    {"temporary bytes", "bytes", VIEW_TEMPORARY, false},
    {"live blocks", "none", VIEW_LIVE, true},
    {"allocations", "none", VIEW_ALLOCS, true},
};

enum { PROFILES = sizeof(profiles) / sizeof(profiles[0]) };

/*
 * The page never shows two frames as one. So frames are functions without
 * lines, because otherwise a function would appear once for each of its calls.
 * Special frames come after them.
 */
struct speedscope {
	FILE *out;
	const struct view *view;
	struct functions *functions;
	uint32_t *of_process; /* number in the file + 1; 0: not used */
	uint32_t no_frames;   /* number of "(no frames)" */
	uint32_t count;
};

static uint64_t weight(const struct profile *p, const struct view_site *s)
{
	return p->blocks ? view_blocks(&s->figures, p->metric) : view_bytes(&s->figures, p->metric);
}

/* ---- frames ---- */

/* Takes ownership of text. */
static void put_name(FILE *out, char *text)
{
	json_string(out, text ? text : "");
	free(text);
}

static void begin_frame(struct speedscope *x)
{
	(void)fputs(x->count++ ? ",\n{\"name\":" : "\n{\"name\":", x->out);
}

static void put_function(struct speedscope *x, const struct frame *f)
{
	const char *file = f->file ? f->file : f->module;

	begin_frame(x);
	put_name(x->out, texts_name_of(f));
	if (file) {
		json_key(x->out, "file");
		json_shown(x->out, file);
	}
	(void)putc('}', x->out);
}

/* The processes that have sites, and a name for stacks without frames. */
static void put_others(struct speedscope *x)
{
	const struct view *v = x->view;
	bool is_empty = false;

	for (size_t i = 0; i < v->site_count; i++) {
		const struct view_site *s = &v->sites[i];

		is_empty = is_empty || s->frame_count == 0;
		if (s->process == VIEW_MERGED || v->session->count < 2 ||
		    x->of_process[s->process] != 0)
			continue;
		begin_frame(x);
		put_name(x->out, texts_process_of(v->session->processes[s->process]));
		(void)putc('}', x->out);
		x->of_process[s->process] = x->count;
	}
	if (is_empty) {
		begin_frame(x);
		(void)fputs("\"(no frames)\"}", x->out);
		x->no_frames = x->count - 1;
	}
}

static int put_frames(struct speedscope *x)
{
	const struct view *v = x->view;
	uint32_t number;
	int err = 0;

	for (size_t i = 0; i < v->site_count; i++)
		for (uint32_t k = 0; k < v->sites[i].frame_count && err == 0; k++)
			err = functions_find(x->functions, v->sites[i].frames[k], &number);
	if (err < 0)
		return err;
	for (uint32_t i = 0; i < functions_count(x->functions); i++)
		put_function(x, functions_frame(x->functions, i));
	put_others(x);
	return 0;
}

/* ---- profiles ---- */

static void put_stack(const struct speedscope *x, const struct view_site *s)
{
	const char *comma = "";
	uint32_t number = 0;

	(void)putc('[', x->out);
	if (s->process != VIEW_MERGED && x->of_process[s->process] != 0) {
		(void)fprintf(x->out, "%" PRIu32, x->of_process[s->process] - 1);
		comma = ",";
	}
	for (uint32_t i = s->frame_count; i-- > 0; comma = ",") {
		/* found before, so it cannot fail */
		(void)functions_find(x->functions, s->frames[i], &number);
		(void)fprintf(x->out, "%s%" PRIu32, comma, number);
	}
	if (s->frame_count == 0)
		(void)fprintf(x->out, "%s%" PRIu32, comma, x->no_frames);
	(void)putc(']', x->out);
}

static void put_profile(const struct speedscope *x, const struct profile *p, uint64_t total)
{
	const struct view *v = x->view;
	const char *comma = "";

	(void)fprintf(x->out,
	    "{\"type\":\"sampled\",\"name\":\"%s\",\"unit\":\"%s\","
	    "\"startValue\":0,\"endValue\":%" PRIu64 ",\"samples\":[",
	    p->name, p->unit, total);
	for (size_t i = 0; i < v->site_count && !ferror(x->out); i++) {
		if (weight(p, &v->sites[i]) == 0)
			continue;
		(void)fputs(comma, x->out);
		put_stack(x, &v->sites[i]);
		comma = ",\n";
	}
	(void)fputs("],\n\"weights\":[", x->out);
	comma = "";
	for (size_t i = 0; i < v->site_count; i++) {
		uint64_t n = weight(p, &v->sites[i]);

		if (n == 0)
			continue;
		(void)fprintf(x->out, "%s%" PRIu64, comma, n);
		comma = ",";
	}
	(void)fputs("]}", x->out);
}

/* Empty profiles are left out, except the one that was asked for. */
static void put_profiles(const struct speedscope *x, int metric)
{
	unsigned active = 0, written = 0;

	(void)fputs("]},\n\"profiles\":[", x->out);
	for (int i = 0; i < PROFILES; i++) {
		const struct profile *p = &profiles[i];
		bool asked = p->metric == metric && !p->blocks;
		uint64_t total = 0;

		for (size_t k = 0; k < x->view->site_count; k++)
			total += weight(p, &x->view->sites[k]);
		if (total == 0 && !asked)
			continue;
		if (asked)
			active = written;
		(void)fputs(written++ ? ",\n" : "\n", x->out);
		put_profile(x, p, total);
	}
	(void)fprintf(x->out, "],\n\"activeProfileIndex\":%u}\n", active);
}

static int write_speedscope(FILE *out, const struct view *v, const struct export_options *o)
{
	struct speedscope x = {.out = out, .view = v};
	const struct process *first = v->session->count ? v->session->processes[0] : NULL;
	int err = -ENOMEM;

	x.of_process = calloc(v->session->count + 1, sizeof(*x.of_process));
	if (!x.of_process || functions_new(v, &x.functions) < 0)
		goto out;
	(void)fputs("{\"$schema\":"
	            "\"https://www.speedscope.app/file-format-schema.json\"",
	    out);
	(void)fputs(",\"exporter\":\"seep ", out);
	(void)fprintf(out, "%s\",\"name\":", o->version);
	put_name(out, texts_process_of(o->only ? o->only : first));
	(void)fputs(",\n\"shared\":{\"frames\":[", out);
	err = put_frames(&x);
	if (err < 0)
		goto out;
	put_profiles(&x, o->metric);
	err = ferror(out) ? -EIO : 0;
out:
	functions_free(x.functions);
	free(x.of_process);
	return err;
}

const struct export_format export_speedscope = {
    .name = "speedscope",
    .extension = ".speedscope.json",
    .what = "for speedscope: a profile each of live, peak, allocated, "
            "temporary",
    .flags = EXPORT_GROUPED | EXPORT_DEAD | EXPORT_METRIC | EXPORT_DEPTH,
    .write = write_speedscope,
};
