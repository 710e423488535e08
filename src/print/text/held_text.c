/* held_text.c - who holds what, as text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/text/verdict_text.h"

#include "base/std.h"
#include "findings/held_view.h"
#include "print/text/layout.h"
#include "names/find/program.h"
#include "kit/words/text.h"
#include "kit/words/words.h"

enum {
	CALLERS = 3,       /* names after the frame that heads a stack */
	WAYS = 4,          /* of one site */
	LEAST_PERCENT = 1, /* of all bytes: holders below that are left out */
};

/* ---- one site ---- */

static void print_sum(FILE *out, const struct holders_sum *s)
{
	(void)fprintf(out, "%s %s", WORDS_COUNTED(s->blocks, "block"), WORDS_BYTES(s->bytes));
}

static void print_name(FILE *out, const struct frame *x)
{
	const char *base = text_base(x->module);

	if (x->brief || x->function)
		text_print(out, x->brief ? x->brief : x->function);
	else
		(void)fprintf(out, "%s+0x%llx", base ? base : "", (unsigned long long)x->offset);
}

static void print_stack(const struct layout *p, FILE *out, const struct held_view_site *s)
{
	struct layout whole = *p;

	if (!s->site || s->site->frame_count == 0)
		return;
	whole.out = out;
	whole.width = 0;
	whole.colour = false;
	for (uint32_t i = s->site->own; i < s->site->frame_count && i <= s->site->own + CALLERS;
	     i++) {
		const struct frame *x = &s->view->frames[s->site->frames[i]];

		(void)fputs(i > s->site->own ? " <- " : "", out);
		if (i == s->site->own)
			layout_frame(&whole, x, 0, 0, LAYOUT_PLAIN);
		else
			print_name(out, x);
	}
}

/* Where the blocks pile up, and what that retains. */
static void print_pile(FILE *out, const struct held_view *v, uint32_t node)
{
	uint32_t way[HOLDERS_DEPTH_MAX], root, at;
	size_t count = holders_way(&v->held->holders, node, way);
	const struct holders_node *n;

	if (count == 0)
		return;
	at = way[holders_pile(&v->held->holders, way, count)];
	n = &v->held->holders.nodes[at];
	if (held_is_root(v->held, at, &root) && v->roots[root].place.kind == ROOT_LOST)
		return; /* that is no place */
	(void)fputs("; they pile up in ", out);
	if (held_is_root(v->held, at, &root))
		held_words_root(out, &v->roots[root], n->own.blocks);
	else
		held_words_node(out, v, at);
	(void)fputs(n->own.blocks > 1 ? ", which retain " : ", which retains ", out);
	print_sum(out, &n->retained);
}

static void print_way(
    const struct layout *p, const struct held_view *v, const struct held_way *w, bool is_all)
{
	struct hanging h;

	if (!hanging_begin(p, &h))
		return;
	if (!is_all) {
		print_sum(h.page.out, &w->sum);
		(void)fputs(": ", h.page.out);
	}
	(void)fputs("held by ", h.page.out);
	held_words_way(h.page.out, v, w->node);
	print_pile(h.page.out, v, w->node);
	(void)putc('\n', h.page.out);
	hanging_end(p, &h, NULL);
}

static void print_rest(const struct layout *p, const struct held_way *ways, size_t count,
    const struct holders_sum *unheld)
{
	struct holders_sum rest = {0};
	struct hanging h;

	for (size_t i = WAYS; i < count; i++) {
		rest.blocks += ways[i].sum.blocks;
		rest.bytes += ways[i].sum.bytes;
	}
	if (rest.blocks > 0 && hanging_begin(p, &h)) {
		print_sum(h.page.out, &rest);
		(void)fputs(" in other ways\n", h.page.out);
		hanging_end(p, &h, NULL);
	}
	if (unheld->blocks > 0 && hanging_begin(p, &h)) {
		print_sum(h.page.out, unheld);
		(void)fputs(": no pointer to them was found; they came, went "
		            "or moved during the look\n",
		    h.page.out);
		hanging_end(p, &h, NULL);
	}
}

bool held_text_site(const struct layout *p, const struct held_view *v, uint32_t id)
{
	int64_t site = held_view_find(v, id);
	const struct held_site *x;
	struct holders_sum unheld;
	struct held_way *ways;
	size_t count;
	struct hanging h;

	if (site < 0)
		return false;
	x = &v->held->sites[site];
	if (x->own.blocks == 0 || held_ways(v->held, (uint32_t)site, &ways, &count, &unheld) < 0)
		return false;
	if (hanging_begin(p, &h)) {
		print_sum(h.page.out, &x->own);
		(void)fputs(" at ", h.page.out);
		print_stack(p, h.page.out, &v->sites[site]);
		(void)fprintf(
		    h.page.out, " (site %u), which retain%s ", id, x->own.blocks == 1 ? "s" : "");
		print_sum(h.page.out, &x->retained);
		(void)putc('\n', h.page.out);
		hanging_end(p, &h, "HELD");
	}
	for (size_t i = 0; i < count && i < WAYS; i++)
		print_way(p, v, &ways[i], count == 1 && ways[i].sum.blocks == x->own.blocks);
	print_rest(p, ways, count, &unheld);
	free(ways);
	return true;
}

/* ---- the largest holders ---- */

static void print_suspect(const struct layout *p, const struct held_view *v, uint32_t node)
{
	const struct holders_node *n = &v->held->holders.nodes[node];
	struct hanging h;

	if (!hanging_begin(p, &h))
		return;
	print_sum(h.page.out, &n->retained);
	(void)fputs(": ", h.page.out);
	held_words_way(h.page.out, v, held_words_follow(v, node));
	(void)putc('\n', h.page.out);
	hanging_end(p, &h, "RETAINED");
}

static int by_retained(const void *a, const void *b, void *context)
{
	const struct held_site *sites = context;
	const struct held_site *x = &sites[*(const uint32_t *)a];
	const struct held_site *y = &sites[*(const uint32_t *)b];

	if (x->retained.bytes != y->retained.bytes)
		return x->retained.bytes > y->retained.bytes ? -1 : 1;
	if (x->own.bytes != y->own.bytes)
		return x->own.bytes > y->own.bytes ? -1 : 1;
	return (*(const uint32_t *)a > *(const uint32_t *)b) -
	    (*(const uint32_t *)a < *(const uint32_t *)b);
}

static void print_sites(const struct layout *p, const struct held_view *v, unsigned top)
{
	uint32_t *order = calloc(v->site_count + 1, sizeof(*order));
	size_t n = 0;

	for (uint32_t i = 0; order && i < v->site_count; i++)
		if (v->held->sites[i].own.blocks > 0)
			order[n++] = i;
	if (n == 0) {
		free(order);
		return;
	}
	qsort_r(order, n, sizeof(*order), by_retained, v->held->sites);
	(void)fprintf(p->out, "\n%12s %12s %13s %7s  %s\n", "retained", "live", "blocks", "site",
	    "allocated in");
	for (size_t i = 0; i < n && (top == 0 || i < top); i++) {
		const struct held_site *x = &v->held->sites[order[i]];
		const struct held_view_site *s = &v->sites[order[i]];

		(void)fprintf(p->out, "%12s %12s %13s %7u  ", WORDS_BYTES(x->retained.bytes),
		    WORDS_BYTES(x->own.bytes), WORDS_COUNT(x->own.blocks), s->id);
		if (s->site && s->site->frame_count)
			layout_frame(p, &s->view->frames[s->site->frames[s->site->own]], 0, 50,
			    LAYOUT_PLAIN);
		else
			(void)fputs("(unknown)", p->out);
		(void)putc('\n', p->out);
	}
	if (top > 0 && n > top)
		(void)fprintf(p->out, "%s more (--top 0: all).\n", WORDS_COUNT(n - top));
	free(order);
}

static void print_sentence(const struct layout *p, const struct held_view *v)
{
	struct layout_text t;

	layout_begin(p, &t);
	(void)fputs("\n", t.file);
	print_sum(t.file, &v->held->all);
	(void)fputs(" of ", t.file);
	text_print(t.file, program_name(&v->process->header));
	(void)fprintf(t.file, " (pid %u)", v->process->header.pid);
	(void)fputs(v->was_stopped ? ", all read while it was stopped."
	                           : " were read while it ran on, so pointers may have moved "
	                             "meanwhile.",
	    t.file);
	if (v->is_partial)
		(void)fputs(HELD_TEXT_PARTIAL, t.file);
	if (v->held->unheld.blocks > 0) {
		(void)fputs(" Beside these, no pointer was found to ", t.file);
		print_sum(t.file, &v->held->unheld);
		(void)putc('.', t.file);
	}
	(void)putc('\n', t.file);
	layout_end(p, &t);
}

void held_text_retained(const struct layout *p, const struct held_view *v, unsigned top)
{
	uint64_t least = v->held->all.bytes / 100 * LEAST_PERCENT;
	uint32_t *nodes;
	size_t count;

	if (held_suspects(v->held, least, &nodes, &count) < 0)
		return;
	for (size_t i = 0; i < count && (top == 0 || i < top); i++)
		print_suspect(p, v, nodes[i]);
	free(nodes);
	print_sites(p, v, top);
	print_sentence(p, v);
}
