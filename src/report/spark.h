/* spark.h - a course of figures as one short line of blocks. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_SPARK_H
#define SEEP_REPORT_SPARK_H

#include "reader/process.h"
#include "report/layout.h"

enum { SPARK_WIDTH = 60 }; /* blocks at most */

/*
 * "Live bytes over 12 s: <blocks> up to 1.2 MiB." and a newline; nothing where
 * there are fewer than three points. Each column shows the highest figure of
 * its stretch of time. Without UTF-8 digits 0 to 9 stand for the blocks.
 */
void spark_write(const struct layout *p, const char *what,
    const struct process_point *points, size_t count);

#endif
