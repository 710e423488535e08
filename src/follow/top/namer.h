/* namer.h - a process of our own that reads stacks and finds their names. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMER_H
#define SEEP_NAMER_H

#include "base/std.h"
#include "names/find/names.h"
#include "segments/read/segfile.h"

/*
 * Names of a large program take seconds to find. A screen that answers keys
 * cannot wait for them, so a forked process finds them and sends tables and
 * texts when they are complete. It serves one traced process; it is ended by
 * namer_free(), and by the kernel if we die.
 */
struct namer;

enum {
	NAMER_TEXT = 1024,    /* bytes of an expression, with the zero */
	NAMER_SITES = 100000, /* in a table: those with the most live bytes */
};

struct namer_plan {
	const struct segfile *file;
	int slot;
	const struct names_options *naming;
};

/* Which sites are shown: extended expressions as of report; "": none. */
struct namer_filter {
	char include[NAMER_TEXT], exclude[NAMER_TEXT], module[NAMER_TEXT];
	bool wrappers; /* frames like xmalloc are shown, not skipped */
};

/* One site of the heap and the frame that it is shown by. */
struct namer_site {
	uint32_t id; /* the lowest of those with this stack */
	uint8_t api;
	bool is_chosen; /* by the filters */
	bool is_main;   /* the module is the program itself */
	bool is_missing;
	/* as in struct frame; texts are the table's own, NULL: not known */
	const char *function, *file, *module;
	uint64_t offset;
	uint32_t line;
};

struct namer_table {
	struct namer_site *sites;
	size_t count;
	struct process_id *ids; /* which site has an id; by id */
	size_t id_count;
	void *memory; /* of all of it */
};

/* NULL is fine. */
void namer_table_free(struct namer_table *t);

/* The plan is needed until this returns. -ENOMEM, or as helper_start() says. */
int namer_new(const struct namer_plan *plan, struct namer **ret);

/* NULL is fine. Ends the process. */
void namer_free(struct namer *n);

/* Readable when namer_receive() has something to do; -1: it has ended. */
int namer_fd(const struct namer *n);

/*
 * Asks for all sites, `pid` as of session_load_slot(). A question that has not
 * been sent when the next one of its kind comes is forgotten.
 */
void namer_ask_table(struct namer *n, pid_t pid, const struct namer_filter *filter);

/* Asks for all that is known of a site, as text of so many columns. */
struct namer_page {
	uint32_t id;
	unsigned columns;
	bool utf8, colour;
};
void namer_ask_page(struct namer *n, pid_t pid, const struct namer_page *page);

enum namer_kind { NAMER_NOTHING, NAMER_TABLE, NAMER_PAGE, NAMER_ENDED };

/*
 * Takes what has come, without waiting. NAMER_TABLE: *ret_table is for
 * namer_table_free(); NAMER_PAGE: *ret_text is for free(); NAMER_ENDED: the
 * process has died, and nothing more will come.
 */
enum namer_kind namer_receive(struct namer *n, struct namer_table **ret_table, char **ret_text);

/* Is a table on its way? */
bool namer_is_naming(const struct namer *n);

/* Is a page on its way? */
bool namer_is_paging(const struct namer *n);

/* ---- namer_parts: what the two sides of a namer say to each other ---- */

/*
 * Both sides are the same program, one forked from the other, so structs travel
 * as they are. Each request has one answer.
 */
enum { NAMER_MAGIC = 0x524d414e, NAMER_BYTES_MAX = 256 << 20 };

struct namer_request {
	uint32_t magic, kind; /* enum namer_kind */
	pid_t pid;
	struct namer_page page;
	struct namer_filter filter;
};

/*
 * Followed by `bytes`: of a table `count` sites, `id_count` ids, and texts, to
 * which the text pointers of the sites are offsets + 1; of a page its text.
 */
struct namer_answer {
	uint32_t magic, kind; /* enum namer_kind */
	uint64_t bytes, count, id_count;
};

/* A helper: answers requests until the other side is gone. */
int namer_serve(int fd, void *plan);

#endif
