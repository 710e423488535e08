/* leaks_show.c - prints verdicts: of a look just made, or stored ones. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/cmd_parts.h"

#include "command/cmd.h"
#include "command/shell/die.h"
#include "print/json/leaks_json.h"
#include "print/page/html.h"
#include "print/text/report_text.h"
#include "print/text/verdict_text.h"

static bool is_asked(const struct leaks_show *o, const struct process *p)
{
	return (!o->only || o->only == p) &&
	    (o->view->pid == VIEW_ANY || o->view->pid == p->header.pid) &&
	    verdict_state(o->session, p) != VERDICT_STATE_NONE;
}

bool leaks_show_has(const struct session *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (verdict_state(s, s->processes[i]) != VERDICT_STATE_NONE)
			return true;
	return false;
}

/* The places of all processes. -ENOMEM. */
static int gather(const struct leaks_show *o, struct names *names, struct leaks_json *j)
{
	const struct session *s = o->session;
	int err = 0;

	j->list = calloc(s->count + 1, sizeof(*j->list));
	if (!j->list)
		return -ENOMEM;
	for (size_t i = 0; i < s->count && err == 0; i++) {
		struct leaks_json_one *one = &j->list[j->count];

		if (!is_asked(o, s->processes[i]))
			continue;
		one->process = s->processes[i];
		err = verdict_list_make(s, one->process, names, o->view, &one->list);
		j->count += err == 0;
		if (err == 0)
			err = score_list_make(s, s->processes[i], names, o->view, &one->scores);
		if (err == 0)
			err = leaks_growth_hold(&o->growth, one->process, names, &one->scores);
	}
	return err;
}

static void drop(struct leaks_json *j)
{
	for (size_t i = 0; i < j->count; i++) {
		verdict_list_release(&j->list[i].list);
		score_list_release(&j->list[i].scores);
	}
	free(j->list);
}

static int answer_of(const struct leaks_json *j)
{
	bool judged = false, leaks = false;

	for (size_t i = 0; i < j->count; i++) {
		judged |= verdict_state(j->session, j->list[i].process) == VERDICT_STATE_JUDGED;
		leaks |= j->list[i].list.leak.shown.places > 0;
	}
	return leaks ? CMD_YES : judged ? CMD_OK : CMD_INPUT;
}

static int write_text(const struct layout *page, const struct leaks_json *j, struct names *names,
    const struct leaks_show *o)
{
	for (size_t i = 0; i < j->count; i++) {
		(void)fputs(i ? "\n" : "", page->out);
		verdict_text_list(page, j->session, j->list[i].process, &j->list[i].list, o->top);
		score_text_list(page, j->list[i].process, &j->list[i].scores, o->top);
		if (rss_text_write_line(page, j->session, j->list[i].process, names) < 0)
			return -ENOMEM;
	}
	report_text_notes(page, names);
	return ferror(page->out) ? -EIO : 0;
}

int leaks_show(const struct leaks_show *o, struct names *names)
{
	struct leaks_json j = {.version = SEEP_VERSION, .session = o->session};
	struct layout_lacks lacks = {0};
	struct terminal terminal;
	struct layout page;
	struct output out;
	int err;

	if (gather(o, names, &j) < 0)
		die(CMD_INPUT, "%s: out of memory", o->command);
	if (j.count == 0)
		die(CMD_INPUT,
		    "%s: no process in it has verdicts: it was not recorded "
		    "with --leaks",
		    o->command);
	j.exit_status = answer_of(&j);
	output_limit(o->output->max_bytes);
	output_open(&out, o->path);
	output_show(&out, o->output, j.exit_status, &terminal);
	page = (struct layout){.out = out.file,
	    .width = terminal.columns,
	    .colour = terminal.colour,
	    .utf8 = terminal.utf8,
	    .full_names = o->full_names,
	    .lacks = &lacks};
	err = o->as_json ? leaks_json_write(out.file, &j) : write_text(&page, &j, names, o);
	if (err == -ENOMEM)
		die(CMD_INPUT, "%s: out of memory", o->command);
	progress_end();
	output_finish(&out);
	free(lacks.modules);
	drop(&j);
	return j.exit_status;
}

/* ---- leaks_page: the page of a process with tables of `seep leaks` ---- */

int leaks_page_write(FILE *out, const struct leaks_page *o, struct names *names)
{
	const struct html_session input = {o->session, o->title};
	const struct html_options html = {.version = SEEP_VERSION,
	    .metric = VIEW_LIVE,
	    .pid = o->process->header.pid,
	    .census = o->tables};
	struct view_options view = *o->view;

	view.group = view.fold = view.trim = false;
	view.pid = o->process->header.pid;
	return html_write_sessions(out, &input, 1, names, &view, &html);
}
