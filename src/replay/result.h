/* result.h - reports to the command, and ends the performer. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RESULT_H
#define SEEP_RESULT_H

#include "replay/script.h"

/* Where results go: a descriptor. */
void result_to(int fd);

_Noreturn void result_send(struct script_result *r);

/* For a negative errno; any thread may call it. */
_Noreturn void result_failed(int err);

#endif
