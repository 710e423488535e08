/* json.c - the report's JSON, as an export. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json.h"

#include "export/export.h"

const struct export_format export_json = {
    .name = "json",
    .extension = ".json",
    .what = "all figures of all sites, as report --format json",
    .flags = EXPORT_DEAD | EXPORT_DEPTH | EXPORT_KINDS,
    .write_session = json_write,
};
