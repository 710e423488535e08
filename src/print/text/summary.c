/* summary.c - prints the first paragraph of a report. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/text/report_text.h"

#include "base/std.h"
#include "kit/data/capped.h"
#include "kit/words/text.h"
#include "names/find/program.h"
#include "segments/read/losses.h"
#include "view/sites/enum_words.h"

struct summary {
	FILE *out; /* a buffer; lines are broken when it is printed */
	const struct process *process;
	const struct layout *page;
};

/* Ticks are tenths of a second, so nothing shorter is known. */
static const char *span(char buffer[WORDS_MAX], uint64_t ns)
{
	if (ns < SEG_TICK_NS)
		return "for less than 0.1 s";
	(void)snprintf(buffer, WORDS_MAX, "for %s", WORDS_TIME(ns));
	return buffer;
}

/*
 * Whatever ends a process without its exit handlers leaves the time of the last
 * event alone; it may have slept for hours since.
 */
static void print_last_event(const struct summary *s)
{
	const struct process *p = s->process;

	if (p->duration_ns < SEG_TICK_NS)
		(void)fputs("; its last event was less than 0.1 s after its "
		            "start. ",
		    s->out);
	else
		(void)fprintf(s->out, "; its last event was %s after its start. ",
		    WORDS_TIME(p->duration_ns));
}

static void print_death(const struct summary *s)
{
	const struct process *p = s->process;

	if (p->end == PROCESS_EXEC)
		(void)fputs("went on as another program (exec)", s->out);
	else if (p->is_out_of_memory)
		(void)fputs("was killed: out of memory", s->out);
	else if (p->signal > 0)
		(void)fprintf(
		    s->out, "was killed by signal %d (%s)", p->signal, strsignal(p->signal));
	else if (p->exit_status >= 0)
		(void)fprintf(s->out, "exited with status %d by _exit", p->exit_status);
	else if (p->end == PROCESS_GONE)
		(void)fputs("ended by a signal or by _exit", s->out);
	else if (p->end == PROCESS_EXITED)
		(void)fputs("exited", s->out);
	else
		(void)fputs("has ended, and it is not known how", s->out);
	print_last_event(s);
}

static void print_ending(const struct summary *s)
{
	const struct process *p = s->process;
	char buffer[WORDS_MAX];
	uint64_t ns = p->duration_ns;

	if (p->log.is_past)
		(void)fprintf(s->out, "had run %s at that moment. ", span(buffer, ns));
	else if (p->is_snapshot)
		(void)fprintf(s->out, "had run %s at the snapshot. ", span(buffer, ns));
	else if (p->end == PROCESS_RUNNING)
		(void)fprintf(s->out, "has been running %s. ", span(buffer, ns));
	else if (p->header.end_kind != SEG_END_EXITED || p->is_out_of_memory || p->signal > 0)
		print_death(s);
	else if (p->exit_status >= 0)
		(void)fprintf(
		    s->out, "ran %s and exited with status %d. ", span(buffer, ns), p->exit_status);
	else
		(void)fprintf(s->out, "ran %s and exited. ", span(buffer, ns));
}

/* Why the last snapshot could not be written. */
static void print_snapshot_error(const struct summary *s)
{
	uint32_t error = s->process->header.snapshot_error;

	if (error > 0 && error <= INT32_MAX)
		(void)fprintf(s->out, " (the last: %s)", strerror((int)error));
}

/* Which directory was asked for, and what was wrong with it. */
static void print_place(const struct summary *s)
{
	char text[REFUSED_DIRECTORY_BYTES];

	if (!refused_directory(&s->process->header, text, sizeof(text)))
		return;
	(void)fputs(" (", s->out);
	text_print(s->out, text);
	(void)fputs(")", s->out);
}

/* The counters of a class that are not 0, after `before`; false: there are none. */
static bool print_counts(const struct summary *s, const char *before, int class)
{
	const uint64_t *counts = s->process->header.counts;
	const struct losses_name *names;
	char buffer[WORDS_LOSS];
	bool any = false;
	size_t n;

	names = losses_names(&n);
	for (size_t i = 0; i < n; i++) {
		if (counts[names[i].count] == 0 || (int)names[i].class != class ||
		    names[i].count == SEG_INHERITED_BYTES || names[i].count == SEG_MISSED_BYTES)
			continue;
		(void)fputs(any ? "; " : before, s->out);
		(void)fputs(
		    enum_words_loss(buffer, counts[names[i].count], names[i].words), s->out);
		if (names[i].count == SEG_SNAPSHOTS_FAILED)
			print_snapshot_error(s);
		if (names[i].count == SEG_DIR_REPLACED)
			print_place(s);
		any = true;
	}
	return any;
}

static void print_losses(const struct summary *s)
{
	if (print_counts(s, "Lost: ", LOSSES_LOSS))
		(void)fputs(".\n", s->out);
	else
		(void)fputs("No event is lost.\n", s->out);
	if (print_counts(s, "Also seen: ", LOSSES_TOTAL))
		(void)fputs(".\n", s->out);
}

/* Why frees may be missing, or may be of unknown blocks. */
enum bypass {
	BYPASS_NONE = 0,
	BYPASS_PROGRAM = 1,
	BYPASS_LIBRARY = 2,
	BYPASS_DEEPBIND = 4,
};

static unsigned find_bypass(const struct process *p)
{
	const uint64_t *counts = p->header.counts;

	if (counts[SEG_DEEPBIND_LOADS] > 0)
		return BYPASS_DEEPBIND;
	if (counts[SEG_MISSED_FREES] == 0 && counts[SEG_UNKNOWN_FREES] == 0)
		return BYPASS_NONE;
	return losses_is_own(p->header.inert_reason) ? BYPASS_PROGRAM : BYPASS_LIBRARY;
}

static void print_bypass(const struct summary *s, unsigned which)
{
	if (which & BYPASS_DEEPBIND)
		(void)fputs("After a load with RTLD_DEEPBIND these figures are not "
		            "certain: memory that only such a module allocates is "
		            "missing, and memory that only such a module frees looks "
		            "live. seep record --no-deepbind loads modules without the "
		            "flag.\n",
		    s->out);
	if (which & BYPASS_PROGRAM)
		(void)fputs("Such frees occur if the executable has malloc functions "
		            "of its own: memory that it frees with them looks live "
		            "here, and memory that it allocates with them is "
		            "missing.\n",
		    s->out);
	if (which & BYPASS_LIBRARY)
		(void)fputs("Such frees occur if a library calls libc without passing "
		            "the collector (loaded with RTLD_DEEPBIND or dlmopen): "
		            "memory that only it frees looks live here, and memory "
		            "that only it allocates is missing.\n",
		    s->out);
}

/* Which process it is, and how it ended. */
static void print_name(const struct summary *s)
{
	const struct process *p = s->process;

	text_print(s->out, program_name(&p->header));
	(void)fprintf(s->out, " (pid %u) ", p->header.pid);
	print_ending(s);
}

static void print_live(const struct summary *s, const struct process_figures *t,
    uint64_t error_live, uint64_t error_allocated)
{
	(void)fprintf(s->out, "%s of %s in all", WORDS_COUNTED(t->allocations, "allocation"),
	    WORDS_BYTES(t->allocated_bytes));
	if (error_allocated > 0)
		(void)fprintf(
		    s->out, " (+-%s: an estimate from samples)", WORDS_BYTES(error_allocated));
	else if (s->process->header.sample_bytes > 0 && t->allocations == 0)
		(void)fprintf(s->out, " (an estimate: of one block in about %s none was met)",
		    WORDS_BYTES(s->process->header.sample_bytes));
	(void)fprintf(s->out, "; %s", WORDS_BYTES(t->live_bytes));
	if (error_live > 0)
		(void)fprintf(s->out, " (+-%s)", WORDS_BYTES(error_live));
	(void)fprintf(s->out, " in %s ", WORDS_COUNTED(t->live_blocks, "block"));
}

static void print_peak(const struct summary *s)
{
	const struct process *p = s->process;
	const struct process_figures *t = &p->totals;
	uint64_t ns = (uint64_t)p->header.peak_tick * p->header.tick_ns;

	(void)fprintf(s->out, "; the peak was %s%s in %s", p->peak_exact ? "" : "about ",
	    WORDS_BYTES(t->peak_bytes), WORDS_COUNTED(t->peak_blocks, "block"));
	/* its time is not known more exactly than to a tick */
	if (t->peak_bytes > 0 && ns < SEG_TICK_NS && p->duration_ns >= 2 * (uint64_t)SEG_TICK_NS)
		(void)fputs(", at its start", s->out);
	else if (t->peak_bytes > 0 && ns >= SEG_TICK_NS)
		(void)fprintf(s->out, ", %s after its start", WORDS_TIME(ns));
	(void)fputs(". ", s->out);
}

/* Were its peak and its end set back with its figures? */
static bool is_of_moment(const struct process *p)
{
	return p->log.has_moment;
}

/* What its event log lacks, if figures are from there. */
static void print_log(const struct summary *s, const struct process_log *log)
{
	if (!log->is_read)
		return;
	if (log->lost > 0)
		(void)fprintf(s->out,
		    "%s %s not in the event log, so the figures below are not "
		    "exact.\n",
		    WORDS_COUNTED(log->lost, "event"), words_is(log->lost));
	else if (log->lost_later == 0)
		(void)fputs("No event is missing in its event log.\n", s->out);
	if (log->lost_later > 0)
		(void)fprintf(s->out,
		    "%s%s %s not in the event log, at a later time or one that "
		    "is not known.\n",
		    WORDS_COUNTED(log->lost_later, "event"), log->lost > 0 ? " more" : "",
		    words_is(log->lost_later));
}

/* How many sites have a stack that goes on by a guess. */
static size_t count_guesses(const struct process *p)
{
	size_t count = 0;

	if (p->header.counts[SEG_GUESSED] == 0 || !p->stacks)
		return 0;
	for (size_t i = 0; i < p->site_count; i++)
		count += (stacks_flags(p->stacks, p->sites[i].stack) & SEG_NODE_GUESSED) != 0;
	return count;
}

static void print_guesses(const struct summary *s, size_t sites)
{
	if (sites > 0)
		(void)fprintf(s->out,
		    "Stacks of %s pass through code without unwind "
		    "information by its frame pointers. ",
		    WORDS_COUNTED(sites, "site"));
}

static void print_all(const struct summary *s)
{
	const struct process *p = s->process;
	const struct process_figures *t = &p->totals;
	bool sampled = p->header.sample_bytes > 0;

	print_name(s);
	if (process_is_unseen(p)) {
		(void)fprintf(
		    s->out, "It was not traced: %s.\n", losses_inert(p->header.inert_reason));
		return;
	}
	if (p->header.state == SEG_INERT)
		(void)fprintf(s->out, "Tracing ended early: %s. What follows ends there. ",
		    losses_inert(p->header.inert_reason));
	else if (p->header.inert_reason != SEG_INERT_NONE)
		(void)fprintf(s->out, "Maybe only a part was traced: %s. ",
		    losses_inert(p->header.inert_reason));
	(void)fputs(p->log.is_past ? "It had made " : "It made ", s->out);
	print_live(s, t, sampled ? process_error(process_variance_live(p)) : 0,
	    sampled ? process_error(process_variance_allocated(p)) : 0);
	(void)fprintf(s->out, "%s live %s",
	    p->end == PROCESS_RUNNING && !p->is_snapshot && !p->log.is_past
	        ? words_is(t->live_blocks)
	        : words_was(t->live_blocks),
	    p->is_snapshot || p->log.is_past ? "then"
	        : p->end == PROCESS_RUNNING  ? "now"
	                                     : "at its end");
	if (is_of_moment(p))
		(void)fputs(". ", s->out);
	else
		print_peak(s);
	print_guesses(s, count_guesses(p));
	print_losses(s);
	print_log(s, &p->log);
	print_bypass(s, find_bypass(p));
}

/* Prints a buffer with broken lines, and frees it. */
static void show(struct summary *s, char **text)
{
	if (fclose(s->out) == 0) {
		const struct layout *p = s->page;
		size_t name = strcspn(*text, " ");

		(void)fputs(layout_colour(p, LAYOUT_STRONG), p->out);
		(void)fwrite(*text, 1, name, p->out);
		(void)fputs(layout_colour(p, LAYOUT_PLAIN), p->out);
		layout_paragraph(p, *text + name, name);
	}
	free(*text);
}

void summary_write(const struct layout *p, const struct process *process)
{
	char *text = NULL;
	size_t len;
	struct summary s = {.out = open_memstream(&text, &len), .process = process, .page = p};

	if (!s.out)
		return;
	print_all(&s);
	show(&s, &text);
}

/* Adds the losses of one process to those of all. */
static void add_losses(struct process *all, const struct process *p)
{
	for (int i = 0; i < SEG_COUNTS; i++) {
		uint64_t *sum = &all->header.counts[i];

		if (__builtin_add_overflow(*sum, p->header.counts[i], sum))
			*sum = UINT64_MAX;
	}
}

static void add_log(struct process_log *to, const struct process_log *from)
{
	to->is_read |= from->is_read;
	to->has_moment |= from->has_moment;
	to->lost = capped_sum(to->lost, from->lost);
	to->lost_later = capped_sum(to->lost_later, from->lost_later);
}

void summary_write_all(const struct layout *p, const struct session *session, uint32_t pid)
{
	struct process all = {0};
	double live = 0, allocated = 0;
	size_t count = 0, traced = 0, guesses = 0;
	unsigned bypass = BYPASS_NONE;
	char *text = NULL;
	size_t len;
	struct summary s = {.out = open_memstream(&text, &len), .process = &all, .page = p};

	if (!s.out)
		return;
	for (size_t i = 0; i < session->count; i++) {
		const struct process *one = session->processes[i];

		if (pid != 0 && one->header.pid != pid)
			continue;
		count++;
		traced += !process_is_unseen(one);
		process_add(&all.totals, &one->totals);
		add_losses(&all, one);
		add_log(&all.log, &one->log);
		bypass |= find_bypass(one);
		guesses += count_guesses(one);
		if (one->header.sample_bytes > 0) {
			live += process_variance_live(one);
			allocated += process_variance_allocated(one);
		}
	}
	(void)fprintf(s.out, "%s together made ", WORDS_COUNTED(count, "process"));
	print_live(&s, &all.totals, process_error(live), process_error(allocated));
	if (all.log.has_moment)
		(void)fprintf(s.out,
		    "%s live at that moment, or at the end of those that had "
		    "ended. ",
		    words_was(all.totals.live_blocks));
	else
		(void)fprintf(s.out,
		    "%s live when each was last seen; their peaks add up to "
		    "%s, though these were at different times. ",
		    words_was(all.totals.live_blocks), WORDS_BYTES(all.totals.peak_bytes));
	if (traced < count)
		(void)fprintf(s.out, "%zu of them %s not traced. ", count - traced,
		    words_was(count - traced));
	print_guesses(&s, guesses);
	print_losses(&s);
	print_log(&s, &all.log);
	print_bypass(&s, bypass);
	show(&s, &text);
}

/* ---- unseen: a sentence about memory that did not come from malloc ---- */

enum { FACTOR = 3, LEAST = 32 << 20 };

/* Runtimes that have their own heap, recognised by a part of a file's name. */
static const struct {
	const char *file, *reason;
} runtimes[] = {
    {"libjvm.so",
        "the heap of the Java virtual machine, which its own tools "
        "show"},
    {"libcoreclr.so", "the heap of .NET, which its own tools show"},
    {"libmono", "the heap of Mono, which its own tools show"},
    {"/node", "the heap of V8, which node's own tools show"},
    {"libnode.so", "the heap of V8, which node's own tools show"},
    {"libv8", "the heap of V8, which its own tools show"},
    {"libgo.so", "the heap of Go, which pprof shows"},
    {"python",
        "pymalloc's own pools: with PYTHONMALLOC=malloc every object is "
        "seen"},
    {"libruby", "the heap of Ruby's objects"},
};

static uint64_t seen_bytes(const struct process *p)
{
	return p->rss_is_peak ? p->totals.peak_bytes : p->totals.live_bytes;
}

/* Is so much of its memory outside the heap that a user must know? */
static bool matters(const struct process *p)
{
	uint64_t seen = seen_bytes(p), own = p->header.own_bytes;

	return p->rss_bytes > seen + own + LEAST && p->rss_bytes / FACTOR > seen + own;
}

static const char *reason_of(const struct process *p)
{
	for (size_t k = 0; k < sizeof(runtimes) / sizeof(runtimes[0]); k++) {
		if (strstr(p->header.exe, runtimes[k].file))
			return runtimes[k].reason;
		for (size_t i = 0; i < p->module_count; i++)
			if (p->modules[i].path && strstr(p->modules[i].path, runtimes[k].file))
				return runtimes[k].reason;
	}
	return "stacks, files, mmap, or a runtime's own heap";
}

/*
 * What the rest is cannot be told from two sums: the pages of a heap that was
 * larger once are resident, too, and those of a parent.
 */
static const char *others_of(const struct process *p)
{
	static const uint8_t none[sizeof(p->header.parent_uuid)];

	if (memcmp(p->header.parent_uuid, none, sizeof(none)) != 0)
		return "blocks of its parent from before the fork, freed "
		       "memory that the heap keeps, or";
	return "freed memory that the heap keeps, or";
}

void unseen_write(const struct layout *p, const struct process *process)
{
	char a[WORDS_MAX], b[WORDS_MAX], *text;

	if (!matters(process))
		return;
	if (asprintf(&text,
	        "Its resident memory %s %s, of which seep sees %s: the rest is "
	        "%s not from malloc (%s). %s\n",
	        process->rss_is_peak ? "reached" : "is", words_bytes(a, process->rss_bytes),
	        words_bytes(b, seen_bytes(process)), others_of(process), reason_of(process),
	        process->rss_account       ? "--rss shows where it is."
	            : process->running_pid ? "report PID --rss says which."
	                                   : "record --rss says which.") < 0)
		return;
	layout_paragraph(p, text, 0);
	free(text);
}
