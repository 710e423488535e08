/* growth.h - what grew between two moments of a recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_GROWTH_H
#define SEEP_REPORT_GROWTH_H

#include <stdbool.h>
#include <stdio.h>

#include "names/names.h"
#include "reader/session.h"

struct growth_moment {
	double value;
	bool is_percent; /* of the recording, else seconds from its start */
};

struct growth_options {
	struct growth_moment from, to;
	bool tree;
	unsigned top;     /* sites, 0: all */
	unsigned depth;   /* frames of a stack, 0: all */
	double threshold; /* percent of all that grew */
};

/*
 * "FROM..TO", each as 12.5, 12.5s or 30%, either may be missing: the first
 * third, the end. False: it is none.
 */
bool growth_parse(const char *text, struct growth_moment *ret_from,
    struct growth_moment *ret_to);

/*
 * For each process that was there in between: what its sites have more or less
 * of than before, with signs. 0, -ENOMEM, -EIO; -ENODATA: no time line.
 */
int growth_write(FILE *out, const struct session *s, struct names *names,
    const struct growth_options *options);

#endif
