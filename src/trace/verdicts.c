/* verdicts.c - what the looks at one process found. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/verdicts.h"

#include <stdlib.h>

void
verdicts_release(struct verdicts *v)
{
	free(v->sites);
	free(v->text);
	*v = (struct verdicts){0};
}
