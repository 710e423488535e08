/* table.h - places in modules, and the functions that are there. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_TABLE_H
#define SEEP_NAMES_TABLE_H

#include "names/names.h"

/*
 * Grows only. It is bounded, because its input is not trusted: if something
 * does not fit, the call returns -EFBIG, and the table stays valid. All texts
 * and chains that it gives are valid as long as the table.
 */
struct table;

enum table_kind {
	TABLE_MODULE = 1,  /* id: its build-id; address: as in the ELF file */
	TABLE_PROCESS = 2, /* id: uuid of the segment; address: in memory */
};

/* What stands at an address belongs to one of these. */
struct table_key {
	enum table_kind kind;
	uint8_t id[32];
	size_t id_bytes;
	const char *path; /* "" for a process */
	/*
	 * Who sees the file under that path: processes with another mount
	 * namespace or root may have another file there. 0: we ourselves.
	 */
	uint64_t view;
	/*
	 * Whose process it is, where the process itself says where the file
	 * is, or which process it is: what one user's process says must not
	 * name the functions of another's. uid + 1; 0: all the same.
	 */
	uint64_t owner;
};

/* Where the names of a module come from, the best is the highest. */
enum table_level {
	TABLE_NOTHING = 0,
	TABLE_EXPORTS = 1, /* .dynsym: what others may call */
	TABLE_SYMBOLS = 2, /* all functions */
	TABLE_DEBUG = 3,   /* DWARF: inlined ones, files and lines */
};

/* Why there is not more. */
enum table_problem {
	TABLE_FINE = 0,
	TABLE_NO_FILE = 1,    /* detail: what open() said */
	TABLE_OTHER_FILE = 2, /* detail: the build-id that is there now */
	TABLE_NOT_ELF = 3,
	TABLE_NO_DEBUG = 4,   /* stripped, its debug info is not here */
	TABLE_UNREADABLE = 5, /* detail: how reading it failed */
	TABLE_NO_ALT = 6,     /* detail: build-id of what dwz moved out */
	TABLE_NO_SPLIT = 7,   /* detail: how many .dwo are not here */
	TABLE_NO_JAIL = 8,    /* detail: why; DWARF was not looked at */
	TABLE_NO_TIME = 9,    /* not looked at, or not to the end */
	TABLE_CUT_MAP = 10,   /* of a process: its map is too long */
	TABLE_LAST = TABLE_CUT_MAP,
};

struct table_state {
	enum table_level level;
	enum table_problem problem;
	const char *detail; /* or NULL */
};

int table_new(struct table **ret);

/* NULL is fine. */
void table_free(struct table *t);

/* Number of the object with this key, added if it is new. -ENOMEM, -EFBIG. */
int table_object(struct table *t, const struct table_key *key, uint32_t *ret);

/* The same, for one that is there. */
bool table_has(
    const struct table *t, const struct table_key *key, uint32_t *ret);
size_t table_objects(const struct table *t);

/* Its path is valid as long as the table. */
const struct table_key *table_key(const struct table *t, uint32_t object);
struct table_state *table_state(struct table *t, uint32_t object);

/* The same text gives the same pointer. */
int table_text(struct table *t, const char *text, size_t len, const char **ret);

/*
 * Texts in it are from table_text() or NULL; the api of each is found out
 * here, and what seep.h put in front is left out. *ret: its number.
 */
int table_chain(struct table *t, const struct names_frame *frames, size_t count,
    uint32_t *ret);

/* A place that is there already keeps its chain unless this knows more. */
int table_place(
    struct table *t, uint32_t object, uint64_t address, uint32_t chain);

/* How many functions; 0: the place is not there. */
size_t table_find(const struct table *t, uint32_t object, uint64_t address,
    const struct names_frame **ret);

/* Of table_places(): by object, then address. */
struct table_row {
	uint64_t address;
	uint32_t object;
	uint32_t chain;
};

/* All places of an object, or of TABLE_ALL; for free(). -ENOMEM. */
enum { TABLE_ALL = UINT32_MAX };
int table_places(const struct table *t, uint32_t object, struct table_row **ret,
    size_t *ret_count);
size_t table_frames(
    const struct table *t, uint32_t chain, const struct names_frame **ret);

#endif
