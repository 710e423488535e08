/* embed.h - finds names for a recording, after its program has ended. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EMBED_H
#define SEEP_EMBED_H

#include "names/find/names.h"
#include "recording/file/recording.h"

struct embed;

/* If the options have no time limit, this module sets one. -ENOMEM. */
int embed_new(const struct names_options *options, struct embed **ret);

/* NULL is fine. */
void embed_free(struct embed *e);

/*
 * Notes the frames of a process. Reads no file. `context` is a struct embed:
 * struct collect calls this function.
 */
void embed_add(void *context, const struct process *p);

/*
 * The view of the file system that embed_add() found, for struct
 * recording_segment.
 */
uint64_t embed_view(struct embed *e, const struct process *p);

/* After embed_write(): frames outside of modules that have no name. */
size_t embed_outside(const struct embed *e);

/*
 * Finds the names, in bounded time, and appends them. Meanwhile the file is
 * complete without them, so a kill costs only the names. Names that cannot be
 * found are no error. 1: there was no room for them; the rest is complete.
 */
int embed_write(struct embed *e, struct recording_writer *w);

#endif
