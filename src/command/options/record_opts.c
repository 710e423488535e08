/* record_opts.c - the command line of seep record. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/options/record_opts.h"

#include "analysis/rss/rss_reading.h"
#include "base/std.h"
#include "command/cmd.h"
#include "command/options/opts.h"
#include "command/options/view_opts.h"
#include "command/shell/die.h"
#include "command/shell/export_path.h"
#include "follow/recorder/quota.h"
#include "host/proc/procfs.h"

#define MS UINT64_C(1000000)

#define SAMPLE_MAX (UINT64_C(1) << 40)

enum {
	DEPTH_MAX = 4096,
	MAX_SIZE_MIN = 64 << 10,
	LEAKS_SECONDS = 600,
	LOG_MIB = 4096,
	RSS_SECONDS = 10,
	CHAPTER_MIN = 256 << 10, /* bytes */
	CHAPTER_LEAST_S = 10,    /* see struct chapter_limits */
};

struct record_args {
	struct record_options options; /* the first, so that both have the same offsets */
	struct opts_list rotate;       /* TIME, SIZE, as they were given */
};

#define AT(field) offsetof(struct record_options, field)

static const struct opts_option output_rows[] = {
    {"output", 'o', OPTS_TEXT, AT(output), 0, "FILE",
        "write to FILE (default seep.data, where an existing one becomes "
        "seep.data.old); %p in its name is the pid of CMD, %h the host, %e the "
        "name of CMD, %t the time, %% a '%'"},
    {"force", 0, OPTS_FLAG, AT(force), 0, NULL,
        "replace an existing FILE; it is removed before CMD starts"},
    {"max-size", 0, OPTS_SIZE, AT(max_bytes), 0, "SIZE",
        "write at most about SIZE (default 16GiB); what does not fit is "
        "counted, and seep check then exits with 3"},
    {"rotate", 0, OPTS_LIST, offsetof(struct record_args, rotate), 0, "TIME|SIZE",
        "write chapters, recordings that take turns after a TIME (24h) or "
        "about a SIZE (64MiB; both: give it twice), to the folder FILE "
        "(default seep.chapters), behind those that it has; the folder is an "
        "INPUT of all commands"},
    {"require", 0, OPTS_FLAG, AT(require), 0, NULL,
        "exit with 125 when nothing could be recorded, whatever CMD did"},
    {"no-symbols", 0, OPTS_FLAG, AT(no_symbols), 0, NULL,
        "do not keep the names of functions in FILE: a report then needs the "
        "programs that ran"},
    {"debug-dir", 0, OPTS_PATHS, AT(debug_dirs), 0, "DIR",
        "search DIR for debug information and modules"},
    {"export", 0, OPTS_TEXT, AT(export), 0, "FORMAT",
        "at the end, also write files named PROGRAM-PID-NUMBER in a format of "
        "seep export, one for each process"},
    {"quiet", 'q', OPTS_FLAG, AT(quiet), 0, NULL, "print no summary at the end"},
    {0},
};

static const struct opts_option what_rows[] = {
    {"leaks", 0, OPTS_EVERY, AT(leaks_ns), LEAKS_SECONDS, "[=EVERY]",
        "look for blocks that nothing points to any more: when a process ends, "
        "which waits for that, and each time EVERY has passed while it runs "
        "(default 10m)"},
    {"retained", 0, OPTS_FLAG, AT(retained), 0, NULL,
        "at each look of --leaks, which this implies, also keep who holds the "
        "memory, and how much each site retains: for seep leaks --retained, "
        "seep report and the page"},
    {"types", 0, OPTS_FLAG, AT(types), 0, NULL,
        "at each look of --leaks, which this implies, also count the live "
        "blocks by C++ type: for seep leaks --types and the page"},
    {"log", 0, OPTS_UP_TO, AT(log_bytes), LOG_MIB, "[=LIMIT]",
        "also record every single event, for seep dump, until the events take "
        "LIMIT in FILE (default 4GiB)"},
    {"last", 0, OPTS_FLAG, AT(last), 0, NULL,
        "keep the last 8,192 events of each thread of each process, for seep "
        "dump --last and seep who; SEEP_LOG=last:N,frees in the environment "
        "keeps N, with the call stacks that free"},
    {"rss", 0, OPTS_EVERY, AT(rss_ns), RSS_SECONDS, "[=EVERY]",
        "keep which pages are resident, and which sites hold them, each time "
        "EVERY has passed (default 10s): for seep report --rss"},
    {"sample", 0, OPTS_SIZE, AT(sample_bytes), 0, "SIZE",
        "record about one block in every SIZE bytes (512K, 1M)"},
    {"interval", 0, OPTS_TIME, AT(interval_ns), 0, "TIME",
        "time between two points of the time line (100ms, 2s, 1m; default "
        "100ms, after 100 s 1s, after an hour 10s)"},
    {"depth", 0, OPTS_COUNT, AT(depth), 0, "N", "keep at most N frames of a stack"},
    {"no-follow", 0, OPTS_FLAG, AT(no_follow), 0, NULL, "record CMD alone, not its children"},
    {"no-deepbind", 0, OPTS_FLAG, AT(no_deepbind), 0, NULL,
        "load modules without RTLD_DEEPBIND, which hides their allocations; "
        "a module that relies on the flag may find another library's symbols"},
    {"mappings", 0, OPTS_FLAG, AT(mappings), 0, NULL,
        "also record who calls mmap for private memory without a file, apart "
        "from the heap (report --mappings)"},
    {"no-guess", 0, OPTS_FLAG, AT(no_guess), 0, NULL,
        "end stacks at code without unwind information, which they pass by "
        "frame pointers otherwise"},
    {"runtime-names", 0, OPTS_FLAG, AT(runtime_names), 0, NULL,
        "make node, java and Python 3.12 or later write the names of their "
        "functions (NODE_OPTIONS, JAVA_TOOL_OPTIONS, PYTHONPERFSUPPORT)"},
    {"wait", 0, OPTS_FLAG, AT(wait), 0, NULL,
        "wait for the last process of the tree, not only for CMD"},
    {0},
};

const struct opts_group record_opts_groups[] = {
    {"What to record", what_rows, 0},
    {"Output", output_rows, 0},
    {0},
};

static void check_pattern(const char *output)
{
	for (const char *p = strchr(output, '%'); p; p = strchr(p, '%')) {
		if (!p[1] || !strchr("phet%", p[1]))
			die(CMD_USAGE,
			    "record: '%s': in the name of the output only %%p, "
			    "%%h, %%e, %%t and %%%% have a meaning",
			    output);
		p += 2;
	}
}

/* The value of an option that was not given; a user cannot type it. */
static const struct record_options not_given = {.depth = UINT32_MAX,
    .leaks_ns = UINT64_MAX,
    .log_bytes = UINT64_MAX,
    .rss_ns = UINT64_MAX,
    .interval_ns = UINT64_MAX,
    .sample_bytes = UINT64_MAX,
    .max_bytes = QUOTA_FILE_BYTES};

/* SEEP_LOG of the environment says more than the option, or something else. */
static void check_environment(const struct record_options *o)
{
	const char *log = getenv("SEEP_LOG");

	if (!log || !log[0])
		return;
	if (o->log_bytes != UINT64_MAX && strcmp(log, "1") != 0 && strcmp(log, "addresses") != 0)
		die(CMD_USAGE,
		    "record: --log needs SEEP_LOG=1 or SEEP_LOG=addresses, and "
		    "the environment has SEEP_LOG=%s: unset it",
		    log);
	if (o->last && strncmp(log, "last", 4) != 0)
		die(CMD_USAGE,
		    "record: --last needs SEEP_LOG=last, and the environment "
		    "has SEEP_LOG=%s: unset it",
		    log);
}

static void check_numbers(const struct record_options *o)
{
	if (o->depth != UINT32_MAX && (o->depth < 1 || o->depth > DEPTH_MAX))
		die(CMD_USAGE, "record: --depth takes a number from 1 to %d, not %u", DEPTH_MAX,
		    o->depth);
	if (o->interval_ns != UINT64_MAX &&
	    (o->interval_ns < 10 * MS || o->interval_ns > 3600000 * MS))
		die(CMD_USAGE, "record: --interval takes a time from 10ms to 60m");
	if (o->sample_bytes != UINT64_MAX && (o->sample_bytes < 1 || o->sample_bytes > SAMPLE_MAX))
		die(CMD_USAGE, "record: --sample takes a size from 1 to 1TiB");
	if (o->leaks_ns != UINT64_MAX &&
	    (o->leaks_ns < 1000 * MS || o->leaks_ns > UINT64_C(720) * 3600000 * MS))
		die(CMD_USAGE, "record: --leaks takes a time from 1s to 720h");
	if (o->log_bytes != UINT64_MAX && o->log_bytes < MAX_SIZE_MIN)
		die(CMD_USAGE, "record: --log takes a size from 64KiB on");
	if (o->last && o->log_bytes != UINT64_MAX)
		die(CMD_USAGE,
		    "record: --log has every event, so it does not go with "
		    "--last");
	if (o->last && o->sample_bytes != UINT64_MAX)
		die(CMD_USAGE,
		    "record: --last does not go with --sample, because a "
		    "sample lacks most events");
	if (o->log_bytes != UINT64_MAX && o->sample_bytes != UINT64_MAX)
		die(CMD_USAGE,
		    "record: --log has every event, so it does not go with "
		    "--sample");
	check_environment(o);
	if (o->rss_ns != UINT64_MAX &&
	    (o->rss_ns < 100 * MS || o->rss_ns > UINT64_C(720) * 3600000 * MS))
		die(CMD_USAGE, "record: --rss takes a time from 100ms to 720h");
	if (o->max_bytes < MAX_SIZE_MIN)
		die(CMD_USAGE, "record: --max-size takes a size from 64KiB on");
}

/* Sizes and times are told apart by their units. */
static void take_rotate(struct record_options *o, const struct opts_list *rotate)
{
	for (size_t i = 0; i < rotate->count; i++) {
		const char *text = rotate->items[i];
		uint64_t *to, value;

		if (values_time(text, &value))
			to = &o->chapters.ns;
		else if (values_size(text, &value))
			to = &o->chapters.bytes;
		else
			die(CMD_USAGE,
			    "record: --rotate takes a time, as 24h, or a size, "
			    "as 64MiB, not \"%s\"",
			    text);
		if (value < (to == &o->chapters.ns ? 1000 * MS : CHAPTER_MIN))
			die(CMD_USAGE,
			    "record: --rotate takes a time from 1s, or a size "
			    "from 256KiB on, not \"%s\"",
			    text);
		*to = value;
	}
	o->chapters.least_ns = CHAPTER_LEAST_S * (1000 * MS);
	if (o->chapters.bytes > o->max_bytes / 2)
		die(CMD_USAGE,
		    "record: --max-size is that of a chapter, and at least "
		    "twice the size of --rotate");
}

void record_opts_parse(const struct cmd *self, int argc, char **argv, struct record_options *o)
{
	struct record_args a = {.options = not_given};
	uint64_t value;

	(void)opts_parse(self, argc, argv, &a);
	*o = a.options;
	check_numbers(o);
	take_rotate(o, &a.rotate);
	if (o->leaks_ns == UINT64_MAX)
		o->leaks_ns = o->retained || o->types ? MS * 1000 * LEAKS_SECONDS : 0;
	if (o->log_bytes == UINT64_MAX)
		o->log_bytes = 0;
	if (o->rss_ns == UINT64_MAX)
		o->rss_ns = 0;
	if (o->depth == UINT32_MAX)
		o->depth = 0;
	if (o->interval_ns == UINT64_MAX)
		o->interval_ns = 0;
	if (o->sample_bytes == UINT64_MAX)
		o->sample_bytes = 0;
	if (o->output)
		check_pattern(o->output);
	if (o->export)
		export_at_end_check(self->name, o->export);
	name_opts_check(self->name, o->debug_dirs);
	o->command = argv + 1;
	o->is_value = values_time(argv[1], &value) || values_size(argv[1], &value);
}

/* ---- rss_opts: --rss: reads which pages of running processes are resident ---- */

static const char *cause(int err)
{
	switch (err) {
	case -EACCES:
		return "the system does not let you look at it; as root, or "
		       "with CAP_SYS_PTRACE, it does";
	case -ESRCH:
		return "it has ended, or become another program, while it was "
		       "read";
	case -ETIMEDOUT:
		return "reading its memory takes too long";
	case -ENOMEM:
		return "out of memory";
	default:
		return strerror(-err);
	}
}

/* A snapshot of a process that runs is of another moment than the process. */
static bool can_be_read(const struct process *p)
{
	return p->running_pid > 0 && !p->is_snapshot && !p->rss_account;
}

/*
 * The pid of a process that hides which files it maps, so that nobody can tell
 * whether it is still the program of this segment; 0: it has ended. It may have
 * become another program that hides itself, too: then its sums are shown.
 */
static pid_t hidden_pid(const struct process *p)
{
	const struct seg_header *h = &p->header;
	struct procfs_stat now;

	if (p->end != PROCESS_UNKNOWN || p->is_snapshot || p->rss_account ||
	    h->start_jiffies == 0 || procfs_stat((pid_t)h->pid, &now) < 0)
		return 0;
	return now.start_jiffies == h->start_jiffies ? (pid_t)h->pid : 0;
}

/* Reads what can be read of it. */
static int read_one(struct process *p, struct fault *where)
{
	pid_t pid = hidden_pid(p);
	int err;

	if (can_be_read(p))
		return rss_reading_attach(p, where);
	if (pid == 0)
		return 0;
	p->running_pid = pid;
	err = rss_reading_attach(p, where);
	p->running_pid = 0;
	return err;
}

void rss_opts_read(const char *command, struct session *s, uint32_t pid)
{
	size_t known = 0, failed = 0;

	for (size_t i = 0; i < s->count; i++) {
		struct process *p = s->processes[i];
		struct fault where = {""};
		int err;

		if (pid != 0 && p->header.pid != pid)
			continue;
		err = read_one(p, &where);
		if (err < 0 && s->count == 1)
			die(CMD_INPUT, "%s: --rss: process %u: %s", command, p->header.pid,
			    cause(err));
		if (err < 0)
			die_warn("%s: --rss: process %u: %s", command, p->header.pid, cause(err));
		failed += err < 0;
		known += p->rss_account != NULL;
	}
	if (known > 0)
		return;
	if (failed > 0)
		die(CMD_INPUT, "%s: --rss: no process could be read", command);
	die(CMD_USAGE,
	    "%s: --rss: no reading of pages in this input; seep report PID "
	    "--rss reads a running process, and seep snapshot and seep record "
	    "--rss keep a reading (every 10 s; for a shorter run: --rss=100ms)",
	    command);
}
