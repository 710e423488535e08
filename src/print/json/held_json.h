/* held_json.h - who holds what, as JSON; keys are only ever added. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HELD_JSON_H
#define SEEP_HELD_JSON_H

#include "findings/held_view.h"

/*
 * Writes one object and a newline. `id`: with the ways to this site; 0: none.
 * `retained`: with the largest holders and all sites. -ENOMEM; -EIO if
 * ferror(out).
 */
int held_json_write(FILE *out, const struct held_view *v, uint32_t id, bool retained);

#endif
