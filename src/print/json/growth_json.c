/* growth_json.c - what grew between two moments, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/growth_json.h"

#include <errno.h>
#include <stdlib.h>

#include "print/json/diff_json.h"
#include "print/json/report_json.h"
#include "kit/json/json_put.h"

static int put_stretch(FILE *out, const struct session *s, struct growth_stretch *x,
    struct names *names, const struct view_options *options)
{
	const struct seg_header *h = &x->process->header;
	struct view *v = NULL;
	int err = growth_view(x, s, names, options, &v);

	if (err == 0) {
		(void)fprintf(out, "{\"pid\":%u", h->pid);
		json_hex(out, "uuid", h->uuid, sizeof(h->uuid));
		json_text(out, "exe", h->exe);
		json_number(out, "from_us", x->from_us);
		json_number(out, "to_us", x->to_us);
		err = diff_json_sites(out, v, options->metric);
		(void)putc('}', out);
	}
	view_free(v);
	growth_release(x);
	return err;
}

int growth_json_write(FILE *out, const struct session *s, struct names *names,
    const struct view_options *options, const struct growth_moment *from,
    const struct growth_moment *to, const char *version)
{
	struct growth_stretch *list;
	size_t n;
	int err;

	err = growth_stretches(s, options->pid, from, to, &list, &n);
	if (err < 0)
		return err;
	(void)fprintf(out, "{\"schema\":%d", JSON_SCHEMA);
	json_text(out, "seep", version);
	json_text(out, "kind", "growth");
	(void)fputs(",\"processes\":[", out);
	for (size_t i = 0; i < n && i < GROWTH_PROCESSES && err == 0; i++) {
		(void)fputs(i ? "," : "", out);
		err = put_stretch(out, s, &list[i], names, options);
	}
	(void)fprintf(
	    out, "],\"more_processes\":%zu}\n", n > GROWTH_PROCESSES ? n - GROWTH_PROCESSES : 0);
	free(list);
	return err < 0 ? err : ferror(out) ? -EIO : 0;
}
