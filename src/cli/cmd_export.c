/* cmd_export.c - seep export: what others' tools read. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/die.h"
#include "cli/filename.h"
#include "cli/input.h"
#include "cli/name_opts.h"
#include "cli/older_opts.h"
#include "cli/opts.h"
#include "cli/output.h"
#include "cli/privacy.h"
#include "cli/progress.h"
#include "cli/view_opts.h"
#include "export/export.h"
#include "record/pack.h"
#include "report/json_size.h"
#include "report/program.h"

enum { SEQUENCE_MAX = 100000 }; /* files of one name, %n */

struct export_command {
	const char *format, *path, *since;
	bool force, list, full, full_names;
	uint64_t max_bytes;
	unsigned top;
	uint64_t older_ns; /* 0: not asked for */
	struct view_opts sites;
	struct names_options naming;
};

/* What was read, and where the result goes. */
struct job {
	const char *input;             /* NULL: the default */
	struct session *session, *old; /* old: NULL without --since */
	const struct process *only;    /* NULL: all */
	struct older *older;           /* NULL without --older-than */
	char *path;                    /* NULL: stdout */
	char **previous; /* of EXPORT_INCREMENTS: reports before this one */
	size_t previous_count;
};

static void
check_older(const struct export_command *o, const struct export_format *f)
{
	if (!(f->flags & EXPORT_AGES))
		die(CMD_USAGE,
		    "export: --older-than is for csv, html and json, not for "
		    "%s",
		    f->name);
	if (o->since || o->sites.metric != VIEW_LIVE || o->sites.pool.regexp)
		die(CMD_USAGE,
		    "export: --older-than is of blocks of the heap that live, "
		    "not of other figures or differences");
}

static const struct export_format *
find_format(const struct export_command *o)
{
	const struct export_format *f;

	if (!o->format)
		die(CMD_USAGE,
		    "export: needs --format FORMAT (--list tells which)");
	f = export_find(o->format);
	if (!f)
		die(CMD_USAGE,
		    "export: there is no format \"%s\" (--list tells which)",
		    o->format);
	if (o->since && !(f->flags & EXPORT_SINCE))
		die(CMD_USAGE,
		    "export: --format %s cannot tell differences (--since)",
		    f->name);
	if (o->sites.metric != VIEW_LIVE && !(f->flags & EXPORT_METRIC))
		die(CMD_USAGE, "export: --format %s tells %s", f->name,
		    f->flags & EXPORT_DEAD ? "all figures at once"
		                           : "what is live only");
	if (o->older_ns > 0)
		check_older(o, f);
	if (o->top > 0 && o->full)
		die(CMD_USAGE,
		    "export: --top N and --full: only the largest, or all?");
	if (o->top > 0 && !(f->flags & EXPORT_TOP))
		die(CMD_USAGE, "export: --format %s has no rows for --top",
		    f->name);
	return f;
}

static int
list_formats(void)
{
	size_t count;
	const struct export_format *const *all = export_formats(&count);

	for (size_t i = 0; i < count; i++)
		(void)printf("%-12s %s\n", all[i]->name, all[i]->what);
	return output_flush();
}

/* ---- the name of the output ---- */

/* %e program, %p pid, %n a number, %% a percent sign; for free(). */
static char *
fill_in(const char *pattern, const struct process *p, unsigned number)
{
	char program[128]; /* leaves room for more in a name */
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		die(CMD_INPUT, "export: out of memory");
	filename_of_program(p->header.exe, program, sizeof(program));
	for (; *pattern; pattern++) {
		if (pattern[0] != '%' || !strchr("epn%", pattern[1])) {
			(void)putc(*pattern, out);
			continue;
		}
		switch (*++pattern) {
		case 'e':
			(void)fputs(program, out);
			break;
		case 'p':
			(void)fprintf(out, "%u", p->header.pid);
			break;
		case 'n':
			(void)fprintf(out, "%u", number);
			break;
		default:
			(void)putc('%', out);
			break;
		}
	}
	if (fclose(out) != 0)
		die(CMD_INPUT, "export: out of memory");
	return text;
}

/* Does it have %n, and not as part of %%n? Or %p. */
static bool
has_mark(const char *pattern, char mark)
{
	for (; pattern && *pattern; pattern++)
		if (pattern[0] == '%' && *++pattern == mark)
			return true;
		else if (*pattern == '\0')
			break;
	return false;
}

/* Was the file written while the process ran, not in the life of another? */
static bool
is_of(const char *path, const struct process *p)
{
	struct stat st;

	/* a link, or the file of somebody else, is no report of ours */
	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_uid == geteuid() &&
	    (uint64_t)st.st_mtim.tv_sec * 1000000000 +
	        (uint64_t)st.st_mtim.tv_nsec >=
	    p->header.start_realtime_ns;
}

static void
add_previous(struct job *job, char *path)
{
	job->previous = reallocarray(
	    job->previous, job->previous_count + 1, sizeof(*job->previous));
	if (!job->previous)
		die(CMD_INPUT, "export: out of memory");
	job->previous[job->previous_count++] = path;
}

static void
forget_path(struct job *job)
{
	for (size_t i = 0; i < job->previous_count; i++)
		free(job->previous[i]);
	free(job->previous);
	free(job->path);
	job->path = NULL;
	job->previous = NULL;
	job->previous_count = 0;
}

/*
 * Sets the path; NULL is standard output. With %n it is the first that is not
 * there yet, and those before it are the previous reports of this process.
 */
static void
choose_path(
    const struct export_command *o, const struct process *p, struct job *job)
{
	forget_path(job);
	if (!o->path || strcmp(o->path, "-") == 0)
		return;
	job->path = fill_in(o->path, p, 1);
	for (unsigned n = 2; n < SEQUENCE_MAX && has_mark(o->path, 'n') &&
	     access(job->path, F_OK) == 0;
	     n++) {
		if (is_of(job->path, p))
			add_previous(job, job->path);
		else
			free(job->path);
		job->path = fill_in(o->path, p, n);
	}
}

/* ---- the work ---- */

/* The process that names are made of: the one asked for, or the first. */
static const struct process *
first_process(const struct session *s, unsigned pid)
{
	for (size_t i = 0; pid != 0 && i < s->count; i++)
		if (s->processes[i]->header.pid == pid)
			return s->processes[i];
	if (pid != 0)
		die(CMD_INPUT, "export: no process %u is in the input", pid);
	return s->processes[0];
}

static uint64_t
peak_of(const struct process *p)
{
	return p->totals.peak_bytes;
}

/* Of a format that tells one process: it, or the one with the highest peak. */
static const struct process *
choose_process(const struct session *s, const struct export_command *o)
{
	const struct process *best = NULL;
	size_t count = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = s->processes[i];

		if (o->sites.pid != 0 && p->header.pid != o->sites.pid)
			continue;
		count++;
		if (!best || peak_of(p) > peak_of(best))
			best = p;
	}
	if (count > 1)
		die_warn("--format %s is of one process: this is %" PRIu32
		         " (%s), whose peak is the highest of %zu; --pid N "
		         "chooses another",
		    o->format, best->header.pid, program_name(&best->header),
		    count);
	return best;
}

static struct view *
make_view(const struct export_command *o, const struct export_format *f,
    const struct job *job, struct names *names)
{
	struct view_side before = {.session = job->old};
	struct view_options options;
	struct view *v;

	view_opts_finish_exact("export", &o->sites, &options);
	options.only = job->only;
	if (!(f->flags & EXPORT_DEPTH))
		options.depth = 0; /* the format's own business */
	options.all_kinds = f->flags & EXPORT_KINDS;
	options.brief_names = !o->full_names;
	options.older = job->older;
	options.group = f->flags & EXPORT_GROUPED;
	options.fold = f->flags & EXPORT_FOLDED;
	options.merge = f->flags & EXPORT_MERGED || options.merge;
	if (f->flags & EXPORT_DEAD)
		options.metric = VIEW_ALL;
	if (!(f->flags & EXPORT_GROUPED))
		options.merge = false; /* addresses are a process's own */
	if (job->old) {
		options.merge = true;
		options.before = &before;
	}
	if (view_new(job->session, names, &options, &v) < 0)
		die(CMD_INPUT, "export: out of memory");
	return v;
}

static int
write_job(FILE *out, const struct export_command *o,
    const struct export_format *f, const struct job *job, struct names *names)
{
	const struct export_options shape = {.metric = o->sites.metric,
	    .depth = o->sites.depth == UINT_MAX ? 0 : o->sites.depth,
	    .top = o->top,
	    .version = SEEP_VERSION,
	    .since = job->old != NULL,
	    .full = o->full,
	    .older = job->older != NULL,
	    .pid = o->sites.pid,
	    .only = job->only,
	    .previous = job->previous,
	    .previous_count = job->old ? 0 : job->previous_count};
	struct view_options options;
	struct view *v;
	int err;

	if (!f->write) { /* it makes views of its own */
		view_opts_finish_exact("export", &o->sites, &options);
		options.older = job->older;
		if (job->only)
			options.pid = job->only->header.pid;
		return f->write_session(
		    out, job->session, names, &options, &shape);
	}
	v = make_view(o, f, job, names);
	err = f->write(out, v, &shape);
	view_free(v);
	return err;
}

static void
tell_path(const char *path)
{
	if (path)
		output_tell_path(path);
	(void)output_flush();
}

/* Those of the process itself, or of seep snapshot, beside the input. */
static void
add_snapshots(struct session *s)
{
	size_t notes = s->note_count;
	struct fault where;

	if (session_add_snapshots(s, &where) < 0)
		die(CMD_INPUT, "export: %s", where.text);
	privacy_note_snapshots(s);
	for (size_t i = notes; i < s->note_count; i++)
		die_warn("%s", s->notes[i]);
}

static void
load(const struct export_command *o, const struct export_format *f,
    const char *input, struct job *ret)
{
	progress_begin("reading", input ? input : INPUT_DEFAULT);
	*ret = (struct job){.input = input, .session = input_load(input)};
	if (f->flags & EXPORT_MOMENTS)
		add_snapshots(ret->session);
	if (o->since)
		ret->old = input_load(o->since);
	ret->older = older_opts_find("export", ret->session, o->older_ns);
	if (ret->older && f->write) /* it has no place for words */
		older_opts_warn("export", ret->older);
	if ((!o->path || strcmp(o->path, "-") == 0) &&
	    f->flags & EXPORT_BINARY && isatty(STDOUT_FILENO) == 1)
		die(CMD_USAGE,
		    "export: --format %s is not for a terminal; give it -o "
		    "FILE",
		    f->name);
}

/* What chooses sites has no meaning where whole files are copied. */
static void
check_packed(const struct export_command *o)
{
	const struct view_opts *v = &o->sites;

	if (!o->path || strcmp(o->path, "-") == 0)
		die(CMD_USAGE, "export: --format seep needs -o FILE");
	if (v->include.regexp || v->exclude.regexp || v->module.regexp ||
	    v->exclude_module.regexp || v->pool.regexp || v->wrapper.regexp ||
	    v->min_size || v->max_size || v->suppress.count > 0 ||
	    v->no_suppress || v->merge || v->skip_wrappers ||
	    v->depth != UINT_MAX || o->full)
		die(CMD_USAGE,
		    "export: --format seep has whole processes: only --pid "
		    "chooses");
}

/* A recording with names, of the files that were read. */
static void
write_packed(const struct export_command *o, const char *input,
    const struct process *only, const char *path)
{
	const struct pack_plan plan = {.path = path,
	    .existing = o->force ? RECORDING_REPLACE : RECORDING_REFUSE,
	    .naming = &o->naming,
	    .pid = only ? only->header.pid : o->sites.pid};
	struct fault where = {""};
	pid_t pid;
	int err;

	if (input && input_is_pid(input, &pid))
		err = pack_pid(&plan, pid, &where);
	else
		err = pack_file(&plan, input ? input : INPUT_DEFAULT, &where);
	progress_end();
	if (err == -EEXIST)
		die(CMD_INPUT, "%s exists: use --force to replace it", path);
	if (err < 0)
		die(CMD_INPUT, "export: %s", where.text);
}

static void
check_size(
    const struct export_command *o, const struct job *job, struct names *names)
{
	struct view_options options;
	uint64_t bytes;

	view_opts_finish_exact("export", &o->sites, &options);
	if (job->only)
		options.pid = job->only->header.pid;
	if (json_size(job->session, names, &options, output_max(), &bytes) < 0)
		die(CMD_INPUT, "export: out of memory");
	output_check_json("export", bytes);
}

/* One file. */
static void
write_file(const struct export_command *o, const struct export_format *f,
    const struct job *job, struct names *names)
{
	struct output out;
	int err;

	if (f->flags & EXPORT_PACKED) {
		write_packed(o, job->input, job->only, job->path);
		if (has_mark(o->path, 'n'))
			tell_path(job->path);
		return;
	}
	output_limit(o->max_bytes);
	if (strcmp(f->name, "json") == 0)
		check_size(o, job, names);
	if (o->force)
		output_open(&out, job->path);
	else
		output_open_new(&out, job->path);
	err = write_job(out.file, o, f, job, names);
	progress_end();
	if (err == -ENOMEM)
		die(CMD_INPUT, "export: out of memory");
	if (err < 0 && !ferror(out.file))
		die(CMD_INPUT, "export: cannot read: %s", strerror(-err));
	output_finish(&out);
	if (job->path && has_mark(o->path, 'n'))
		tell_path(job->path); /* nobody else knows it */
}

/* With %p in its name every process has a file of its own. */
static void
write_files(const struct export_command *o, const struct export_format *f,
    struct job *job, struct names *names)
{
	const struct session *s = job->session;
	const struct process *first = first_process(s, o->sites.pid);
	bool apart =
	    s->count > 1 && o->sites.pid == 0 && has_mark(o->path, 'p');

	for (size_t i = 0; apart && i < s->count; i++) {
		job->only = s->processes[i];
		choose_path(o, job->only, job);
		write_file(o, f, job, names);
	}
	if (!apart) {
		if (f->flags & EXPORT_ONE)
			job->only = choose_process(s, o);
		choose_path(o, first, job);
		write_file(o, f, job, names);
	}
}

static int
run(const struct cmd *self, int argc, char **argv)
{
	struct export_command o = {.sites = view_opts_default};
	int answer, n = opts_parse(self, argc, argv, &o);
	const struct export_format *f;
	struct names *names;
	struct job job;

	if (o.list)
		return list_formats();
	f = find_format(&o);
	if (f->flags & EXPORT_PACKED)
		check_packed(&o);
	if (o.since) /* start-up remainders are there before and after */
		o.sites.no_suppress = true;
	load(&o, f, n ? argv[1] : NULL, &job);
	answer = job.session->is_truncated || (job.old && job.old->is_truncated)
	    ? CMD_INPUT
	    : CMD_OK;
	names = name_opts_open(self->name, &o.naming);
	progress_begin("finding names", NULL);
	write_files(&o, f, &job, names);
	names_free(names);
	older_free(job.older);
	session_free(job.old);
	session_free(job.session);
	forget_path(&job);
	return answer;
}

#define AT(field) offsetof(struct export_command, field)

static const struct opts_option output[] = {
    {"format", 0, OPTS_TEXT, AT(format), 0, "FORMAT",
        "one of the formats that --list prints"},
    {"output", 'o', OPTS_TEXT, AT(path), 0, "FILE",
        "write to FILE when complete (-: to stdout, the default); %e in its "
        "name is the program, %p its pid (several processes: a file for each), "
        "%n the first number from 1 that is free"},
    {"force", 0, OPTS_FLAG, AT(force), 0, NULL, "replace FILE if it is there"},
    {"since", 0, OPTS_TEXT, AT(since), 0, "INPUT",
        "differences from an earlier INPUT, where the format has them"},
    {"older-than", 0, OPTS_TIME, AT(older_ns), 0, "TIME",
        OLDER_OPTS_MEANING "; in csv, html and json"},
    {"list", 0, OPTS_FLAG, AT(list), 0, NULL, "list the formats"},
    {"max-output", 0, OPTS_SIZE, AT(max_bytes), 0, "SIZE", OUTPUT_MAX_HELP},
    {0},
};

static const struct opts_option shape[] = {
    {"depth", 0, OPTS_COUNT, AT(sites.depth), 0, "N",
        "frames of a stack, where the format has stacks"},
    {"top", 0, OPTS_COUNT, AT(top), 0, "N", "only the N largest rows"},
    {"full", 0, OPTS_FLAG, AT(full), 0, NULL,
        "keep small sites, which html, dot and massif otherwise merge"},
    {"full-names", 0, OPTS_FLAG, AT(full_names), 0, NULL,
        "print C++ and Rust functions with all their arguments (json, html and "
        "memlog have these in any case)"},
    {"skip-wrappers", 0, OPTS_FLAG, AT(sites.skip_wrappers), 0, NULL,
        "begin stacks at the caller of strdup, xmalloc and the like"},
    {"wrapper", 0, OPTS_REGEXP, AT(sites.wrapper), 0, "RE",
        "--skip-wrappers, and functions that match are wrappers too"},
    {0},
};

static const struct opts_group options[] = {
    {"Output", output, 0},
    {"What to show", view_opts_metrics, AT(sites)},
    {"How much of it", shape, 0},
    {"Which sites", view_opts_filters, AT(sites)},
    {"Where names come from", name_opts_rows, AT(naming)},
    {0},
};

const struct cmd cmd_export = {
    .name = "export",
    .summary = "write what other tools read",
    .operands = "[INPUT]",
    .about = "Writes what INPUT has in the form of another tool. INPUT is a "
             "recording (default: " INPUT_DEFAULT "), a segment or snapshot "
             "file, a directory of them, or the PID of a traced process. A "
             "file that is there is not replaced without --force.",
    .options = options,
    .run = run,
};
