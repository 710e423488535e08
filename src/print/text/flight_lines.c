/* flight_lines.c - the last events of each thread as lines of text, JSON or CSV. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/text/event_lines.h"

#include "session/events/session_log.h"
#include "view/stacks/frames.h"
#include "findings/who.h"
#include "view/sites/enum_words.h"
#include "kit/json/json_put.h"
#include "kit/words/text.h"

enum { TICK_MS = LOG_TICK_NS / 1000000, AGE_MS = SEG_TICK_NS / 1000000 };

enum {
	/* columns before the function */
	WIDE = 72,
	NARROW = 65,
	WIDE_MIN = WIDE + 16,
};

struct flight_lines {
	FILE *out;
	const struct session *session;
	struct event_lines_options options;
	uint64_t start_ns;        /* CLOCK_MONOTONIC: time 0 of all lines */
	uint8_t uuid[16];         /* of the process below */
	struct log_places places; /* and the process, or NULL */
	/* the name of the thread that was asked for last */
	uint32_t named_tid;
	bool has_name;
	char name[FLIGHT_LINES_NAME];
	bool has_begun;
};

int flight_lines_new(FILE *out, const struct session *s, struct names *names,
    const struct event_lines_options *o, struct flight_lines **ret)
{
	struct flight_lines *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->out = out;
	l->session = s;
	l->places.names = names;
	l->places.include = o->include;
	l->options = *o;
	l->start_ns = session_log_base_ns(s);
	*ret = l;
	return 0;
}

void flight_lines_free(struct flight_lines *l)
{
	if (!l)
		return;
	log_places_release(&l->places);
	free(l);
}

static void change_process(struct flight_lines *l, const struct log_head *head)
{
	if (memcmp(l->uuid, head->uuid, sizeof(l->uuid)) == 0)
		return;
	log_places_release(&l->places);
	memcpy(l->uuid, head->uuid, sizeof(l->uuid));
	l->named_tid = 0;
	l->places.process = session_find(l->session, head->uuid);
}

/* ---- threads ---- */

const char *flight_lines_thread(const struct process *p, uint32_t tid, char to[FLIGHT_LINES_NAME])
{
	char path[64];
	ssize_t n = 0;
	int fd;

	if (!p || tid == 0)
		return NULL;
	if (p->running_pid > 0 && (uint32_t)p->running_pid == p->header.pid) {
		(void)snprintf(
		    path, sizeof(path), "/proc/%d/task/%u/comm", (int)p->running_pid, tid);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0) {
			n = read(fd, to, FLIGHT_LINES_NAME - 1);
			(void)close(fd);
		}
	}
	if (n <= 0 && tid == p->header.pid) {
		const char *exe = text_base(p->header.exe);

		n = exe ? (ssize_t)strnlen(exe, FLIGHT_LINES_NAME - 1) : 0;
		if (n > 0)
			memcpy(to, exe, (size_t)n);
	}
	while (n > 0 && to[n - 1] == '\n')
		n--;
	to[n > 0 ? n : 0] = '\0';
	return n > 0 ? to : NULL;
}

/* The same, asked of the kernel once for many events. */
static const char *thread_name(struct flight_lines *l, uint32_t tid)
{
	if (tid != l->named_tid || !tid)
		l->has_name = flight_lines_thread(l->places.process, tid, l->name) != NULL;
	l->named_tid = tid;
	return l->has_name ? l->name : NULL;
}

/* ---- lines ---- */

static const char *word_of(const struct flightring_event *e)
{
	switch (e->kind) {
	case FLIGHTRING_ALLOC:
		return e->is_resized ? "realloc-to" : "alloc";
	case FLIGHTRING_FREE:
		return e->is_resized ? "realloc-from" : "free";
	default:
		return "free-unknown";
	}
}

static uint64_t time_ms(
    const struct flight_lines *l, const struct log_head *head, const struct flightring_event *e)
{
	uint64_t start = head->start_monotonic_ns;

	start = start > l->start_ns ? start - l->start_ns : 0;
	if (e->tick > UINT64_MAX / LOG_TICK_NS / 2)
		return UINT64_MAX / 1000000;
	return start / 1000000 + e->tick * TICK_MS;
}

static bool is_narrow(const struct flight_lines *l)
{
	return l->options.columns > 0 && l->options.columns < WIDE_MIN;
}

/* A site of the parent has another stack here, or none. */
static bool is_inherited(const struct flight_lines *l, const struct flightring_event *e)
{
	return l->places.process && e->site && e->site < l->places.process->header.first_id;
}

static void put_text(struct flight_lines *l, const struct log_head *head,
    const struct flightring_event *e, const struct log_place *at, const struct log_place *by)
{
	const uint64_t ms = time_ms(l, head, e);

	const unsigned columns = l->options.columns;
	const bool narrow = is_narrow(l);

	(void)fprintf(l->out, "%*" PRIu64 ".%02" PRIu64 " %7u %-12s 0x%012" PRIx64, narrow ? 4 : 6,
	    ms / 1000, ms % 1000 / 10, e->tid, word_of(e), e->address);
	if (e->kind == FLIGHTRING_UNKNOWN) {
		(void)fputs("  no block begins there\n", l->out);
	} else {
		(void)fprintf(l->out, " %*" PRIu64 " %*u ", narrow ? 8 : 10, e->size,
		    narrow ? 5 : 6, e->site);
		if (e->kind == FLIGHTRING_FREE)
			(void)fprintf(
			    l->out, "%*.1f ", narrow ? 5 : 7, (double)e->age * AGE_MS / 1000);
		else
			(void)fprintf(l->out, "%*s ", narrow ? 5 : 7, "");
		if (is_inherited(l, e))
			(void)fputs("(a block of the parent)", l->out);
		else
			event_lines_function(l->out, at, columns, narrow ? NARROW : WIDE);
		(void)putc('\n', l->out);
	}
	if (!l->options.stacks)
		return;
	if (e->kind == FLIGHTRING_ALLOC && at->has_stack)
		callstack_print(l->out, "        ", l->places.names, l->places.process, at->stack);
	if (e->by && by->has_stack)
		callstack_print(l->out, "        ", l->places.names, l->places.process, by->stack);
}

static void put_json(struct flight_lines *l, const struct log_head *head,
    const struct flightring *ring, const struct flightring_event *e, const struct log_place *at,
    const struct log_place *by)
{
	const struct process *p = l->places.process;
	struct names *names = l->places.names;
	struct json out = {.file = l->out};

	json_object(&out, NULL);
	json_text(&out, "event", word_of(e));
	json_number(&out, "time_ms", time_ms(l, head, e));
	json_number(&out, "pid", head->pid);
	json_number(&out, "thread", ring->thread);
	json_number_or_null(&out, "tid", e->tid != 0, e->tid);
	json_text(&out, "thread_name", thread_name(l, e->tid));
	json_number(&out, "address", e->address);
	json_number_or_null(&out, "size", e->kind != FLIGHTRING_UNKNOWN, e->size);
	json_number_or_null(&out, "site", e->site != 0, e->site);
	if (e->kind == FLIGHTRING_FREE)
		json_number(&out, "age_ms", (uint64_t)e->age * AGE_MS);
	json_text(&out, "function", at->name);
	if (e->by) {
		json_number(&out, "freed_by", e->by);
		json_text(&out, "freed_by_function", by->name);
	}
	if (l->options.stacks && e->kind == FLIGHTRING_ALLOC && at->has_stack)
		callstack_json(&out, "stack", names, p, at->stack);
	if (l->options.stacks && e->by && by->has_stack)
		callstack_json(&out, "freed_stack", names, p, by->stack);
	(void)json_finish(&out, 0);
}

static void put_quoted(FILE *out, const char *text)
{
	(void)putc('"', out);
	for (; text && *text; text++) {
		if (*text == '"')
			(void)putc('"', out);
		(void)putc(*text, out);
	}
	(void)putc('"', out);
}

static void put_csv(struct flight_lines *l, const struct log_head *head,
    const struct flightring *ring, const struct flightring_event *e, const struct log_place *at)
{
	const uint64_t ms = time_ms(l, head, e);

	(void)fprintf(l->out, "%" PRIu64 ".%03" PRIu64 ",%u,%u,%u,%s,0x%" PRIx64 ",", ms / 1000,
	    ms % 1000, head->pid, ring->thread, e->tid, word_of(e), e->address);
	if (e->kind != FLIGHTRING_UNKNOWN)
		(void)fprintf(l->out, "%" PRIu64 ",%u,", e->size, e->site);
	else
		(void)fputs(",,", l->out);
	if (e->kind == FLIGHTRING_FREE)
		(void)fprintf(l->out, "%.1f", (double)e->age * AGE_MS / 1000);
	(void)putc(',', l->out);
	if (e->by)
		(void)fprintf(l->out, "%u", e->by);
	(void)putc(',', l->out);
	put_quoted(l->out, at->function);
	(void)putc('\n', l->out);
}

void flight_lines_begin(struct flight_lines *l)
{
	if (l->has_begun)
		return;
	l->has_begun = true;
	if (l->options.format == EVENT_LINES_CSV)
		(void)fputs("time_s,pid,thread,tid,event,address,size,site,"
		            "age_s,freed_by,function\n",
		    l->out);
}

static void put_heading(struct flight_lines *l, const struct log_head *head,
    const struct flightring *ring, size_t count)
{
	const char *name = thread_name(l, ring->tid);

	if (l->options.format != EVENT_LINES_TEXT)
		return;
	(void)fprintf(l->out, "%sprocess %u, ", l->has_begun ? "\n" : "", head->pid);
	if (ring->thread == 0)
		(void)fputs("signal handlers that interrupted a hook", l->out);
	else
		(void)fprintf(l->out, "thread %u, tid %u", ring->thread, ring->tid);
	if (name) {
		(void)fputs(" (", l->out);
		text_print(l->out, name);
		(void)putc(')', l->out);
	}
	(void)fprintf(l->out, "%s: its last %s\n%s function\n",
	    ring->has_ended ? ", has ended" : "", WORDS_COUNTED(count, "event"),
	    is_narrow(l) ? "   time     tid event        address            size  "
	                   "site   age"
	                 : "     time     tid event        address               size   "
	                   "site     age");
}

static bool is_asked(const struct flight_lines *l, const struct log_head *head,
    const struct flightring *ring, const struct flightring_event *e)
{
	const struct event_lines_options *o = &l->options;
	const uint64_t ms = time_ms(l, head, e);

	if (ms < o->from_ns / 1000000 || (o->to_ns != UINT64_MAX && ms > o->to_ns / 1000000))
		return false;
	if (o->thread && e->tid != o->thread && ring->thread != o->thread)
		return false;
	if (o->site && e->site != o->site && e->by != o->site)
		return false;
	return e->kind == FLIGHTRING_UNKNOWN || e->size >= o->min_bytes;
}

/* Is it asked for, and how is it called? -ENOMEM. */
static int look_at(struct flight_lines *l, const struct log_head *head,
    const struct flightring *ring, const struct flightring_event *e,
    const struct log_place **ret_at, const struct log_place **ret_by)
{
	/* twice, because a place is valid until the next one is asked for */
	const struct log_place *first = log_places_find(&l->places, e->site);
	const struct log_place *by = log_places_find(&l->places, e->by);
	const struct log_place *at = log_places_find(&l->places, e->site);

	if (!first || !by || !at)
		return -ENOMEM;
	*ret_at = at;
	*ret_by = by;
	return is_asked(l, head, ring, e) && (at->is_wanted || (e->by && by->is_wanted));
}

int flight_lines_put(void *lines, const struct log_head *head, const struct flightring *ring)
{
	struct flight_lines *l = lines;
	const struct log_place *at, *by;
	size_t first = ring->count, wanted = 0;

	if (l->options.pid && head->pid != l->options.pid)
		return 0;
	change_process(l, head);
	/* from the newest back to the first that is shown */
	while (first > 0 && (!l->options.top || wanted < l->options.top)) {
		int got = look_at(l, head, ring, &ring->events[--first], &at, &by);

		if (got < 0)
			return got;
		wanted += (size_t)got;
	}
	if (wanted == 0)
		return 0;
	put_heading(l, head, ring, wanted);
	flight_lines_begin(l);
	for (size_t i = first; i < ring->count; i++) {
		const struct flightring_event *e = &ring->events[i];
		int got = look_at(l, head, ring, e, &at, &by);

		if (got < 0)
			return got;
		if (!got)
			continue;
		if (l->options.format == EVENT_LINES_TEXT)
			put_text(l, head, e, at, by);
		else if (l->options.format == EVENT_LINES_JSONL)
			put_json(l, head, ring, e, at, by);
		else
			put_csv(l, head, ring, e, at);
	}
	return ferror(l->out) ? -EIO : 0;
}
