/* check_processes.c - which processes are judged, and what may be wrong. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/check_parts.h"

#include "segments/read/losses.h"
#include "names/find/program.h"
#include "view/sites/verdict.h"
#include "view/sites/enum_words.h"

enum { ENDS_NAMED = 5 }; /* names of the processes that ended in one way */

static const char *name_of(const struct process *p)
{
	return program_name(&p->header);
}

static enum check_standing standing_of(const struct check_options *o, const struct process *p)
{
	if (o->pid != 0 && p->header.pid != o->pid)
		return CHECK_LEFT_OUT;
	/* by its path, or as it was started */
	if (o->exe && regexec(o->exe, p->header.exe, 0, NULL, 0) != 0 &&
	    regexec(o->exe, name_of(p), 0, NULL, 0) != 0)
		return CHECK_LEFT_OUT;
	if (p->totals.allocations == 0 &&
	    (p->header.state == SEG_INERT || p->header.mode == SEG_MODE_OFF ||
	        p->header.mode == SEG_MODE_DORMANT || p->header.counts[SEG_EVENTS_OFF] > 0))
		return CHECK_UNTRACED;
	return p->end == PROCESS_EXEC ? CHECK_REPLACED : CHECK_JUDGED;
}

/* How it ended, if that matters for its figures. */
static int note_end(struct check *c, const struct process *p)
{
	const char *name = name_of(p);
	unsigned pid = p->header.pid;

	if (p->end != PROCESS_EXITED && p->end <= PROCESS_GONE && ++c->ends[p->end] > ENDS_NAMED)
		return 0;
	if (p->is_snapshot)
		return check_note(c,
		    "%s (pid %u): a snapshot; what was live then may have "
		    "been freed later",
		    name, pid);
	switch (p->end) {
	case PROCESS_RUNNING:
		return check_note(c,
		    "%s (pid %u) still ran; what was live then may be freed "
		    "later",
		    name, pid);
	case PROCESS_KILLED:
		if (p->is_out_of_memory)
			return check_note(c,
			    "%s (pid %u) was killed: out of memory; it is "
			    "judged by what was live then",
			    name, pid);
		if (p->signal > 0)
			return check_note(c,
			    "%s (pid %u) was killed by signal %d (%s); it is "
			    "judged by what was live then",
			    name, pid, p->signal, strsignal(p->signal));
		/* fall through */
	case PROCESS_GONE:
		return check_note(c,
		    "%s (pid %u) ended by a signal or by _exit; it is judged by "
		    "what was live then",
		    name, pid);
	case PROCESS_UNKNOWN:
		return check_note(c,
		    "%s (pid %u): how it ended is not known; it is judged by "
		    "what was live then",
		    name, pid);
	default:
		return 0;
	}
}

/*
 * Counters of calls that did not reach the collector. Their number is not
 * known: a block that looks leaked may have been freed, and a leak may be
 * missing.
 */
static bool is_unsure(enum seg_count count)
{
	return count == SEG_DEEPBIND_LOADS || count == SEG_MALLOC_BEFORE || count == SEG_OWN_NAMES;
}

/* The command of a recording: its last program, if it called exec, or NULL. */
static const struct process *command_of(const struct session *s)
{
	const struct process *command = NULL;

	for (size_t i = 0; s->command_pid > 0 && i < s->count; i++) {
		const struct process *p = s->processes[i];

		if (p->header.pid == s->command_pid && p->end != PROCESS_EXEC)
			command = p;
	}
	return command;
}

/*
 * Did the command of a recording have a look at its exit? Then everything that
 * it started is judged by looks.
 */
static bool has_exit_look(const struct session *s)
{
	const struct process *command = command_of(s);

	return command && command->verdicts && command->verdicts->reason == VERDICT_JUDGED &&
	    command->verdicts->at_exit;
}

/* Says that there are looks, but none of the command at its exit. */
static int note_looks_in_vain(struct check *c, const struct session *s)
{
	const struct process *command = command_of(s);
	bool has_looks = false;

	for (size_t i = 0; i < s->count; i++)
		has_looks |= s->processes[i]->verdicts != NULL;
	if (!command || !has_looks)
		return 0;
	return check_note(c,
	    "%s (pid %u) had no look at its exit: every block that is live at "
	    "the end counts (seep leaks shows what the looks found)",
	    name_of(command), command->header.pid);
}

bool check_is_unjudged(const struct check_process *x)
{
	return x->by_verdict && x->is_unjudged &&
	    verdict_state(x->input->session, x->process) == VERDICT_STATE_UNJUDGED;
}

/* Finds out how the process is judged; one that cannot be judged is named. */
static int note_verdict(struct check *c, struct check_process *x, bool by_verdict)
{
	enum verdict_state state = verdict_state(x->input->session, x->process);

	if (!by_verdict || x->standing == CHECK_UNTRACED)
		return 0;
	x->by_verdict = true;
	c->by_verdict_count++;
	x->is_unjudged = state != VERDICT_STATE_JUDGED;
	if (!check_is_unjudged(x))
		return 0;
	if (++c->unjudged_count > ENDS_NAMED)
		return 0;
	return check_note(c, "not judged: %s (pid %u): %s", name_of(x->process),
	    x->process->header.pid, verdict_why_not_words(x->process));
}

/* Adds notes about what is missing in the figures. */
static int note_losses(struct check *c, const struct process *p)
{
	static const enum seg_count matter[] = {SEG_LOST_EVENTS, SEG_LOST_FREES, SEG_SPILL_FULL,
	    SEG_CHILDREN_UNTRACED, SEG_CHILDREN_EARLY, SEG_EVENTS_OFF, SEG_EARLY_EVENTS,
	    SEG_DEEPBIND_LOADS, SEG_MALLOC_BEFORE, SEG_OWN_NAMES};
	const struct losses_name *names;
	size_t count;
	int err = 0;

	names = losses_names(&count);
	for (size_t i = 0; i < sizeof(matter) / sizeof(matter[0]); i++)
		for (size_t k = 0; k < count && err == 0; k++) {
			uint64_t n = p->header.counts[matter[i]];
			char buffer[WORDS_LOSS];

			if (names[k].count != matter[i] || n == 0)
				continue;
			c->is_damaged |= is_unsure(matter[i]);
			err = check_note(c, "%s (pid %u): its figures are not complete: %s",
			    name_of(p), p->header.pid, enum_words_loss(buffer, n, names[k].words));
		}
	return err;
}

/* Blocks that the executable frees with its own malloc look like leaks. */
static int note_own(struct check *c, const struct process *p)
{
	if (!losses_is_own(p->header.inert_reason) || p->header.state == SEG_INERT)
		return 0;
	c->is_damaged |=
	    p->header.counts[SEG_MISSED_FREES] > 0 || p->header.counts[SEG_UNKNOWN_FREES] > 0;
	return check_note(c, "%s (pid %u): maybe only a part was traced: %s", name_of(p),
	    p->header.pid, losses_inert(p->header.inert_reason));
}

static int note_process(struct check *c, struct check_process *x)
{
	const struct process *p = x->process;
	int err;

	if (x->standing == CHECK_UNTRACED)
		return check_note(c, "%s (pid %u) was not traced: %s", name_of(p), p->header.pid,
		    p->header.state == SEG_INERT ? losses_inert(p->header.inert_reason)
		                                 : "recording was off");
	if (p->is_unfinished) {
		c->is_damaged = true;
		err = check_note(c,
		    "%s (pid %u): its end is missing in the recording; the "
		    "figures are of %.1f s",
		    name_of(p), p->header.pid, (double)p->as_of_us / 1e6);
		return err < 0 ? err : note_losses(c, p);
	}
	if (p->header.state == SEG_INERT) {
		c->is_damaged = true;
		err = check_note(c, "%s (pid %u): tracing ended early: %s", name_of(p),
		    p->header.pid, losses_inert(p->header.inert_reason));
	} else {
		err = x->by_verdict ? 0 : note_end(c, p);
	}
	if (err == 0)
		err = note_own(c, p);
	return err < 0 ? err : note_losses(c, p);
}

/* Writes one sentence where there would otherwise be many. */
static int note_more_ends(struct check *c)
{
	size_t more = 0, replaced = c->ends[PROCESS_EXEC];
	int err = 0;

	if (c->unjudged_count > ENDS_NAMED)
		err = check_note(c, "not judged: %s more",
		    WORDS_COUNTED(c->unjudged_count - ENDS_NAMED, "process"));
	for (int i = 0; i <= PROCESS_GONE; i++)
		if (i != PROCESS_EXEC && c->ends[i] > ENDS_NAMED)
			more += c->ends[i] - ENDS_NAMED;
	if (err == 0 && more > 0)
		err = check_note(c, "%zu more ended by a signal or by _exit, or still ran", more);
	if (err == 0 && replaced > 0)
		err = check_note(c,
		    "%s went on as another program (exec); of %s only the peak "
		    "is judged",
		    WORDS_COUNTED(replaced, "process"), replaced == 1 ? "it" : "these");
	return err;
}

int check_processes(struct check *c)
{
	size_t count = 0;

	for (size_t i = 0; i < c->input_count; i++)
		count += c->inputs[i].session->count;
	c->processes = calloc(count + 1, sizeof(*c->processes));
	if (!c->processes)
		return -ENOMEM;
	for (size_t i = 0; i < c->input_count; i++) {
		const struct session *s = c->inputs[i].session;
		bool by_verdict = !c->options->any_live && has_exit_look(s);

		if (!by_verdict && !c->options->any_live && !c->options->fail_on_growth &&
		    note_looks_in_vain(c, s) < 0)
			return -ENOMEM;
		if (s->is_truncated) {
			c->is_damaged = true;
			if (check_note(c, "%s: damaged, or its end is missing", c->inputs[i].name) <
			    0)
				return -ENOMEM;
		}
		for (size_t k = 0; k < s->count; k++) {
			struct check_process *x = &c->processes[c->process_count++];
			const struct process *p = s->processes[k];

			*x = (struct check_process){.input = &c->inputs[i],
			    .process = p,
			    .standing = standing_of(c->options, p)};
			if (x->standing == CHECK_LEFT_OUT) {
				c->left_out++;
				continue;
			}
			if (note_verdict(c, x, by_verdict) < 0 || note_process(c, x) < 0)
				return -ENOMEM;
			c->judged_count += x->standing != CHECK_UNTRACED;
			if (p->header.sample_bytes > c->sample_bytes)
				c->sample_bytes = p->header.sample_bytes;
			if (x->standing == CHECK_JUDGED)
				check_sum_add(&c->live, p->totals.live_bytes, p->totals.live_blocks,
				    process_variance_live(p));
		}
	}
	return note_more_ends(c);
}
