/* name_table.h - places in modules, and the functions that are there. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAME_TABLE_H
#define SEEP_NAME_TABLE_H

#include "names/find/names.h"

/*
 * A table only grows. It is bounded, because its input is not trusted: if
 * something does not fit, the call returns -EFBIG, and the table stays valid.
 * All texts and chains that it returns are valid as long as the table.
 */
struct table;

enum table_kind {
	TABLE_MODULE = 1,  /* id: its build-id; address: as in the ELF file */
	TABLE_PROCESS = 2, /* id: uuid of the segment; address: in memory */
};

/*
 * A variable of a module, by names_variable(): its address in the ELF file with
 * one of these, TABLE_TLS if it is an offset in thread-local storage.
 */
#define TABLE_DATA (UINT64_C(1) << 62)
#define TABLE_TLS  (UINT64_C(1) << 63)

/* An address belongs to one of these objects. */
struct name_table_key {
	enum table_kind kind;
	uint8_t id[32];
	size_t id_bytes;
	const char *path; /* "" for the object of a process */
	/*
	 * The view of the file system in which that path is meant
	 * (names/find/places.h): processes with another mount namespace or root may
	 * have another file there. 0: our own.
	 */
	uint64_t view;
	/*
	 * The owner of the process, if only the process says where the file is,
	 * or if the object is a process: what one user's process says must not
	 * name the functions of another's. uid + 1; 0: any owner.
	 */
	uint64_t owner;
};

/* Where the names of a module come from; a higher number is better. */
enum table_level {
	TABLE_NOTHING = 0,
	TABLE_EXPORTS = 1, /* .dynsym: exported functions only */
	TABLE_SYMBOLS = 2, /* .symtab: all functions */
	TABLE_DEBUG = 3,   /* DWARF: also inlined functions, files and lines */
};

/* Why a module has no more names. */
enum table_problem {
	TABLE_FINE = 0,
	TABLE_NO_FILE = 1,    /* detail: the error of open() */
	TABLE_OTHER_FILE = 2, /* detail: the build-id that is there now */
	TABLE_NOT_ELF = 3,
	TABLE_NO_DEBUG = 4,   /* stripped, its debug info is not here */
	TABLE_UNREADABLE = 5, /* detail: the error of reading it */
	TABLE_NO_ALT = 6,     /* detail: build-id of the file that dwz made */
	TABLE_NO_SPLIT = 7,   /* detail: how many .dwo files are not here */
	TABLE_NO_JAIL = 8,    /* detail: the error; DWARF was not read */
	TABLE_NO_TIME = 9,    /* no time to read it, or not to the end */
	TABLE_CUT_MAP = 10,   /* of a process: its map is too long */
	TABLE_LAST = TABLE_CUT_MAP,
};

struct name_table_state {
	enum table_level level;
	enum table_problem problem;
	const char *detail; /* or NULL */
};

int name_table_new(struct table **ret);

/* NULL is fine. */
void name_table_free(struct table *t);

/* Number of the object with this key; adds it if it is new. -ENOMEM, -EFBIG. */
int name_table_object(struct table *t, const struct name_table_key *key, uint32_t *ret);

/* The same, but adds nothing; false: the table does not have it. */
bool name_table_has(const struct table *t, const struct name_table_key *key, uint32_t *ret);
size_t name_table_objects(const struct table *t);

/* Its path is valid as long as the table. */
const struct name_table_key *name_table_key(const struct table *t, uint32_t object);
struct name_table_state *name_table_state(struct table *t, uint32_t object);

/* The same text gives the same pointer. */
int name_table_text(struct table *t, const char *text, size_t len, const char **ret);

/*
 * Texts in it are from name_table_text() or NULL. The api of each function is set
 * here, and functions of seep.h at the front are left out. *ret: its number.
 */
int name_table_chain(
    struct table *t, const struct names_frame *frames, size_t count, uint32_t *ret);

/* A place that is already there keeps its chain unless this one knows more. */
int name_table_place(struct table *t, uint32_t object, uint64_t address, uint32_t chain);

/* Number of functions at the place; 0: the place is not in the table. */
size_t name_table_find(
    const struct table *t, uint32_t object, uint64_t address, const struct names_frame **ret);

/* The result of name_table_places(): sorted by object, then address. */
struct table_row {
	uint64_t address;
	uint32_t object;
	uint32_t chain;
};

/* All places of an object, or of TABLE_ALL; the caller frees them. -ENOMEM. */
enum { TABLE_ALL = UINT32_MAX };
int name_table_places(
    const struct table *t, uint32_t object, struct table_row **ret, size_t *ret_count);
size_t name_table_frames(const struct table *t, uint32_t chain, const struct names_frame **ret);

#endif
