/* script_writer.h - writes a script into a file without a name. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SCRIPT_WRITER_H
#define SEEP_SCRIPT_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "replay/script.h"

/* The words of one thread; those of its last chunk are in memory. */
struct script_stream {
	uint64_t *words;
	uint32_t used, room; /* of this chunk */
	uint64_t at;         /* of the chunk in the file, in words */
};

struct script_writer {
	int fd;
	uint64_t end; /* of what is taken in the file, in words */
};

/*
 * The file is in TMPDIR or /tmp, or in memory if there can be none. The caller
 * closes w->fd. -errno.
 */
int script_writer_init(struct script_writer *w);

/* Begins the words of a thread; stream->at is where they will be. -ENOMEM. */
int script_writer_open(struct script_writer *w, struct script_stream *s);

/* Appends an operation of up to SCRIPT_OP_WORDS words. -errno of writing. */
int script_writer_put(
    struct script_writer *w, struct script_stream *s, const uint64_t *words, uint32_t count);

/* Appends SCRIPT_END. The stream may be opened again. -errno of writing. */
int script_writer_close(struct script_writer *w, struct script_stream *s);

/* Writes the table of windows and the head. -errno. */
int script_writer_finish(
    struct script_writer *w, struct script_head *head, const uint32_t *windows, size_t count);

#endif
