/* figures.c - the figures of a site, a row each: for JSON, CSV and pages. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/figures.h"

_Static_assert(offsetof(struct view_figures, all) == 0, "these are at its beginning");

#define AT(field) .at = offsetof(struct view_figures, field)

const struct figures_row figures[FIGURES] = {
    {"allocations", FIGURES_COUNTED, true, AT(all.allocations)},
    {"allocated_bytes", FIGURES_COUNTED, true, AT(all.allocated_bytes)},
    {"frees", FIGURES_COUNTED, false, AT(all.frees)},
    {"freed_bytes", FIGURES_COUNTED, false, AT(all.freed_bytes)},
    {"live_blocks", FIGURES_COUNTED, true, AT(all.live_blocks)},
    {"live_bytes", FIGURES_COUNTED, true, AT(all.live_bytes)},
    {"peak_blocks", FIGURES_COUNTED | FIGURES_ENDS, true, AT(all.peak_blocks)},
    {"peak_bytes", FIGURES_COUNTED | FIGURES_ENDS, true, AT(all.peak_bytes)},
    {"temporary_blocks", FIGURES_TEMPORARY | FIGURES_ENDS, true, AT(temporary_blocks)},
    {"temporary_bytes", FIGURES_TEMPORARY | FIGURES_ENDS, true, AT(temporary_bytes)},
    {"older_blocks", FIGURES_OLDER, true, AT(older_blocks)},
    {"older_bytes", FIGURES_OLDER, true, AT(older_bytes)},
    {"older_unknown_blocks", FIGURES_OLDER, false, AT(older_unknown_blocks)},
    {"older_unknown_bytes", FIGURES_OLDER, false, AT(older_unknown_bytes)},
    {"holds_bytes", FIGURES_PAGES, true, AT(holds_bytes)},
    {"pins_bytes", FIGURES_PAGES, false, .computed = view_pins},
};

uint64_t figures_value(const struct figures_row *row, const void *f)
{
	uint64_t value;

	if (row->computed)
		return row->computed(f);
	memcpy(&value, (const char *)f + row->at, sizeof(value));
	return value;
}

void json_figures(struct json *out, unsigned groups, const void *f)
{
	for (int i = 0; i < FIGURES; i++)
		if (figures[i].group & groups)
			json_number_or_null(out, figures[i].name,
			    !out->is_reading || !(figures[i].group & FIGURES_ENDS),
			    figures_value(&figures[i], f));
}

void json_figures_errors(struct json *out, bool sampled, double live, double allocated)
{
	if (sampled)
		JSON_OBJECT(out, "error", {"live_bytes", process_error(live)},
		    {"allocated_bytes", process_error(allocated)});
	else
		json_null(out, "error");
}
