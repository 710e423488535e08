/* sheet.h - encodes and decodes a head, tables of rows, and texts (docs/RECORDING.md). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SHEET_H
#define SEEP_SHEET_H

#include "base/std.h"

/*
 * Verdicts, inventories and accounts of resident memory are stored in one way: a
 * head, the rows of each table, then all texts, each with a NUL. The head has its
 * own size and those of the rows, so a reader skips what a later version appends
 * to them. A text is its offset + 1; 0: there is none.
 *
 * A description of the structs takes the place of code that copies field by
 * field. The fields of a head or a row stand in the order in which they are on
 * disk; what a row still lacks of its size is zero.
 */
enum sheet_how {
	SHEET_END,   /* of a list of fields */
	SHEET_COPY,  /* `bytes` bytes: neighbours in the struct, without a gap */
	SHEET_ZERO,  /* `bytes` bytes that no version has used */
	SHEET_TEXT,  /* of a row: a pointer, NULL if there is none */
	SHEET_NAME,  /* the same; an empty text is none, and none is "" */
	SHEET_FLAGS, /* of the head: bit i is the bool sheet.flags[i] */
	SHEET_SIZE,  /* of the head: a number of struct sheet_sizes */
};

struct sheet_field {
	enum sheet_how how;
	size_t at, bytes; /* in the struct, or in struct sheet_sizes */
};

enum { SHEET_TABLES = 3, SHEET_FLAGS_MAX = 5 };

struct sheet_sizes {
	uint32_t head, texts; /* bytes */
	uint32_t row[SHEET_TABLES];
	uint32_t count[SHEET_TABLES];
};

#define SHEET_RUN(type, first, last) \
	{ \
		SHEET_COPY, offsetof(type, first), \
		    offsetof(type, last) + sizeof(((const type *)0)->last) - offsetof(type, first) \
	}
#define SHEET_ONE(type, field) SHEET_RUN(type, field, field)
#define SHEET_NUMBER(field) \
	{ \
		SHEET_SIZE, offsetof(struct sheet_sizes, field), sizeof(uint32_t) \
	}

enum sheet_row { SHEET_BAD, SHEET_SKIP, SHEET_KEEP };

struct sheet_table {
	uint32_t row_bytes, max;  /* on disk; of rows */
	size_t rows_at, count_at; /* the array and a size_t, in the struct */
	size_t item_bytes;        /* of the array */
	struct sheet_field fields[6];
	/* x: the struct with its head; before: the row that was kept last, or NULL */
	enum sheet_row (*judge)(const void *x, const void *row, const void *before);
};

struct sheet {
	size_t struct_bytes, text_at; /* the memory that texts point into, a char * */
	uint32_t head_bytes;
	uint32_t head_least;                       /* of older versions; 0: head_bytes */
	uint32_t texts_max;                        /* bytes of all texts */
	uint32_t text_max;                         /* of one without its NUL; longer ones are cut */
	bool has_tail;                             /* other bytes may follow */
	size_t flag_count, flags[SHEET_FLAGS_MAX]; /* each a bool of the struct */
	struct sheet_field head[14];
	struct sheet_table tables[SHEET_TABLES];
	bool (*fits)(const void *x, const struct sheet_sizes *sizes);
};

/* The caller frees the bytes. -ENOMEM; -EFBIG: too many rows or texts. */
int sheet_encode(const struct sheet *s, const void *x, uint8_t **ret, size_t *ret_len);

/* Decodes untrusted bytes; x is empty unless 0 is returned. -EBADMSG, -ENOMEM. */
int sheet_decode(const struct sheet *s, const uint8_t *bytes, size_t len, void *x);

/* Gives rows and texts back; x is empty then. */
void sheet_release(const struct sheet *s, void *x);

#endif
