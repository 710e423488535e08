/* held_words.c - who holds what, in words: a root, and a way from it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/held_view.h"

#include "kit/words/text.h"
#include "kit/words/words.h"

enum { BELOW = 3 }; /* nodes below one at which things pile up */

/* ---- roots ---- */

static void print_variable(FILE *out, const struct held_view_root *r)
{
	const char *base = text_base(r->module);
	const char *kind = r->place.kind == ROOT_TLS ? "thread-local"
	    : r->is_static                           ? "static"
	                                             : "global";

	if (!r->name) {
		(void)fputs(r->place.kind == ROOT_TLS ? "thread-local data of " : "data of ", out);
		text_print(out, base ? base : "a module");
		return;
	}
	(void)fprintf(out, "%s `", kind);
	text_print(out, r->name);
	(void)putc('`', out);
}

static void print_thread(
    FILE *out, const struct held_view_root *r, const char *what, uint64_t count)
{
	if (count > 1)
		(void)fprintf(out, "%s of %s", what, WORDS_COUNTED(count, "thread"));
	else if (r->place.tid)
		(void)fprintf(out, "%s of thread %d", what, (int)r->place.tid);
	else
		(void)fprintf(out, "%s of a thread", what);
	if (r->place.thread[0]) {
		(void)fputs(" (", out);
		text_print(out, r->place.thread);
		(void)putc(')', out);
	}
}

void held_words_root(FILE *out, const struct held_view_root *r, uint64_t count)
{
	switch (r->place.kind) {
	case ROOT_DATA:
		print_variable(out, r);
		return;
	case ROOT_TLS:
		print_variable(out, r);
		print_thread(out, r, "", count);
		return;
	case ROOT_THREAD:
		print_thread(out, r, "own data", count);
		return;
	case ROOT_STACK:
		print_thread(out, r, count > 1 ? "stacks" : "stack", count);
		return;
	case ROOT_MAPPING:
		(void)fprintf(out, "mapping of %s", WORDS_BYTES(r->place.bytes));
		return;
	case ROOT_SHARED:
		(void)fprintf(out, "shared mapping of %s", WORDS_BYTES(r->place.bytes));
		return;
	case ROOT_BETWEEN:
		(void)fputs("heap memory of which no block is known", out);
		return;
	case ROOT_ELSEWHERE:
		(void)fputs("memory that was mapped during the look", out);
		return;
	case ROOT_KERNEL:
		(void)fputs("the kernel (epoll or timer)", out);
		return;
	case ROOT_KEPT:
		(void)fputs("seep_ignore()", out);
		return;
	case ROOT_REGISTER:
		(void)fputs("a register", out);
		return;
	case ROOT_NEW:
		(void)fputs(count > 1 ? "new blocks that nothing points to yet"
		                      : "a new block that nothing points to yet",
		    out);
		return;
	case ROOT_LOST:
		(void)fputs(r->may_move ? "nothing that was seen (lost, or moved meanwhile)"
		                        : "nothing (lost)",
		    out);
		return;
	case ROOT_WEAK:
		(void)fputs("a word that may be no pointer", out);
		return;
	case ROOT_KINDS:
		break;
	}
}

/* ---- ways ---- */

static void print_entry(FILE *out, const struct held_view *v, uint32_t root, uint32_t node)
{
	const struct held_view_entry *e = &v->entries[node];

	if (e->words == 1 && e->root == root && e->offset > 0)
		(void)fprintf(out, "+0x%llx", (unsigned long long)e->offset);
}

void held_words_node(FILE *out, const struct held_view *v, uint32_t node)
{
	const struct holders_node *n = &v->held->holders.nodes[node];

	if (n->own.blocks == 1)
		(void)fputs("a block of ", out);
	else
		(void)fprintf(out, "%s of ", WORDS_COUNT(n->own.blocks));
	text_print(out, v->labels[n->class]);
	(void)fprintf(out, " (%s)", WORDS_BYTES(n->own.bytes));
}

/* The roots of other ways to a node, each once. */
static void print_others(FILE *out, const struct held_view *v, uint32_t node, uint32_t but)
{
	uint32_t way[HELD_WAY_MAX], seen[HELD_SEVERAL + 1] = {but}, root;
	uint32_t by[HELD_SEVERAL];
	size_t n = held_several(v->held, node, by), count = 1, k, shared;

	for (size_t i = 0; i < n; i++) {
		if (held_way(v->held, by[i], way, &shared) == 0)
			continue;
		for (k = 0; k < count && seen[k] != way[0]; k++)
			;
		if (k < count || !held_is_root(v->held, way[0], &root))
			continue;
		seen[count++] = way[0];
		(void)fputs(count > 2 ? " and " : "; also by ", out);
		held_words_root(out, &v->roots[root], v->held->holders.nodes[way[0]].own.blocks);
	}
}

void held_words_way(FILE *out, const struct held_view *v, uint32_t node)
{
	uint32_t way[HELD_WAY_MAX], root;
	size_t shared, count = held_way(v->held, node, way, &shared);

	for (size_t i = 0; i < count; i++) {
		(void)fputs(i ? " -> " : "", out);
		if (!held_is_root(v->held, way[i], &root)) {
			held_words_node(out, v, way[i]);
			continue;
		}
		held_words_root(out, &v->roots[root], v->held->holders.nodes[way[i]].own.blocks);
		if (i + 1 < count)
			print_entry(out, v, root, way[i + 1]);
	}
	if (shared > 0)
		print_others(out, v, way[shared], way[0]);
}

/*
 * A block that was made during the look is in no list of blocks. If it is the
 * first of a list that grows, what it holds seems to be held by nothing known.
 */
static bool is_vague(const struct held_view *v, uint32_t node)
{
	uint32_t way[HELD_WAY_MAX], root;
	size_t shared;

	return held_way(v->held, node, way, &shared) > 0 && held_is_root(v->held, way[0], &root) &&
	    held_view_is_vague(v, root);
}

bool held_words_line(FILE *out, const struct held_view *v, uint32_t id, bool *ret_vague)
{
	int64_t site = held_view_find(v, id);
	struct holders_sum unheld;
	struct held_way *ways;
	size_t count;

	if (site < 0 || held_ways(v->held, (uint32_t)site, &ways, &count, &unheld) < 0)
		return false;
	if (count > 0) {
		held_words_way(out, v, ways[0].node);
		*ret_vague = is_vague(v, ways[0].node);
	}
	free(ways);
	return count > 0;
}

uint32_t held_words_follow(const struct held_view *v, uint32_t node)
{
	const struct holders *h = &v->held->holders;

	for (int n = 0; n < BELOW; n++) {
		uint64_t most = h->nodes[node].retained.bytes / 2;
		uint32_t found = 0;

		for (uint32_t i = node + 1; i < h->count; i++)
			if (h->nodes[i].parent == node && h->nodes[i].retained.bytes > most) {
				most = h->nodes[i].retained.bytes;
				found = i;
			}
		if (!found)
			break;
		node = found;
	}
	return node;
}
