/* gprof2dot.c - memtrail's JSON for gprof2dot -f json. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/export/export.h"
#include "kit/json/json_put.h"
#include "view/sites/enum_words.h"
#include "kit/words/text.h"

enum { APIS = 256 };

/* Functions get numbers as they come up; 0: none yet. */
struct numbers {
	uint32_t *of_frame; /* by label of the frame */
	uint32_t of_api[APIS];
	uint32_t count;
};

static void function(struct json *out, const char *name, const char *module)
{
	json_object(out, NULL);
	json_shown(out, "name", name);
	if (module)
		json_shown(out, "module", module);
	json_end(out);
}

static void frame_function(struct json *out, const struct frame *f)
{
	const char *module = text_base(f->module);
	char *name;

	if (f->function) {
		function(out, f->brief, module);
	} else if (asprintf(&name, "%s+0x%" PRIx64, module ? module : "", f->offset) >= 0) {
		function(out, name, module);
		free(name);
	} else {
		function(out, "??", module);
	}
}

static int64_t cost(const struct view_site *s, const struct export_options *o)
{
	uint64_t bytes = view_bytes(&s->figures, o->metric);
	uint64_t before = view_bytes(&s->before, o->metric);

	bytes = bytes > before ? bytes - before : 0;
	return bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

static void functions(
    struct json *out, const struct view *v, struct numbers *n, const struct export_options *o)
{
	for (size_t i = 0; i < v->site_count; i++) {
		const struct view_site *s = &v->sites[i];

		if (cost(s, o) <= 0)
			continue;
		if (n->of_api[s->api] == 0) {
			n->of_api[s->api] = ++n->count;
			function(out, enum_words_api(s->api), NULL);
		}
		for (uint32_t k = 0; k < s->frame_count; k++) {
			const struct frame *f = &v->frames[s->frames[k]];

			if (n->of_frame[f->label] != 0)
				continue;
			n->of_frame[f->label] = ++n->count;
			frame_function(out, f);
		}
	}
}

/* Callee first, as memtrail has it: malloc and its kin at the front. */
static void events(
    struct json *out, const struct view *v, const struct numbers *n, const struct export_options *o)
{
	for (size_t i = 0; i < v->site_count; i++) {
		const struct view_site *s = &v->sites[i];

		if (cost(s, o) <= 0) /* gprof2dot has no place for less */
			continue;
		json_object(out, NULL);
		json_list(out, "callchain");
		json_number(out, NULL, n->of_api[s->api] - 1);
		for (uint32_t k = 0; k < s->frame_count; k++)
			json_number(out, NULL, n->of_frame[v->frames[s->frames[k]].label] - 1);
		json_end(out);
		json_list(out, "cost");
		json_signed(out, NULL, cost(s, o));
		json_ends(out, 2);
	}
}

static int write_gprof2dot(FILE *file, const struct view *v, const struct export_options *o)
{
	struct numbers n = {.of_frame = calloc(v->frame_count + 1, sizeof(uint32_t))};
	struct json json = {.file = file}, *out = &json;

	if (!n.of_frame)
		return -ENOMEM;
	json_object(out, NULL);
	json_number(out, "version", 0);
	json_line(out);
	json_list(out, "costs");
	json_object(out, NULL);
	json_text(out, "description", "Memory");
	json_text(out, "unit", "bytes");
	json_ends(out, 2);
	json_line(out);
	json_rows(out, "functions");
	functions(out, v, &n, o);
	json_end(out);
	json_line(out);
	json_rows(out, "events");
	events(out, v, &n, o);
	free(n.of_frame);
	return json_finish(out, 0);
}

const struct export_format export_gprof2dot = {
    .name = "gprof2dot",
    .extension = ".json",
    .what = "memtrail's JSON for gprof2dot -f json",
    .flags = EXPORT_GROUPED | EXPORT_FOLDED | EXPORT_MERGED | EXPORT_METRIC | EXPORT_SINCE,
    .write = write_gprof2dot,
};
