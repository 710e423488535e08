/* remarks.h - remarks about exported figures: estimates, losses, filters. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REMARKS_H
#define SEEP_REMARKS_H

#include "print/export/export.h"

/*
 * Sentences, one per line, without control bytes: the version of seep and the
 * program; which figures are estimates; what was lost, filtered or unreadable;
 * how figures of several processes are combined. For free(); NULL: out of
 * memory.
 */
char *remarks_of(const struct view *v, const struct export_options *o);

/* Writes them line by line, each between the two texts. */
void remarks_put(FILE *out, const char *remarks, const char *before, const char *after);

#endif
