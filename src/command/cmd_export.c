/* cmd_export.c - seep export: writes formats of other tools. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "command/cmd.h"

#include "base/std.h"
#include "command/shell/die.h"
#include "command/options/event_opts.h"
#include "command/shell/export_path.h"
#include "command/shell/input.h"
#include "command/options/view_opts.h"
#include "command/options/record_opts.h"
#include "command/shell/output.h"
#include "print/export/pack.h"
#include "print/json/report_json.h"

/* The inputs that were read, and the place of the result. */
struct job {
	const char *input;             /* NULL: the default */
	struct session *session, *old; /* old: NULL without --since */
	const struct process *only;    /* NULL: all */
	struct older *older;           /* NULL without --older-than */
	struct export_path path;
};

static int list_formats(void)
{
	size_t count;
	const struct export_format *const *all = export_formats(&count);

	for (size_t i = 0; i < count; i++)
		(void)printf("%-12s %s\n", all[i]->name, all[i]->what);
	return output_flush();
}

/* The process that the file name is made of: the selected one, or the first. */
static const struct process *first_process(const struct session *s, unsigned pid)
{
	for (size_t i = 0; pid != 0 && i < s->count; i++)
		if (s->processes[i]->header.pid == pid)
			return s->processes[i];
	if (pid != 0)
		die(CMD_INPUT, "export: the input has no process %u", pid);
	return s->processes[0];
}

static struct view *make_view(const struct export_opts *o, const struct export_format *f,
    const struct job *job, struct names *names)
{
	struct view_side before = {.session = job->old};
	struct view_options options;
	struct view *v;

	view_opts_finish_exact("export", &o->sites, &options);
	options.only = job->only;
	if (!(f->flags & EXPORT_DEPTH))
		options.depth = 0; /* the format itself decides that */
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

/*
 * The events of the process, if it is one and its log is complete. With --since
 * there are only sums.
 */
static const struct export_events *find_events(const struct export_opts *o,
    const struct export_format *f, const struct job *job, struct log_input *ret)
{
	const struct session *s = job->session;
	const struct process *one = job->only ? job->only : s->count == 1 ? s->processes[0] : NULL;

	*ret = (struct log_input){.command = "export", .input = job->input};
	for (size_t i = 0; !job->only && o->sites.pid && i < s->count; i++) {
		if (s->processes[i]->header.pid != o->sites.pid)
			continue;
		if (one)
			return NULL; /* a pid that was used again */
		one = s->processes[i];
	}
	if (!(f->flags & EXPORT_EVENTS) || job->old || !one ||
	    !log_input_complete(ret, s, one_process_number(s, one)))
		return NULL;
	return &ret->events;
}

static int write_job(FILE *out, const struct export_opts *o, const struct export_format *f,
    const struct job *job, struct names *names)
{
	struct export_options shape = {.metric = o->sites.metric,
	    .depth = o->sites.depth == UINT_MAX ? 0 : o->sites.depth,
	    .top = o->top,
	    .version = SEEP_VERSION,
	    .since = job->old != NULL,
	    .full = o->full,
	    .older = job->older != NULL,
	    .pid = o->sites.pid,
	    .only = job->only,
	    .previous = job->path.previous,
	    .previous_count = job->old ? 0 : job->path.previous_count};
	struct view_options options;
	struct log_input log;
	struct view *v;
	int err;

	shape.events = find_events(o, f, job, &log);
	if (!f->write) { /* it makes its own views */
		view_opts_finish_exact("export", &o->sites, &options);
		options.older = job->older;
		if (job->only)
			options.pid = job->only->header.pid;
		return f->write_session(out, job->session, names, &options, &shape);
	}
	v = make_view(o, f, job, names);
	err = f->write(out, v, &shape);
	view_free(v);
	return err;
}

static void tell_path(const char *path)
{
	if (path)
		output_tell_path(path);
	(void)output_flush();
}

/*
 * Adds snapshots of the process itself, or of seep snapshot, beside the input.
 */
static void add_snapshots(struct session *s)
{
	size_t notes = s->note_count;
	struct fault where;

	if (session_add_snapshots(s, &where) < 0)
		die(CMD_INPUT, "export: %s", where.text);
	privacy_note_snapshots(s);
	for (size_t i = notes; i < s->note_count; i++)
		die_warn("%s", s->notes[i]);
}

static void load(
    const struct export_opts *o, const struct export_format *f, const char *input, struct job *ret)
{
	progress_begin("reading", input ? input : INPUT_DEFAULT);
	*ret = (struct job){.input = input, .session = input_load(input)};
	if (f->flags & EXPORT_MOMENTS)
		add_snapshots(ret->session);
	if (o->since) {
		ret->old = input_load(o->since);
		input_warn_swapped("export", ret->old, ret->session);
	}
	if (o->rss)
		rss_opts_read("export", ret->session, o->sites.pid);
	ret->older = older_opts_find("export", ret->session, o->older_ns);
	if (ret->older && f->write) /* the format has no place for remarks */
		older_opts_warn("export", ret->older);
	if ((!o->path || strcmp(o->path, "-") == 0) && f->flags & EXPORT_BINARY &&
	    isatty(STDOUT_FILENO) == 1)
		die(CMD_USAGE,
		    "export: --format %s is not for a terminal; give it -o "
		    "FILE",
		    f->name);
}

/* Writes a recording with names from the files that were read. */
static void write_packed(
    const struct export_opts *o, const char *input, const struct process *only, const char *path)
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

static void check_size(const struct export_opts *o, const struct job *job, struct names *names)
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
static void write_file(const struct export_opts *o, const struct export_format *f,
    const struct job *job, struct names *names)
{
	struct output out;
	int err;

	if (f->flags & EXPORT_PACKED) {
		write_packed(o, job->input, job->only, job->path.path);
		if (export_path_has(o->path, 'n'))
			tell_path(job->path.path);
		return;
	}
	output_limit(o->max_bytes);
	if (strcmp(f->name, "json") == 0)
		check_size(o, job, names);
	if (o->force)
		output_open(&out, job->path.path);
	else
		output_open_new(&out, job->path.path);
	err = write_job(out.file, o, f, job, names);
	progress_end();
	if (err == -ENOMEM)
		die(CMD_INPUT, "export: out of memory");
	if (err < 0 && !ferror(out.file))
		die(CMD_INPUT, "export: cannot read: %s", strerror(-err));
	output_finish(&out);
	if (job->path.path && export_path_has(o->path, 'n'))
		tell_path(job->path.path); /* nobody else has the recording */
}

/* With %p in its name every process has a file of its own. */
static void write_files(const struct export_opts *o, const struct export_format *f, struct job *job,
    struct names *names)
{
	const struct session *s = job->session;
	const struct process *first = first_process(s, o->sites.pid);
	bool apart = s->count > 1 && o->sites.pid == 0 && export_path_has(o->path, 'p');

	for (size_t i = 0; apart && i < s->count; i++) {
		job->only = s->processes[i];
		export_path_choose(o->path, job->only, &job->path);
		write_file(o, f, job, names);
	}
	if (!apart) {
		if (f->flags & EXPORT_ONE)
			job->only = one_process_choose(s, o->sites.pid, false, o->format);
		export_path_choose(o->path, first, &job->path);
		write_file(o, f, job, names);
	}
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct export_opts o = {.sites = view_opts_default};
	int answer, n = opts_parse(self, argc, argv, &o);
	const struct export_format *f;
	struct names *names;
	struct job job;

	if (o.list)
		return list_formats();
	f = export_opts_format(&o);
	moment_opts_refuse(self->name, n, argv + 1,
	    o.older_ns || o.rss || f->flags & (EXPORT_PACKED | EXPORT_MOMENTS) ||
	        (o.sites.metric != VIEW_LIVE && o.sites.metric != VIEW_ALLOCS));
	if (o.since) /* start-up remainders are on both sides */
		o.sites.no_suppress = true;
	load(&o, f, n ? argv[1] : NULL, &job);
	answer =
	    job.session->is_truncated || (job.old && job.old->is_truncated) ? CMD_INPUT : CMD_OK;
	names = name_opts_open(self->name, &o.naming);
	progress_begin("finding names", NULL);
	write_files(&o, f, &job, names);
	names_free(names);
	older_free(job.older);
	session_free(job.old);
	session_free(job.session);
	export_path_release(&job.path);
	return answer;
}

const struct cmd cmd_export = {
    .name = "export",
    .summary = "write a file that another tool reads",
    .operands = "[INPUT]",
    .about = "Writes INPUT in the format of another tool. INPUT is a recording "
             "(default: " INPUT_DEFAULT "), a segment or snapshot file, a directory of them or of "
             "chapters, or the PID of a "
             "traced process. An existing file is replaced only with --force. " INPUT_MOMENT_HELP,
    .options = export_opts_groups,
    .run = run,
};
