/* fuzz_recording.c - any bytes at all as a file given to `seep report`. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/fault.h"
#include "reader/session.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct session *s = NULL;
	struct fault where;
	char path[40];
	int fd = memfd_create("recording", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort(); /* of the fuzzer's own making */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (session_load(path, &s, &where) == 0)
		session_free(s);
	close(fd);
	return 0;
}
