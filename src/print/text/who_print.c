/* who_print.c - the block that holds, or last held, an address: text and JSON. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "view/stacks/frames.h"
#include "print/text/event_lines.h"
#include "findings/who.h"
#include "view/sites/enum_words.h"
#include "kit/json/json_put.h"
#include "kit/words/text.h"

#define INDENT "    "

static const char *const states[] = {
    [WHO_UNKNOWN] = "unknown",
    [WHO_LIVE] = "live",
    [WHO_FREED] = "freed",
    [WHO_RESIZED] = "resized",
    [WHO_GONE] = "gone",
};

/* Milliseconds since the process started. */
static uint64_t event_ms(const struct who_event *e)
{
	const uint64_t ms = LOG_TICK_NS / 1000000;

	return e->event.tick > UINT64_MAX / ms ? UINT64_MAX : e->event.tick * ms;
}

static uint64_t birth_ms(const struct who_block *b)
{
	return (uint64_t)b->birth * (SEG_TICK_NS / 1000000);
}

static void print_thread(FILE *out, const struct process *p, const struct who_event *e)
{
	char name[FLIGHT_LINES_NAME];

	if (!e->event.tid) {
		(void)fprintf(out, "thread %u", e->thread);
		return;
	}
	(void)fprintf(out, "thread %u", e->event.tid);
	if (flight_lines_thread(p, e->event.tid, name)) {
		(void)fputs(" (", out);
		text_print(out, name);
		(void)putc(')', out);
	}
}

/* "freed at 12.34 s by thread 12 (name)". */
static void print_event(
    FILE *out, const char *word, const struct process *p, const struct who_event *e)
{
	uint64_t ms = event_ms(e);

	(void)fprintf(
	    out, "  %s at %" PRIu64 ".%02" PRIu64 " s by ", word, ms / 1000, ms % 1000 / 10);
	print_thread(out, p, e);
}

static void print_stack(
    FILE *out, struct names *names, const struct process *p, uint32_t site, const char *none)
{
	uint32_t stack;

	if (callstack_find(p, site, &stack))
		callstack_print(out, INDENT, names, p, stack);
	else
		(void)fprintf(out, INDENT "(%s)\n", none);
}

/* "allocated by process 12 (name), before it forked, at 3.4 s of that process". */
static void print_inherited(FILE *out, const struct who_block *b)
{
	const uint64_t ms = birth_ms(b);
	const char *exe;

	if (!b->ancestor) {
		(void)fputs("  inherited: allocated before the fork by a process "
		            "of which, or of one in between, this input has no "
		            "records (process ",
		    out);
		(void)fprintf(out, "%u is the parent)\n", b->process->header.ppid);
		return;
	}
	exe = text_base(b->ancestor->header.exe);
	(void)fprintf(out, "  inherited: allocated by process %u (", b->ancestor->header.pid);
	text_print(out, exe ? exe : "?");
	(void)fputs(") before the fork", out);
	if (b->is_birth_known)
		(void)fprintf(
		    out, ", %" PRIu64 ".%" PRIu64 " s after its start", ms / 1000, ms % 1000 / 100);
	(void)putc('\n', out);
}

static void print_allocation(FILE *out, struct names *names, const struct who_block *b)
{
	if (b->allocated.is_known) {
		print_event(out,
		    b->allocated.event.is_resized ? "allocated by realloc" : "allocated",
		    b->process, &b->allocated);
		(void)fputs("\n", out);
	} else if (b->is_inherited) {
		print_inherited(out, b);
	} else if (b->is_birth_known) {
		uint64_t ms = birth_ms(b);

		(void)fprintf(out,
		    "  allocated at %s%" PRIu64 ".%" PRIu64
		    " s, by a thread that is not known any more\n",
		    b->is_in_map ? "" : "about ", ms / 1000, ms % 1000 / 100);
	} else {
		(void)fputs("  allocated at a time that is not known\n", out);
	}
	print_stack(out, names, b->is_inherited ? b->ancestor : b->process, b->site,
	    "its call stack is not known");
}

static void print_free(FILE *out, struct names *names, const struct who_block *b, const char *word,
    const struct who_event *e)
{
	print_event(out, word, b->process, e);
	(void)putc('\n', out);
	if (!e->event.is_resized)
		print_stack(out, names, b->process, e->event.by,
		    "call stacks of frees are recorded with "
		    "SEEP_LOG=last,frees");
}

void who_print(FILE *out, struct names *names, uint64_t address, const struct who_block *b)
{
	static const char *const said[] = {
	    [WHO_UNKNOWN] = "no block is known",
	    [WHO_LIVE] = "in use",
	    [WHO_FREED] = "freed",
	    [WHO_RESIZED] = "resized by realloc",
	    [WHO_GONE] = "not in use any more",
	};
	const char *exe = text_base(b->process->header.exe);

	(void)fprintf(out, "0x%" PRIx64 " in process %u (", address, b->process->header.pid);
	text_print(out, exe ? exe : "?");
	if (b->state == WHO_UNKNOWN)
		(void)fputs("): no block is known\n", out);
	else
		(void)fprintf(out, "): byte %" PRIu64 " of a block of %s at 0x%" PRIx64 ", %s%s\n",
		    address - b->address, WORDS_COUNTED(b->size, "byte"), b->address,
		    said[b->state],
		    b->state == WHO_LIVE && b->process->running_pid == 0 ? " when the process ended"
		                                                         : "");
	if (b->state != WHO_UNKNOWN)
		print_allocation(out, names, b);
	if (b->freed.is_known)
		print_free(out, names, b, b->state == WHO_RESIZED ? "resized" : "freed", &b->freed);
	if (b->again.is_known)
		print_free(out, names, b,
		    b->freed.is_known ? "freed again" : "freed, although no block began there,",
		    &b->again);
}

static void json_event(struct json *out, const char *key, struct names *names,
    const struct process *p, const struct who_event *e, uint32_t site)
{
	char name[FLIGHT_LINES_NAME];
	uint32_t stack;

	if (!e->is_known) {
		json_null(out, key);
		return;
	}
	json_object(out, key);
	json_number(out, "time_ms", event_ms(e));
	json_number(out, "thread", e->thread);
	json_number_or_null(out, "tid", e->event.tid != 0, e->event.tid);
	json_text(out, "thread_name", flight_lines_thread(p, e->event.tid, name));
	json_boolean(out, "by_realloc", e->event.is_resized);
	if (callstack_find(p, site, &stack))
		callstack_json(out, "stack", names, p, stack);
	else
		json_null(out, "stack");
	json_end(out);
}

void who_print_json(
    struct json *out, struct names *names, uint64_t address, const struct who_block *b)
{
	const bool known = b->state != WHO_UNKNOWN;
	const struct process *by = !known ? NULL : b->is_inherited ? b->ancestor : b->process;
	uint32_t stack;

	json_object(out, NULL);
	json_number(out, "pid", b->process->header.pid);
	json_text(out, "exe", b->process->header.exe);
	json_text(out, "state", states[b->state]);
	json_number_or_null(out, "address", known, b->address);
	json_number_or_null(out, "size", known, b->size);
	json_number_or_null(out, "offset", known, address - b->address);
	json_number_or_null(out, "site", known, b->site);
	json_number_or_null(out, "born_ms", b->is_birth_known, birth_ms(b));
	json_boolean(out, "inherited", b->is_inherited);
	json_number_or_null(out, "allocated_by_pid", by != NULL, by ? by->header.pid : 0);
	if (by && callstack_find(by, b->site, &stack))
		callstack_json(out, "stack", names, by, stack);
	else
		json_null(out, "stack");
	json_event(out, "allocated", names, b->process, &b->allocated, b->site);
	json_event(out, "freed", names, b->process, &b->freed, b->freed.event.by);
	json_event(out, "freed_again", names, b->process, &b->again, b->again.event.by);
	json_end(out);
}
