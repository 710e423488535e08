/* spark.h - draws figures over time as one short line of block characters. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SPARK_H
#define SEEP_SPARK_H

#include "session/process/process.h"
#include "print/text/layout.h"

enum { SPARK_WIDTH = 60 }; /* block characters at most */

/*
 * Prints "Live bytes over 12 s: <characters> up to 1.2 MiB." and a newline;
 * nothing if there are fewer than three points. Each column shows the highest
 * figure of its interval. Without UTF-8, digits 0 to 9 are used.
 */
void spark_write(
    const struct layout *p, const char *what, const struct process_point *points, size_t count);

#endif
