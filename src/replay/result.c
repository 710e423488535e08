/* result.c - reports to the command, and ends the performer. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/result.h"

#include <unistd.h>

#include "kit/os/write_all.h"

static int result_fd = -1;

void result_to(int fd)
{
	result_fd = fd;
}

_Noreturn void result_send(struct script_result *r)
{
	r->magic = SCRIPT_MAGIC;
	_exit(write_all(result_fd, r, sizeof(*r)) < 0 || r->error ? 1 : 0);
}

_Noreturn void result_failed(int err)
{
	struct script_result r = {.error = (uint64_t)-err};

	result_send(&r);
}
