/* service_json.c - seep service status as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "attach/service/service_seen.h"
#include "segments/read/losses.h"
#include "view/sites/enum_words.h"
#include "kit/json/json_put.h"

enum { SCHEMA = 1 };

static void put_dropin(const struct service_run *r, const struct service_seen *s)
{
	static const char *const states[] = {
	    [DROPIN_NONE] = "none",
	    [DROPIN_OURS] = "ours",
	    [DROPIN_CHANGED] = "changed",
	    [DROPIN_FOREIGN] = "foreign",
	};
	bool is_odd = s->dropin == DROPIN_CHANGED || s->dropin == DROPIN_FOREIGN;

	json_key(stdout, "drop_in");
	(void)fputs("{\"path\":", stdout);
	json_string(stdout, r->path);
	json_text(stdout, "state", s->dropin_err < 0 ? "unreadable" : states[s->dropin]);
	json_text(stdout, "reason",
	    s->dropin_err < 0 ? strerror(-s->dropin_err)
	        : is_odd      ? s->where.text
	                      : NULL);
	(void)putchar('}');
}

static void put_environment(const struct service_seen *s)
{
	json_key(stdout, "environment");
	(void)putchar('[');
	for (size_t i = 0; i < s->environment.count; i++) {
		const char *text = s->environment.items[i];
		const char *value = strchr(text, '=');
		char name[256];

		(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, "="), text);
		(void)fputs(i ? ",{\"name\":" : "{\"name\":", stdout);
		json_string(stdout, name);
		json_text(stdout, "value", value ? value + 1 : "");
		(void)putchar('}');
	}
	(void)putchar(']');
}

static void put_process(const struct service_process *p)
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

	(void)printf("{\"pid\":%d", (int)p->pid);
	json_text(stdout, "program", p->name);
	json_text(stdout, "state", states[p->trace]);
	json_text(stdout, "reason",
	    p->trace == SERVICE_INERT            ? losses_inert(p->inert_reason)
	        : p->trace == SERVICE_UNREADABLE ? strerror(-p->err)
	                                         : NULL);
	json_text(stdout, "mode", is_known ? enum_words_mode(p->mode) : NULL);
	json_time(stdout, "start", is_known ? p->start_realtime_ns : 0);
	json_number_or_null(stdout, "sample_bytes", is_known, p->sample_bytes);
	json_number_or_null(stdout, "live_blocks", has_figures, p->totals.live_blocks);
	json_number_or_null(stdout, "live_bytes", has_figures, p->totals.live_bytes);
	json_number_or_null(stdout, "peak_bytes", has_figures, p->totals.peak_bytes);
	(void)putchar('}');
}

static void put_processes(const struct service_seen *s)
{
	json_key(stdout, "processes");
	(void)putchar('[');
	for (size_t i = 0; i < s->count; i++) {
		(void)fputs(i ? ",\n" : "\n", stdout);
		put_process(&s->list[i]);
	}
	(void)putchar(']');
	json_boolean(stdout, "complete", !s->is_cut);
	json_number(stdout, "running", s->running);
	json_number(stdout, "traced", s->traced);
	json_number(stdout, "live_blocks", s->all.live_blocks);
	json_number(stdout, "live_bytes", s->all.live_bytes);
	json_key(stdout, "history");
	(void)putchar('[');
	for (size_t i = 0; i < s->history.count; i++) {
		if (i)
			(void)putchar(',');
		json_string(stdout, s->history.items[i]);
	}
	(void)putchar(']');
}

void service_json(const struct service_run *r, const struct service_seen *s)
{
	static const char *const without[] = {
	    "processes", "complete", "running", "traced", "live_blocks", "live_bytes", "history"};
	const struct unit *u = &r->unit;
	bool runs = !u->is_template;

	(void)printf("{\"schema\":%d", SCHEMA);
	json_text(stdout, "seep", SEEP_VERSION);
	json_text(stdout, "kind", "service");
	json_text(stdout, "unit", u->name);
	json_text(stdout, "manager", r->options.is_user ? "user" : "system");
	json_text(stdout, "root", NULL);
	json_boolean(stdout, "template", u->is_template);
	json_text(stdout, "load_state", unit_get(u, "LoadState"));
	json_text(stdout, "active_state", runs ? unit_get(u, "ActiveState") : NULL);
	put_dropin(r, s);
	put_environment(s);
	if (s->has_processes)
		put_processes(s);
	else
		for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
			json_text(stdout, without[i], NULL);
	(void)fputs("}\n", stdout);
}
