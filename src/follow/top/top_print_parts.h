/* top_print_parts.h - what the files of top_print.h share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TOP_PRINT_PARTS_H
#define SEEP_TOP_PRINT_PARTS_H

#include "follow/top/top_print.h"

enum { PAGES_PID = 7 }; /* columns of a pid: tables below each other are equal */

#endif
