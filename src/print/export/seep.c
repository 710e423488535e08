/* seep.c - our own format, with names. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/export/export.h"

/* Copies files instead of writing a view: command/cmd_export.c, print/export/pack.c. */
const struct export_format export_seep = {
    .name = "seep",
    .extension = ".data",
    .what = "a recording with the names of its functions: what INPUT has, for "
            "another machine",
    .flags = EXPORT_DEAD | EXPORT_KINDS | EXPORT_BINARY | EXPORT_PACKED,
};
