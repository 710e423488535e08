/* embed.h - the names of a recording's frames, found after the program has ended. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECORD_EMBED_H
#define SEEP_RECORD_EMBED_H

#include "names/names.h"
#include "trace/recording.h"

struct embed;

/* Without seconds in the options they are bounded here. -ENOMEM. */
int embed_new(const struct names_options *options, struct embed **ret);

/* NULL is fine. */
void embed_free(struct embed *e);

/*
 * Notes the frames of a process; `context` is a struct embed, because struct
 * collect calls this function. Reads no file.
 */
void embed_add(void *context, const struct process *p);

/* What embed_add() found the process to see: for struct recording_segment. */
uint64_t embed_view(struct embed *e, const struct process *p);

/*
 * Finds the names, in bounded time, and appends them. Meanwhile the file is
 * whole without them: a kill costs the names alone. Names that cannot be found
 * are no error. 1: there was no room for them, the rest is whole.
 */
int embed_write(struct embed *e, struct recording_writer *w);

#endif
