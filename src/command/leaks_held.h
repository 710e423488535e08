/* leaks_held.h - seep leaks --held and --retained: who holds what. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LEAKS_HELD_H
#define SEEP_LEAKS_HELD_H

#include "command/shell/output.h"
#include "names/find/names.h"
#include "view/sites/view.h"
#include "analysis/leaks/judge.h"

struct leaks_held {
	const char *command; /* for messages */
	const struct session *session;
	const struct process *process;
	pid_t pid;
	uint32_t id;   /* of a site: --held; 0: none */
	bool retained; /* --retained */
	const struct view_options *view;
	unsigned top;
	bool as_json;
	const char *title; /* of the page with --format html; NULL: no page */
	const char *path;  /* NULL: stdout */
	const struct output_view *output;
	bool was_stopped;
	/* of one look; the notes are borrowed */
	struct judge *judge;
	const struct root_notes *notes;
	bool may_repeat; /* another look is possible */
	uint64_t vague;  /* of the look before, held_view_vague(); 0: none */
};

/*
 * Returns the exit status, or LEAKS_HELD_AGAIN: much seems to be held by nothing,
 * and another look may know better; o->vague is set for it. Failures end the
 * program.
 */
enum { LEAKS_HELD_AGAIN = -1 };
int leaks_held(struct leaks_held *o, struct names *names);

#endif
