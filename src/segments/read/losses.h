/* losses.h - names of the collector's counters, inert reasons and refused directories. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOSSES_H
#define SEEP_LOSSES_H

#include "base/std.h"
#include "format/format.h"

/* What a counter says about the figures. */
enum losses_class {
	LOSSES_TOTAL, /* part of the totals: unknown_frees, inherited_frees */
	LOSSES_LOSS,  /* something is missing or merged: shown when not 0 */
	LOSSES_FACT,  /* nothing is missing: nested events, wasted ids */
};

struct losses_name {
	enum seg_count count;
	enum losses_class class;
	const char *key;   /* JSON, snake case, never renamed */
	const char *words; /* after a number: "12 events not recorded" */
};

/* All names, in the order of the format; *ret_count of them. */
const struct losses_name *losses_names(size_t *ret_count);

/*
 * The reason as a phrase; never NULL: "for a reason unknown to this seep" for
 * unknown numbers.
 */
const char *losses_inert(uint32_t reason);

/*
 * Does the executable define a function of malloc's family itself? Then calls
 * go there, and blocks that it does not take from the collector's malloc are
 * not recorded.
 */
bool losses_is_own(uint32_t reason);

/* ---- refused_directory: why the directory that was asked for was not used ---- */

enum { REFUSED_DIRECTORY_BYTES = SEG_ASKED_BYTES + 256 };

/*
 * The middle of a sentence: "/run/x belongs to uid 7". Not escaped: the process
 * wrote the path. False: the place that was asked for was used, or none was.
 */
bool refused_directory(const struct seg_header *h, char *text, size_t bytes);

/* The variable that asked for the place: "SEEP_DIR" or "SEEP_BASE". */
const char *refused_directory_setting(const struct seg_header *h);

/* One word of enum seg_place for programs, never renamed: "owner". */
const char *refused_directory_reason(uint32_t why);

#endif
