/* growth_json.c - what grew between two moments, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/report_json.h"

#include "kit/json/json_put.h"

static int put_stretch(struct json *out, const struct session *s, struct growth_stretch *x,
    struct names *names, const struct view_options *options)
{
	const struct seg_header *h = &x->process->header;
	struct view *v = NULL;
	int err = growth_view(x, s, names, options, &v);

	if (err == 0) {
		json_object(out, NULL);
		json_number(out, "pid", h->pid);
		json_hex(out, "uuid", h->uuid, sizeof(h->uuid));
		json_text(out, "exe", h->exe);
		json_number(out, "from_us", x->from_us);
		json_number(out, "to_us", x->to_us);
		err = diff_json_sites(out, v, options->metric);
		json_end(out);
	}
	view_free(v);
	growth_release(x);
	return err;
}

int growth_json_write(FILE *out, const struct session *s, struct names *names,
    const struct view_options *options, const struct growth_moment *from,
    const struct growth_moment *to, const char *version)
{
	struct json j;
	struct growth_stretch *list;
	size_t n;
	int err;

	err = growth_stretches(s, options->pid, from, to, &list, &n);
	if (err < 0)
		return err;
	j = json_begin(out, version);
	json_text(&j, "kind", "growth");
	json_list(&j, "processes");
	for (size_t i = 0; i < n && i < GROWTH_PROCESSES && err == 0; i++)
		err = put_stretch(&j, s, &list[i], names, options);
	json_end(&j);
	json_number(&j, "more_processes", n > GROWTH_PROCESSES ? n - GROWTH_PROCESSES : 0);
	free(list);
	return json_finish(&j, err);
}
