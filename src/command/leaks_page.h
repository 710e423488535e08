/* leaks_page.h - the page of a process with tables of `seep leaks`. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LEAKS_PAGE_H
#define SEEP_LEAKS_PAGE_H

#include <stdio.h>

#include "names/find/names.h"
#include "session/load/session.h"
#include "view/sites/view.h"

struct leaks_page {
	const struct session *session;
	const struct process *process;
	const struct view_options *view;
	const char *title;
	const char *tables; /* JSON: html_options.census */
};

/* Negative errno. */
int leaks_page_write(FILE *out, const struct leaks_page *o, struct names *names);

#endif
