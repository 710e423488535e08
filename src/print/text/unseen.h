/* unseen.h - a sentence about memory that did not come from malloc. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_UNSEEN_H
#define SEEP_UNSEEN_H

#include "session/process/process.h"
#include "print/text/layout.h"

/* Prints how much it is, and what it may be. Nothing if it does not matter. */
void unseen_write(const struct layout *p, const struct process *process);

#endif
