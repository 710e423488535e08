/* foreign_answer.h - the helper of foreign_ask.h: its side of the protocol. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FOREIGN_ANSWER_H
#define SEEP_FOREIGN_ANSWER_H

#include <sys/stat.h>

#include "host/memory/foreign_ask.h"

/*
 * It gets a struct foreign_request and sends chunks, each behind its length. The
 * length 0 ends the answer, and so does a negative errno. FOREIGN_OPEN and
 * FOREIGN_WRITE are answered by a struct foreign_opened, with a descriptor if its
 * err is 0.
 */
enum { FOREIGN_CHUNK = 65536 };

struct foreign_opened {
	int32_t err;
	struct stat stat;
};

/* In the child: a helper (kit/os/helper.h). */
int foreign_answer(int socket, void *nothing);

#endif
