/* mappings_json.c - mappings by caller as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/mappings_json.h"

#include "session/process/mapped_pages.h"
#include "print/text/mappings_text.h"
#include "view/sites/enum_words.h"
#include "kit/json/json_put.h"

static void put_figures(struct json *out, const struct process_figures *f)
{
	json_number(out, "bytes", f->live_bytes);
	json_number(out, "ranges", f->live_blocks);
	json_number(out, "mapped_ranges", f->allocations);
	json_number(out, "mapped_bytes", f->allocated_bytes);
	json_number(out, "unmapped_ranges", f->frees);
	json_number(out, "unmapped_bytes", f->freed_bytes);
}

static int one(struct json *out, const struct process *p, const struct view_site *s,
    struct frames_table *frames)
{
	const struct mapped_site *now = mappings_text_resident(p, s);
	int err;

	json_object(out, NULL);
	json_number(out, "id", s->id);
	json_text(out, "class", mappings_text_is_allocators(p, s) ? "allocator" : "caller");
	put_figures(out, &s->figures.all);
	json_number_or_null(out, "resident_bytes", now, now ? now->resident_bytes : 0);
	json_number_or_null(out, "swapped_bytes", now, now ? now->swapped_bytes : 0);
	json_number(out, "size_min", s->size_min);
	json_number(out, "size_max", s->size_max);
	json_time(out, "first_time", s->first_ns);
	json_time(out, "last_time", s->last_ns);
	json_text(out, "stack", enum_words_stack(s->stack_flags));
	err = frames_table_put(out, frames, s);
	json_end(out);
	return err;
}

static void sums(struct json *out, const struct process *p)
{
	const struct mapped *m = p->resident;
	uint64_t resident = 0, swapped = 0;

	for (size_t i = 0; m && i < m->count; i++) {
		resident += m->sites[i].resident_bytes;
		swapped += m->sites[i].swapped_bytes;
	}
	json_number_or_null(out, "resident_bytes", m, resident);
	json_number_or_null(out, "swapped_bytes", m, swapped);
	json_boolean(out, "resident_partial", m && m->is_partial);
}

int json_mappings(struct json *out, const struct session *s, const struct process *p,
    struct names *names, const struct view_options *options, struct json_writer *w)
{
	struct view_options o = *options;
	struct frames_table *frames = NULL;
	struct view *v;
	int err;

	if (!mappings_text_has(p))
		return 0;
	o.only = p;
	o.mappings = true;
	o.metric = VIEW_ALL;
	o.group = o.merge = false;
	err = view_new(s, names, &o, &v);
	if (err < 0)
		return err;
	err = frames_table_new(v, w->table, &frames);
	if (err == 0) {
		json_object(out, "mappings");
		json_number(out, "sites", v->site_count);
		put_figures(out, &p->mapped);
		sums(out, p);
		json_rows(out, "callers");
	}
	for (size_t i = 0; i < v->site_count && !ferror(out->file) && err == 0; i++)
		err = one(out, p, &v->sites[i], frames);
	if (err == 0) {
		json_end(out);
		json_end(out);
	}
	frames_table_free(frames);
	view_free(v);
	return err;
}
