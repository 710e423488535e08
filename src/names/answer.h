/* answer.h - which files the jail gets of those it asks for. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_ANSWER_H
#define SEEP_NAMES_ANSWER_H

#include "names/opener.h"
#include "names/perfmap.h"
#include "names/places.h"

/* All zero, but for the first three, which are borrowed. */
struct answer {
	struct opener *opener;
	const struct places_search *search;
	const struct perfmap_process *who;
	/* our own: of the last file of the module that was handed out */
	bool has_module;
	uid_t module_owner;
	char module_path[ASK_PATH_BYTES]; /* without its root */
	size_t count;                     /* questions so far */
};

/*
 * The body of an item WIRE_ASK, which a process that may be hostile has
 * written; the answer goes to `fd`. It can get files of the places where those
 * of its module are, and no others. -EBADMSG: that was no question, or one too
 * many; -EPIPE.
 */
int answer_ask(struct answer *a, int fd, const uint8_t *body, size_t len);

#endif
