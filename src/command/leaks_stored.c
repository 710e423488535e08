/* leaks_stored.c - seep leaks --held, --retained and --types of a recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/cmd_parts.h"

#include "command/cmd.h"
#include "command/shell/die.h"
#include "print/json/leaks_json.h"
#include "print/text/verdict_text.h"

static bool has(const struct leaks_stored *o, const struct process *p)
{
	const struct inventory *v = p->inventory;

	if (!v || (o->view->pid != VIEW_ANY && o->view->pid != p->header.pid))
		return false;
	return o->types ? v->has_types : v->has_holders;
}

/* ---- holders ---- */

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
		if (o->id && inventory_text_site(page, p->inventory, o->id)) {
			found = true;
			(void)fputs(o->retained ? "\n" : "", page->out);
		}
		if (o->retained)
			err = inventory_text_retained(page, p->inventory, o->top);
		if (err == 0)
			inventory_text_sentence(page, p);
	}
	if (!found)
		die(CMD_INPUT,
		    "%s: %s: no process had a live block of site %u at its "
		    "last look",
		    o->command, o->input, o->id);
	return err;
}

/* ---- types ---- */

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
	err = by_type_add_inventory(ret, p->inventory, false);
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

static int write_stored(
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
	err = write_stored(out.file, &page, o, names);
	if (err == -ENOMEM)
		die(CMD_INPUT, "%s: out of memory", o->command);
	progress_end();
	output_finish(&out);
	return CMD_OK;
}
