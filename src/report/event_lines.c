/* event_lines.c - events of a log as lines of text, JSON or CSV. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/event_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reader/session_log.h"
#include "trace/log.h"
#include "util/json_put.h"
#include "util/room.h"
#include "util/text.h"

/* What is known of a site of a process. */
struct place {
	bool is_known, is_wanted;
	uint32_t stack;
	uint8_t api;
	const char *function; /* innermost that is not operator new, or NULL */
	const char *module;   /* of that frame; NULL: in none */
	uint64_t offset;
};

struct member {
	const struct process *process; /* NULL: the log has it, nothing else */
	uint8_t uuid[16];
	struct place *places; /* by site id */
	size_t place_count;
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

int
event_lines_new(FILE *out, const struct session *s, struct names *names,
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

void
event_lines_free(struct event_lines *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->count; i++)
		free(l->members[i].places);
	free(l->members);
	free(l);
}

/* ---- sites ---- */

static struct member *
member_of(struct event_lines *l, const struct logcode_head *h)
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
	m->process = session_find(l->session, h->uuid);
	return m;
}

static bool
matches(const struct event_lines *l, const char *function)
{
	return function &&
	    regexec(l->options.include, function, 0, NULL, 0) == 0;
}

/* Finds the function of a site, and whether its stack is wanted. */
static void
look_at_stack(struct event_lines *l, const struct process *p, struct place *at)
{
	uint64_t frames[STACKS_MAX_FRAMES];
	uint32_t flags;
	size_t n = stacks_frames(
	    p->stacks, at->stack, frames, STACKS_MAX_FRAMES, &flags);
	bool found = false;

	at->is_wanted = !l->options.include;
	for (size_t i = 0; i < n && (!found || !at->is_wanted); i++) {
		const struct names_frame *chain;
		size_t count = names_chain(l->names, p, frames[i], &chain);
		uint64_t module = frames[i] >> 48;

		for (size_t k = 0; k < count; k++) {
			if (l->options.include)
				at->is_wanted |= matches(l, chain[k].function);
			if (found || chain[k].api)
				continue;
			found = true;
			at->function = chain[k].function;
			at->offset = frames[i] & ((UINT64_C(1) << 47) - 1);
			if (module > 0 && module < p->module_count) {
				at->module = p->modules[module].path;
				at->offset -= p->modules[module].base;
			}
		}
	}
}

/* NULL: -ENOMEM. */
static const struct place *
place_of(struct event_lines *l, struct member *m, uint32_t id)
{
	static const struct place nowhere = {
	    .is_known = true, .is_wanted = true};
	const struct process_id *found;
	struct place *at;

	if (!m->process)
		return &nowhere;
	if (id >= m->place_count) {
		size_t more = m->place_count ? m->place_count : 256;

		while (more <= id)
			more *= 2;
		at = reallocarray(m->places, more, sizeof(*at));
		if (!at)
			return NULL;
		memset(at + m->place_count, 0,
		    (more - m->place_count) * sizeof(*at));
		m->places = at;
		m->place_count = more;
	}
	at = &m->places[id];
	if (at->is_known)
		return at;
	at->is_known = true;
	at->stack = UINT32_MAX;
	found = process_find_id(m->process, id);
	if (!found) {
		at->is_wanted = !l->options.include;
		return at;
	}
	at->stack = m->process->sites[found->site].stack;
	at->api = m->process->sites[found->site].api;
	look_at_stack(l, m->process, at);
	return at;
}

/* ---- lines ---- */

static void
put_function(FILE *out, const struct place *at)
{
	const char *base;

	if (at->function) {
		text_print(out, at->function);
		return;
	}
	base = at->module ? text_base(at->module) : NULL;
	if (base) {
		text_print(out, base);
		(void)fprintf(out, "+0x%" PRIx64, at->offset);
	} else {
		(void)fputs("?", out);
	}
}

/* Calls `put` for each function of the stack, innermost first. */
static void
each_frame(struct event_lines *l, const struct member *m,
    const struct place *at, void (*put)(FILE *, const struct place *, size_t))
{
	uint64_t frames[STACKS_MAX_FRAMES];
	uint32_t flags;
	size_t n = 0, lines = 0;

	if (m->process && at->stack != UINT32_MAX)
		n = stacks_frames(m->process->stacks, at->stack, frames,
		    STACKS_MAX_FRAMES, &flags);
	for (size_t i = 0; i < n; i++) {
		const struct names_frame *chain;
		size_t count =
		    names_chain(l->names, m->process, frames[i], &chain);
		uint64_t module = frames[i] >> 48;

		for (size_t k = 0; k < count; k++) {
			struct place one = {.function = chain[k].function,
			    .offset = frames[i] & ((UINT64_C(1) << 47) - 1)};

			if (module > 0 && module < m->process->module_count) {
				one.module = m->process->modules[module].path;
				one.offset -= m->process->modules[module].base;
			}
			put(l->out, &one, lines++);
		}
	}
}

static void
text_frame(FILE *out, const struct place *at, size_t number)
{
	(void)number;
	(void)fputs("        ", out);
	put_function(out, at);
	(void)putc('\n', out);
}

static void
json_frame(FILE *out, const struct place *at, size_t number)
{
	if (number > 0)
		(void)putc(',', out);
	json_string(out, at->function);
}

static void
csv_text(FILE *out, const struct place *at)
{
	char *text = NULL;
	size_t len = 0;
	FILE *said = open_memstream(&text, &len);

	if (said) {
		put_function(said, at);
		(void)fclose(said);
	}
	(void)putc('"', out);
	for (size_t i = 0; text && i < len; i++) {
		if (text[i] == '"')
			(void)putc('"', out);
		(void)putc(text[i], out);
	}
	(void)putc('"', out);
	free(text);
}

/* Times in ms: the log knows them to 10 ms. */
static uint64_t
time_ms(const struct event_lines *l, const struct events_event *e)
{
	uint64_t start = e->process->start_monotonic_ns;

	start = start > l->start_ns ? start - l->start_ns : 0;
	if (e->tick > UINT64_MAX / LOG_TICK_NS / 2)
		return UINT64_MAX / 1000000;
	return (start + e->tick * LOG_TICK_NS) / 1000000;
}

static bool
has_age(const struct events_event *e)
{
	return (e->kind == EVENTS_FREE || e->kind == EVENTS_REALLOC) &&
	    e->was_found;
}

static uint64_t
age_ms(const struct events_event *e)
{
	return e->tick > e->born ? (e->tick - e->born) * (LOG_TICK_NS / 1000000)
	                         : 0;
}

static bool
is_alloc(const struct events_event *e)
{
	return e->kind == EVENTS_ALLOC || e->kind == EVENTS_REALLOC;
}

static void
put_text(struct event_lines *l, const struct member *m,
    const struct events_event *e, const struct place *at)
{
	uint64_t ms = time_ms(l, e);

	(void)fprintf(l->out, "%6" PRIu64 ".%02" PRIu64 " %7u %7u %-14s ",
	    ms / 1000, ms % 1000 / 10, e->process->pid,
	    e->tid ? e->tid : e->thread, words[e->kind]);
	if (e->kind == EVENTS_GAP) {
		(void)fprintf(l->out, "%" PRIu64 " events\n", e->count);
		return;
	}
	if (e->address)
		(void)fprintf(l->out, "%10u 0x%" PRIx64, e->name, e->address);
	else if (e->name)
		(void)fprintf(l->out, "%10u", e->name);
	else
		(void)fprintf(l->out, "%10s", "-");
	if (e->kind == EVENTS_FREE && !e->was_found) {
		(void)fputs(" of a block that was never allocated\n", l->out);
		return;
	}
	(void)fprintf(l->out, " %10" PRIu64 " %6u ", e->size, e->site);
	if (has_age(e))
		(void)fprintf(l->out, "%6" PRIu64 ".%02" PRIu64 " ",
		    age_ms(e) / 1000, age_ms(e) % 1000 / 10);
	else
		(void)fprintf(l->out, "%9s ", "");
	if (e->kind == EVENTS_INHERITED)
		(void)fputs("(a block of the parent)", l->out);
	else
		put_function(l->out, at);
	(void)putc('\n', l->out);
	if (l->options.stacks && is_alloc(e))
		each_frame(l, m, at, text_frame);
}

static void
put_json(struct event_lines *l, const struct member *m,
    const struct events_event *e, const struct place *at)
{
	(void)fprintf(l->out, "{\"event\":\"%s\"", words[e->kind]);
	json_number(l->out, "time_ms", time_ms(l, e));
	json_number(l->out, "pid", e->process->pid);
	json_number(l->out, "thread", e->thread);
	json_number_or_null(l->out, "tid", e->tid != 0, e->tid);
	if (e->kind == EVENTS_GAP) {
		json_number(l->out, "events", e->count);
		(void)fputs("}\n", l->out);
		return;
	}
	json_number_or_null(l->out, "block", e->name != 0, e->name);
	if (e->address)
		json_number(l->out, "address", e->address);
	if (e->kind == EVENTS_FREE && !e->was_found) {
		(void)fputs(",\"size\":null,\"site\":null}\n", l->out);
		return;
	}
	json_number(l->out, "size", e->size);
	json_number(l->out, "site", e->site);
	if (e->kind == EVENTS_REALLOC) {
		json_number_or_null(
		    l->out, "old_size", e->was_found, e->old_size);
		json_number_or_null(
		    l->out, "old_site", e->was_found, e->old_site);
	}
	if (has_age(e))
		json_number(l->out, "age_ms", age_ms(e));
	if (e->kind != EVENTS_INHERITED)
		json_text(l->out, "function", at->function);
	if (l->options.stacks && is_alloc(e)) {
		json_key(l->out, "stack");
		(void)putc('[', l->out);
		each_frame(l, m, at, json_frame);
		(void)putc(']', l->out);
	}
	(void)fputs("}\n", l->out);
}

static void
put_csv(
    struct event_lines *l, const struct events_event *e, const struct place *at)
{
	uint64_t ms = time_ms(l, e);
	bool unknown = e->kind == EVENTS_FREE && !e->was_found;

	(void)fprintf(l->out, "%" PRIu64 ".%03" PRIu64 ",%u,%u,%u,%s,",
	    ms / 1000, ms % 1000, e->process->pid, e->thread, e->tid,
	    words[e->kind]);
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
		(void)fprintf(l->out, "%" PRIu64 ".%03" PRIu64,
		    age_ms(e) / 1000, age_ms(e) % 1000);
	(void)fputs(",,", l->out);
	if (e->kind != EVENTS_INHERITED)
		csv_text(l->out, at);
	(void)putc('\n', l->out);
}

void
event_lines_begin(struct event_lines *l)
{
	if (l->has_begun)
		return;
	l->has_begun = true;
	if (l->options.format == EVENT_LINES_TEXT)
		(void)fputs("     time     pid     tid event               "
		            "block       size   site       age function\n",
		    l->out);
	else if (l->options.format == EVENT_LINES_CSV)
		(void)fputs("time_s,pid,thread,tid,event,block,address,size,"
		            "site,age_s,events,function\n",
		    l->out);
}

static bool
is_wanted(const struct event_lines *l, const struct events_event *e)
{
	const struct event_lines_options *o = &l->options;
	uint64_t ms = time_ms(l, e);

	if (ms < o->from_ns / 1000000 ||
	    (o->to_ns != UINT64_MAX && ms > o->to_ns / 1000000))
		return false;
	if (o->pid && e->process->pid != o->pid)
		return false;
	if (o->thread && e->tid != o->thread && e->thread != o->thread)
		return false;
	if (e->kind == EVENTS_GAP)
		return true;
	if (o->site && e->site != o->site &&
	    !(e->kind == EVENTS_REALLOC && e->old_site == o->site))
		return false;
	return e->size >= o->min_bytes;
}

static int
put_line(struct event_lines *l, const struct member *m,
    const struct events_event *e, const struct place *at)
{
	if (l->options.sink)
		return l->options.sink(l->options.sink_context, e);
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

int
event_lines_put(void *lines, const struct events_event *e)
{
	struct event_lines *l = lines;
	const struct place *at;
	struct member *m;
	int err;

	if (!is_wanted(l, e))
		return 0;
	m = member_of(l, e->process);
	at = m ? place_of(l, m, e->site) : NULL;
	if (!at)
		return -ENOMEM;
	if (l->options.include && e->kind != EVENTS_GAP &&
	    (!at->is_wanted || e->kind == EVENTS_INHERITED))
		return 0;
	err = put_line(l, m, e, at);
	if (err != 0)
		return err;
	l->lines++;
	return l->options.top && l->lines >= l->options.top ? 1 : 0;
}

uint64_t
event_lines_count(const struct event_lines *l)
{
	return l->lines;
}
