/* focus.h - the sites of one process: counters of the looks, and names. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FOCUS_H
#define SEEP_FOCUS_H

#include "base/std.h"
#include "follow/engine/engine.h"
#include "follow/top/namer.h"
#include "follow/top/board.h"

struct focus;

enum { FOCUS_SITES = NAMER_SITES }; /* rows: those with the most live bytes */

/* A row: one stack, which may have several ids. */
struct focus_site {
	uint32_t id; /* the lowest */
	uint8_t api;
	bool is_chosen, is_named, is_main, is_missing;
	bool has_rates;
	uint64_t allocations, allocated_bytes, frees, freed_bytes;
	uint64_t live_blocks, live_bytes;
	int64_t since_bytes, since_blocks; /* since the base */
	double growth, allocations_rate;   /* a second */
	/* texts are untrusted, and as valid as the row */
	const char *function, *file, *module;
	uint64_t offset;
	uint32_t line;
	struct trend trend;
};

/*
 * Begins with the last look. `naming` is needed until this returns. The process
 * that finds names starts at once. -ENOMEM; without that process there are no
 * names, and focus_has_namer() says so.
 */
int focus_new(const struct engine *l, const struct engine_process *p,
    const struct names_options *naming, const struct namer_filter *filter, struct focus **ret);
void focus_free(struct focus *f); /* NULL is fine */

/* The number of the process. */
uint64_t focus_number(const struct focus *f);

/* After each look at the process. -ENOMEM. */
int focus_look(struct focus *f, const struct engine *l, const struct engine_process *p);

/* After engine_set_base(). */
void focus_set_base(struct focus *f, const struct engine *l, const struct engine_process *p);

/* Other sites are chosen when the names have come; see focus_is_naming(). */
void focus_choose(struct focus *f, const struct namer_filter *filter);

/* For poll(); -1: nothing will come. */
int focus_fd(const struct focus *f);

/* Takes what has come. true: names, or the page, are other ones now. */
bool focus_receive(struct focus *f);

/* Asks for the names of new sites at once: for who waits for them. */
void focus_ask_names(struct focus *f);

bool focus_is_naming(const struct focus *f);
bool focus_has_namer(const struct focus *f);

/* Makes the rows anew, of the last look. -ENOMEM. */
int focus_fill(struct focus *f);

/* Gives the rows the names that have come, and leaves their figures: frozen. */
void focus_rename(struct focus *f);

/*
 * All rows, those that filters leave out too, in any order; the caller may sort
 * them. Valid until one of the above.
 */
struct focus_site *focus_rows(struct focus *f, size_t *ret_count);

/* All that is known of one site, as text. */
void focus_ask_page(struct focus *f, const struct namer_page *page);
const char *focus_page(const struct focus *f); /* NULL: not yet */
bool focus_is_paging(const struct focus *f);
void focus_forget_page(struct focus *f);

/* ---- errand: something done by a child process, while the screen lives on ---- */

enum { ERRAND_TEXT = 512 };

/* One at a time. All zero: none is under way. */
struct errand {
	pid_t child;
	int fd;
	char text[ERRAND_TEXT]; /* what it has printed so far */
	size_t len;
	bool is_snapshot; /* the caller's note of what it is about */
};

/*
 * Forks; the child calls work(context), what it prints is its answer, and its
 * result its exit status. -EBUSY: another one is under way; or as helper_start() says.
 */
int errand_start(struct errand *e, int (*work)(void *context), void *context);

/* For poll(); -1: none is under way. */
int errand_fd(const struct errand *e);

/*
 * Takes what has come. True: it is over, and e->text has the first line of what
 * it printed, without "seep: "; untrusted text.
 */
bool errand_receive(struct errand *e, bool *ret_ok);

/* Ends it. */
void errand_stop(struct errand *e);

#endif
