/* unseen.h - memory that did not come from malloc, in one sentence. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_UNSEEN_H
#define SEEP_REPORT_UNSEEN_H

#include "reader/process.h"
#include "report/layout.h"

/* Says how much, and what it may be. Nothing where it does not matter. */
void unseen_write(const struct layout *p, const struct process *process);

#endif
