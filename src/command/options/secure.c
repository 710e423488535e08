/* secure.c - may a program of the user's choice run with our privileges? */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/options/secure.h"

#include "base/std.h"
#include <strings.h>

enum secure secure_mode(void)
{
	static const char *const no[] = {"0", "no", "n", "false", "off"};
	const char *said = getenv("SEEP_PAGERSECURE");

	if (!said || !*said)
		return geteuid() == 0 || geteuid() != getuid() ? SECURE_AUTO : SECURE_NO;
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		if (strcasecmp(said, no[i]) == 0)
			return SECURE_NO;
	return SECURE_ASKED;
}
