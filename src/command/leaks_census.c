/* leaks_census.c - seep leaks --types and --insight: takes a census and shows it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/cmd_parts.h"

#include "command/cmd.h"
#include "command/shell/die.h"
#include "print/json/leaks_json.h"
#include "print/text/verdict_text.h"
#include "print/text/report_text.h"
#include "analysis/types/survey.h"

struct result {
	struct census census;
	struct census_view view;
	struct by_type types;
	struct spare spare;
};

static _Noreturn void die_memory(void)
{
	die(CMD_INPUT, "leaks: out of memory");
}

static void gather(const struct leaks_census *o, struct names *names, struct result *r)
{
	/* types alone need a few frames of each site, and no view of them */
	bool is_brief = !o->with_spare && !census_view_filters(o->view);
	struct by_type_find *find = NULL;
	int err = is_brief ? by_type_find_new(o->session, o->process, names, &r->census, &find)
	                   : census_view_make(o->session, o->process, names, o->view, &r->view);

	if (err == 0 && o->with_types)
		err = by_type_make(o->process, &r->census, &r->view, find, &r->types);
	by_type_find_free(find);
	if (err == 0 && o->with_spare)
		err = spare_make(&r->census, &r->view, &r->spare);
	if (err < 0)
		die_memory();
	if (o->before)
		leaks_before(o->before, o->process, &r->types);
	by_type_settle(&r->types);
}

static void write_text(
    const struct layout *page, const struct leaks_census *o, const struct result *r)
{
	if (o->with_types)
		by_type_text_write(page, o->process, &r->census, &r->types, o->top);
	if (o->with_types && o->with_spare)
		(void)putc('\n', page->out);
	if (o->with_spare)
		spare_text_write(page, o->process, &r->census, &r->spare, o->top);
}

static int write_html(
    FILE *out, const struct leaks_census *o, const struct result *r, struct names *names)
{
	struct leaks_page page = {
	    .session = o->session, .process = o->process, .view = o->view, .title = o->title};
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	int err = f ? census_json_page(f, &r->census, o->with_types ? &r->types : NULL,
	                  o->with_spare ? &r->spare : NULL)
	            : -ENOMEM;

	if (f && fclose(f) != 0)
		err = -ENOMEM;
	page.tables = text;
	if (err == 0)
		err = leaks_page_write(out, &page, names);
	free(text);
	return err;
}

static int write_result(FILE *out, const struct layout *page, const struct leaks_census *o,
    const struct result *r, struct names *names)
{
	const struct census_json json = {.version = SEEP_VERSION,
	    .session = o->session,
	    .process = o->process,
	    .census = &r->census,
	    .types = o->with_types ? &r->types : NULL,
	    .spare = o->with_spare ? &r->spare : NULL};

	if (o->format == LEAKS_CENSUS_JSON)
		return census_json_write(out, &json);
	if (o->format == LEAKS_CENSUS_HTML)
		return write_html(out, o, r, names);
	write_text(page, o, r);
	report_text_notes(page, names);
	return 0;
}

int leaks_census(const struct leaks_census *o, pid_t pid, struct names *names, struct fault *why)
{
	const struct survey_options options = {
	    .max_bytes = o->max_memory, .with_types = o->with_types, .with_spare = o->with_spare};
	struct layout_lacks lacks = {0};
	struct result r = {.types = {0}};
	struct terminal terminal;
	struct layout page;
	struct output out;
	int err = survey_take(o->process, pid, &options, &r.census, why);

	if (err == -ENOMEM)
		die_memory();
	if (err < 0)
		return err;
	progress_begin("finding names", NULL);
	gather(o, names, &r);
	output_limit(o->output->max_bytes);
	output_open(&out, o->path);
	output_show(&out, o->output, CMD_OK, &terminal);
	page = (struct layout){.out = out.file,
	    .width = terminal.columns,
	    .colour = terminal.colour,
	    .utf8 = terminal.utf8,
	    .lacks = &lacks};
	if (write_result(out.file, &page, o, &r, names) == -ENOMEM)
		die_memory();
	progress_end();
	output_finish(&out);
	free(lacks.modules);
	by_type_release(&r.types);
	spare_release(&r.spare);
	census_view_release(&r.view);
	census_release(&r.census);
	return 0;
}
