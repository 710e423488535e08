/* census.c - gives the memory of a census back. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/parts/census.h"

#include <stdlib.h>

void census_release(struct census *c)
{
	free(c->types);
	free(c->spare);
	free(c->text);
	*c = (struct census){0};
}
