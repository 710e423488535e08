/* cmd_record.c - seep record: runs a command and writes what it allocated. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/die.h"
#include "cli/export_at_end.h"
#include "cli/progress.h"
#include "cli/record_opts.h"
#include "util/clock.h"
#include "reader/losses.h"
#include "record/collect.h"
#include "record/embed.h"
#include "record/follow.h"
#include "record/inspect.h"
#include "record/copy_snapshots.h"
#include "record/launch.h"
#include "record/leaks.h"
#include "record/meta.h"
#include "record/oom.h"
#include "record/procs.h"
#include "record/quota.h"
#include "record/refused.h"
#include "record/remainders.h"
#include "record/segment_dir.h"
#include "report/words.h"
#include "trace/recording.h"
#include "trace/outfile.h"

enum {
	EXIT_OURS = 125,
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
	ARRIVAL_NS = 1000000000, /* by then a collector has made its segment */
	WAIT_STEP_MS = 500,
	ROOM_MIN = 256 << 10, /* bytes of a segment */
};

/* One run, from the first check to the summary. */
struct run {
	struct record_options options;
	char file[PATH_MAX]; /* the recording */
	struct inspect inspect;
	struct recording_writer *writer;
	struct segment_dir spool;
	struct launch launch;
	struct collect collect;
	struct quota quota;
	struct embed *embed;   /* names; NULL: none are wanted */
	struct follow *follow; /* NULL: nothing is followed any more */
	struct leaks *leaks;   /* NULL: nobody looks for lost blocks */
	struct leaks_found found;
	int line_error;         /* why not */
	uint64_t since_jiffies; /* the tree cannot be older than we are */
	uint64_t start_ns;      /* since 1970 */
	uint64_t oom_kills;     /* in our cgroup, before */
	uint64_t start_monotonic_ns;
	bool told; /* that the command is not traced, and why */
};

/*
 * Started with stdin, stdout or stderr closed, our own files would take those
 * numbers and our words would land in them. Closed again by exec: the command
 * finds what we found. The wrong way round: writing to them stays an error.
 */
static void
occupy_standard_files(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)open("/dev/null",
			    (fd == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

/* The exit code for an error of finding or executing the command. */
static int
say_not_started(const char *command, int err)
{
	if (err == -ENOENT) {
		die_warn("%s: command not found", command);
		return EXIT_NOT_FOUND;
	}
	die_warn("%s: cannot be executed: %s", command, strerror(-err));
	return EXIT_NOT_EXECUTABLE;
}

static int
check_command(struct run *r)
{
	const char *command = r->options.command[0];
	int err = inspect_command(command, &r->inspect);

	if (err < 0)
		return say_not_started(command, err);
	if (r->inspect.kind == INSPECT_SANITIZER) {
		die_warn("%s", r->inspect.message);
		return EXIT_OURS;
	}
	return 0;
}

static int
check_output(struct run *r)
{
	enum recording_existing existing = RECORDING_KEEP_OLD;
	int err;

	if (!r->options.output) {
		strcpy(r->file, "seep.data");
	} else {
		existing =
		    r->options.force ? RECORDING_REPLACE : RECORDING_REFUSE;
		if (!record_opts_output(
		        &r->options, r->launch.pid, r->file, sizeof(r->file))) {
			die_warn("the name %s is too long", r->options.output);
			return EXIT_OURS;
		}
	}
	err = recording_create(r->file, existing, &r->writer);
	if (err == 0)
		return 0;
	if (err == -EEXIST)
		die_warn("%s exists: use --force to replace it, or another "
		         "name with -o",
		    r->file);
	else
		die_warn("cannot write %s: %s; choose another place with -o",
		    r->file, outfile_error(err));
	return EXIT_OURS;
}

/* The last thing before CMD starts. */
static int
clear_output(struct run *r)
{
	int err = recording_clear(r->writer);

	if (err == 0)
		return 0;
	die_warn("cannot replace %s: %s; choose another place with -o", r->file,
	    strerror(-err));
	return EXIT_OURS;
}

static struct collect_child
child_of(const struct run *r, bool running)
{
	return (struct collect_child){
	    .pid = r->launch.pid,
	    .start_jiffies = r->launch.start_jiffies,
	    .running = running,
	    .status = r->launch.status,
	    .alone = r->options.no_follow,
	};
}

static int
check_library(const char *name, char *path, size_t bytes)
{
	int err = launch_find_library(name, path, bytes);

	if (err == -EPERM)
		die_warn("%s can be written by others, who could run code in "
		         "your programs: chmod go-w it",
		    path);
	else if (err == -EINVAL)
		die_warn("%s cannot be preloaded: its path contains a space or "
		         "a colon; install seep elsewhere",
		    path);
	else if (err < 0)
		die_warn("the collector %s is missing: it should be beside the "
		         "seep command, in ../lib/seep or in ../lib",
		    path);
	return err < 0 ? EXIT_OURS : 0;
}

/* The name holds the pid: the file is made when that is known. */
static int
make_output(void *context, pid_t pid)
{
	struct run *r = context;
	int err;

	r->launch.pid = pid;
	err = check_output(r);
	return err ? err : clear_output(r);
}

static int
start(struct run *r)
{
	char library[4096], second[4096];
	struct launch_plan plan = {
	    .argv = r->options.command,
	    .preload = library,
	    .dir = r->spool.path,
	    .session = r->spool.session,
	    .depth = r->options.depth,
	    .no_deepbind = r->options.no_deepbind,
	    .leaks = r->options.leaks_ns > 0,
	    .sample_bytes = r->options.sample_bytes,
	    .context = r,
	};
	int err;

	if (record_opts_needs_pid(&r->options))
		plan.ready = make_output;

	err = check_library("libseep.so", library, sizeof(library));
	if (err)
		return err;
	if (r->inspect.allocator[0]) {
		if (check_library("libseep-cxx.so", second, sizeof(second)))
			die_warn("so what operator new of %s does itself will "
			         "not be recorded",
			    r->inspect.allocator);
		else
			plan.preload2 = second;
	}
	if (r->inspect.kind != INSPECT_FINE) {
		die_warn("%s", r->inspect.message);
		r->told = true;
	}
	if (r->writer && clear_output(r))
		return EXIT_OURS;
	r->oom_kills = oom_kills();
	r->start_ns = clock_ns(CLOCK_REALTIME);
	r->start_monotonic_ns = clock_ns(CLOCK_MONOTONIC);
	if (r->options.leaks_ns)
		leaks_announce(&r->spool);
	err = launch_start(&r->launch, &plan);
	if (err == -ECANCELED)
		return EXIT_OURS; /* make_output() has said why */
	return err < 0 ? say_not_started(r->options.command[0], err) : 0;
}

/* A collector without room for a quarter of a MiB does nothing. */
static const char *
tight_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	    limit.rlim_cur / 4 < ROOM_MIN)
		return "the limit on file sizes is too low (ulimit -f)";
	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur / 16 < ROOM_MIN)
		return "the limit on address space is too low (ulimit -v)";
	return NULL;
}

static void
say_not_arrived(struct run *r)
{
	const char *why = tight_limit(), *refused;
	size_t count;
	bool more;

	if (r->told)
		return;
	r->told = true;
	refused_tell(&r->spool, NULL, &count, &more, &refused);
	if (!why && count > 0)
		why = refused;
	if (!why)
		why =
		    "reason not known; does it, or a wrapper around it, clear "
		    "the environment, or did it end before it began?";
	die_warn("no collector in %s (pid %d): %s", r->options.command[0],
	    (int)r->launch.pid, why);
}

/* The command has become another program, by exec. */
static void
say_replaced(struct run *r)
{
	struct inspect in;
	bool can_run;

	if (r->told)
		return;
	can_run = inspect_pid(r->launch.pid, &in);
	if (in.program[0] == '\0')
		return; /* it is just ending, and no program any more */
	r->told = true;
	if (can_run && in.kind != INSPECT_FINE)
		die_warn("%s", in.message);
	else
		die_warn(
		    "%s (pid %d) has become %s, which has no collector: was "
		    "the environment cleared?",
		    r->options.command[0], (int)r->launch.pid, in.program);
}

static void
say_declined(struct run *r, uint32_t reason, uint32_t place_owner, bool whole)
{
	if (r->told)
		return;
	r->told = true;
	if (reason == SEG_INERT_PLACE) {
		die_warn("%s (pid %d) is not traced: %s (uid %u); have it "
		         "removed",
		    r->options.command[0], (int)r->launch.pid,
		    losses_inert(reason), place_owner);
		return;
	}
	die_warn("%s (pid %d) is %s: %s", r->options.command[0],
	    (int)r->launch.pid,
	    whole ? "not traced"
	        : reason == SEG_INERT_OWN_MALLOC
	        ? "hardly traced, or not at all"
	        : "maybe traced in part only",
	    losses_inert(reason));
}

/* A long-running command: its user should not learn it at the end. */
static void
check_arrival(struct run *r)
{
	struct seg_header h;

	if (!segment_dir_find(&r->spool, r->launch.pid, &h))
		say_not_arrived(r);
	else if (!procs_has_segment(r->launch.pid))
		say_replaced(r);
	else if (h.state == SEG_INERT || h.inert_reason != SEG_INERT_NONE)
		say_declined(
		    r, h.inert_reason, h.place_owner, h.state == SEG_INERT);
}

static int
write_about(struct run *r, bool ended)
{
	const struct meta about = {
	    .version = SEEP_VERSION,
	    .session = r->spool.session,
	    .program = r->inspect.program,
	    .command = r->options.command,
	    .pid = r->launch.pid,
	    .start_ns = r->start_ns,
	    .start_monotonic_ns = r->start_monotonic_ns,
	    .sample_bytes = r->options.sample_bytes,
	    .leaks_ns = r->options.leaks_ns,
	    .ended = ended,
	    .status = r->launch.status,
	    .follow = !r->options.no_follow,
	    .max_rss_bytes = r->launch.max_rss_bytes,
	    .oom_kills = ended ? oom_kills() - r->oom_kills : 0,
	    .unwatched = r->quota.unwatched + r->quota.unlisted,
	    .unplaced = r->collect.where.unplaced,
	    .line_cut = r->quota.line_cut,
	};

	return meta_write(&about, r->writer);
}

/* What cannot be written now is told at the end; CMD runs on. */
static void
begin_following(struct run *r)
{
	const struct follow_plan plan = {
	    .spool = &r->spool,
	    .writer = r->writer,
	    .collect = &r->collect,
	    .child = child_of(r, true),
	    .since_jiffies = r->since_jiffies,
	    .interval_ns = r->options.interval_ns,
	    .start_ns = r->start_monotonic_ns,
	};
	const struct leaks_plan leaks = {
	    .spool = &r->spool,
	    .writer = r->writer,
	    .every_ns = r->options.leaks_ns,
	    .alone = r->options.no_follow ? r->launch.pid : 0,
	};

	r->line_error = write_about(r, false);
	if (r->line_error == 0)
		r->line_error = follow_new(&plan, &r->follow);
	if (r->line_error == 0 && r->options.leaks_ns)
		r->line_error = leaks_new(&leaks, &r->leaks);
}

static void
look(struct run *r)
{
	if (r->follow && r->line_error == 0)
		r->line_error = follow_look(r->follow);
	if (r->leaks && r->line_error == 0)
		r->line_error = leaks_step(r->leaks);
}

static int
wait_ms(const struct run *r)
{
	int ms = WAIT_STEP_MS, leaks_ms;

	if (r->follow && r->line_error == 0)
		ms = follow_wait_ms(r->follow);
	if (!r->leaks || r->line_error < 0)
		return ms;
	leaks_ms = leaks_wait_ms(r->leaks);
	return leaks_ms < ms ? leaks_ms : ms;
}

static int
wait_for_end(struct run *r)
{
	uint64_t arrival_ns = r->start_monotonic_ns + ARRIVAL_NS;
	int err;

	begin_following(r);
	while ((err = launch_wait(&r->launch, wait_ms(r))) == 0) {
		look(r);
		if (arrival_ns && clock_ns(CLOCK_MONOTONIC) >= arrival_ns) {
			check_arrival(r);
			arrival_ns = 0;
		}
	}
	if (err < 0) {
		die_warn("lost sight of %s: %s", r->options.command[0],
		    strerror(-err));
		return EXIT_OURS;
	}
	while (r->options.wait &&
	    procs_session_runs(r->since_jiffies, r->spool.session)) {
		int ms = wait_ms(r);

		if (launch_idle(ms < WAIT_STEP_MS ? ms : WAIT_STEP_MS))
			break;
		look(r);
	}
	return 0;
}

/* Descendants that outlive the command. */
static void
note_running(void *context, const struct procs_process *p, bool traced)
{
	struct run *r = context;
	struct inspect in;

	if (!r->options.quiet)
		die_warn("still running: %d %s%s", (int)p->pid, p->name,
		    traced ? "" : " (not traced)");
	if (traced ||
	    (r->follow && follow_told(r->follow, p->pid, p->start_jiffies)))
		return;
	inspect_pid(p->pid, &in);
	/* an error sticks in the writer: recording_finish() tells it */
	(void)meta_write_untraced(r->writer, p->pid, in.program,
	    in.kind != INSPECT_FINE ? in.message : META_NO_REASON);
}

static void
tell_file(void *context, const char *path)
{
	(void)context;
	progress_begin("finding the names of functions in", path);
}

/* Not to be had without memory; the report then looks for them. */
static void
want_names(struct run *r)
{
	const struct names_options naming = {
	    .debug_dirs = r->options.debug_dirs,
	    .progress = r->options.quiet ? NULL : tell_file};

	if (r->options.no_symbols || embed_new(&naming, &r->embed) < 0)
		return;
	r->collect.written = embed_add;
	r->collect.context = r->embed;
}

/* An error sticks in the writer: recording_finish() tells it. */
static void
write_names(struct run *r)
{
	if (r->embed && embed_write(r->embed, r->writer) > 0)
		die_warn("no room for the names of functions in %s: a report "
		         "will look for them where it runs",
		    r->file);
	progress_end();
}

/* Who would have been traced, had there been room. */
static void
tell_refused(struct run *r)
{
	const char *why;
	size_t count;
	bool more;

	refused_tell(&r->spool, r->writer, &count, &more, &why);
	if (count == 0)
		return;
	die_warn("%zu program%s%s not recorded: %s in %s (seep ls --prune)",
	    count, count == 1 ? "" : "s",
	    more             ? " or more were"
	        : count == 1 ? " was"
	                     : " were",
	    why, r->spool.path);
	refused_forget(&r->spool);
}

/* What is in no recording of ours, because it would have no bound. */
static void
tell_cut(struct run *r)
{
	const struct quota *q = &r->quota;

	quota_write(q, r->writer);
	for (int i = 0; i < QUOTA_REASONS; i++)
		if (q->refused[i] > 0)
			die_warn("%zu process%s not recorded: %s",
			    q->refused[i],
			    q->refused[i] == 1 ? " was" : "es were",
			    quota_words((enum quota_reason)i));
	if (q->unwatched + q->unlisted > 0)
		die_warn("%zu process%s no time line: there is no memory to "
		         "watch more of them",
		    q->unwatched + q->unlisted,
		    q->unwatched + q->unlisted == 1 ? " has" : "es have");
	if (r->collect.where.unplaced > 0)
		die_warn("%zu module%s of a relative path %s not looked for: "
		         "functions there may have no names",
		    r->collect.where.unplaced,
		    r->collect.where.unplaced == 1 ? "" : "s",
		    r->collect.where.unplaced == 1 ? "was" : "were");
	if (q->line_cut)
		die_warn("the time line ends before the command: it has half "
		         "of the recording's full size (--max-size)");
}

static int
write_recording(struct run *r)
{
	struct collect *c = &r->collect;
	const char *why = META_NO_REASON;
	int err;

	err = write_about(r, true);
	if (err < 0)
		return err;
	if (r->inspect.kind != INSPECT_FINE)
		why = r->inspect.message;
	else if (c->declined)
		why = losses_inert(c->inert_reason);
	if (!c->arrived || c->declined)
		(void)meta_write_untraced(
		    r->writer, r->launch.pid, r->inspect.program, why);
	err = collect_write(c, r->writer);
	if (err < 0)
		return err;
	collect_each_running(c, note_running, r);
	tell_refused(r);
	tell_cut(r);
	if (c->programs == 0 && follow_is_empty(r->follow))
		return 0; /* nothing worth a file: see conclude() */
	write_names(r);
	err = recording_finish(r->writer);
	r->writer = NULL;
	return err;
}

/* Snapshots that the processes wrote beside their segments. */
static void
move_snapshots(const struct run *r)
{
	struct copied_snapshots k = {.moved = 0};
	struct stat st;

	if (stat(r->file, &st) == 0 && S_ISREG(st.st_mode))
		copy_snapshots(&r->spool, r->file, &k);
	if (k.moved > 0 && !r->options.quiet)
		die_warn("snapshots: %zu in %s", k.moved, k.folder);
	if (k.left > 0)
		die_warn("%zu snapshot%s could not be moved to %s and %s left "
		         "in %s: %s",
		    k.left, k.left == 1 ? "" : "s", k.folder,
		    k.left == 1 ? "was" : "were", r->spool.path,
		    strerror(-k.err));
}

/*
 * Live is what a report would show: what start-up leaves is counted apart. A
 * recording that cannot be read back, or has no names, has all in one figure.
 */
static void
say_live(const struct run *r)
{
	const struct collect *c = &r->collect;
	struct remainders left = {0};
	char a[WORDS_COUNTED], b[WORDS_MAX], d[WORDS_COUNTED], e[WORDS_MAX];
	uint64_t blocks = c->live_blocks, bytes = c->live_bytes;
	struct stat st;

	if (blocks > 0 && r->embed && stat(r->file, &st) == 0 &&
	    S_ISREG(st.st_mode) && remainders_count(r->file, &left) == 0 &&
	    left.blocks <= blocks && left.bytes <= bytes) {
		blocks -= left.blocks;
		bytes -= left.bytes;
	} else {
		left.sites = 0;
	}
	(void)words_counted(a, blocks, "block");
	(void)words_bytes(b, bytes);
	if (left.sites == 0)
		die_warn("live at exit: %s, %s", a, b);
	else
		die_warn("live at exit: %s, %s (without %s, %s)", a, b,
		    words_counted(d, left.sites, "start-up remainder"),
		    words_bytes(e, left.bytes));
}

/* What nothing points to; seep report has where. */
static void
say_lost(const struct leaks_found *f)
{
	char a[WORDS_COUNTED], b[WORDS_MAX], d[WORDS_COUNTED];

	(void)words_counted(d, f->judged, "process");
	if (f->judged == 0)
		die_warn("lost: not known, no process could be looked at");
	else if (f->blocks == 0)
		die_warn("lost: nothing, in %s", d);
	else
		die_warn("lost: %s, %s, in %zu of %s",
		    words_counted(a, f->blocks, "block"),
		    words_bytes(b, f->bytes), f->leaking, d);
}

static void
summarise(const struct run *r)
{
	const struct collect *c = &r->collect;
	size_t processes = c->processes ? c->processes : 1;
	char a[WORDS_COUNTED], b[WORDS_MAX], d[WORDS_COUNTED];
	char programs[40] = "";

	if (c->programs != processes)
		snprintf(programs, sizeof(programs), " (%zu program%s)",
		    c->programs, c->programs == 1 ? "" : "s");
	die_warn("recorded %s%s: %s, %s",
	    words_counted(d, processes, "process"), programs,
	    words_counted(a, c->allocations, "allocation"),
	    words_bytes(b, c->allocated_bytes));
	say_live(r);
	if (r->options.leaks_ns)
		say_lost(&r->found);
	if (c->programs == 1)
		die_warn("peak: %s", words_bytes(a, c->peak_bytes));
	else
		die_warn("peak: %s, in pid %d %s",
		    words_bytes(a, c->peak_bytes), (int)c->peak_pid,
		    c->peak_name);
	if (r->options.sample_bytes)
		die_warn("sampled: one block in about %s; all figures are "
		         "estimates",
		    words_bytes(a, r->options.sample_bytes));
	die_warn("next: seep report %s", r->file);
}

/* Puts everything together after the end; our exit code, 0 if all is well. */
static int
conclude(struct run *r)
{
	const struct collect_child child = child_of(r, false);
	struct collect *c = &r->collect;
	int err = r->line_error;

	if (err == 0 && r->leaks)
		err = leaks_finish(r->leaks);
	if (r->leaks)
		leaks_found(r->leaks, &r->found);
	leaks_free(r->leaks);
	r->leaks = NULL;
	if (err == 0)
		err = follow_finish(r->follow);
	if (err == 0)
		err = collect_find(c, &r->spool, &child, r->since_jiffies);
	if (err == 0) {
		if (!c->arrived)
			say_not_arrived(r);
		else if (c->declined || c->inert_reason != SEG_INERT_NONE)
			say_declined(
			    r, c->inert_reason, c->place_owner, c->declined);
		err = write_recording(r);
	}
	if (err < 0) {
		die_warn("cannot write %s: %s; the segments are kept until the "
		         "next record: seep report %s",
		    r->file,
		    err == -ESTALE ? "another program wrote into it"
		                   : strerror(-err),
		    r->spool.path);
		return EXIT_OURS;
	}
	if (c->unreadable)
		die_warn("%zu segment%s could not be read and %s left in %s",
		    c->unreadable, c->unreadable == 1 ? "" : "s",
		    c->unreadable == 1 ? "was" : "were", r->spool.path);
	if (c->programs == 0 && r->writer) {
		die_warn("nothing was recorded, %s was not written", r->file);
		collect_remove(c);
		return r->options.require ? EXIT_OURS : 0;
	} else {
		move_snapshots(r);
		if (!r->options.quiet)
			summarise(r);
		if (r->options.export)
			export_at_end(
			    r->file, r->options.export, r->options.quiet);
	}
	collect_remove(c);
	return 0;
}

static int
exit_code(int status)
{
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WEXITSTATUS(status);
}

static int
record(struct run *r)
{
	struct segment_dir_problem why;
	int code;

	code = check_command(r);
	if (code == 0 && !record_opts_needs_pid(&r->options))
		code = check_output(r);
	if (code)
		return code;
	if (segment_dir_init(&r->spool, &why) < 0) {
		die_warn("%s", why.text);
		return EXIT_OURS;
	}
	(void)segment_dir_sweep(&r->spool);
	want_names(r);
	code = start(r);
	if (code == 0)
		code = wait_for_end(r);
	if (code == 0)
		code = conclude(r);
	if (code == 0)
		code = exit_code(r->launch.status);
	leaks_free(r->leaks);
	follow_free(r->follow);
	collect_release(&r->collect);
	embed_free(r->embed);
	segment_dir_release(&r->spool);
	return code;
}

static int
run(const struct cmd *self, int argc, char **argv)
{
	struct run *r;
	int code;

	occupy_standard_files();
	r = calloc(1, sizeof(*r));
	if (!r) {
		die_warn("out of memory");
		return EXIT_OURS;
	}
	record_opts_parse(self, argc, argv, &r->options);
	r->since_jiffies = procs_start_jiffies(getpid());
	quota_init(&r->quota, r->options.max_bytes);
	r->collect.quota = &r->quota;
	code = record(r);
	recording_discard(r->writer);
	quota_release(&r->quota);
	free(r);
	return code;
}

const struct cmd cmd_record = {
    .name = "record",
    .summary = "run a command and record what its heap does",
    .operands = "CMD [ARG...]",
    .about =
        "Runs CMD with the collector in it and in its children, and writes to "
        "FILE what they allocate, over time, while they run. The exit status "
        "is that of CMD, 128+N when it died by signal N; 125 when seep itself "
        "failed, 126 when CMD cannot be executed, 127 when it was not found.",
    .options = record_opts_groups,
    .run = run,
};
