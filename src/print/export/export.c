/* export.c - the formats of other tools, as a table. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/export/export.h"

#include "recording/parts/rss_account.h"

static const struct export_format *const formats[] = {
    &export_callgrind,
    &export_collapsed,
    &export_csv,
    &export_dhat,
    &export_dot,
    &export_gprof2dot,
    &export_heaptrack,
    &export_html,
    &export_json,
    &export_leaktrace,
    &export_maps,
    &export_massif,
    &export_memlog,
    &export_mmleak,
    &export_mmleak_html,
    &export_pprof,
    &export_seep,
    &export_speedscope,
};

bool export_has(const struct export_options *o, const struct process *p)
{
	return (o->pid == 0 || p->header.pid == o->pid) && (!o->only || o->only == p);
}

bool export_has_holds(const struct view *v, const struct export_options *o)
{
	for (size_t i = 0; i < v->session->count; i++) {
		const struct process *p = v->session->processes[i];

		if (export_has(o, p) && p->rss_account && p->rss_account->lack == RSS_SPLIT)
			return true;
	}
	return false;
}

const struct export_format *const *export_formats(size_t *ret_count)
{
	*ret_count = sizeof(formats) / sizeof(formats[0]);
	return formats;
}

const struct export_format *export_find(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}
