/* seep.c - our own form, with the names in it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/export.h"

/* It is made of files instead of a view: cli/cmd_export.c, record/pack.c. */
const struct export_format export_seep = {
    .name = "seep",
    .extension = ".data",
    .what = "a recording with the names of its functions: what INPUT has, for "
            "another machine",
    .flags = EXPORT_DEAD | EXPORT_KINDS | EXPORT_BINARY | EXPORT_PACKED,
};
