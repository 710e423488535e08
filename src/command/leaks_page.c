/* leaks_page.c - the page of a process with tables of `seep leaks`. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/leaks_page.h"

#include "print/page/html.h"

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
