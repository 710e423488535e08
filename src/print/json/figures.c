/* figures.c - the figures of a process or a site as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/figures.h"

#include "kit/json/json_put.h"

void json_figures(struct json *out, const struct process_figures *f)
{
	json_number(out, "allocations", f->allocations);
	json_number(out, "allocated_bytes", f->allocated_bytes);
	json_number(out, "frees", f->frees);
	json_number(out, "freed_bytes", f->freed_bytes);
	json_number(out, "live_blocks", f->live_blocks);
	json_number(out, "live_bytes", f->live_bytes);
	json_number(out, "peak_blocks", f->peak_blocks);
	json_number(out, "peak_bytes", f->peak_bytes);
}

void json_figures_errors(struct json *out, bool sampled, double live, double allocated)
{
	if (!sampled) {
		json_null(out, "error");
		return;
	}
	JSON_OBJECT(out, "error", {"live_bytes", process_error(live)},
	    {"allocated_bytes", process_error(allocated)});
}
