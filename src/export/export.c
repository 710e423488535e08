/* export.c - what others' tools read: a table of formats. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/export.h"

#include <string.h>

static const struct export_format *const formats[] = {
    &export_gprof2dot,
    &export_leaktrace,
    &export_maps,
    &export_memlog,
    &export_mmleak,
    &export_mmleak_html,
};

const struct export_format *const *
export_formats(size_t *ret_count)
{
	*ret_count = sizeof(formats) / sizeof(formats[0]);
	return formats;
}

const struct export_format *
export_find(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}
