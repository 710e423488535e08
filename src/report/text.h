/* text.h - a session in plain text: a paragraph, then a tree or a table. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_TEXT_H
#define SEEP_REPORT_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "names/names.h"
#include "reader/session.h"

enum text_metric { TEXT_LIVE, TEXT_PEAK, TEXT_ALLOCS };
enum text_shape { TEXT_TREE, TEXT_TABLE };

struct text_options {
	int metric;       /* enum text_metric */
	int shape;        /* enum text_shape */
	unsigned top;     /* entries at the first level, 0: all */
	unsigned depth;   /* frames of a stack, 0: all */
	double threshold; /* percent of the whole */
	bool colour;
	bool utf8; /* blocks may be drawn */
};

/* 0, -ENOMEM, or -EIO as ferror(out) tells. */
int text_write(FILE *out, const struct session *s, struct names *names,
    const struct text_options *options);

#endif
