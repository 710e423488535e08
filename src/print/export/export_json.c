/* export_json.c - the report's JSON, as an export. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/report_json.h"

#include "print/export/export.h"

static int write_session(FILE *out, const struct session *s, struct names *names,
    const struct view_options *options, const struct export_options *o)
{
	return report_json_write(out, s, names, options, o->version);
}

const struct export_format export_json = {
    .name = "json",
    .extension = ".json",
    .what = "all figures of all sites, as report --format json",
    .flags = EXPORT_DEAD | EXPORT_DEPTH | EXPORT_KINDS | EXPORT_AGES | EXPORT_RESIDENT,
    .write_session = write_session,
};
