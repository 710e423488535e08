/* held_json.c - who holds what, as JSON; keys are only ever added. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/held_json.h"

#include <errno.h>
#include <stdlib.h>

#include "names/find/program.h"
#include "kit/json/json_put.h"
#include "findings/held_words.h"

enum { SCHEMA = 1 };

static const char *const kinds[ROOT_KINDS] = {[ROOT_DATA] = "variable",
    [ROOT_TLS] = "thread_local",
    [ROOT_THREAD] = "thread",
    [ROOT_MAPPING] = "mapping",
    [ROOT_SHARED] = "shared_mapping",
    [ROOT_BETWEEN] = "unknown_heap",
    [ROOT_ELSEWHERE] = "new_mapping",
    [ROOT_KERNEL] = "kernel",
    [ROOT_KEPT] = "ignored",
    [ROOT_STACK] = "stack",
    [ROOT_REGISTER] = "register",
    [ROOT_NEW] = "new_block",
    [ROOT_LOST] = "lost",
    [ROOT_WEAK] = "weak"};

static void put_sum(FILE *out, const char *blocks, const char *bytes, const struct holders_sum *s)
{
	json_number(out, blocks, s->blocks);
	json_number(out, bytes, s->bytes);
}

static void put_root(
    FILE *out, const struct held_view *v, uint32_t node, uint32_t root, uint32_t next)
{
	const struct held_view_root *r = &v->roots[root];
	const struct held_view_entry *e = next ? &v->entries[next] : NULL;

	(void)fprintf(out, "{\"root\":\"%s\"", kinds[r->place.kind]);
	json_text(out, "name", r->name);
	json_boolean(out, "static", r->is_static);
	json_number_or_null(
	    out, "offset", e && e->words == 1 && e->root == root, e ? e->offset : 0);
	json_number(out, "pointers", e && e->root == root ? e->words : 0);
	json_text(out, "module", r->module);
	json_text(out, "file", r->file);
	json_number_or_null(out, "tid", r->place.tid > 0, (uint64_t)r->place.tid);
	json_text(out, "thread", r->place.thread[0] ? r->place.thread : NULL);
	json_number_or_null(out, "mapping_bytes", r->place.bytes > 0, r->place.bytes);
	json_number(out, "count", v->held->holders.nodes[node].own.blocks);
	put_sum(out, "retained_blocks", "retained_bytes", &v->held->holders.nodes[node].retained);
	(void)putc('}', out);
}

/* Hops from the root on. */
static void put_way(FILE *out, const struct held_view *v, uint32_t node)
{
	uint32_t way[HELD_WAY_MAX], root;
	size_t shared, count = held_way(v->held, node, way, &shared);

	(void)putc('[', out);
	for (size_t i = 0; i < count; i++) {
		const struct holders_node *n = &v->held->holders.nodes[way[i]];

		(void)fputs(i ? "," : "", out);
		if (held_is_root(v->held, way[i], &root)) {
			put_root(out, v, way[i], root, i + 1 < count ? way[i + 1] : 0);
			continue;
		}
		(void)fputs("{\"function\":", out);
		json_string(out, v->labels[n->class]);
		put_sum(out, "blocks", "bytes", &n->own);
		put_sum(out, "retained_blocks", "retained_bytes", &n->retained);
		(void)putc('}', out);
	}
	(void)putc(']', out);
}

/*
 * Where no single root holds it: how many nodes of the way come before that, and
 * other ways to those that point to it.
 */
static void put_several(FILE *out, const struct held_view *v, uint32_t node)
{
	uint32_t way[HELD_WAY_MAX], by[HELD_SEVERAL];
	size_t n = 0, shared, count = held_way(v->held, node, way, &shared);

	if (shared > 0 && shared < count)
		n = held_several(v->held, way[shared], by);
	json_number(out, "shared", shared);
	json_key(out, "several");
	(void)putc('[', out);
	for (size_t i = 0; i < n; i++) {
		(void)fputs(i ? "," : "", out);
		put_way(out, v, by[i]);
	}
	(void)putc(']', out);
}

static void put_held_way(FILE *out, const struct held_view *v, const struct held_way *w)
{
	uint32_t way[HOLDERS_DEPTH_MAX], whole[HELD_WAY_MAX];
	size_t shared, count = holders_way(&v->held->holders, w->node, way);

	(void)fprintf(out, "\n{\"blocks\":%llu", (unsigned long long)w->sum.blocks);
	json_number(out, "bytes", w->sum.bytes);
	json_key(out, "way");
	put_way(out, v, w->node);
	(void)held_way(v->held, w->node, whole, &shared);
	json_number(out, "piles_up_at", shared + holders_pile(&v->held->holders, way, count));
	put_several(out, v, w->node);
	(void)putc('}', out);
}

static void put_site(FILE *out, const struct held_view *v, uint32_t site)
{
	const struct held_view_site *s = &v->sites[site];
	const struct held_site *x = &v->held->sites[site];

	(void)fprintf(out, "{\"id\":");
	if (s->site)
		(void)fprintf(out, "%u", s->id);
	else
		(void)fputs("null", out);
	json_text(out, "function", v->labels[v->class_of[site]]);
	put_sum(out, "live_blocks", "live_bytes", &x->own);
	put_sum(out, "retained_blocks", "retained_bytes", &x->retained);
}

static int put_held(FILE *out, const struct held_view *v, uint32_t id)
{
	int64_t site = held_view_find(v, id);
	struct holders_sum unheld;
	struct held_way *ways;
	size_t count;
	int err;

	json_key(out, "held");
	if (site < 0) {
		(void)fputs("null", out);
		return 0;
	}
	err = held_ways(v->held, (uint32_t)site, &ways, &count, &unheld);
	if (err < 0)
		return err;
	put_site(out, v, (uint32_t)site);
	put_sum(out, "unheld_blocks", "unheld_bytes", &unheld);
	json_key(out, "ways");
	(void)putc('[', out);
	for (size_t i = 0; i < count; i++) {
		(void)fputs(i ? "," : "", out);
		put_held_way(out, v, &ways[i]);
	}
	(void)fputs("]}", out);
	free(ways);
	return 0;
}

/* The way to what piles up below a node, as seep leaks --retained prints it. */
static int put_words(FILE *out, const struct held_view *v, const char *key, uint32_t node)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return -ENOMEM;
	held_words_way(f, v, held_words_follow(v, node));
	if (fclose(f) != 0) {
		free(text);
		return -ENOMEM;
	}
	json_key(out, key);
	json_string(out, text);
	free(text);
	return 0;
}

static int put_retained(FILE *out, const struct held_view *v)
{
	const char *comma = "";
	uint32_t *nodes;
	size_t count;
	int err = held_suspects(v->held, v->held->all.bytes / 1000, &nodes, &count);

	if (err < 0)
		return err;
	json_key(out, "retained");
	(void)putc('[', out);
	for (size_t i = 0; i < count && err == 0; i++) {
		const struct holders_node *n = &v->held->holders.nodes[nodes[i]];

		(void)fprintf(out, "%s\n{\"retained_blocks\":%llu", comma,
		    (unsigned long long)n->retained.blocks);
		json_number(out, "retained_bytes", n->retained.bytes);
		json_key(out, "way");
		put_way(out, v, nodes[i]);
		put_several(out, v, nodes[i]);
		err = put_words(out, v, "words", nodes[i]);
		(void)putc('}', out);
		comma = ",";
	}
	(void)fputs("]", out);
	free(nodes);
	if (err < 0)
		return err;
	json_key(out, "sites");
	(void)putc('[', out);
	comma = "";
	for (uint32_t i = 0; i < v->site_count; i++) {
		if (v->held->sites[i].own.blocks == 0)
			continue;
		(void)fprintf(out, "%s\n", comma);
		put_site(out, v, i);
		(void)putc('}', out);
		comma = ",";
	}
	(void)putc(']', out);
	return 0;
}

int held_json_write(FILE *out, const struct held_view *v, uint32_t id, bool retained)
{
	int err = 0;

	(void)fprintf(out, "{\"schema\":%d", SCHEMA);
	json_text(out, "seep", SEEP_VERSION);
	json_number(out, "pid", v->process->header.pid);
	json_text(out, "program", program_name(&v->process->header));
	json_boolean(out, "stopped", v->was_stopped);
	json_boolean(out, "blocks_unknown", v->is_partial);
	put_sum(out, "blocks", "bytes", &v->held->all);
	put_sum(out, "unheld_blocks", "unheld_bytes", &v->held->unheld);
	json_number(out, "memory_bytes", v->held->memory.most);
	if (id)
		err = put_held(out, v, id);
	if (retained && err == 0)
		err = put_retained(out, v);
	(void)fputs("}\n", out);
	return err < 0 ? err : ferror(out) ? -EIO : 0;
}

/* ---- for a page ---- */

static int by_retained(const void *a, const void *b, void *context)
{
	const struct held_site *sites = context;
	uint64_t x = sites[*(const uint32_t *)a].retained.bytes;
	uint64_t y = sites[*(const uint32_t *)b].retained.bytes;

	return x != y ? (x < y) - (x > y)
	              : (*(const uint32_t *)a > *(const uint32_t *)b) -
	        (*(const uint32_t *)a < *(const uint32_t *)b);
}

static int put_sites_by_size(FILE *out, const struct held_view *v)
{
	uint32_t *order = calloc(v->site_count, sizeof(*order));
	size_t n = 0;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < v->site_count; i++)
		if (v->held->sites[i].own.blocks > 0)
			order[n++] = i;
	qsort_r(order, n, sizeof(*order), by_retained, v->held->sites);
	json_key(out, "sites");
	(void)putc('[', out);
	for (size_t i = 0; i < n; i++) {
		(void)fputs(i ? "," : "", out);
		put_site(out, v, order[i]);
		(void)putc('}', out);
	}
	(void)putc(']', out);
	free(order);
	return 0;
}

int held_json_page(FILE *out, const struct held_view *v)
{
	uint32_t *nodes;
	size_t count;
	int err = held_suspects(v->held, v->held->all.bytes / 1000, &nodes, &count);

	if (err < 0)
		return err;
	json_key(out, "held");
	(void)fprintf(out, "{\"blocks\":%llu", (unsigned long long)v->held->all.blocks);
	json_number(out, "bytes", v->held->all.bytes);
	json_key(out, "retained");
	(void)putc('[', out);
	for (size_t i = 0; i < count && err == 0; i++) {
		const struct holders_node *n = &v->held->holders.nodes[nodes[i]];

		(void)fprintf(out, "%s{\"retained_blocks\":%llu", i ? "," : "",
		    (unsigned long long)n->retained.blocks);
		json_number(out, "retained_bytes", n->retained.bytes);
		err = put_words(out, v, "way", nodes[i]);
		(void)putc('}', out);
	}
	(void)putc(']', out);
	free(nodes);
	if (err == 0)
		err = put_sites_by_size(out, v);
	(void)putc('}', out);
	return err;
}
