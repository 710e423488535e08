/* rss_json.c - the account of resident memory as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/rss_json.h"

#include "print/json/figures.h"
#include "analysis/rss/rss_reading.h"
#include "print/text/rss_text.h"
#include "kit/json/json_put.h"

static void classes(struct json *out, const struct residence *r)
{
	json_object(out, "classes");
	for (int i = 0; i < RESIDENCE_CLASSES; i++)
		json_number(out, rss_rules_key((enum residence_class)i), r->classes[i]);
	json_end(out);
}

static void mappings(struct json *out, const struct residence *r)
{
	json_list(out, "mappings");
	for (size_t i = 0; i < r->area_count; i++) {
		const struct residence_area *a = &r->areas[i];

		json_object(out, NULL);
		json_number(out, "start", a->start);
		json_number(out, "end", a->end);
		json_number(out, "bytes", a->bytes);
		json_text(out, "name", a->name[0] ? a->name : NULL);
		json_end(out);
	}
	json_end(out);
	json_number(out, "mapping_count", r->areas_count);
}

static void advice(struct json *out, const struct residence *r)
{
	static const char *const words[] = {"free", "arenas", "pinned"};
	unsigned rules = rss_rules(r, rss_rules_most_pins(r));

	json_list(out, "advice");
	for (unsigned i = 0; i < 3; i++) {
		if (!(rules & 1u << i))
			continue;
		json_text(out, NULL, words[i]);
	}
	json_end(out);
}

static void point(struct json *out, const struct residence *r)
{
	JSON_OBJECT(out, NULL, {"time_ms", r->time_ns / 1000000}, {"took_ms", r->took_ns / 1000000},
	    {"live_bytes", r->classes[RESIDENCE_LIVE]}, {"heap_bytes", rss_account_heap(r)},
	    {"rss_bytes", r->rss_bytes});
}

static void course(struct json *out, const struct process *p)
{
	json_list(out, "course");
	for (size_t i = 0; i < p->earlier_count; i++)
		point(out, &p->earlier[i]);
	point(out, p->residence);
	json_end(out);
}

void rss_json_process(struct json *out, const struct process *p)
{
	const struct residence *r = p->residence;
	bool is_split;

	if (!r)
		return;
	is_split = r->lack == RESIDENCE_SPLIT;
	json_object(out, "rss");
	json_number(out, "rss_bytes", r->rss_bytes);
	json_number(out, "swap_bytes", r->swap_bytes);
	json_number(out, "hugetlb_bytes", r->hugetlb_bytes);
	json_signed(out, "moved_bytes", r->moved_bytes);
	json_number(out, "time_ms", r->time_ns / 1000000);
	json_number(out, "took_ms", r->took_ns / 1000000);
	json_number(out, "page_bytes", r->page_bytes);
	json_boolean(out, "split", is_split);
	json_text(out, "why", is_split ? NULL : rss_reading_why(r->lack));
	json_boolean(out, "partial", r->is_partial);
	classes(out, r);
	json_number(out, "heap_bytes", rss_account_heap(r));
	json_number(out, "heap_swap_bytes", r->heap_swap_bytes);
	json_number(out, "huge_bytes", r->huge_bytes);
	json_numbers(out, "fills", r->fills, RESIDENCE_FILLS);
	json_number(out, "blocks", r->blocks);
	json_number(out, "block_bytes", r->block_bytes);
	json_number(out, "arenas", r->arenas);
	json_number(out, "arena_free_bytes", r->arena_free_bytes);
	JSON_OBJECT(out, "inherited", {"live_bytes", r->inherited_live},
	    {"holds_bytes", r->inherited_holds});
	JSON_OBJECT(
	    out, "other_sites", {"live_bytes", r->rest_live}, {"holds_bytes", r->rest_holds});
	mappings(out, r);
	advice(out, r);
	course(out, p);
	json_end(out);
}

void rss_json_site(struct json *out, const struct process *p, const struct view_figures *f)
{
	if (p ? p->residence && p->residence->lack == RESIDENCE_SPLIT : f->holds_bytes > 0)
		json_figures(out, FIGURES_PAGES, f);
}
