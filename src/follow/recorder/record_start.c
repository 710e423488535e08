/* record_start.c - starts the command of seep record after all checks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/recorder/record_run.h"

#include <sys/resource.h>

#include "attach/program/launch.h"
#include "format/medium.h"
#include "host/proc/procfs_group.h"
#include "kit/os/clock.h"
#include "kit/os/outfile.h"
#include "kit/words/words.h"
#include "segments/find/procs.h"
#include "segments/find/segment_dir.h"
#include "segments/read/losses.h"

/* Exit codes, the same as those of env and nohup. */
enum { EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

/* The exit code if the command cannot be found or executed. */
static int say_not_started(const struct record_run *r, int err)
{
	const char *command = r->options.command[0];

	if (err == -ENOENT && r->options.is_value) {
		r->say("%s: command not found; --leaks, --log and --rss take "
		       "a value with \"=\", as in --leaks=10m",
		    command);
		return EXIT_NOT_FOUND;
	}
	if (err == -ENOENT) {
		r->say("%s: command not found", command);
		return EXIT_NOT_FOUND;
	}
	r->say("%s: cannot be executed: %s", command, strerror(-err));
	return EXIT_NOT_EXECUTABLE;
}

int record_check_command(struct record_run *r)
{
	int err = inspect_command(r->options.command[0], &r->inspect);

	if (err < 0)
		return say_not_started(r, err);
	if (r->inspect.kind == INSPECT_SANITIZER) {
		r->say("%s", r->inspect.message);
		return RECORD_FAILED;
	}
	return 0;
}

static int refuse_written(const struct record_run *r, pid_t holder)
{
	char pid[32] = "";

	if (holder)
		(void)snprintf(pid, sizeof(pid), " (pid %d)", (int)holder);
	r->say("%s: another seep record%s is writing this file; wait until "
	       "that has ended, or choose another name with -o",
	    r->file, pid);
	return RECORD_FAILED;
}

static int refuse_existing(const struct record_run *r)
{
	r->say("%s exists: use --force to replace it, or another name with "
	       "-o",
	    r->file);
	return RECORD_FAILED;
}

int record_claim_output(struct record_run *r)
{
	const struct outfile *o;
	pid_t holder = 0;

	/* seep.data: the one that ends first becomes seep.data.old */
	if (!r->options.output || !r->writer || r->chapter)
		return 0;
	o = recording_outfile(r->writer);
	if (o->direct)
		return 0;
	if (claim_take(&r->claim, r->segment_dir.fd, o->dir_fd, o->name, &holder) == -EBUSY)
		return refuse_written(r, holder);
	/* who had the claim before us may have ended just now */
	if (!r->options.force && faccessat(o->dir_fd, o->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return refuse_existing(r);
	return 0;
}

bool record_rotates(const struct record_options *o)
{
	return o->chapters.ns > 0 || o->chapters.bytes > 0;
}

bool record_needs_pid(const struct record_options *o)
{
	for (const char *p = o->output; p && *p; p++) {
		if (p[0] != '%')
			continue;
		if (p[1] == 'p')
			return true;
		p++;
	}
	return false;
}

static void expand(FILE *f, const struct record_options *o, char what, pid_t pid)
{
	char host[256] = "", name[128];

	switch (what) {
	case 'p':
		(void)fprintf(f, "%d", (int)pid);
		break;
	case 'h':
		(void)gethostname(host, sizeof(host) - 1);
		program_filename(host, name, sizeof(name));
		(void)fputs(name, f);
		break;
	case 'e':
		program_filename(o->command[0], name, sizeof(name));
		(void)fputs(name, f);
		break;
	case 't':
		(void)fprintf(f, "%lld", (long long)time(NULL));
		break;
	default:
		(void)putc('%', f);
	}
}

static bool expand_output(const struct record_options *o, pid_t pid, char *to, size_t bytes)
{
	FILE *f = fmemopen(to, bytes, "w");
	long len;

	if (!f)
		return false;
	for (const char *p = o->output; *p; p++) {
		if (*p == '%')
			expand(f, o, *++p, pid);
		else
			(void)putc(*p, f);
	}
	(void)putc('\0', f);
	(void)fflush(f);
	len = ferror(f) ? -1 : ftell(f);
	(void)fclose(f);
	return len > 0 && (size_t)len < bytes && strlen(to) + 1 == (size_t)len;
}

int record_check_output(struct record_run *r)
{
	enum recording_existing existing = RECORDING_KEEP_OLD;
	pid_t holder = 0;
	int err;

	if (!r->options.output) {
		strcpy(r->file, record_rotates(&r->options) ? "seep.chapters" : "seep.data");
	} else {
		existing = r->options.force ? RECORDING_REPLACE : RECORDING_REFUSE;
		if (!expand_output(&r->options, r->launch.pid, r->file, sizeof(r->file))) {
			r->say("the name %s is too long", r->options.output);
			return RECORD_FAILED;
		}
	}
	if (record_rotates(&r->options))
		return record_open_chapters(r);
	if (existing != RECORDING_KEEP_OLD && claim_is_written(r->file, &holder))
		return refuse_written(r, holder);
	err = recording_create(r->file, existing, &r->writer);
	if (err == 0)
		return 0;
	if (err == -EEXIST)
		return refuse_existing(r);
	r->say("cannot write %s: %s; choose another place with -o", r->file, outfile_error(err));
	return RECORD_FAILED;
}

/* The last step before CMD starts. */
static int clear_output(struct record_run *r)
{
	int err = r->chapter ? record_clear_chapters(r) : recording_clear(r->writer);

	if (err == 0)
		return 0;
	r->say("cannot replace %s: %s; choose another place with -o", r->file, strerror(-err));
	return RECORD_FAILED;
}

/* The name contains the pid, so the file is made when that is known. */
static int make_output(void *context, pid_t pid)
{
	struct record_run *r = context;
	int err;

	r->launch.pid = pid;
	err = record_check_output(r);
	if (!err)
		err = record_claim_output(r);
	return err ? err : clear_output(r);
}

int record_start(struct record_run *r)
{
	char library[4096], companions[4 * 4096];
	struct launch_plan plan = {
	    .argv = r->options.command,
	    .preload = library,
	    .dir = r->segment_dir.path,
	    .session = r->segment_dir.session,
	    .depth = r->options.depth,
	    .no_deepbind = r->options.no_deepbind,
	    .no_guess = r->options.no_guess,
	    .runtime_names = r->options.runtime_names,
	    .leaks = r->options.leaks_ns > 0,
	    .log = r->options.log_bytes > 0,
	    .last = r->options.last,
	    .mappings = r->options.mappings,
	    .sample_bytes = r->options.sample_bytes,
	    .context = r,
	};
	int err;

	if (record_needs_pid(&r->options))
		plan.ready = make_output;

	if (!preload_find(r->say, "libseep.so", library, sizeof(library)))
		return RECORD_FAILED;
	preload_companions(r->say, r->inspect.allocator, companions, sizeof(companions));
	if (r->options.mappings && !preload_mappings(r->say, companions, sizeof(companions)))
		return RECORD_FAILED;
	plan.companions = companions;
	if (r->inspect.kind != INSPECT_FINE) {
		r->say("%s", r->inspect.message);
		r->said_why = true;
	}
	if (r->writer && clear_output(r))
		return RECORD_FAILED;
	r->oom_kills = oom_kills();
	r->start_ns = clock_ns(CLOCK_REALTIME);
	r->start_monotonic_ns = clock_ns(CLOCK_MONOTONIC);
	if (r->options.leaks_ns)
		leaks_announce(&r->segment_dir);
	err = launch_start(&r->launch, &plan);
	if (err == -ECANCELED)
		return RECORD_FAILED; /* make_output() has printed why */
	return err < 0 ? say_not_started(r, err) : 0;
}

/* ---- record_untraced: says why a command of seep record is not traced ---- */

/* A collector that finds less room than 256 KiB does nothing. */
static const char *tight_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	    limit.rlim_cur / MEDIUM_FILE_SHARE < MEDIUM_ROOM_MIN)
		return "the limit on file sizes is too low (ulimit -f)";
	if (getrlimit(RLIMIT_AS, &limit) == 0 &&
	    limit.rlim_cur / MEDIUM_SPACE_SHARE < MEDIUM_ROOM_MIN)
		return "the limit on address space is too low (ulimit -v)";
	return NULL;
}

void record_say_not_arrived(struct record_run *r)
{
	const char *why = tight_limit(), *refused;
	size_t count;
	bool more;

	if (r->said_why)
		return;
	r->said_why = true;
	if (!why && getenv("SEEP_ONLY"))
		why = "SEEP_ONLY is set, and it may be none of its names";
	refused_report(&r->segment_dir, NULL, &count, &more, &refused);
	if (!why && count > 0)
		why = refused;
	if (!why)
		why = "the reason is not known; maybe it, or a program that "
		      "started it, clears the environment, or it ended too early";
	r->say("no collector in %s (pid %d): %s", r->options.command[0], (int)r->launch.pid, why);
}

/* The command has become another program by exec. */
static void say_replaced(struct record_run *r)
{
	struct inspect in;
	bool can_run;

	if (r->said_why)
		return;
	can_run = inspect_pid(r->launch.pid, &in);
	if (in.program[0] == '\0')
		return; /* it is just ending, and has no program any more */
	r->said_why = true;
	if (can_run && in.kind != INSPECT_FINE)
		r->say("%s", in.message);
	else
		r->say("%s (pid %d) has become %s, which has no collector: was "
		       "the environment cleared?",
		    r->options.command[0], (int)r->launch.pid, in.program);
}

void record_say_declined(struct record_run *r, uint32_t reason, uint32_t place_owner, bool whole)
{
	if (r->said_why)
		return;
	r->said_why = true;
	if (reason == SEG_INERT_PLACE) {
		r->say("%s (pid %d) is not traced: %s (uid %u); have it "
		       "removed",
		    r->options.command[0], (int)r->launch.pid, losses_inert(reason), place_owner);
		return;
	}
	r->say("%s (pid %d) is %s: %s", r->options.command[0], (int)r->launch.pid,
	    whole                                ? "not traced"
	        : reason == SEG_INERT_OWN_MALLOC ? "hardly traced, or not at all"
	                                         : "maybe traced in part only",
	    losses_inert(reason));
}

void record_check_arrival(struct record_run *r)
{
	struct seg_header h;

	if (!segment_dir_find(&r->segment_dir, r->launch.pid, &h))
		record_say_not_arrived(r);
	else if (!procs_has_segment(r->launch.pid))
		say_replaced(r);
	else if (h.state == SEG_INERT || h.inert_reason != SEG_INERT_NONE)
		record_say_declined(r, h.inert_reason, h.place_owner, h.state == SEG_INERT);
}
