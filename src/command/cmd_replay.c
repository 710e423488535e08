/* cmd_replay.c - seep replay: the events of a log with other allocators. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "command/cmd.h"

#include "base/std.h"
#include "command/shell/die.h"
#include "command/shell/input.h"
#include "command/options/view_opts.h"
#include "command/options/opts.h"
#include "command/shell/output.h"
#include "host/proc/procfs_group.h"
#include "session/events/session_log.h"
#include "attach/program/launch.h"
#include "replay/trial.h"
#include "replay/compose.h"
#include "format/seg_log.h"
#include "kit/words/text.h"

#define PERFORMER "seep-replay-run"

enum { RUNS = 5, IDLE_S = 30, SECOND_NS = 1000000000 };
enum { AS_FAST, AS_RECORDED };
enum { TEXT, JSON };

struct replay_options {
	struct opts_list allocators;
	unsigned events, runs, pid;
	int speed, format;
	const char *path;
};

/* ---- the log ---- */

/*
 * Reads all logs of the input; every event goes to `each`. What the logs lack goes
 * to the processes of the session, if it is not NULL.
 */
static void read_logs(
    const char *input, events_each *each, void *context, struct session *s, bool *ret_damaged)
{
	struct events *events;
	int got;

	if (events_new(each, context, &events) < 0)
		die(CMD_INPUT, "replay: out of memory");
	got = log_input_feed("replay", input, events, ret_damaged);
	if (got >= 0 && s)
		session_log_losses(s, events);
	events_free(events);
	if (got == -ENOSPC || got == -EDQUOT)
		die(CMD_INPUT,
		    "replay: no room for the events; choose another directory with "
		    "TMPDIR, or fewer events with --events");
	if (got < 0)
		die(CMD_INPUT, "replay: %s", strerror(-got));
}

/* The threads of the process that is replayed; `all` has those of others. */
static const struct log_threads_process *choose(
    const char *input, struct session *s, const struct replay_options *o, struct log_threads *all)
{
	const struct log_threads_process *p;
	bool is_damaged = false;

	all->events_max = o->events ? o->events : UINT64_MAX;
	/* with --events, more is left out than the logs lack */
	read_logs(input, log_threads_count, all, o->events ? NULL : s, &is_damaged);
	p = log_threads_most(all, o->pid);
	if (p)
		return p;
	for (size_t i = 0; i < s->count; i++)
		if (s->processes[i]->header.sample_bytes > 0)
			die(CMD_USAGE,
			    "replay: %s is sampled; a replay needs every event, "
			    "so record it with seep record --log",
			    input);
	log_input_untraced("replay", input, s);
	if (o->pid && all->count > 0)
		die(CMD_USAGE, "replay: %s has no events of a process with the pid %u", input,
		    o->pid);
	die(CMD_USAGE,
	    "replay: %s has no events; record them with seep record --log, or "
	    "start the program with SEEP_LOG=1",
	    input);
}

/* Bytes that are free for another process; limits of ours are its own, too. */
static uint64_t memory_free(void)
{
	struct aging_limit limits[AGING_LIMITS];
	size_t count = limits_read(getpid(), limits);
	uint64_t room = UINT64_MAX;

	for (size_t i = 0; i < count; i++) {
		bool is_of_process =
		    limits[i].kind == AGING_LIMIT_SPACE || limits[i].kind == AGING_LIMIT_DATA;
		uint64_t used = is_of_process ? 0 : limits[i].used;
		uint64_t left = limits[i].limit > used ? limits[i].limit - used : 0;

		room = left < room ? left : room;
	}
	return room;
}

static struct compose *compose(const char *input, struct session *s, const struct replay_options *o,
    struct tally *t, int *ret_fd, bool *ret_damaged)
{
	struct log_threads all = {0};
	const struct log_threads_process *p = choose(input, s, o, &all);
	const struct process *process = session_find(s, p->uuid);
	const struct compose_options options = {.threads = p,
	    .process = process,
	    .events_max = all.events_max,
	    .live_max = memory_free() / 2,
	    .with_time = o->speed == AS_RECORDED};
	struct compose *c;
	int err = compose_new(&options, &c);

	if (err < 0)
		die(CMD_INPUT, "replay: %s", strerror(-err));
	read_logs(input, compose_event, c, NULL, ret_damaged);
	err = compose_finish(c, &t->facts, ret_fd);
	if (err == -ENODATA)
		die(CMD_USAGE, "replay: %s has no allocation that can be replayed", input);
	if (err < 0)
		die(CMD_INPUT, "replay: the events cannot be stored: %s", strerror(-err));
	t->pid = p->pid;
	t->program = process ? text_base(process->header.exe) : NULL;
	t->processes = all.count;
	log_threads_release(&all);
	return c;
}

/* ---- the runs ---- */

static void find_performer(char *path, size_t bytes)
{
	int err = launch_find_library(PERFORMER, path, bytes);

	if (err == -ENOENT)
		die(CMD_INPUT, "replay: %s is missing: install seep again", path);
	if (err == -EPERM)
		die(CMD_INPUT, "replay: %s is not run, because other users may write it", path);
	/* -EINVAL is about LD_PRELOAD, which has no part in this */
}

static void find_allocators(
    struct allocators *a, const char *performer, const struct opts_list *words)
{
	struct fault where = {""};
	int err = allocator_begin(a, performer, &where);

	if (err < 0)
		die(CMD_INPUT, "replay: %s", where.text);
	for (size_t i = 0; err == 0 && i < words->count; i++)
		err = allocator_add(a, words->items[i], &where);
	if (err == 0 && words->count == 0)
		err = allocator_add_known(a);
	if (err == -ENOMEM)
		die(CMD_INPUT, "replay: out of memory");
	if (err < 0)
		die(CMD_USAGE, "replay: %s", where.text);
	if (a->count == 0)
		die(CMD_INPUT, "replay: no allocator can be run");
}

static void run_one(const struct trial_plan *plan, struct trial_outcome *ret)
{
	int err = trial_run(plan, ret);

	if (err < 0)
		die(CMD_INPUT, "replay: %s cannot be run: %s", plan->performer, strerror(-err));
}

/* What the performer needs itself, which is no allocator's. */
static uint64_t measure_own(const struct trial_plan *plan)
{
	struct trial_plan own = *plan;
	struct trial_outcome o;

	own.mode = SCRIPT_MEASURE;
	run_one(&own, &o);
	if (o.end != TRIAL_DONE)
		die(CMD_INPUT, "replay: %s failed: %s", plan->performer,
		    o.detail > 0 && o.end == TRIAL_FAILED ? strerror(o.detail)
		                                          : "no memory, or ended by a signal");
	return o.result.own_bytes;
}

/* Each allocator once in each round, beginning with another one each time. */
static void run_all(
    struct tally *t, const struct replay_options *o, int script, const char *performer)
{
	struct trial_plan plan = {.performer = performer,
	    .mode = SCRIPT_PERFORM,
	    .script = script,
	    .memory_max = memory_free() / 8 * 7,
	    .idle_ns = (uint64_t)IDLE_S * SECOND_NS +
	        (o->speed == AS_RECORDED ? t->facts.pause_ticks * LOG_TICK_NS : 0)};

	t->own_bytes = measure_own(&plan);
	for (unsigned i = 0; i < o->runs; i++) {
		for (size_t k = 0; k < t->count; k++) {
			size_t row = (k + i) % t->count;
			const struct allocator *a = t->rows[row].allocator;
			struct trial_outcome outcome;

			if (t->rows[row].failure[0])
				continue;
			progress_begin("replaying", a->name);
			progress_at(i * t->count + k, o->runs * t->count);
			plan.preload = a->preload[0] ? a->preload : NULL;
			plan.tunables = a->tunables[0] ? a->tunables : NULL;
			run_one(&plan, &outcome);
			tally_add(t, row, &outcome);
		}
	}
	progress_end();
}

static bool has_failure(const struct tally *t)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->rows[i].failure[0])
			return true;
	return false;
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct replay_options o = {.runs = RUNS};
	char performer[PATH_MAX * 2];
	struct allocators allocators;
	struct tally tally = {0};
	struct session *session;
	struct compose *script;
	struct output out;
	const char *input;
	bool is_damaged = false;
	int fd, answer;

	input = opts_parse(self, argc, argv, &o) > 0 ? argv[1] : INPUT_DEFAULT;
	moment_opts_refuse(self->name, 1, (char *[]){(char *)(uintptr_t)input}, true);
	if (o.runs == 0 || o.runs > TALLY_RUNS_MAX)
		die(CMD_USAGE, "replay: --runs is a number from 1 to %d", TALLY_RUNS_MAX);
	find_performer(performer, sizeof(performer));
	find_allocators(&allocators, performer, &o.allocators);
	progress_begin("reading", input);
	session = input_load(input);
	script = compose(input, session, &o, &tally, &fd, &is_damaged);
	progress_end();
	tally.as_recorded = o.speed == AS_RECORDED;
	if (tally_init(&tally, &allocators, o.runs) < 0)
		die(CMD_INPUT, "replay: out of memory");
	output_open(&out, o.path);
	run_all(&tally, &o, fd, performer);
	tally_sort(&tally);
	if (o.format == JSON)
		tally_json(out.file, &tally, SEEP_VERSION);
	else
		tally_text(out.file, &tally);
	output_finish(&out);
	if (is_damaged)
		die_warn("a part of the log is missing or damaged");
	answer = has_failure(&tally) || is_damaged || session->is_truncated ? CMD_INPUT : CMD_OK;
	compose_free(script);
	tally_release(&tally);
	allocator_release(&allocators);
	session_free(session);
	return answer;
}

#define AT(field) offsetof(struct replay_options, field)

static const struct opts_option what[] = {
    {"allocator", 0, OPTS_LIST, AT(allocators), 0, "NAME[=LIB]",
        "replay with this allocator, in place of all that are found; may be "
        "given several times. NAME=LIB: a library by its path, or by its name "
        "in the loader's directories; NAME=glibc:TUNABLES: glibc's malloc with "
        "tunables, as one=glibc:arena_max=1:tcache_count=0; or one of glibc, "
        "jemalloc, tcmalloc and mimalloc"},
    {"events", 0, OPTS_COUNT, AT(events), 0, "N",
        "replay the first N events (0, the default: all)"},
    {"pid", 0, OPTS_COUNT, AT(pid), 0, "PID",
        "replay this process (default: the one with the most events)"},
    {"runs", 0, OPTS_COUNT, AT(runs), 0, "N", "run each allocator N times (default 5)"},
    {"speed", 0, OPTS_WORD, AT(speed), 0, "as-fast|as-recorded",
        "as fast as possible (the default), or every event at its time, which "
        "takes as long as the program did; allocators that give memory back "
        "after some time need that"},
    {0},
};

static const struct opts_option how[] = {
    {"format", 0, OPTS_WORD, AT(format), 0, "text|json",
        "a table for people (the default), or JSON for programs"},
    {"output", 'o', OPTS_TEXT, AT(path), 0, "FILE", "write to FILE when complete"},
    {0},
};

static const struct opts_group options[] = {
    {"What to replay", what, 0},
    {"How to show it", how, 0},
    {0},
};

const struct cmd cmd_replay = {
    .name = "replay",
    .summary = "try other allocators with the events of a log",
    .operands = "[INPUT]",
    .about = "Performs the allocations and frees of an event log again, with one "
             "allocator after the other, each time in a process of its own, and "
             "prints what that takes: resident memory, CPU time, wall time and page "
             "faults. The program itself is not run. Threads of the log are threads "
             "of the replay, and a free waits for its allocation. Each page of a "
             "block is written to once."
             "\n\n"
             "INPUT is a recording that seep record --log has written, or a "
             "directory, a segment or the PID of a program that was started with "
             "SEEP_LOG=1. Without --allocator, glibc's malloc is compared with "
             "jemalloc, tcmalloc and mimalloc, as far as their libraries are "
             "installed. Settings of allocators in the environment (MALLOC_CONF, "
             "MIMALLOC_*, TCMALLOC_*, MALLOC_ARENA_MAX) hold for all runs.",
    .options = options,
    .run = run,
};
