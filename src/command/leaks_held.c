/* leaks_held.c - seep leaks --held and --retained: who holds what. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/cmd_parts.h"

#include "command/cmd.h"
#include "command/shell/die.h"
#include "print/json/leaks_json.h"
#include "print/text/verdict_text.h"
#include "findings/held_view.h"
#include "print/text/report_text.h"

static _Noreturn void die_no_site(const struct leaks_held *o)
{
	die(CMD_INPUT,
	    "%s: process %d has no live block of site %u: seep report --site "
	    "and seep leaks --retained list sites",
	    o->command, (int)o->pid, o->id);
}

static void make(const struct leaks_held *o, struct names *names, struct held_view *ret)
{
	const struct held_view_input in = {.session = o->session,
	    .process = o->process,
	    .pid = o->pid,
	    .names = names,
	    .view = o->view,
	    .heap = judge_detach_heap(o->judge),
	    .notes = o->notes,
	    .max_bytes = judge_max_bytes(o->judge),
	    .was_stopped = o->was_stopped};
	int err = held_view_make(&in, ret);

	if (err == -E2BIG)
		die(CMD_INPUT,
		    "%s: process %d: who holds what takes %llu MiB or more, "
		    "and %llu MiB are allowed (--max-memory raises the limit, "
		    "which is a quarter of what is available)",
		    o->command, (int)o->pid, (unsigned long long)(ret->needed_bytes >> 20) + 1,
		    (unsigned long long)(in.max_bytes >> 20));
	if (err < 0)
		die(CMD_INPUT, "%s: out of memory", o->command);
}

static int write_text(const struct leaks_held *o, const struct layout *page,
    const struct held_view *v, struct names *names)
{
	if (o->id && !held_text_site(page, v, o->id))
		die_no_site(o);
	if (o->retained) {
		(void)fputs(o->id ? "\n" : "", page->out);
		held_text_retained(page, v, o->top);
	}
	report_text_notes(page, names);
	return ferror(page->out) ? -EIO : 0;
}

static int write_page(
    const struct leaks_held *o, FILE *out, const struct held_view *v, struct names *names)
{
	struct leaks_page page = {
	    .session = o->session, .process = o->process, .view = o->view, .title = o->title};
	struct inventory inventory = {0};
	struct inventory_of reading;
	char *text = NULL;
	size_t len;
	struct json tables = {.file = open_memstream(&text, &len)};
	int err = inventory_of_begin(&reading);

	if (err == 0)
		err = inventory_of_held(&reading, v);
	err = inventory_of_end(&reading, err, &inventory);
	if (err == 0)
		err = tables.file ? inventory_json_page(&tables, o->process, &inventory) : -ENOMEM;
	if (tables.file && fclose(tables.file) != 0)
		err = -ENOMEM;
	page.tables = text;
	if (err == 0)
		err = leaks_page_write(out, &page, names);
	inventory_release(&inventory);
	free(text);
	return err;
}

/*
 * A process that changes its pointers all the time is read while it does. What is
 * really lost is lost in the next look, too, so that is as good as this one.
 */
static bool is_doubtful(struct leaks_held *o, const struct held_view *v)
{
	uint64_t vague = held_view_vague(v), before = o->vague;

	o->vague = vague;
	return o->may_repeat && vague > v->held->all.bytes / 4 &&
	    (before == 0 || vague < before - before / 8);
}

int leaks_held(struct leaks_held *o, struct names *names)
{
	struct layout_lacks lacks = {0};
	struct terminal terminal;
	struct held_view v;
	struct layout page;
	struct output out;
	int64_t site;
	int err;

	make(o, names, &v);
	if (is_doubtful(o, &v)) {
		held_view_release(&v);
		return LEAKS_HELD_AGAIN;
	}
	site = o->id ? held_view_find(&v, o->id) : 0;
	if (site < 0 || (o->id && v.held->sites[site].own.blocks == 0))
		die_no_site(o);
	output_limit(o->output->max_bytes);
	output_open(&out, o->path);
	output_show(&out, o->output, CMD_OK, &terminal);
	page = (struct layout){.out = out.file,
	    .width = terminal.columns,
	    .colour = terminal.colour,
	    .utf8 = terminal.utf8,
	    .lacks = &lacks};
	if (o->title)
		err = write_page(o, out.file, &v, names);
	else if (o->as_json)
		err = held_json_write(out.file, &v, o->id, o->retained);
	else
		err = write_text(o, &page, &v, names);
	if (err == -ENOMEM)
		die(CMD_INPUT, "%s: out of memory", o->command);
	progress_end();
	output_finish(&out);
	free(lacks.modules);
	held_view_release(&v);
	return CMD_OK;
}
