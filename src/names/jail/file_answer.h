/* file_file_answer.h - the parent's side of ask.h: which files the jail gets. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FILE_ANSWER_H
#define SEEP_FILE_ANSWER_H

#include "names/jail/opener.h"
#include "names/dwarf/perfmap.h"
#include "names/find/places.h"

/* Everything is zero but the first three fields, which are borrowed. */
struct answer {
	struct opener *opener;
	const struct places_search *search;
	const struct perfmap_process *who;
	/* private: about the module's file that was handed out last */
	bool has_module;
	uid_t module_owner;
	char module_path[ASK_PATH_BYTES]; /* without its root */
	size_t count;                     /* number of questions so far */
};

/*
 * Answers the body of an item WIRE_ASK, which was written by a process that may
 * be hostile. The answer goes to `fd`. The process can get files from the
 * places where files of its module are, and no others. -EBADMSG: not a valid
 * question, or one too many; -EPIPE.
 */
int file_answer_ask(struct answer *a, int fd, const uint8_t *body, size_t len);

#endif
