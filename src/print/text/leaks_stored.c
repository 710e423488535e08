/* leaks_stored.c - seep leaks --held, --retained and --types of a recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/text/leaks_stored.h"

#include <errno.h>
#include <stdlib.h>

#include "command/cmd.h"
#include "command/shell/die.h"
#include "print/text/held_text.h"
#include "findings/leaks_before.h"
#include "command/leaks_census.h"
#include "command/leaks_page.h"
#include "command/shell/progress.h"
#include "print/json/census_json.h"
#include "print/json/inventory_json.h"
#include "print/text/by_type_text.h"
#include "print/text/hanging.h"
#include "names/find/program.h"
#include "print/text/report_text.h"
#include "view/sites/enum_words.h"
#include "kit/words/text.h"

enum { LEAST_PERCENT = 1 }; /* as of a process that runs: held_text.c */

static bool has(const struct leaks_stored *o, const struct process *p)
{
	const struct inventory *v = p->inventory;

	if (!v || (o->view->pid != VIEW_ANY && o->view->pid != p->header.pid))
		return false;
	return o->types ? v->has_types : v->has_holders;
}

/* ---- holders ---- */

static void print_sum(FILE *out, const struct inventory_sum *s)
{
	char a[WORDS_COUNTED], b[WORDS_MAX];

	(void)fprintf(out, "%s %s", words_counted(a, s->blocks, "block"), words_bytes(b, s->bytes));
}

static bool print_held(const struct layout *p, const struct inventory *v, uint32_t id)
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
	char a[WORDS_MAX], b[WORDS_MAX], c[WORDS_MAX];
	uint32_t *order;
	int err = inventory_json_order(v, &order);

	if (err < 0)
		return err;
	if (v->site_count > 0)
		(void)fprintf(p->out, "\n%12s %12s %13s %7s  %s\n", "retained", "live", "blocks",
		    "site", "allocated in");
	for (size_t i = 0; i < v->site_count && (top == 0 || i < top); i++) {
		const struct inventory_site *x = &v->sites[order[i]];

		(void)fprintf(p->out, "%12s %12s %13s %7u  ", words_bytes(a, x->retained.bytes),
		    words_bytes(b, x->live.bytes), words_count(c, x->live.blocks), x->id);
		text_print(p->out, x->function ? x->function : "(unknown)");
		(void)putc('\n', p->out);
	}
	if (top > 0 && v->site_count > top)
		(void)fprintf(
		    p->out, "%s more (--top 0: all).\n", words_count(a, v->site_count - top));
	free(order);
	return 0;
}

static void print_when(FILE *out, const struct process *p)
{
	char a[WORDS_MAX];

	text_print(out, program_name(&p->header));
	(void)fprintf(out, " (pid %u), as it was %s", p->header.pid,
	    p->inventory->at_exit ? "at its exit" : "");
	if (!p->inventory->at_exit)
		(void)fprintf(out, "%s after it had started", words_time(a, p->inventory->time_ns));
}

static void print_sentence(const struct layout *page, const struct process *p)
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

static int write_holders(const struct layout *page, const struct leaks_stored *o)
{
	const char *gap = "";
	bool found = o->id == 0;
	int err = 0;

	for (size_t i = 0; i < o->session->count && err == 0; i++) {
		const struct process *p = o->session->processes[i];

		if (!has(o, p))
			continue;
		if (o->id && !o->retained && !inventory_find(p->inventory, o->id))
			continue;
		(void)fputs(gap, page->out);
		gap = "\n";
		if (o->id && print_held(page, p->inventory, o->id)) {
			found = true;
			(void)fputs(o->retained ? "\n" : "", page->out);
		}
		if (o->retained) {
			print_holders(page, p->inventory, o->top);
			err = print_sites(page, p->inventory, o->top);
		}
		if (err == 0)
			print_sentence(page, p);
	}
	if (!found)
		die(CMD_INPUT,
		    "%s: %s: no process had a live block of site %u at its "
		    "last look",
		    o->command, o->input, o->id);
	return err;
}

/* ---- types ---- */

static int add_types(const struct inventory *v, struct by_type *t)
{
	int err = 0;

	for (size_t i = 0; i < v->type_count && err == 0; i++) {
		const struct inventory_type *x = &v->types[i];

		err = by_type_add(
		    t, x->name, x->container, (int)x->basis, x->live.blocks, x->live.bytes);
	}
	t->all = (struct by_type_sum){v->counted.blocks, v->counted.bytes};
	t->none = (struct by_type_sum){v->untyped.blocks, v->untyped.bytes};
	t->taken_ns = v->taken_ns;
	return err;
}

/* The process with most bytes. */
static const struct process *largest(const struct leaks_stored *o)
{
	const struct process *found = NULL;

	for (size_t i = 0; i < o->session->count; i++) {
		const struct process *p = o->session->processes[i];

		if (has(o, p) &&
		    (!found || p->inventory->counted.bytes > found->inventory->counted.bytes))
			found = p;
	}
	return found;
}

static struct census census_of(const struct inventory *v)
{
	return (struct census){.blocks = v->counted.blocks,
	    .bytes = v->counted.bytes,
	    .taken_ns = v->taken_ns,
	    .has_types = true,
	    .is_partial = v->is_partial};
}

/* The types of one process, and of the other moment. For by_type_release(). */
static int make_types(const struct leaks_stored *o, const struct process *p, struct by_type *ret)
{
	int err;

	*ret = (struct by_type){0};
	err = add_types(p->inventory, ret);
	if (err == 0 && o->before)
		leaks_before(o->before, p, ret);
	by_type_settle(ret);
	return err;
}

static int write_types(FILE *out, const struct layout *page, const struct leaks_stored *o)
{
	bool is_json = o->format == LEAKS_CENSUS_JSON;
	const struct process *only = is_json || o->before ? largest(o) : NULL;
	const char *gap = "";
	int err = 0;

	for (size_t i = 0; i < o->session->count && err == 0; i++) {
		const struct process *p = o->session->processes[i];
		struct by_type t;
		struct census c;

		if (!has(o, p) || (only && p != only))
			continue;
		c = census_of(p->inventory);
		err = make_types(o, p, &t);
		if (err == 0 && is_json) {
			const struct census_json json = {.version = SEEP_VERSION,
			    .session = o->session,
			    .process = p,
			    .census = &c,
			    .types = &t};

			err = census_json_write(out, &json);
		} else if (err == 0) {
			(void)fputs(gap, out);
			gap = "\n";
			by_type_text_write(page, p, &c, &t, o->top);
		}
		by_type_release(&t);
	}
	return err;
}

/* ---- all of it ---- */

/* A page shows what is stored, unless there is something to compare with. */
static int make_table(const struct leaks_stored *o, const struct process *p, char **ret_text)
{
	const struct census c = census_of(p->inventory);
	struct by_type t;
	size_t len;
	FILE *f;
	int err = make_types(o, p, &t);

	f = err == 0 ? open_memstream(ret_text, &len) : NULL;
	if (err == 0)
		err = f ? census_json_page(f, &c, &t, NULL) : -ENOMEM;
	if (f && fclose(f) != 0)
		err = -ENOMEM;
	by_type_release(&t);
	return err;
}

static int write_page(FILE *out, const struct leaks_stored *o, struct names *names)
{
	const struct process *p = largest(o);
	struct leaks_page page = {
	    .session = o->session, .process = p, .view = o->view, .title = o->input};
	char *table = NULL;
	int err = p && o->before ? make_table(o, p, &table) : 0;

	page.tables = table;
	if (err == 0 && p)
		err = leaks_page_write(out, &page, names);
	free(table);
	return err;
}

static int write_all(
    FILE *out, const struct layout *page, const struct leaks_stored *o, struct names *names)
{
	const struct inventory_json json = {
	    .version = SEEP_VERSION, .session = o->session, .id = o->id, .retained = o->retained};

	if (o->format == LEAKS_CENSUS_HTML)
		return write_page(out, o, names);
	if (o->types)
		return write_types(out, page, o);
	return o->format == LEAKS_CENSUS_JSON ? inventory_json_write(out, &json)
	                                      : write_holders(page, o);
}

int leaks_stored(const struct leaks_stored *o, struct names *names)
{
	struct terminal terminal;
	struct layout page;
	struct output out;
	bool found = false;
	int err;

	for (size_t i = 0; i < o->session->count; i++)
		found |= has(o, o->session->processes[i]);
	if (!found)
		die(CMD_INPUT,
		    "%s: %s: has no stored %s: make a recording that has them "
		    "with seep record --%s CMD, or give the PID of a traced "
		    "process that runs",
		    o->command, o->input, o->types ? "types" : "holders",
		    o->types ? "types" : "retained");
	output_limit(o->output->max_bytes);
	output_open(&out, o->path);
	output_show(&out, o->output, CMD_OK, &terminal);
	page = (struct layout){.out = out.file,
	    .width = terminal.columns,
	    .colour = terminal.colour,
	    .utf8 = terminal.utf8};
	err = write_all(out.file, &page, o, names);
	if (err == -ENOMEM)
		die(CMD_INPUT, "%s: out of memory", o->command);
	progress_end();
	output_finish(&out);
	return CMD_OK;
}
