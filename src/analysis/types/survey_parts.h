/* survey_parts.h - what the files of survey.h share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SURVEY_PARTS_H
#define SEEP_SURVEY_PARTS_H

#include "base/std.h"
#include "analysis/leaks/heap.h"
#include "analysis/types/survey.h"
#include "host/memory/foreign.h"
#include "host/proc/roots.h"
#include "kit/data/dict.h"

enum {
	SURVEY_PAGE = FOREIGN_PAGE_BYTES,
	SURVEY_HEAD = 64, /* bytes of a block's beginning that may be used */
};

struct survey_types; /* survey_types.c */
struct survey_spare; /* survey_spare.c */

/* Memory of a block, or of several, by address; out of order here and there. */
struct survey_piece {
	uint64_t address;
	const uint8_t *bytes; /* NULL: it is there, and could not be read */
	size_t len;
	size_t first; /* the first block that ends behind the beginning */
};

/* ---- survey_types.c: blocks by vtable ---- */

/* -ENOMEM. NULL is fine for the last one. */
int survey_types_new(
    const struct heap *heap, const struct roots_areas *areas, struct survey_types **ret);
int survey_types_piece(struct survey_types *t, const struct survey_piece *x);
/* Reads names, and sums up. Errors as of foreign_read(). */
int survey_types_finish(
    struct survey_types *t, const struct process *p, struct foreign *files, struct census *ret);
void survey_types_free(struct survey_types *t);

/* ---- survey_spare.c: equal blocks, pages never written, zeros ---- */

int survey_spare_new(const struct heap *heap, struct survey_spare **ret);
void survey_spare_piece(struct survey_spare *s, const struct survey_piece *x);
int survey_spare_finish(struct survey_spare *s, const struct process *p, struct census *ret);
void survey_spare_free(struct survey_spare *s);

/* ---- survey.c ---- */

/* Sites with equal stacks are one: the process has its lowest id. */
uint32_t survey_id(const struct process *p, uint32_t site);

/* Is the address in a file's mapping, or in the zeros behind one (bss)? */
bool survey_is_module(const struct roots_areas *a, uint64_t address);

/* ---- vtable: from the address of a vtable to the name of its class ---- */

/*
 * An object with virtual functions begins with the address of its class's
 * vtable. Before that stands the address of the class's typeinfo, and in there
 * the address of its name. The typeinfo is an object itself, of one of three
 * classes of the C++ run time, and has a vtable with a typeinfo and a name. A
 * word is a vtable only if all of this is in modules, and both names are right.
 * So the name is found where symbols are stripped, and is never a guess.
 *
 * The memory belongs to a process that may have made up all of it: no more is
 * read than three words and a name at each of two addresses.
 */
struct vtable_memory {
	/* Copies memory of the process. false: some of it is not there. */
	bool (*read)(void *context, uint64_t address, void *to, size_t bytes);
	/* Is this address in a mapping of a module's file? */
	bool (*is_in_module)(void *context, uint64_t address);
	void *context;
};

enum { VTABLE_NAME_BYTES = 4096 }; /* longer names are not read */

/*
 * Length of the name, as the compiler wrote it ("N3app3FooE"), which is in
 * `name` with a NUL; 0: this is not the vtable of an object's beginning.
 */
size_t vtable_name(const struct vtable_memory *m, uint64_t vtable, char name[VTABLE_NAME_BYTES]);

/* Is this the name of a class, as a compiler writes it? */
bool vtable_is_name(const char *text, size_t len);

/* ---- survey_pages: memory of modules, for the search for vtables; pages are kept ---- */

struct survey_pages;

/* Borrows both; `files` was opened with foreign_options.with_files. -ENOMEM. */
int survey_pages_new(
    struct foreign *files, const struct roots_areas *areas, struct survey_pages **ret);
void survey_pages_free(struct survey_pages *p);

/* false: some of it is not there. */
bool survey_pages_read(struct survey_pages *p, uint64_t address, void *to, size_t bytes);

/* Only for modules. Valid as long as p. */
struct vtable_memory survey_pages_memory(struct survey_pages *p);

/* -ETIMEDOUT and the like, if the process could not be read any more; or 0. */
int survey_pages_failure(const struct survey_pages *p);

/* ---- type_name: the name of a C++ type, as a typeinfo has it, in plain words ---- */

/*
 * "app::Foo" of "N3app3FooE", "std::vector<int, std::allocator<int> >" of
 * "St6vectorIiSaIiEE". The process has written it, so it is not given to a
 * general demangler, which belongs into the jail of names/. This one knows names
 * of classes, templates and their usual arguments; its depth and its output are
 * bounded. What it does not know (classes in template functions, addresses as
 * arguments) stays as it is. Returns the length, below `room`, which is 2 or
 * more.
 */
size_t type_name_plain(const char *name, size_t len, char *to, size_t room);

/*
 * "std::_Sp_counted_deleter<app::Foo*, ...>": the template and its first
 * argument, where others are not known. 0: these are not known either.
 */
size_t type_name_first(const char *name, size_t len, char *to, size_t room);

/* ---- control: what a control block of shared_ptr says of the object that it counts ---- */

enum control_kind {
	CONTROL_NONE,
	CONTROL_INSIDE,  /* the object is in the same block: make_shared */
	CONTROL_POINTER, /* the last word of the block points to it */
};

struct control {
	enum control_kind kind;
	const char *type; /* of the object: `len` bytes inside of the name */
	size_t len;
	/* the block has so many bytes, or its last word is another one; 0: any */
	size_t size;
};

/*
 * By the plain name of its class (survey_parts.h): libstdc++'s, libc++'s and
 * Boost's.
 */
struct control control_of(const char *name);

#endif
