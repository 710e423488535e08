/* inventory_text.c - the holders that a recording has stored, as text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/text/verdict_text.h"

#include "base/std.h"
#include "kit/words/text.h"
#include "kit/words/words.h"
#include "names/find/program.h"
#include "print/json/leaks_json.h"
#include "print/text/layout.h"

enum { LEAST_PERCENT = 1 }; /* as of a process that runs: held_text.c */

static void print_sum(FILE *out, const struct inventory_sum *s)
{
	(void)fprintf(out, "%s %s", WORDS_COUNTED(s->blocks, "block"), WORDS_BYTES(s->bytes));
}

bool inventory_text_site(const struct layout *p, const struct inventory *v, uint32_t id)
{
	const struct inventory_site *x = inventory_find(v, id);
	struct hanging h;

	if (!x)
		return false;
	if (!hanging_begin(p, &h))
		return true;
	print_sum(h.page.out, &x->live);
	(void)fputs(" at ", h.page.out);
	text_print(h.page.out, x->function ? x->function : "(unknown)");
	(void)fprintf(
	    h.page.out, " (site %u), which retain%s ", id, x->live.blocks == 1 ? "s" : "");
	print_sum(h.page.out, &x->retained);
	(void)putc('\n', h.page.out);
	hanging_end(p, &h, "HELD");
	if (!hanging_begin(p, &h))
		return true;
	(void)fputs(x->held ? "held by " : "no pointer to them was found", h.page.out);
	if (x->held)
		text_print(h.page.out, x->held);
	(void)putc('\n', h.page.out);
	hanging_end(p, &h, NULL);
	return true;
}

static void print_holders(const struct layout *p, const struct inventory *v, unsigned top)
{
	uint64_t least = v->all.bytes / 100 * LEAST_PERCENT;

	for (size_t i = 0; i < v->holder_count && (top == 0 || i < top); i++) {
		const struct inventory_holder *x = &v->holders[i];
		struct hanging h;

		if (x->retained.bytes < least || !hanging_begin(p, &h))
			continue;
		print_sum(h.page.out, &x->retained);
		(void)fputs(": ", h.page.out);
		text_print(h.page.out, x->way);
		(void)putc('\n', h.page.out);
		hanging_end(p, &h, "RETAINED");
	}
}

static int print_sites(const struct layout *p, const struct inventory *v, unsigned top)
{
	uint32_t *order;
	int err = inventory_json_order(v, &order);

	if (err < 0)
		return err;
	if (v->site_count > 0)
		(void)fprintf(p->out, "\n%12s %12s %13s %7s  %s\n", "retained", "live", "blocks",
		    "site", "allocated in");
	for (size_t i = 0; i < v->site_count && (top == 0 || i < top); i++) {
		const struct inventory_site *x = &v->sites[order[i]];

		(void)fprintf(p->out, "%12s %12s %13s %7u  ", WORDS_BYTES(x->retained.bytes),
		    WORDS_BYTES(x->live.bytes), WORDS_COUNT(x->live.blocks), x->id);
		text_print(p->out, x->function ? x->function : "(unknown)");
		(void)putc('\n', p->out);
	}
	if (top > 0 && v->site_count > top)
		(void)fprintf(
		    p->out, "%s more (--top 0: all).\n", WORDS_COUNT(v->site_count - top));
	free(order);
	return 0;
}

int inventory_text_retained(const struct layout *p, const struct inventory *v, unsigned top)
{
	print_holders(p, v, top);
	return print_sites(p, v, top);
}

static void print_when(FILE *out, const struct process *p)
{
	text_print(out, program_name(&p->header));
	(void)fprintf(out, " (pid %u), as it was %s", p->header.pid,
	    p->inventory->at_exit ? "at its exit" : "");
	if (!p->inventory->at_exit)
		(void)fprintf(out, "%s after it had started", WORDS_TIME(p->inventory->time_ns));
}

void inventory_text_sentence(const struct layout *page, const struct process *p)
{
	const struct inventory *v = p->inventory;
	struct layout_text t;

	layout_begin(page, &t);
	(void)putc('\n', t.file);
	print_sum(t.file, &v->all);
	(void)fputs(" of ", t.file);
	print_when(t.file, p);
	(void)putc('.', t.file);
	if (v->is_partial)
		(void)fputs(HELD_TEXT_PARTIAL, t.file);
	if (v->unheld.blocks > 0) {
		(void)fputs(" Beside these, no pointer was found to ", t.file);
		print_sum(t.file, &v->unheld);
		(void)putc('.', t.file);
	}
	if (v->is_short)
		(void)fputs(" The smallest sites were not stored.", t.file);
	(void)putc('\n', t.file);
	layout_end(page, &t);
}
