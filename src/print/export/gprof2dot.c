/* gprof2dot.c - memtrail's JSON for gprof2dot -f json. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

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
	bool begun;
};

static void function(FILE *out, struct numbers *n, const char *name, const char *module)
{
	(void)fputs(n->begun ? ",\n{\"name\":" : "\n{\"name\":", out);
	n->begun = true;
	json_shown(out, name);
	if (module) {
		(void)fputs(",\"module\":", out);
		json_shown(out, module);
	}
	(void)putc('}', out);
}

static void frame_function(FILE *out, struct numbers *n, const struct frame *f)
{
	const char *module = text_base(f->module);
	char *name;

	if (f->function) {
		function(out, n, f->brief, module);
	} else if (asprintf(&name, "%s+0x%" PRIx64, module ? module : "", f->offset) >= 0) {
		function(out, n, name, module);
		free(name);
	} else {
		function(out, n, "??", module);
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
    FILE *out, const struct view *v, struct numbers *n, const struct export_options *o)
{
	for (size_t i = 0; i < v->site_count; i++) {
		const struct view_site *s = &v->sites[i];

		if (cost(s, o) <= 0)
			continue;
		if (n->of_api[s->api] == 0) {
			n->of_api[s->api] = ++n->count;
			function(out, n, enum_words_api(s->api), NULL);
		}
		for (uint32_t k = 0; k < s->frame_count; k++) {
			const struct frame *f = &v->frames[s->frames[k]];

			if (n->of_frame[f->label] != 0)
				continue;
			n->of_frame[f->label] = ++n->count;
			frame_function(out, n, f);
		}
	}
}

/* Callee first, as memtrail has it: malloc and its kin at the front. */
static void events(
    FILE *out, const struct view *v, const struct numbers *n, const struct export_options *o)
{
	const char *comma = "";

	for (size_t i = 0; i < v->site_count; i++) {
		const struct view_site *s = &v->sites[i];

		if (cost(s, o) <= 0) /* gprof2dot has no place for less */
			continue;
		(void)fprintf(out, "%s\n{\"callchain\":[%" PRIu32, comma, n->of_api[s->api] - 1);
		for (uint32_t k = 0; k < s->frame_count; k++)
			(void)fprintf(
			    out, ",%" PRIu32, n->of_frame[v->frames[s->frames[k]].label] - 1);
		(void)fprintf(out, "],\"cost\":[%" PRId64 "]}", cost(s, o));
		comma = ",";
	}
}

static int write_gprof2dot(FILE *out, const struct view *v, const struct export_options *o)
{
	struct numbers n = {.of_frame = calloc(v->frame_count + 1, sizeof(uint32_t))};

	if (!n.of_frame)
		return -ENOMEM;
	(void)fputs("{\"version\":0,\n\"costs\":[{\"description\":\"Memory\","
	            "\"unit\":\"bytes\"}],\n\"functions\":[",
	    out);
	functions(out, v, &n, o);
	(void)fputs("],\n\"events\":[", out);
	events(out, v, &n, o);
	(void)fputs("]}\n", out);
	free(n.of_frame);
	return ferror(out) ? -EIO : 0;
}

const struct export_format export_gprof2dot = {
    .name = "gprof2dot",
    .extension = ".json",
    .what = "memtrail's JSON for gprof2dot -f json",
    .flags = EXPORT_GROUPED | EXPORT_FOLDED | EXPORT_MERGED | EXPORT_METRIC | EXPORT_SINCE,
    .write = write_gprof2dot,
};
