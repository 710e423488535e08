/* rss_json.h - the account of resident memory as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RSS_JSON_H
#define SEEP_RSS_JSON_H

#include "kit/json/json_put.h"
#include "view/sites/view.h"

/* ,"rss":{...} of a process; nothing if nobody has read it. */
void rss_json_process(struct json *out, const struct process *p);

/*
 * ,"holds_bytes":N,"pins_bytes":N of a site; nothing if the pages of its
 * process were not shared out. p: NULL if it belongs to several.
 */
void rss_json_site(struct json *out, const struct process *p, const struct view_figures *f);

#endif
