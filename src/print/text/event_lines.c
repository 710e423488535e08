/* event_lines.c - events of a log as lines of text, JSON or CSV. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/text/event_lines.h"

#include "session/events/session_log.h"
#include "view/stacks/frames.h"
#include "print/text/layout.h"
#include "findings/who.h"
#include "format/seg_log.h"
#include "kit/json/json_put.h"
#include "kit/data/room.h"

enum {
	/* columns before the function */
	WIDE = 80,
	NARROW = 60,
	WIDE_MIN = WIDE + 16,
};

struct member {
	uint8_t uuid[16];
	struct log_places places; /* and the process, or NULL */
};

struct event_lines {
	FILE *out;
	const struct session *session;
	struct names *names;
	struct event_lines_options options;
	struct member *members;
	size_t count, room;
	uint64_t start_ns; /* CLOCK_MONOTONIC: time 0 of all lines */
	uint64_t lines;
	bool has_begun;
};

static const char *const words[] = {
    [EVENTS_ALLOC] = "alloc",
    [EVENTS_FREE] = "free",
    [EVENTS_REALLOC] = "realloc",
    [EVENTS_INHERITED] = "free-inherited",
    [EVENTS_UNLOGGED] = "free-unlogged",
    [EVENTS_GAP] = "lost",
};

int event_lines_new(FILE *out, const struct session *s, struct names *names,
    const struct event_lines_options *o, struct event_lines **ret)
{
	struct event_lines *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->out = out;
	l->session = s;
	l->names = names;
	l->options = *o;
	l->start_ns = session_log_base_ns(s);
	*ret = l;
	return 0;
}

void event_lines_free(struct event_lines *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->count; i++)
		log_places_release(&l->members[i].places);
	free(l->members);
	free(l);
}

/* ---- sites ---- */

static struct member *member_of(struct event_lines *l, const struct logcode_head *h)
{
	struct member *m;

	for (size_t i = l->count; i-- > 0;)
		if (memcmp(l->members[i].uuid, h->uuid, 16) == 0)
			return &l->members[i];
	if (room_make(&l->members, &l->room, l->count, sizeof(*m)) < 0)
		return NULL;
	m = &l->members[l->count++];
	memset(m, 0, sizeof(*m));
	memcpy(m->uuid, h->uuid, sizeof(m->uuid));
	m->places.process = session_find(l->session, h->uuid);
	m->places.names = l->names;
	m->places.include = l->options.include;
	return m;
}

/* ---- lines ---- */

/* With few columns there is no pid: a thread is of one process. */
static bool is_narrow(const struct event_lines *l)
{
	return l->options.columns > 0 && l->options.columns < WIDE_MIN;
}

void event_lines_function(FILE *out, const struct log_place *at, unsigned columns, size_t used)
{
	const char *text = at->function ? at->function : "?";
	const struct layout page = {.out = out, .width = columns};
	size_t room = layout_room(&page, used);

	if (room == 0 || layout_columns(text) <= room)
		(void)fputs(text, out);
	else
		layout_fit(&page, text, room);
}

static bool text_frame(void *context, const struct callstack_line *line)
{
	struct event_lines *l = context;

	(void)fputs("        ", l->out);
	callstack_print_function(l->out, line);
	(void)putc('\n', l->out);
	return true;
}

static bool json_frame(void *context, const struct callstack_line *line)
{
	json_text(context, NULL, line->frame->function);
	return true;
}

static void csv_text(FILE *out, const struct log_place *at)
{
	const char *text = at->function ? at->function : "?";

	(void)putc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			(void)putc('"', out);
		(void)putc(*text, out);
	}
	(void)putc('"', out);
}

static uint64_t time_ms(const struct event_lines *l, const struct events_event *e)
{
	return events_time_ms(e->process, e->tick, l->start_ns);
}

static bool has_age(const struct events_event *e)
{
	return (e->kind == EVENTS_FREE || e->kind == EVENTS_REALLOC) && e->was_found;
}

static uint64_t age_ms(const struct events_event *e)
{
	return e->tick > e->born ? (e->tick - e->born) * (LOG_TICK_NS / 1000000) : 0;
}

static bool is_alloc(const struct events_event *e)
{
	return e->kind == EVENTS_ALLOC || e->kind == EVENTS_REALLOC;
}

static void put_text(struct event_lines *l, const struct member *m, const struct events_event *e,
    const struct log_place *at)
{
	uint64_t ms = time_ms(l, e);

	const bool narrow = is_narrow(l);

	(void)fprintf(l->out, "%6" PRIu64 ".%02" PRIu64 " ", ms / 1000, ms % 1000 / 10);
	if (!narrow)
		(void)fprintf(l->out, "%7u ", e->process->pid);
	(void)fprintf(
	    l->out, "%7u %-*s ", e->tid ? e->tid : e->thread, narrow ? 7 : 14, words[e->kind]);
	if (e->kind == EVENTS_GAP) {
		(void)fprintf(
		    l->out, "%" PRIu64 " %s\n", e->count, e->count == 1 ? "event" : "events");
		return;
	}
	if (e->address)
		(void)fprintf(l->out, "%10u 0x%" PRIx64, e->name, e->address);
	else if (e->name)
		(void)fprintf(l->out, "%*u", narrow ? 9 : 10, e->name);
	else
		(void)fprintf(l->out, "%*s", narrow ? 9 : 10, "-");
	if (e->kind == EVENTS_FREE && !e->was_found) {
		(void)fputs(" of a block that was never allocated\n", l->out);
		return;
	}
	(void)fprintf(
	    l->out, narrow ? " %9" PRIu64 " %5u " : " %10" PRIu64 " %6u ", e->size, e->site);
	if (has_age(e))
		(void)fprintf(l->out, "%*" PRIu64 ".%02" PRIu64 " ", narrow ? 4 : 6,
		    age_ms(e) / 1000, age_ms(e) % 1000 / 10);
	else
		(void)fprintf(l->out, "%*s ", narrow ? 7 : 9, "");
	if (e->kind == EVENTS_INHERITED)
		(void)fputs("(a block of the parent)", l->out);
	else
		event_lines_function(l->out, at, l->options.columns, narrow ? NARROW : WIDE);
	(void)putc('\n', l->out);
	if (l->options.stacks && is_alloc(e) && at->has_stack)
		callstack_each(l->names, m->places.process, at->stack, text_frame, l);
}

static void put_json(struct event_lines *l, const struct member *m, const struct events_event *e,
    const struct log_place *at)
{
	struct json out = {.file = l->out};

	json_object(&out, NULL);
	json_text(&out, "event", words[e->kind]);
	json_number(&out, "time_ms", time_ms(l, e));
	json_number(&out, "pid", e->process->pid);
	json_number(&out, "thread", e->thread);
	json_number_or_null(&out, "tid", e->tid != 0, e->tid);
	if (e->kind == EVENTS_GAP) {
		json_number(&out, "events", e->count);
		(void)json_finish(&out, 0);
		return;
	}
	json_number_or_null(&out, "block", e->name != 0, e->name);
	if (e->address)
		json_number(&out, "address", e->address);
	if (e->kind == EVENTS_FREE && !e->was_found) {
		json_null(&out, "size");
		json_null(&out, "site");
		(void)json_finish(&out, 0);
		return;
	}
	json_number(&out, "size", e->size);
	json_number(&out, "site", e->site);
	if (e->kind == EVENTS_REALLOC) {
		json_number_or_null(&out, "old_size", e->was_found, e->old_size);
		json_number_or_null(&out, "old_site", e->was_found, e->old_site);
	}
	if (has_age(e))
		json_number(&out, "age_ms", age_ms(e));
	if (e->kind != EVENTS_INHERITED)
		json_text(&out, "function", at->name);
	if (l->options.stacks && is_alloc(e)) {
		json_list(&out, "stack");
		if (at->has_stack)
			callstack_each(l->names, m->places.process, at->stack, json_frame, &out);
		json_end(&out);
	}
	(void)json_finish(&out, 0);
}

static void put_csv(struct event_lines *l, const struct events_event *e, const struct log_place *at)
{
	uint64_t ms = time_ms(l, e);
	bool unknown = e->kind == EVENTS_FREE && !e->was_found;

	(void)fprintf(l->out, "%" PRIu64 ".%03" PRIu64 ",%u,%u,%u,%s,", ms / 1000, ms % 1000,
	    e->process->pid, e->thread, e->tid, words[e->kind]);
	if (e->name)
		(void)fprintf(l->out, "%u", e->name);
	(void)putc(',', l->out);
	if (e->address)
		(void)fprintf(l->out, "0x%" PRIx64, e->address);
	if (e->kind == EVENTS_GAP)
		(void)fprintf(l->out, ",,,,%" PRIu64 ",\n", e->count);
	else if (unknown)
		(void)fputs(",,,,,\n", l->out);
	else
		(void)fprintf(l->out, ",%" PRIu64 ",%u,", e->size, e->site);
	if (e->kind == EVENTS_GAP || unknown)
		return;
	if (has_age(e))
		(void)fprintf(l->out, "%" PRIu64 ".%03" PRIu64, age_ms(e) / 1000, age_ms(e) % 1000);
	(void)fputs(",,", l->out);
	if (e->kind != EVENTS_INHERITED)
		csv_text(l->out, at);
	(void)putc('\n', l->out);
}

void event_lines_begin(struct event_lines *l)
{
	if (l->has_begun)
		return;
	l->has_begun = true;
	if (l->options.format == EVENT_LINES_TEXT && is_narrow(l))
		(void)fputs("     time     tid event       block      size  site "
		            "    age function\n",
		    l->out);
	else if (l->options.format == EVENT_LINES_TEXT)
		(void)fputs("     time     pid     tid event               "
		            "block       size   site       age function\n",
		    l->out);
	else if (l->options.format == EVENT_LINES_CSV)
		(void)fputs("time_s,pid,thread,tid,event,block,address,size,"
		            "site,age_s,events,function\n",
		    l->out);
}

/* Is this an event of the time, process and thread that are wanted? */
static bool is_in_range(const struct event_lines *l, const struct events_event *e)
{
	const struct event_lines_options *o = &l->options;
	uint64_t ms = time_ms(l, e);

	if (ms < o->from_ns / 1000000 || (o->to_ns != UINT64_MAX && ms > o->to_ns / 1000000))
		return false;
	if (o->pid && e->process->pid != o->pid)
		return false;
	return !o->thread || e->tid == o->thread || e->thread == o->thread;
}

/* Are blocks of this site and size wanted? -ENOMEM. */
static int is_wanted(
    struct event_lines *l, struct member *m, uint32_t site, uint64_t size, bool *ret)
{
	const struct event_lines_options *o = &l->options;
	const struct log_place *at;

	*ret = false;
	if ((o->site && site != o->site) || size < o->min_bytes)
		return 0;
	if (o->include) {
		at = log_places_find(&m->places, site);
		if (!at)
			return -ENOMEM;
		*ret = at->is_wanted;
	} else {
		*ret = true;
	}
	return 0;
}

/*
 * A realloc ends a block of its old size and site. If only that block is wanted,
 * another format gets a free, because the new block's free is not wanted either.
 */
static int put_other(struct event_lines *l, const struct events_event *e, bool is_end_alone)
{
	struct events_event end = *e;

	if (is_end_alone) {
		end.kind = EVENTS_FREE;
		end.site = e->old_site;
		end.size = e->old_size;
	}
	return l->options.sink(l->options.sink_context, &end);
}

static int put_line(struct event_lines *l, const struct member *m, const struct events_event *e,
    const struct log_place *at)
{
	event_lines_begin(l);
	switch (l->options.format) {
	case EVENT_LINES_TEXT:
		put_text(l, m, e, at);
		break;
	case EVENT_LINES_JSONL:
		put_json(l, m, e, at);
		break;
	case EVENT_LINES_CSV:
		put_csv(l, e, at);
		break;
	}
	return ferror(l->out) ? -EIO : 0;
}

int event_lines_put(void *lines, const struct events_event *e)
{
	struct event_lines *l = lines;
	bool is_new = e->kind == EVENTS_GAP, is_old = false;
	const struct log_place *at;
	struct member *m;
	int err = 0;

	if (!is_in_range(l, e) || (l->options.include && e->kind == EVENTS_INHERITED))
		return 0;
	m = member_of(l, e->process);
	if (!m)
		return -ENOMEM;
	if (!is_new)
		err = is_wanted(l, m, e->site, e->size, &is_new);
	if (err == 0 && !is_new && e->kind == EVENTS_REALLOC && e->was_found)
		err = is_wanted(l, m, e->old_site, e->old_size, &is_old);
	if (err < 0 || (!is_new && !is_old))
		return err;
	at = log_places_find(&m->places, e->site);
	if (!at)
		return -ENOMEM;
	err = l->options.sink ? put_other(l, e, !is_new) : put_line(l, m, e, at);
	if (err != 0)
		return err;
	l->lines++;
	return l->options.top && l->lines >= l->options.top ? 1 : 0;
}

uint64_t event_lines_count(const struct event_lines *l)
{
	return l->lines;
}
