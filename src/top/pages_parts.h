/* pages_parts.h - what the files of pages.h share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TOP_PAGES_PARTS_H
#define SEEP_TOP_PAGES_PARTS_H

#include "top/pages.h"

enum {
	PAGES_PID = 7
}; /* columns of a pid: tables below each other are equal */

#endif
