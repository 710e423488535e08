/* write.h - the verdict of a check, for people and for machines. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_WRITE_H
#define SEEP_WRITE_H

#include "base/std.h"
#include "findings/check.h"

struct write_options {
	unsigned top;   /* sites in the text, 0: all */
	unsigned depth; /* frames of each, 0: all */
	bool colour;
	bool full_names;     /* names of C++ and Rust with all arguments */
	const char *root;    /* absolute; sources below it get a relative path */
	const char *version; /* ours */
	int exit_status;     /* the exit status of the command */
};

/* All return 0, or -EIO if ferror(out). */

/* The verdict in a sentence, then why. */
int write_text(FILE *out, const struct check *c, const struct write_options *o);

/* One object; keys are only ever added. */
int write_json(FILE *out, const struct check *c, const struct write_options *o);

/* JUnit's XML: a suite for each process, a case for each rule. */
int write_junit(FILE *out, const struct check *c, const struct write_options *o);

/* SARIF 2.1.0. */
int write_sarif(FILE *out, const struct check *c, const struct write_options *o);

enum write_dialect { WRITE_VALGRIND, WRITE_LSAN };

/* An entry for each failing site, for --suppress. */
int write_suppressions(FILE *out, const struct check *c, enum write_dialect dialect);

/* ---- what they share ---- */

/* "3 blocks of 1.2 KiB", with the interval if there is one. */
void write_amount(FILE *out, uint64_t bytes, uint64_t blocks, double variance);

/* "leaky (pid 12)" */
void write_process(FILE *out, const struct process *p);

/*
 * One sentence about a site without its stack, or about a limit; the caller
 * frees it.
 */
char *write_site(const struct check *c, const struct check_site *x, const struct write_options *o);
char *write_bound(const struct check_bound *b);

/* The name of its function and a space; nothing if the name is not known. */
void write_function(FILE *out, const struct frame *x, const struct write_options *o);

/* "file:line [module]", as far as these are known. */
void write_where(FILE *out, const struct frame *x, const struct write_options *o);

/* The part of `file` below root; NULL: it is not below, or not known. */
const char *write_relative(const char *file, const char *root);

/* For dict_find() in check.sites by a fingerprint. */
bool write_same_print(const void *items, uint32_t item, const void *key);

/*
 * The frame to point at: the first frame with a source below root, starting
 * with the most telling one; if there is none, the most telling one.
 */
const struct frame *write_place(const struct check_site *x, const struct write_options *o);

#endif
