/* perform.h - performs the words of a script, thread by thread. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PERFORM_H
#define SEEP_PERFORM_H

#include "replay/stage.h"

/*
 * Performs all of it: the main thread's words here, those of others in threads
 * that they start, and joins them. If something fails, the process ends by
 * result_failed().
 */
void perform_all(struct stage *s);

#endif
