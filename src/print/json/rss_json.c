/* rss_json.c - the account of resident memory as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/rss_json.h"

#include <inttypes.h>

#include "analysis/rss/rss_reading.h"
#include "print/text/rss_text.h"
#include "kit/json/json_put.h"

static void classes(FILE *out, const struct residence *r)
{
	json_key(out, "classes");
	for (int i = 0; i < RESIDENCE_CLASSES; i++)
		(void)fprintf(out, "%s\"%s\":%" PRIu64, i ? "," : "{",
		    rss_rules_key((enum residence_class)i), r->classes[i]);
	(void)putc('}', out);
}

static void mappings(FILE *out, const struct residence *r)
{
	json_key(out, "mappings");
	(void)putc('[', out);
	for (size_t i = 0; i < r->area_count; i++) {
		const struct residence_area *a = &r->areas[i];

		(void)fprintf(out,
		    "%s{\"start\":%" PRIu64 ",\"end\":%" PRIu64 ",\"bytes\":%" PRIu64, i ? "," : "",
		    a->start, a->end, a->bytes);
		json_text(out, "name", a->name[0] ? a->name : NULL);
		(void)putc('}', out);
	}
	(void)putc(']', out);
	json_number(out, "mapping_count", r->areas_count);
}

static void advice(FILE *out, const struct residence *r)
{
	static const char *const words[] = {"free", "arenas", "pinned"};
	unsigned rules = rss_rules(r, rss_rules_most_pins(r));
	const char *comma = "";

	json_key(out, "advice");
	(void)putc('[', out);
	for (unsigned i = 0; i < 3; i++) {
		if (!(rules & 1u << i))
			continue;
		(void)fprintf(out, "%s\"%s\"", comma, words[i]);
		comma = ",";
	}
	(void)putc(']', out);
}

static void point(FILE *out, const struct residence *r, const char *comma)
{
	(void)fprintf(out, "%s{\"time_ms\":%" PRIu64, comma, r->time_ns / 1000000);
	json_number(out, "took_ms", r->took_ns / 1000000);
	json_number(out, "live_bytes", r->classes[RESIDENCE_LIVE]);
	json_number(out, "heap_bytes", rss_account_heap(r));
	json_number(out, "rss_bytes", r->rss_bytes);
	(void)putc('}', out);
}

static void course(FILE *out, const struct process *p)
{
	json_key(out, "course");
	(void)putc('[', out);
	for (size_t i = 0; i < p->earlier_count; i++)
		point(out, &p->earlier[i], i ? "," : "");
	point(out, p->residence, p->earlier_count ? "," : "");
	(void)putc(']', out);
}

void rss_json_process(FILE *out, const struct process *p)
{
	const struct residence *r = p->residence;
	bool is_split;

	if (!r)
		return;
	is_split = r->lack == RESIDENCE_SPLIT;
	json_key(out, "rss");
	(void)fprintf(out, "{\"rss_bytes\":%" PRIu64, r->rss_bytes);
	json_number(out, "swap_bytes", r->swap_bytes);
	json_number(out, "hugetlb_bytes", r->hugetlb_bytes);
	(void)fprintf(out, ",\"moved_bytes\":%" PRId64, r->moved_bytes);
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
	json_list(out, "fills", r->fills, RESIDENCE_FILLS);
	json_number(out, "blocks", r->blocks);
	json_number(out, "block_bytes", r->block_bytes);
	json_number(out, "arenas", r->arenas);
	json_number(out, "arena_free_bytes", r->arena_free_bytes);
	(void)fprintf(out,
	    ",\"inherited\":{\"live_bytes\":%" PRIu64 ",\"holds_bytes\":%" PRIu64
	    "},\"other_sites\":{\"live_bytes\":%" PRIu64 ",\"holds_bytes\":%" PRIu64 "}",
	    r->inherited_live, r->inherited_holds, r->rest_live, r->rest_holds);
	mappings(out, r);
	advice(out, r);
	course(out, p);
	(void)putc('}', out);
}

void rss_json_site(FILE *out, const struct process *p, const struct view_figures *f)
{
	bool is_known =
	    p ? p->residence && p->residence->lack == RESIDENCE_SPLIT : f->holds_bytes > 0;

	if (!is_known)
		return;
	json_number(out, "holds_bytes", f->holds_bytes);
	json_number(out, "pins_bytes", view_pins(f));
}
