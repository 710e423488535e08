/* event_opts.c - options that need the event log of an input. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/options/event_opts.h"

#include "command/cmd.h"
#include "command/options/view_opts.h"
#include "command/shell/die.h"
#include "command/shell/input.h"
#include "command/shell/output.h"
#include "kit/os/clock.h"
#include "session/events/session_log.h"
#include "view/sites/enum_words.h"

enum { GRACE_MS = 1000 }; /* after the end, which is not known exactly */

void event_opts_parse(const char *command, const char *text, struct moment *ret)
{
	struct moment_fault fault;

	if (moment_parse(text, ret, &fault))
		return;
	die(CMD_USAGE,
	    "%s: --at takes a moment, as 12.34, 340ms, 50%%, -2h or "
	    "2026-11-15T12:00, not \"%s\": at character %zu: %s",
	    command, text, fault.column, fault.words);
}

/* ---- reading ---- */

/* What the callbacks of eventlogs_read_by() need. */
struct wish {
	struct events *events;
	uint64_t base_ns, at_ms;
	int error; /* of events_drop() */
};

static int feed(void *context, const struct logcode *c)
{
	struct wish *w = context;

	return w->error ? w->error : events_feed(w->events, c);
}

static int skip(void *context, const struct logindex *x)
{
	struct wish *w = context;

	return w->error ? w->error : events_skip(w->events, x);
}

static enum eventlogs_way choose(void *context, const struct logindex *x)
{
	const struct logcode_head *h = &x->head.log;
	struct wish *w = context;

	if (events_time_ms(h, h->last_tick, w->base_ns) <= w->at_ms)
		return EVENTLOGS_SKIP;
	if (events_time_ms(h, h->first_tick, w->base_ns) <= w->at_ms)
		return EVENTLOGS_READ;
	if (events_drop(w->events, x) < 0)
		w->error = -ENOMEM;
	return EVENTLOGS_DROP;
}

/* Reads all logs of the input, and says what is wrong with them. */
static struct eventlogs_result read_logs(const char *command, const char *option, const char *input,
    const struct session *s, const struct eventlogs_wish *wish, bool *ret_damaged)
{
	const char *name = input ? input : INPUT_DEFAULT;
	struct eventlogs_result result = {.is_damaged = false};
	int got;

	progress_begin("reading the events of", name);
	got = log_input_read(command, input, wish, &result);
	if (got < 0)
		die(CMD_INPUT, "%s: %s", command, strerror(-got));
	if (got == 0 && log_input_is_empty(s))
		log_input_none(command, input, s);
	if (got == 0)
		log_input_untraced(command, input, s);
	if (got == 0)
		die(CMD_USAGE,
		    "%s: %s needs an event log, and %s has none; record one "
		    "with: seep record --log CMD",
		    command, option, name);
	if (result.is_index_wrong)
		die_warn("%s: an index of the event log does not fit its "
		         "events, so these figures may be wrong",
		    name);
	else if (result.is_damaged)
		die_warn("%s: a part of the event log is missing or damaged", name);
	*ret_damaged |= result.is_damaged;
	return result;
}

static void say_sums(const char *name, const struct events *e, bool *ret_damaged)
{
	struct events_sums sums = events_sums(e);

	if (sums.orphans)
		die_warn("%s: %s of blocks that the event log does not have", name,
		    WORDS_COUNTED(sums.orphans, "free"));
	if (sums.strange)
		die_warn("%s: %s of the event log %s no meaning, and %s left "
		         "out",
		    name, WORDS_COUNTED(sums.strange, "word"), words_has(sums.strange),
		    words_was(sums.strange));
	*ret_damaged |= sums.strange > 0;
}

/* ---- a moment ---- */

static uint64_t resolve(
    const char *command, const char *text, const struct moment *m, const struct session *s)
{
	const uint64_t until_ms = session_log_until_ms(s);
	const struct moment_line line = {.start_ns = session_log_start_ns(s),
	    .until_us = until_ms * 1000,
	    .now_ns = clock_ns(CLOCK_REALTIME)};
	int64_t us;

	if (!moment_resolve(m, &line, &us))
		die(CMD_INPUT, "%s: --at %s: the input does not say when it was made", command,
		    text);
	if (us < 0)
		die(CMD_USAGE, "%s: --at %s is before the first process started", command, text);
	if ((uint64_t)us / 1000 > until_ms + GRACE_MS && m->kind != MOMENT_AGO)
		die(CMD_USAGE,
		    "%s: --at %s is after the end of the input, which has "
		    "%.2f s",
		    command, text, (double)until_ms / 1e3);
	return (uint64_t)us / 1000;
}

static void say_doubts(const char *name, const struct session_log_doubts *d, bool *ret_damaged)
{
	if (d->without_log == 1)
		die_warn("%s: pid %u has no event log, and is left out", name, d->without_pid);
	else if (d->without_log > 1)
		die_warn("%s: %s without an event log left out", name,
		    WORDS_COUNTED(d->without_log, "process"));
	if (d->sites)
		die_warn("%s: %s of the event log left out, which no process "
		         "has",
		    name, WORDS_COUNTED(d->sites, "site"));
	if (d->exceeding)
		die_warn("%s: the event log of pid %u has more events than "
		         "were counted, so these figures may be wrong",
		    name, d->exceeding_pid);
	*ret_damaged |= d->sites > 0 || d->exceeding > 0;
}

uint64_t event_opts_set_back(const char *command, const char *input, struct session *s,
    const char *text, const struct moment *m, bool *ret_damaged)
{
	const char *name = input ? input : INPUT_DEFAULT;
	struct wish w = {.base_ns = session_log_base_ns(s)};
	const struct eventlogs_wish wish = {
	    .each = feed, .choose = choose, .skip = skip, .context = &w};
	struct session_log_doubts doubts;
	struct eventlogs_result result;
	uint64_t at_ms;

	at_ms = resolve(command, text, m, s);
	/* the end is not known exactly, and everything was before it */
	w.at_ms = m->kind == MOMENT_PERCENT && m->percent >= 100 ? UINT64_MAX / 1000000 : at_ms;
	if (events_new(NULL, NULL, &w.events) < 0)
		die(CMD_INPUT, "%s: out of memory", command);
	events_cut(w.events, w.base_ns, w.at_ms);
	events_count_sites(w.events);
	result = read_logs(command, "--at", input, s, &wish, ret_damaged);
	if (w.error < 0 ||
	    session_log_set_back(s, w.events, at_ms, result.is_of_pools, &doubts) < 0)
		die(CMD_INPUT, "%s: out of memory", command);
	say_sums(name, w.events, ret_damaged);
	say_doubts(name, &doubts, ret_damaged);
	events_free(w.events);
	if (s->count == 0)
		die(CMD_USAGE, "%s: --at %s: no process with an event log had started", command,
		    text);
	return at_ms;
}

/* ---- lifetimes ---- */

struct lifetimes *event_opts_lifetimes(const char *command, const char *option, const char *input,
    struct session *s, uint32_t within, bool *ret_damaged)
{
	const char *name = input ? input : INPUT_DEFAULT;
	struct wish w = {.error = 0};
	const struct eventlogs_wish wish = {.each = feed, .context = &w};
	struct lifetimes *l;

	if (lifetimes_new(s, within, &l) < 0 || events_new(lifetimes_see, l, &w.events) < 0)
		die(CMD_INPUT, "%s: out of memory", command);
	(void)read_logs(command, option, input, s, &wish, ret_damaged);
	say_sums(name, w.events, ret_damaged);
	if (lifetimes_strange(l) > 0) {
		die_warn("%s: %s of sites that no process has left out", name,
		    WORDS_COUNTED(lifetimes_strange(l), "event"));
		*ret_damaged = true;
	}
	session_log_losses(s, w.events);
	events_free(w.events);
	return l;
}

/* ---- export_opts: the options of export, and which formats support them ---- */

static void check_older(const struct export_opts *o, const struct export_format *f)
{
	if (!(f->flags & EXPORT_AGES))
		die(CMD_USAGE,
		    "export: --older-than is for csv, html and json, not for "
		    "%s",
		    f->name);
	if (o->since || o->sites.metric != VIEW_LIVE || o->sites.pool.regexp)
		die(CMD_USAGE,
		    "export: --older-than works with live blocks of the heap "
		    "only, not with other figures or differences");
}

/* Options that select sites have no meaning if whole files are copied. */
static void check_packed(const struct export_opts *o)
{
	const struct view_opts *v = &o->sites;

	if (!o->path || strcmp(o->path, "-") == 0)
		die(CMD_USAGE, "export: --format seep needs -o FILE");
	if (v->include.regexp || v->exclude.regexp || v->module.regexp ||
	    v->exclude_module.regexp || v->pool.regexp || v->wrapper.regexp || v->min_size ||
	    v->max_size || v->suppress.count > 0 || v->no_suppress || v->merge ||
	    v->skip_wrappers || v->depth != UINT_MAX || o->full)
		die(CMD_USAGE,
		    "export: --format seep copies whole processes; of the "
		    "filters, it has --pid alone");
}

const struct export_format *export_opts_format(const struct export_opts *o)
{
	const struct export_format *f;

	if (!o->format)
		die(CMD_USAGE, "export: needs --format FORMAT (--list prints the formats)");
	f = export_find(o->format);
	if (!f)
		die(CMD_USAGE,
		    "export: there is no format \"%s\" (--list prints the "
		    "formats)",
		    o->format);
	if (o->since && !(f->flags & EXPORT_SINCE))
		die(CMD_USAGE, "export: --format %s has no differences (--since)", f->name);
	if (o->sites.metric != VIEW_LIVE && !(f->flags & EXPORT_METRIC))
		die(CMD_USAGE, "export: --format %s has %s", f->name,
		    f->flags & EXPORT_DEAD ? "all figures at once" : "only what is live");
	if (o->older_ns > 0)
		check_older(o, f);
	if (o->rss && !(f->flags & EXPORT_RESIDENT))
		die(CMD_USAGE,
		    "export: --rss is for csv, html, json and pprof, not for "
		    "%s",
		    f->name);
	if (o->top > 0 && o->full)
		die(CMD_USAGE, "export: --top and --full cannot be combined");
	if (o->top > 0 && !(f->flags & EXPORT_TOP))
		die(CMD_USAGE, "export: --format %s has no largest entries (--top)", f->name);
	if (f->flags & EXPORT_PACKED)
		check_packed(o);
	if (!strstr(f->extension, ".gz"))
		output_not_packed("export", o->path);
	return f;
}

#define AT(field) offsetof(struct export_opts, field)

static const struct opts_option output[] = {
    {"format", 0, OPTS_TEXT, AT(format), 0, "FORMAT", "one of the formats that --list prints"},
    {"output", 'o', OPTS_TEXT, AT(path), 0, "FILE",
        "write to FILE when complete (-: to stdout, the default); %e in its "
        "name is the program, %p its pid (with several processes, one file for "
        "each), %n the first free number from 1 on"},
    {"force", 0, OPTS_FLAG, AT(force), 0, NULL, "replace FILE if it exists"},
    {"since", 0, OPTS_TEXT, AT(since), 0, "INPUT",
        "write differences from an earlier INPUT, if the format has them"},
    {"older-than", 0, OPTS_TIME, AT(older_ns), 0, "TIME",
        OLDER_OPTS_MEANING "; in csv, html and json"},
    {"rss", 0, OPTS_FLAG, AT(rss), 0, NULL,
        "read which pages of a running process are resident, as seep report "
        "--rss; in csv, html, json and pprof"},
    {"list", 0, OPTS_FLAG, AT(list), 0, NULL, "list the formats"},
    {"max-output", 0, OPTS_SIZE, AT(max_bytes), 0, "SIZE", OUTPUT_MAX_HELP},
    {0},
};

static const struct opts_option shape[] = {
    {"depth", 0, OPTS_COUNT, AT(sites.depth), 0, "N",
        "write at most N frames of a stack, if the format has stacks"},
    {"top", 0, OPTS_COUNT, AT(top), 0, "N", "write only the N largest entries"},
    {"full", 0, OPTS_FLAG, AT(full), 0, NULL,
        "keep small sites, which html, dot and massif otherwise merge"},
    {"full-names", 0, OPTS_FLAG, AT(full_names), 0, NULL,
        "print C++ and Rust functions with all their arguments (json, html and "
        "memlog have these in any case)"},
    {"skip-wrappers", 0, OPTS_FLAG, AT(sites.skip_wrappers), 0, NULL,
        "begin stacks at the caller of strdup, xmalloc and the like"},
    {"wrapper", 0, OPTS_REGEXP, AT(sites.wrapper), 0, "RE",
        "--skip-wrappers, and functions that match are wrappers too"},
    {0},
};

const struct opts_group export_opts_groups[] = {
    {"Output", output, 0},
    {"What to show", view_opts_metrics, AT(sites)},
    {"How much of it", shape, 0},
    {"Which sites", view_opts_filters, AT(sites)},
    {"Where names come from", name_opts_rows, AT(naming)},
    {0},
};
