/* place_name.c - the names of the files that this process makes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/segment/place.h"

#include <string.h>
#include <sys/prctl.h>

#include "base/sys.h"
#include "collector/segment/kernel.h"

enum { COMM_BYTES = 16 };

static char comm[COMM_BYTES + 1];
static uint32_t random_part;

const char *place_name_program(void)
{
	return comm;
}

void place_name_write(struct fmt *f, const char *begin, uint64_t pid)
{
	fmt_string(f, begin);
	fmt_string(f, "-");
	fmt_decimal(f, pid);
	fmt_string(f, "-");
	fmt_hex(f, random_part, 8);
}

void place_name_tame(char *text, bool dashes)
{
	char *c;

	for (c = text; *c; c++) {
		bool fine = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
		    (*c >= '0' && *c <= '9') || *c == '_' || *c == '+' ||
		    (c > text && (*c == '.' || (dashes && *c == '-')));

		if (!fine)
			*c = '_';
	}
}

void place_name_choose(void)
{
	memset(comm, 0, sizeof(comm));
	sys_call(SYS_prctl, PR_GET_NAME, (long)comm, 0, 0);
	place_name_tame(comm, false);
	kernel_random(&random_part, sizeof(random_part));
}
