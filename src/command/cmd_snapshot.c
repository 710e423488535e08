/* cmd_snapshot.c - seep snapshot: saves the state of a running process. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "command/cmd.h"

#include "base/std.h"
#include "command/shell/die.h"
#include "kit/words/words.h"
#include "command/shell/input.h"
#include "command/options/opts.h"
#include "command/options/view_opts.h"
#include "command/shell/output.h"
#include "segments/find/proc.h"
#include "analysis/rss/rss_reading.h"
#include "session/process/live_ages.h"
#include "segments/read/steady.h"
#include "print/export/pack.h"
#include "kit/os/infile.h"
#include "kit/os/outfile.h"

enum { MAX_SNAPSHOTS = 100000 };

/* The tick of a process that sleeps does not advance, so use the time now. */
static void set_time(struct seg_header *h)
{
	uint64_t tick = ticks_now(h);

	if (tick > h->tick && tick <= UINT32_MAX)
		h->tick = (uint32_t)tick;
}

/*
 * Which pages are resident, for seep report --rss. It is left out if it cannot
 * be read; the process may end meanwhile.
 */
static void add_rss(pid_t pid, struct segment *seg)
{
	struct rss_account r;
	struct process *p;
	int err = process_new(seg, &p);

	if (err == 0) {
		p->running_pid = pid;
		err = rss_reading_read(p, &r, NULL);
		process_free(p);
		if (err == 0) {
			err = rss_table_put(seg, &r);
			rss_account_release(&r);
		}
	}
	if (err == -ENOMEM)
		die(CMD_INPUT, "snapshot: out of memory");
}

/* The compact copy of the process's segment, marked with the label. */
static void copy_segment(
    pid_t pid, const char *label, struct seg_header *ret_header, void **ret, size_t *ret_len)
{
	struct fault where = {""};
	struct segment *seg;
	struct segfile *f;
	char path[4096];
	int slot, err;

	err = proc_open(pid, &f, &slot, path, &where);
	if (err < 0)
		input_die_pid(pid, err, &where);
	err = segfile_read(f, slot, &seg, &where);
	if (err < 0)
		input_die_pid(pid, err, &where);
	segfile_close(f);
	set_time(&seg->header);
	add_rss(pid, seg);
	*ret_header = seg->header;
	if (segment_copy_mark_snapshot(seg, label) < 0 ||
	    segment_copy_compact(seg, ret, ret_len) < 0)
		die(CMD_INPUT, "snapshot: out of memory");
	segment_copy_free(seg);
}

struct snapshot_options {
	const char *path, *label;
	bool names;
	struct names_options naming;
};

/* What is written, and where. */
struct snapshot {
	const struct snapshot_options *options;
	pid_t pid;
	struct seg_header header;
	void *bytes;
	size_t len;
};

/* Writes it as a recording with names. */
static int write_named(const struct snapshot *s, const char *path)
{
	const struct pack_plan plan = {
	    .path = path, .existing = RECORDING_REFUSE, .naming = &s->options->naming};
	struct fault where = {""};
	int err;

	progress_begin("finding names", NULL);
	err = pack_bytes(&plan, s->bytes, s->len, s->pid, &where);
	progress_end();
	return err;
}

/* Writes the whole file under a name that no file has: -EEXIST. */
static int write_to(const struct snapshot *s, const char *path)
{
	struct outfile out;
	int err;

	if (s->options->names)
		return write_named(s, path);
	err = outfile_open(path, OUTFILE_REFUSE, 0600, &out);
	if (err < 0)
		return err;
	err = outfile_write(&out, s->bytes, s->len);
	if (err == 0)
		err = outfile_flush(&out);
	if (err == 0)
		err = outfile_sync(&out);
	if (err == 0)
		err = outfile_publish(&out, OUTFILE_REFUSE);
	if (err == 0)
		err = outfile_sync_name(&out);
	outfile_close(&out);
	return err;
}

/* NAME-PID-1.seep-snap, or the first number that is free. */
static char *write_numbered(const struct snapshot *s, int *ret_err)
{
	char name[40], *path = NULL;

	program_filename(s->header.exe, name, sizeof(name));
	*ret_err = -EEXIST;
	for (int i = 1; i <= MAX_SNAPSHOTS && *ret_err == -EEXIST; i++) {
		free(path);
		if (asprintf(&path, "%s-%d-%d.seep-snap", name, (int)s->pid, i) < 0) {
			*ret_err = -ENOMEM;
			return NULL;
		}
		*ret_err = write_to(s, path);
	}
	return path;
}

/* The name it got. */
static char *save(pid_t pid, const struct snapshot_options *o)
{
	struct snapshot s = {.options = o, .pid = pid};
	char *name;
	int err;

	copy_segment(pid, o->label, &s.header, &s.bytes, &s.len);
	if (o->path) {
		err = write_to(&s, o->path);
		name = strdup(o->path);
	} else {
		name = write_numbered(&s, &err);
	}
	if (err == -EEXIST)
		die(CMD_INPUT, "%s: the file exists, and a snapshot never replaces a file",
		    name ? name : "snapshot");
	if (err < 0)
		die(CMD_INPUT, "%s: cannot be written: %s", o->path ? o->path : "snapshot",
		    outfile_error(err));
	free(s.bytes);
	return name;
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct snapshot_options o = {0};
	pid_t pid;
	char *name;

	(void)opts_parse(self, argc, argv, &o);
	name_opts_check(self->name, o.naming.debug_dirs);
	pid = input_pid(self->name, argv[1]);
	name = save(pid, &o);
	if (name && infile_descriptor(name) != STDOUT_FILENO)
		output_tell_path(name);
	free(name);
	return output_flush();
}

static const struct opts_option rows[] = {
    {"output", 'o', OPTS_TEXT, offsetof(struct snapshot_options, path), 0, "FILE",
        "write to FILE, which must not exist (default: "
        "PROGRAM-PID-NUMBER.seep-snap, here)"},
    {"label", 0, OPTS_TEXT, offsetof(struct snapshot_options, label), 0, "TEXT",
        "a label for this moment"},
    {"names", 0, OPTS_FLAG, offsetof(struct snapshot_options, names), 0, NULL,
        "include the names of its functions, so that reports are the same on "
        "another machine and after an upgrade"},
    {0},
};
static const struct opts_group options[] = {{NULL, rows, 0},
    {"Where names come from", name_opts_rows, offsetof(struct snapshot_options, naming)}, {0}};

const struct cmd cmd_snapshot = {
    .name = "snapshot",
    .summary = "save the state of a running process",
    .operands = "PID",
    .about = "Saves the state of a running process without disturbing it. The file "
             "is an INPUT of seep report. Without -o it is written to the working "
             "directory as PROGRAM-PID-NUMBER.seep-snap, with the first free "
             "number. The command prints its name. seep export "
             "--format seep adds names to a snapshot that was taken without "
             "--names.",
    .options = options,
    .run = run,
};
