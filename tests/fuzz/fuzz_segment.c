/* fuzz_segment.c - any bytes at all as a segment: refused or read, no more. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/fault.h"
#include "reader/session.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct session *s = NULL;
	struct fault where;

	if (session_load_bytes(data, size, &s, &where) == 0)
		session_free(s);
	return 0;
}
