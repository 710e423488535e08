/* html_blob.h - columns of numbers, packed and written as text. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HTML_BLOB_H
#define SEEP_HTML_BLOB_H

#include "print/json/processes.h"
#include "recording/file/codec.h"

/* Their names, and how they are written, are in html_blob.c. */
enum html_column {
	HTML_FRAME_FUNCTION,
	HTML_FRAME_FILE,
	HTML_FRAME_LINE,
	HTML_FRAME_MODULE,
	HTML_FRAME_OFFSET,
	HTML_FRAME_FLAGS,
	HTML_FRAME_BRIEF,
	HTML_STACK_SHARED,
	HTML_STACK_ADDED,
	HTML_STACK_FRAMES,
	HTML_SITE_STACK,
	HTML_SITE_ID,
	HTML_SITE_MERGED,
	HTML_SITE_KIND,
	HTML_SITE_API,
	HTML_SITE_POOL,
	HTML_SITE_STATE,
	HTML_SITE_SUPPRESSION,
	HTML_SITE_FIGURES, /* of print/json/processes.h, each with a column */
	HTML_SITE_SAMPLES = HTML_SITE_FIGURES + FIGURES,
	HTML_SITE_ERROR_LIVE,
	HTML_SITE_ERROR_ALLOCATED,
	HTML_SITE_SIZE_MIN,
	HTML_SITE_SIZE_MAX,
	HTML_SITE_FIRST_MS,
	HTML_SITE_LAST_MS,
	HTML_SITE_AGES_KNOWN,
	HTML_SITE_SIZES_KNOWN,
	HTML_SITE_STEPS_KNOWN,
	HTML_DEATH_SITE,
	HTML_DEATH_AGE,
	HTML_DEATH_COUNT,
	HTML_YOUNG_SITE,
	HTML_YOUNG_STEP,
	HTML_YOUNG_COUNT,
	HTML_LIVING_SITE,
	HTML_LIVING_AGE,
	HTML_LIVING_COUNT,
	HTML_SIZE_SITE,
	HTML_SIZE_CLASS,
	HTML_SIZE_COUNT,
	HTML_BIRTH_SITE,
	HTML_BIRTH_SLOT,
	HTML_BIRTH_COUNT,
	HTML_POINT_TIME_US,
	HTML_POINT_LIVE_BYTES,
	HTML_POINT_LIVE_BLOCKS,
	HTML_POINT_ALLOCATIONS,
	HTML_POINT_ALLOCATED_BYTES,
	HTML_CHANGE_MOMENT,
	HTML_CHANGE_SITE,
	HTML_CHANGE_ALLOCATIONS,
	HTML_CHANGE_ALLOCATED_BYTES,
	HTML_CHANGE_FREES,
	HTML_CHANGE_FREED_BYTES,
	HTML_COLUMNS,
};

/* Zeros: empty. html_blob_write() reports an earlier lack of memory. */
struct html_blob {
	struct codec_out columns[HTML_COLUMNS];
	uint64_t last[HTML_COLUMNS];
	size_t counts[HTML_COLUMNS];
};

/* Differences are taken modulo 2^64, so a negative value may be cast. */
void html_blob_put(struct html_blob *b, enum html_column column, uint64_t value);

/* "columns":[["name","code",count,bytes],...] */
void html_blob_directory(struct json *out, const struct html_blob *b);

/*
 * The length of head (4 bytes, little endian), head, all columns: as gzip, as
 * base64. -ENOMEM, also for what happened before; -EIO if ferror(out).
 */
int html_blob_write(FILE *out, const struct html_blob *b, const char *head, size_t len);

void html_blob_release(struct html_blob *b);

#endif
