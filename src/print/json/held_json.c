/* held_json.c - who holds what, as JSON; keys are only ever added. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/leaks_json.h"

#include "names/find/program.h"
#include "kit/json/json_put.h"
#include "findings/held_view.h"

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

static void put_sum(
    struct json *out, const char *blocks, const char *bytes, const struct holders_sum *s)
{
	json_number(out, blocks, s->blocks);
	json_number(out, bytes, s->bytes);
}

static void put_root(
    struct json *out, const struct held_view *v, uint32_t node, uint32_t root, uint32_t next)
{
	const struct held_view_root *r = &v->roots[root];
	const struct held_view_entry *e = next ? &v->entries[next] : NULL;

	json_object(out, NULL);
	json_text(out, "root", kinds[r->place.kind]);
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
	json_end(out);
}

/* Hops from the root on. */
static void put_way(struct json *out, const struct held_view *v, uint32_t node)
{
	uint32_t way[HELD_WAY_MAX], root;
	size_t shared, count = held_way(v->held, node, way, &shared);

	json_list(out, NULL);
	for (size_t i = 0; i < count; i++) {
		const struct holders_node *n = &v->held->holders.nodes[way[i]];

		if (held_is_root(v->held, way[i], &root)) {
			put_root(out, v, way[i], root, i + 1 < count ? way[i + 1] : 0);
			continue;
		}
		json_object(out, NULL);
		json_text(out, "function", v->labels[n->class]);
		put_sum(out, "blocks", "bytes", &n->own);
		put_sum(out, "retained_blocks", "retained_bytes", &n->retained);
		json_end(out);
	}
	json_end(out);
}

/*
 * Where no single root holds it: how many nodes of the way come before that, and
 * other ways to those that point to it.
 */
static void put_several(struct json *out, const struct held_view *v, uint32_t node)
{
	uint32_t way[HELD_WAY_MAX], by[HELD_SEVERAL];
	size_t n = 0, shared, count = held_way(v->held, node, way, &shared);

	if (shared > 0 && shared < count)
		n = held_several(v->held, way[shared], by);
	json_number(out, "shared", shared);
	json_list(out, "several");
	for (size_t i = 0; i < n; i++)
		put_way(out, v, by[i]);
	json_end(out);
}

static void put_held_way(struct json *out, const struct held_view *v, const struct held_way *w)
{
	uint32_t way[HOLDERS_DEPTH_MAX], whole[HELD_WAY_MAX];
	size_t shared, count = holders_way(&v->held->holders, w->node, way);

	json_object(out, NULL);
	json_number(out, "blocks", w->sum.blocks);
	json_number(out, "bytes", w->sum.bytes);
	json_key(out, "way");
	put_way(out, v, w->node);
	(void)held_way(v->held, w->node, whole, &shared);
	json_number(out, "piles_up_at", shared + holders_pile(&v->held->holders, way, count));
	put_several(out, v, w->node);
	json_end(out);
}

static void put_site(struct json *out, const struct held_view *v, uint32_t site)
{
	const struct held_view_site *s = &v->sites[site];
	const struct held_site *x = &v->held->sites[site];

	json_object(out, NULL);
	json_number_or_null(out, "id", s->site, s->id);
	json_text(out, "function", v->labels[v->class_of[site]]);
	put_sum(out, "live_blocks", "live_bytes", &x->own);
	put_sum(out, "retained_blocks", "retained_bytes", &x->retained);
}

static int put_held(struct json *out, const struct held_view *v, uint32_t id)
{
	int64_t site = held_view_find(v, id);
	struct holders_sum unheld;
	struct held_way *ways;
	size_t count;
	int err;

	json_key(out, "held");
	if (site < 0) {
		json_null(out, NULL);
		return 0;
	}
	err = held_ways(v->held, (uint32_t)site, &ways, &count, &unheld);
	if (err < 0)
		return err;
	put_site(out, v, (uint32_t)site);
	put_sum(out, "unheld_blocks", "unheld_bytes", &unheld);
	json_rows(out, "ways");
	for (size_t i = 0; i < count; i++)
		put_held_way(out, v, &ways[i]);
	json_end(out);
	json_end(out);
	free(ways);
	return 0;
}

/* The way to what piles up below a node, as seep leaks --retained prints it. */
static int put_words(struct json *out, const struct held_view *v, uint32_t node)
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
	json_text(out, "words", text);
	free(text);
	return 0;
}

static int put_retained(struct json *out, const struct held_view *v)
{
	uint32_t *nodes;
	size_t count;
	int err = held_suspects(v->held, v->held->all.bytes / 1000, &nodes, &count);

	if (err < 0)
		return err;
	json_rows(out, "retained");
	for (size_t i = 0; i < count && err == 0; i++) {
		const struct holders_node *n = &v->held->holders.nodes[nodes[i]];

		json_object(out, NULL);
		json_number(out, "retained_blocks", n->retained.blocks);
		json_number(out, "retained_bytes", n->retained.bytes);
		json_key(out, "way");
		put_way(out, v, nodes[i]);
		put_several(out, v, nodes[i]);
		err = put_words(out, v, nodes[i]);
		json_end(out);
	}
	json_end(out);
	free(nodes);
	if (err < 0)
		return err;
	json_rows(out, "sites");
	for (uint32_t i = 0; i < v->site_count; i++) {
		if (v->held->sites[i].own.blocks == 0)
			continue;
		put_site(out, v, i);
		json_end(out);
	}
	json_end(out);
	return 0;
}

int held_json_write(FILE *out, const struct held_view *v, uint32_t id, bool retained)
{
	struct json to;
	int err = 0;

	to = json_begin(out, SEEP_VERSION);
	json_number(&to, "pid", v->process->header.pid);
	json_text(&to, "program", program_name(&v->process->header));
	json_boolean(&to, "stopped", v->was_stopped);
	json_boolean(&to, "blocks_unknown", v->is_partial);
	put_sum(&to, "blocks", "bytes", &v->held->all);
	put_sum(&to, "unheld_blocks", "unheld_bytes", &v->held->unheld);
	json_number(&to, "memory_bytes", v->held->memory.most);
	if (id)
		err = put_held(&to, v, id);
	if (retained && err == 0)
		err = put_retained(&to, v);
	return json_finish(&to, err);
}
