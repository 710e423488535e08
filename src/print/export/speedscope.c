/* speedscope.c - a file for speedscope: one profile for each figure. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/export/export.h"
#include "print/export/callers.h"
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
	struct json out;
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
static void put_name(struct json *out, char *text)
{
	json_text(out, "name", text ? text : "");
	free(text);
}

/* Begins a frame. Takes ownership of name. */
static void begin_frame(struct speedscope *x, char *name)
{
	x->count++;
	json_object(&x->out, NULL);
	put_name(&x->out, name);
}

static void put_function(struct speedscope *x, const struct frame *f)
{
	const char *file = f->file ? f->file : f->module;

	begin_frame(x, texts_name_of(f));
	if (file)
		json_shown(&x->out, "file", file);
	json_end(&x->out);
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
		begin_frame(x, texts_process_of(v->session->processes[s->process]));
		json_end(&x->out);
		x->of_process[s->process] = x->count;
	}
	if (is_empty) {
		x->no_frames = x->count;
		begin_frame(x, strdup("(no frames)"));
		json_end(&x->out);
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

static void put_stack(struct speedscope *x, const struct view_site *s)
{
	uint32_t number = 0;

	json_list(&x->out, NULL);
	if (s->process != VIEW_MERGED && x->of_process[s->process] != 0)
		json_number(&x->out, NULL, x->of_process[s->process] - 1);
	for (uint32_t i = s->frame_count; i-- > 0;) {
		/* found before, so it cannot fail */
		(void)functions_find(x->functions, s->frames[i], &number);
		json_number(&x->out, NULL, number);
	}
	if (s->frame_count == 0)
		json_number(&x->out, NULL, x->no_frames);
	json_end(&x->out);
}

static void put_profile(struct speedscope *x, const struct profile *p, uint64_t total)
{
	const struct view *v = x->view;

	json_object(&x->out, NULL);
	json_text(&x->out, "type", "sampled");
	json_text(&x->out, "name", p->name);
	json_text(&x->out, "unit", p->unit);
	json_number(&x->out, "startValue", 0);
	json_number(&x->out, "endValue", total);
	json_list(&x->out, "samples");
	for (size_t i = 0; i < v->site_count && !ferror(x->out.file); i++) {
		if (weight(p, &v->sites[i]) == 0)
			continue;
		if (x->out.has_item)
			json_line(&x->out);
		put_stack(x, &v->sites[i]);
	}
	json_end(&x->out);
	json_line(&x->out);
	json_list(&x->out, "weights");
	for (size_t i = 0; i < v->site_count; i++)
		if (weight(p, &v->sites[i]) > 0)
			json_number(&x->out, NULL, weight(p, &v->sites[i]));
	json_ends(&x->out, 2);
}

/* Empty profiles are left out, except the one that was asked for. */
static void put_profiles(struct speedscope *x, int metric)
{
	unsigned active = 0, written = 0;

	json_line(&x->out);
	json_rows(&x->out, "profiles");
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
		written++;
		put_profile(x, p, total);
	}
	json_end(&x->out);
	json_line(&x->out);
	json_number(&x->out, "activeProfileIndex", active);
}

static int write_speedscope(FILE *out, const struct view *v, const struct export_options *o)
{
	struct speedscope x = {.out = {.file = out}, .view = v};
	const struct process *first = v->session->count ? v->session->processes[0] : NULL;
	int err = -ENOMEM;

	x.of_process = calloc(v->session->count + 1, sizeof(*x.of_process));
	if (!x.of_process || functions_new(v, &x.functions) < 0)
		goto out;
	json_object(&x.out, NULL);
	json_text(&x.out, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_format(&x.out, "exporter", "\"seep %s\"", o->version);
	put_name(&x.out, texts_process_of(o->only ? o->only : first));
	json_line(&x.out);
	json_object(&x.out, "shared");
	json_rows(&x.out, "frames");
	err = put_frames(&x);
	if (err < 0)
		goto out;
	json_ends(&x.out, 2);
	put_profiles(&x, o->metric);
	err = json_finish(&x.out, 0);
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
