/* json_size.h - estimates the size of JSON before it is written. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_JSON_SIZE_H
#define SEEP_JSON_SIZE_H

#include "view/sites/view.h"

/*
 * About the bytes that report_json_write() would write with frames in full. In a
 * segment stacks share their frames, so a few MiB of it can become GiB of text.
 * A result below a quarter of `enough` is a rough upper bound, found without
 * names. -ENOMEM.
 */
int json_size(const struct session *s, struct names *names, const struct view_options *options,
    uint64_t enough, uint64_t *ret);

#endif
