/* spark.h - a course of figures as one short line of blocks. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_SPARK_H
#define SEEP_REPORT_SPARK_H

#include <stdbool.h>
#include <stdio.h>

#include "reader/process.h"

enum { SPARK_WIDTH = 60 };

/*
 * "Live bytes over 12 s: <blocks> up to 1.2 MiB." and a newline; nothing where
 * there are fewer than three points. Each column shows the highest figure of
 * its stretch of time. Without utf8 digits 0 to 9 stand for the blocks.
 */
void spark_write(FILE *out, const struct process *p, bool utf8);

#endif
