/* fuzz_report.c - any segment that can be read at all can be reported on. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "lib/whole.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct session *s;

	if (session_load_bytes(data, size, &s, NULL) < 0)
		return 0;
	whole_session(s, WHOLE_REPORTS | WHOLE_JSON | WHOLE_DIFF, WHOLE_EVERY, false);
	session_free(s);
	return 0;
}
