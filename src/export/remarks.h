/* remarks.h - what a reader of exported figures should know about them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EXPORT_REMARKS_H
#define SEEP_EXPORT_REMARKS_H

#include "export/export.h"

/*
 * Sentences, one on a line, without control bytes: who wrote this of which
 * program; what is an estimate, lost, filtered or not readable; in which way
 * figures of several processes stand together. For free(); NULL: out of
 * memory.
 */
char *remarks_of(const struct view *v, const struct export_options *o);

/* Writes them line by line, each between the two texts. */
void remarks_put(
    FILE *out, const char *remarks, const char *before, const char *after);

#endif
