/* wire.h - encodes and decodes names: recording, cache, jail. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_WIRE_H
#define SEEP_WIRE_H

#include "kit/data/dict.h"
#include "names/find/name_table.h"
#include "names/jail/opener.h"
#include "recording/file/codec.h"

/*
 * A sequence of items as in recording/file/codec.h: tag, length of the body, body.
 * docs/RECORDING.md describes every byte (entry of type 7). A reader skips tags
 * that it does not know; a number written to a file never changes its meaning.
 */
enum wire_tag {
	WIRE_TEXT = 1,   /* bytes; texts are numbered from 1 */
	WIRE_CHAIN = 2,  /* functions at a place; numbered from 0 */
	WIRE_OBJECT = 3, /* a module or a process: what follows is of it */
	WIRE_PLACES = 4, /* addresses and their chains */
	WIRE_DONE = 5,   /* all that was asked for has been said; jail only */
	WIRE_ASK = 6,    /* a file is needed: ask.h; jail only */
	WIRE_SCOPE = 7,  /* owner and view of the following objects */
};

enum { WIRE_MAX_CHAIN = 1024, WIRE_INLINED = 1, WIRE_FOLDED = 2 };

/* Writing. All zero at first. */
struct wire_out {
	struct codec_out out;  /* to be taken and emptied at any time */
	struct codec_out body; /* the item being made */
	struct codec_out places;
	struct dict texts;
	char **copies;
	size_t text_count, text_room;
	uint32_t chain_count;
	uint64_t last_address;
	uint64_t owner, view; /* values of the last WIRE_SCOPE */
};

/* Was memory short? Then what was written since is not complete. */
bool wire_failed(const struct wire_out *w);
void wire_release(struct wire_out *w);

/* The next places belong to this object; gathered places are written first. */
void wire_put_object(
    struct wire_out *w, const struct name_table_key *key, const struct name_table_state *state);

/* Number of a chain; the texts need not be from a table. */
uint32_t wire_put_chain(struct wire_out *w, const struct names_frame *frames, size_t count);
void wire_put_place(struct wire_out *w, uint64_t address, uint32_t chain);

void wire_put_done(struct wire_out *w);

/* Places of a table, as name_table_places() gives them. */
void wire_put_rows(struct wire_out *w, struct table *t, const struct table_row *rows, size_t count);

/* Reading into a table. At first everything is zero but `table` and `only`. */
struct wire_in {
	struct table *table;
	const struct name_table_key *only; /* accept only this object; NULL: any */
	const char **texts;
	size_t text_count, text_room;
	uint32_t *chains;
	size_t chain_count, chain_room;
	uint32_t object;      /* number + 1, 0: none yet */
	uint64_t last;        /* address */
	uint64_t owner, view; /* values of the last WIRE_SCOPE */
	bool done;
	/* gets the body of WIRE_ASK; NULL: it is skipped */
	int (*ask)(void *context, const uint8_t *body, size_t len);
	void *ask_context;
};

/*
 * Decodes whole items; *ret_used is how many bytes they had. The caller passes
 * the remaining bytes again, with more after them. -EBADMSG: we never write
 * that; -EFBIG: more than a table holds; -ENOMEM. Items before the error are
 * valid.
 */
int wire_get(struct wire_in *w, const void *bytes, size_t len, size_t *ret_used);
void wire_get_release(struct wire_in *w);

/* ---- cache: names found earlier, one file for each module ---- */

/*
 * The cache is in $XDG_CACHE_HOME/seep or ~/.cache/seep. The directory must
 * have mode 0700 and belong to us, otherwise there is no cache. Only names from
 * DWARF are kept, because for a given file they never change. The size is
 * bounded: the least recently used files are deleted.
 */
struct cache;

/* -ENOENT: there is no directory for one. */
int cache_open(struct cache **ret);

/* NULL is fine. */
void cache_close(struct cache *c);

/*
 * A build-id says who a file claims to be: anybody can write one into his own
 * file. So names belong to the very file that they were read from.
 */
struct cache_origin {
	bool is_there;           /* false: the module's file is gone */
	struct opener_file file; /* if it is there */
	uint64_t view;           /* whose debug directories were used */
};

/*
 * Puts the names of the file with the key's build-id into the table. If the
 * file is gone, these are names from a file of root's or ours that had that
 * build-id. The cache's files are not trusted; a damaged one is deleted. False:
 * nothing is known.
 */
bool cache_load(struct cache *c, const struct name_table_key *key,
    const struct cache_origin *origin, struct table *t);

/* Writes the names of one object in the table; a failure does no harm. */
void cache_store(
    struct cache *c, struct table *t, uint32_t object, const struct cache_origin *origin);

#endif
