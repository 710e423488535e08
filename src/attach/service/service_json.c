/* service_json.c - seep service status as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "attach/service/service_run.h"
#include "segments/read/losses.h"
#include "view/sites/enum_words.h"
#include "kit/json/json_put.h"

static void put_dropin(struct json *out, const struct service_run *r, const struct service_seen *s)
{
	static const char *const states[] = {
	    [DROPIN_NONE] = "none",
	    [DROPIN_OURS] = "ours",
	    [DROPIN_CHANGED] = "changed",
	    [DROPIN_FOREIGN] = "foreign",
	};
	bool is_odd = s->dropin == DROPIN_CHANGED || s->dropin == DROPIN_FOREIGN;

	json_object(out, "drop_in");
	json_text(out, "path", r->path);
	json_text(out, "state", s->dropin_err < 0 ? "unreadable" : states[s->dropin]);
	json_text(out, "reason",
	    s->dropin_err < 0 ? strerror(-s->dropin_err)
	        : is_odd      ? s->where.text
	                      : NULL);
	json_end(out);
}

static void put_environment(struct json *out, const struct service_seen *s)
{
	json_list(out, "environment");
	for (size_t i = 0; i < s->environment.count; i++) {
		const char *text = s->environment.items[i];
		const char *value = strchr(text, '=');
		char name[256];

		(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, "="), text);
		json_object(out, NULL);
		json_text(out, "name", name);
		json_text(out, "value", value ? value + 1 : "");
		json_end(out);
	}
	json_end(out);
}

static void put_process(struct json *out, const struct service_process *p)
{
	static const char *const states[] = {
	    [SERVICE_TRACED] = "traced",
	    [SERVICE_QUIET] = "traced",
	    [SERVICE_INERT] = "inert",
	    [SERVICE_LEFT_OUT] = "left_out",
	    [SERVICE_UNTRACED] = "untraced",
	    [SERVICE_UNREADABLE] = "unreadable",
	};
	bool has_figures = p->trace <= SERVICE_QUIET;
	bool is_known = p->trace == SERVICE_TRACED;

	json_object(out, NULL);
	json_number(out, "pid", (uint64_t)(int)p->pid);
	json_text(out, "program", p->name);
	json_text(out, "state", states[p->trace]);
	json_text(out, "reason",
	    p->trace == SERVICE_INERT            ? losses_inert(p->inert_reason)
	        : p->trace == SERVICE_UNREADABLE ? strerror(-p->err)
	                                         : NULL);
	json_text(out, "mode", is_known ? enum_words_mode(p->mode) : NULL);
	json_time(out, "start", is_known ? p->start_realtime_ns : 0);
	json_number_or_null(out, "sample_bytes", is_known, p->sample_bytes);
	json_number_or_null(out, "live_blocks", has_figures, p->totals.live_blocks);
	json_number_or_null(out, "live_bytes", has_figures, p->totals.live_bytes);
	json_number_or_null(out, "peak_bytes", has_figures, p->totals.peak_bytes);
	json_end(out);
}

static void put_processes(struct json *out, const struct service_seen *s)
{
	json_rows(out, "processes");
	for (size_t i = 0; i < s->count; i++)
		put_process(out, &s->list[i]);
	json_end(out);
	json_boolean(out, "complete", !s->is_cut);
	json_number(out, "running", s->running);
	json_number(out, "traced", s->traced);
	json_number(out, "live_blocks", s->all.live_blocks);
	json_number(out, "live_bytes", s->all.live_bytes);
	json_list(out, "history");
	for (size_t i = 0; i < s->history.count; i++)
		json_text(out, NULL, s->history.items[i]);
	json_end(out);
}

void service_json(const struct service_run *r, const struct service_seen *s)
{
	struct json to;
	static const char *const without[] = {
	    "processes", "complete", "running", "traced", "live_blocks", "live_bytes", "history"};
	const struct unit *u = &r->unit;
	bool runs = !u->is_template;

	to = json_begin(stdout, SEEP_VERSION);
	json_text(&to, "kind", "service");
	json_text(&to, "unit", u->name);
	json_text(&to, "manager", r->options.is_user ? "user" : "system");
	json_text(&to, "root", NULL);
	json_boolean(&to, "template", u->is_template);
	json_text(&to, "load_state", unit_get(u, "LoadState"));
	json_text(&to, "active_state", runs ? unit_get(u, "ActiveState") : NULL);
	put_dropin(&to, r, s);
	put_environment(&to, s);
	if (s->has_processes)
		put_processes(&to, s);
	else
		for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
			json_text(&to, without[i], NULL);
	(void)json_finish(&to, 0);
}
