/* cmd_record.c - seep record: runs a command and writes what it allocated. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/cmd.h"

#include "base/std.h"
#include "command/shell/die.h"
#include "command/options/record_opts.h"
#include "command/shell/export_path.h"
#include "follow/recorder/leaks_look.h"
#include "follow/recorder/record_run.h"
#include "segments/read/losses.h"
#include "follow/recorder/collect_parts.h"
#include "follow/recorder/follow.h"
#include "recording/file/meta.h"
#include "host/proc/procfs_group.h"
#include "segments/find/procs.h"
#include "kit/os/clock.h"
#include "kit/words/words.h"

enum {
	ARRIVAL_NS = 1000000000, /* by then a collector has made its segment */
	WAIT_STEP_MS = 500,
	/* for names at the end of a chapter, before the end of the next */
	CHAPTER_NAMES_S = 30,
	LOOK_NAMES_SECONDS = 30, /* for names at one look */
};

/*
 * If stdin, stdout or stderr is closed, our own files would get its number, and
 * our messages would be written into them. So we open /dev/null there, with
 * close-on-exec: the command finds the descriptors closed, as we did. stdin is
 * opened for writing and the others for reading, so that their use still fails.
 */
static void occupy_standard_files(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)open("/dev/null", (fd == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

static struct collect_child child_of(const struct record_run *r, bool running)
{
	return (struct collect_child){
	    .pid = r->launch.pid,
	    .start_jiffies = r->launch.start_jiffies,
	    .running = running,
	    .status = r->launch.status,
	    .alone = r->options.no_follow,
	};
}

/* `turned`: the chapter ends, and the command runs on. */
static int write_about(struct record_run *r, bool ended, bool turned)
{
	const struct meta about = {
	    .version = SEEP_VERSION,
	    .session = r->segment_dir.session,
	    .program = r->inspect.program,
	    .command = r->options.command,
	    .pid = r->launch.pid,
	    .start_ns = r->start_ns,
	    .start_monotonic_ns = r->start_monotonic_ns,
	    .sample_bytes = r->options.sample_bytes,
	    .leaks_ns = r->options.leaks_ns,
	    .chapter = r->chapter ? chapter_number(r->chapter) : 0,
	    .ended = ended,
	    .turned = turned,
	    .status = r->launch.status,
	    .follow = !r->options.no_follow,
	    .max_rss_bytes = r->launch.max_rss_bytes,
	    .oom_kills = ended ? oom_kills() - r->oom_kills : 0,
	    .unwatched = r->quota.unwatched + r->quota.unlisted,
	    .unplaced = r->collect.where.unplaced,
	    .timeline_cut = r->quota.timeline_cut,
	};

	return meta_write(&about, r->writer);
}

/* If this cannot be written now, the error is printed at the end; CMD runs on. */
/* What looks take beside verdicts; NULL: nothing. */
static const struct leaks_look_more *more_of(struct record_run *r)
{
	r->look_naming = (struct names_options){
	    .debug_dirs = r->options.debug_dirs,
	    .no_symbols = r->options.no_symbols,
	    .seconds = LOOK_NAMES_SECONDS,
	};
	r->look_more = (struct leaks_look_more){.holders = r->options.retained,
	    .types = r->options.types,
	    .make = inventory_make,
	    .context = &r->look_naming};
	return r->options.retained || r->options.types ? &r->look_more : NULL;
}

static void begin_following(struct record_run *r)
{
	const struct follow_plan plan = {
	    .segment_dir = &r->segment_dir,
	    .writer = r->writer,
	    .collect = &r->collect,
	    .child = child_of(r, true),
	    .since_jiffies = r->since_jiffies,
	    .interval_ns = r->options.interval_ns,
	    .start_ns = r->start_monotonic_ns,
	    .run_ns = r->run_monotonic_ns,
	};
	const struct leaks_plan leaks = {
	    .segment_dir = &r->segment_dir,
	    .writer = r->writer,
	    .quota = &r->quota,
	    .every_ns = r->options.leaks_ns,
	    .alone = r->options.no_follow ? r->launch.pid : 0,
	    .more = more_of(r),
	};
	const struct rss_plan pages = {
	    .segment_dir = &r->segment_dir,
	    .writer = r->writer,
	    .every_ns = r->options.rss_ns,
	    .alone = r->options.no_follow ? r->launch.pid : 0,
	};

	if (r->options.log_bytes && !r->collect.drain &&
	    drain_new(r->options.log_bytes, &r->collect.drain) < 0) {
		r->line_error = -ENOMEM;
		return;
	}
	r->line_error = write_about(r, false, false);
	if (r->line_error == 0)
		r->line_error = follow_new(&plan, &r->follow);
	if (r->leaks)
		leaks_turn(r->leaks, r->writer);
	else if (r->line_error == 0 && r->options.leaks_ns)
		r->line_error = leaks_new(&leaks, &r->leaks);
	if (r->rss)
		rss_rounds_turn(r->rss, r->writer);
	else if (r->line_error == 0 && r->options.rss_ns)
		r->line_error = rss_rounds_new(&pages, &r->rss);
}

static void tell_file(void *context, const char *path)
{
	(void)context;
	progress_begin("finding the names of functions in", path);
}

static void note_written(void *context, const struct process *p)
{
	const struct record_run *r = context;

	embed_add(r->embed, p);
	if (r->maps)
		runtime_maps_note(r->maps, p);
}

/* If there is no memory for them, the report looks for the names. */
static void want_names(struct record_run *r, unsigned seconds)
{
	const struct names_options naming = {.debug_dirs = r->options.debug_dirs,
	    .seconds = seconds,
	    .progress = r->options.quiet || record_rotates(&r->options)
	        ? NULL /* the command may run on */
	        : tell_file};

	if (r->options.no_symbols || embed_new(&naming, &r->embed) < 0)
		return;
	r->collect.written = note_written;
	r->collect.context = r;
}

/* The writer keeps an error until recording_finish() returns it. */
static void write_names(struct record_run *r)
{
	if (r->embed && embed_write(r->embed, r->writer) > 0)
		die_warn("%s has no room for the names of functions: a report will "
		         "look for them on the machine where it runs",
		    r->file);
	progress_end();
}

/* ---- chapters ---- */

/*
 * What has ended is in the chapter already; it still lacks the states of the
 * processes that run on, what was left out, and names.
 */
static int end_chapter(struct record_run *r)
{
	const struct collect_child child = child_of(r, true);
	int err;

	/* of processes that end here the next chapter knows nothing */
	if (r->rss)
		rss_rounds_finish(r->rss);
	err = follow_turn(r->follow);
	if (err == 0 && r->collect.drain)
		err = drain_flush(r->collect.drain, r->writer);
	if (err == 0)
		err = collect_find(&r->collect, &r->segment_dir, &child, r->since_jiffies);
	if (err == 0)
		err = collect_write_running(&r->collect, r->writer);
	if (err == 0)
		err = write_about(r, false, true);
	if (err < 0)
		return err;
	record_warn_refused(r);
	record_warn_cut(r);
	/* its file has a name in any case: the next number depends on it */
	err = recording_publish(r->writer);
	return err < 0 ? err : record_end_chapter(r, write_names);
}

static void turn(struct record_run *r)
{
	if (!r->chapter || r->line_error < 0 || !chapter_is_full(r->chapter, &r->options.chapters))
		return;
	r->line_error = end_chapter(r);
	follow_free(r->follow);
	r->follow = NULL;
	embed_free(r->embed);
	r->embed = NULL;
	r->collect.written = NULL;
	if (r->line_error < 0 || record_begin_chapter(r)) {
		r->line_error = r->line_error < 0 ? r->line_error : -EIO;
		return;
	}
	quota_turn(&r->quota);
	want_names(r, CHAPTER_NAMES_S);
	if (!r->run_monotonic_ns)
		r->run_monotonic_ns = r->start_monotonic_ns;
	r->start_ns = clock_ns(CLOCK_REALTIME);
	r->start_monotonic_ns = clock_ns(CLOCK_MONOTONIC);
	begin_following(r);
	/* a chapter has all figures, whatever ends it, and when */
	if (r->line_error == 0)
		r->line_error = follow_look(r->follow);
}

static void look(struct record_run *r)
{
	if (r->follow && r->line_error == 0)
		r->line_error = follow_look(r->follow);
	if (r->leaks && r->line_error == 0)
		r->line_error = leaks_step(r->leaks);
	if (r->rss && r->line_error == 0)
		r->line_error = rss_rounds_step(r->rss);
	turn(r);
}

static int wait_ms(const struct record_run *r)
{
	int ms = WAIT_STEP_MS, leaks_ms, rss_ms, turn_ms;

	if (r->follow && r->line_error == 0)
		ms = follow_wait_ms(r->follow);
	if (r->chapter && r->line_error == 0) {
		turn_ms = chapter_wait_ms(r->chapter, &r->options.chapters);
		ms = turn_ms < ms ? turn_ms : ms;
	}
	if (r->rss && r->line_error == 0) {
		rss_ms = rss_rounds_wait_ms(r->rss);
		ms = rss_ms < ms ? rss_ms : ms;
	}
	if (!r->leaks || r->line_error < 0)
		return ms;
	leaks_ms = leaks_wait_ms(r->leaks);
	return leaks_ms < ms ? leaks_ms : ms;
}

static int wait_for_end(struct record_run *r)
{
	uint64_t arrival_ns = r->start_monotonic_ns + ARRIVAL_NS;
	int err;

	begin_following(r);
	while ((err = launch_wait(&r->launch, wait_ms(r))) == 0) {
		look(r);
		if (arrival_ns && clock_ns(CLOCK_MONOTONIC) >= arrival_ns) {
			record_check_arrival(r);
			arrival_ns = 0;
		}
	}
	if (err < 0) {
		die_warn("cannot wait for %s any more: %s", r->options.command[0], strerror(-err));
		return RECORD_FAILED;
	}
	while (r->options.wait && procs_session_runs(r->since_jiffies, r->segment_dir.session)) {
		int ms = wait_ms(r);

		if (launch_idle(ms < WAIT_STEP_MS ? ms : WAIT_STEP_MS))
			break;
		look(r);
	}
	return 0;
}

/* Descendants that outlive the command. */
static void note_running(void *context, const struct procs_process *p, bool traced)
{
	struct record_run *r = context;
	struct inspect in;

	if (!r->options.quiet)
		die_warn(
		    "still running: %d %s%s", (int)p->pid, p->name, traced ? "" : " (not traced)");
	if (traced || (r->follow && follow_told(r->follow, p->pid, p->start_jiffies)))
		return;
	inspect_pid(p->pid, &in);
	/* the writer keeps an error until recording_finish() returns it */
	(void)meta_write_untraced(
	    r->writer, p->pid, in.program, in.kind != INSPECT_FINE ? in.message : META_NO_REASON);
}

static int write_recording(struct record_run *r)
{
	struct collect *c = &r->collect;
	const char *why = META_NO_REASON;
	int err;

	err = write_about(r, true, false);
	if (err < 0)
		return err;
	if (r->inspect.kind != INSPECT_FINE)
		why = r->inspect.message;
	else if (c->declined)
		why = losses_inert(c->inert_reason);
	if (!c->arrived || c->declined)
		(void)meta_write_untraced(r->writer, r->launch.pid, r->inspect.program, why);
	err = collect_write(c, r->writer);
	if (err < 0)
		return err;
	collect_each_running(c, note_running, r);
	record_warn_refused(r);
	record_warn_cut(r);
	if (c->programs == 0 && (!r->follow || follow_is_empty(r->follow)) && !r->run_monotonic_ns)
		return 0; /* nothing worth a file: see conclude() */
	write_names(r);
	if (r->maps && r->embed)
		runtime_maps_remove(r->maps);
	err = record_await_chapter(r);
	if (err < 0)
		return err;
	err = r->chapter ? chapter_finish(r->chapter) : recording_finish(r->writer);
	r->writer = NULL;
	r->chapter = NULL;
	return err;
}

/* Snapshots that the processes wrote beside their segments. */
static void move_snapshots(const struct record_run *r)
{
	struct copied_snapshots k = {.moved = 0};
	struct stat st;

	if (stat(r->file, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		copy_snapshots(&r->segment_dir, r->file, &k);
	if (k.moved > 0 && !r->options.quiet)
		die_warn("snapshots: %zu in %s", k.moved, k.folder);
	if (k.left > 0)
		die_warn("%s could not be moved to %s and %s left in %s: %s",
		    WORDS_COUNTED(k.left, "snapshot"), k.folder, words_was(k.left),
		    r->segment_dir.path, strerror(-k.err));
}

/* Writes the recording after the end. Returns our exit code, 0 if all is well. */
static int conclude(struct record_run *r)
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
	if (err == 0 && r->rss)
		rss_rounds_finish(r->rss);
	if (err == 0)
		err = follow_finish(r->follow);
	if (err == 0)
		err = collect_find(c, &r->segment_dir, &child, r->since_jiffies);
	if (err == 0) {
		if (!c->arrived)
			record_say_not_arrived(r);
		else if (c->declined || c->inert_reason != SEG_INERT_NONE)
			record_say_declined(r, c->inert_reason, c->place_owner, c->declined);
		err = write_recording(r);
	}
	if (err < 0) {
		die_warn("cannot write %s: %s; its segments are left: seep report %s "
		         "shows them, seep ls --prune removes them",
		    r->file,
		    err == -ESTALE ? "another program wrote into it"
		        : err == -EEXIST && claim_is_written(r->file, &(pid_t){0})
		        ? "another seep record writes it"
		        : err == -EEXIST ? "somebody made a file of that name "
		                           "meanwhile"
		                         : strerror(-err),
		    r->segment_dir.path);
		return RECORD_FAILED;
	}
	if (c->unreadable)
		die_warn("%s could not be read and %s left in %s",
		    WORDS_COUNTED(c->unreadable, "segment"), words_was(c->unreadable),
		    r->segment_dir.path);
	if (c->programs == 0 && r->writer) {
		die_warn("nothing was recorded, so %s was not written", r->file);
		collect_remove(c);
		return r->options.require ? RECORD_FAILED : 0;
	} else {
		move_snapshots(r);
		if (!r->options.quiet)
			record_summarise(r);
		if (r->options.export)
			export_at_end(r->file, r->options.export, r->options.quiet);
	}
	collect_remove(c);
	return 0;
}

static int exit_code(int status)
{
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WEXITSTATUS(status);
}

/* What earlier recorders left there is not ours to delete. */
static void sweep(const struct record_run *r)
{
	size_t unread = segment_dir_sweep(&r->segment_dir);

	if (unread > 0 && !r->options.quiet)
		die_warn("%s of an earlier seep record, which was killed or could "
		         "not write, %s in %s (seep ls lists such segments, seep "
		         "ls --prune removes them)",
		    WORDS_COUNTED(unread, "segment"), words_is(unread), r->segment_dir.path);
}

static int say_variable(void *context, const char *name, const char *value)
{
	(void)context;
	die_warn("set %s=%s", name, value);
	return 0;
}

/* --runtime-names */
static int prepare_runtimes(struct record_run *r)
{
	int err = runtime_maps_new(&r->maps);

	if (err == 0 && !r->options.quiet)
		err = runtime_maps_each(say_variable, NULL);
	return err;
}

static int record(struct record_run *r)
{
	struct segment_dir_problem why;
	int code;

	code = record_check_command(r);
	if (code == 0 && !record_needs_pid(&r->options))
		code = record_check_output(r);
	if (code)
		return code;
	if (segment_dir_init(&r->segment_dir, &why) < 0) {
		die_warn("%s", why.text);
		return RECORD_FAILED;
	}
	code = record_claim_output(r);
	if (code) {
		segment_dir_release(&r->segment_dir);
		return code;
	}
	sweep(r);
	if (r->options.runtime_names && prepare_runtimes(r) < 0) {
		die_warn("out of memory");
		return RECORD_FAILED;
	}
	want_names(r, record_rotates(&r->options) ? CHAPTER_NAMES_S : 0);
	code = record_start(r);
	if (code == 0)
		code = wait_for_end(r);
	if (code == 0)
		code = conclude(r);
	if (code == 0)
		code = exit_code(r->launch.status);
	leaks_free(r->leaks);
	rss_rounds_free(r->rss);
	follow_free(r->follow);
	drain_free(r->collect.drain);
	collect_release(&r->collect);
	embed_free(r->embed);
	runtime_maps_free(r->maps);
	claim_release(&r->claim);
	segment_dir_release(&r->segment_dir);
	return code;
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct record_run *r;
	int code;

	occupy_standard_files();
	r = calloc(1, sizeof(*r));
	if (!r) {
		die_warn("out of memory");
		return RECORD_FAILED;
	}
	r->say = die_warn;
	record_opts_parse(self, argc, argv, &r->options);
	r->since_jiffies = procs_start_jiffies(getpid());
	quota_init(&r->quota, r->options.max_bytes);
	r->collect.quota = &r->quota;
	r->folder_fd = -1;
	r->claim.fd = -1;
	code = record(r);
	if (!r->chapter)
		recording_discard(r->writer);
	record_close_chapters(r);
	quota_release(&r->quota);
	free(r);
	return code;
}

const struct cmd cmd_record = {
    .name = "record",
    .summary = "run a command and record what its heap does",
    .operands = "CMD [ARG...]",
    .about = "Runs CMD with the collector in it and in its children, and writes to "
             "FILE what they allocate, over time, while they run. The exit status "
             "is that of CMD, 128+N when it died by signal N; 125 when seep itself "
             "failed, 126 when CMD cannot be executed, 127 when it was not found.",
    .options = record_opts_groups,
    .run = run,
};
