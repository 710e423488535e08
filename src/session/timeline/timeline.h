/* timeline.h - answers questions from the time line of a recording or of chapters. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TIMELINE_H
#define SEEP_TIMELINE_H

#include "session/process/process.h"
#include "recording/file/recording.h"

/* Each question reads the recording again, so that nothing large is kept. */
struct timeline;

/*
 * Takes ownership of the recording, on success only. The caller owns *ret.
 * -ENOMEM.
 */
int timeline_new(struct recording *b, uint64_t until_us, struct timeline **ret);

/*
 * Puts the time line of a chapter behind *t, which is made if it is NULL, and
 * takes `next` over, on success only. base_us is where the chapter begins, not
 * before the end of *t. Its file is opened by its path when it is needed, but
 * for a few with keep_open, whose names may change. -ENOMEM.
 */
int timeline_join(
    struct timeline **t, struct timeline *next, uint64_t base_us, const char *path, bool keep_open);

/* NULL is fine. */
void timeline_free(struct timeline *t);

/* The last moment in the time line, counted from the start of the recording. */
uint64_t timeline_until_us(const struct timeline *t);

/*
 * The figures of all sites of p at the last look before a moment, by number of
 * the site, without peaks. *ret_time_us is the time of that look. Zeros before
 * p began. -ENOMEM, -EIO.
 */
int timeline_sites_at(struct timeline *t, const struct process *p, uint64_t time_us,
    struct process_figures *ret, uint64_t *ret_time_us);

/* One site over time; points where it changed. */
struct timeline_series {
	size_t site;                  /* number in p->sites, set by the caller */
	struct process_point *points; /* for free() */
	size_t count;
};

/* Fills n series, each of at most `max` points. -ENOMEM, -EIO. */
int timeline_series(struct timeline *t, const struct process *p, struct timeline_series *series,
    size_t n, size_t max);

/*
 * Calls `row` as playback_hooks.row for every change of every site, in order of
 * time. -ENOMEM, -EIO, or what `row` returned.
 */
struct playback_process;
struct codec_sum;
typedef int timeline_row(void *context, struct playback_process *p, uint32_t id,
    const struct codec_sum *sum, uint64_t time_us);
int timeline_rows(struct timeline *t, timeline_row *row, void *context);

/*
 * Chooses sites for series: the `each` largest by live bytes at the end, by
 * share of the peak, and by growth since `from_us`. Returns numbers of sites,
 * each once, in ascending order; for free(). -ENOMEM, -EIO.
 */
int timeline_top(struct timeline *t, const struct process *p, uint64_t from_us, size_t each,
    size_t **ret_sites, size_t *ret_count);

#endif
