/* cmd_snapshot.c - seep snapshot: the state of a running process, saved. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/die.h"
#include "cli/input.h"
#include "cli/opts.h"
#include "cli/name_opts.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "reader/alive.h"
#include "reader/clock.h"
#include "record/pack.h"

enum { MAX_SNAPSHOTS = 100000 };

/* The tick of a process that sleeps stands still: the moment is now. */
static void
set_time(struct seg_header *h)
{
	uint64_t tick = clock_tick(h);

	if (tick > h->tick && tick <= UINT32_MAX)
		h->tick = (uint32_t)tick;
}

/* The compact copy of the process's segment, marked with the label. */
static void
copy_segment(pid_t pid, const char *label, struct seg_header *ret_header,
    void **ret, size_t *ret_len)
{
	struct fault where = {""};
	struct segment *seg;
	struct segfile *f;
	char path[4096];
	int slot, err;

	err = alive_open(pid, &f, &slot, path, &where);
	if (err < 0)
		input_die_pid(pid, err, &where);
	err = segfile_read(f, slot, &seg, &where);
	if (err < 0)
		input_die_pid(pid, err, &where);
	segfile_close(f);
	set_time(&seg->header);
	*ret_header = seg->header;
	if (segment_mark_snapshot(seg, label) < 0 ||
	    segment_compact(seg, ret, ret_len) < 0)
		die(CMD_INPUT, "snapshot: out of memory");
	segment_free(seg);
}

static int
write_all(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		bytes += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Gives the finished file its name, unless that is taken: -EEXIST. */
static int
publish(const char *temporary, const char *path)
{
	if (renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) ==
	    0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (link(temporary, path) < 0)
		return -errno;
	(void)unlink(temporary);
	return 0;
}

/* The file name part of exe, tame enough for a file name of ours. */
static void
tame_name(const char *exe, char *name, size_t size)
{
	const char *slash = strrchr(exe, '/');
	size_t n = 0;

	for (const char *p = slash ? slash + 1 : exe; *p && n + 1 < size; p++)
		name[n++] =
		    isalnum((unsigned char)*p) || strchr("._+", *p) ? *p : '_';
	if (n == 0 || name[0] == '.')
		name[0] = '_';
	name[n ? n : 1] = '\0';
}

/* NAME-PID-1.seep-snap, or the first number that is free. */
static char *
publish_numbered(
    const char *temporary, const struct seg_header *h, pid_t pid, int *ret_err)
{
	char name[40], *path = NULL;

	tame_name(h->exe, name, sizeof(name));
	*ret_err = -EEXIST;
	for (int i = 1; i <= MAX_SNAPSHOTS && *ret_err == -EEXIST; i++) {
		free(path);
		if (asprintf(&path, "%s-%d-%d.seep-snap", name, (int)pid, i) <
		    0) {
			*ret_err = -ENOMEM;
			return NULL;
		}
		*ret_err = publish(temporary, path);
	}
	return path;
}

struct snapshot_options {
	const char *path, *label;
	bool names;
	struct names_options naming;
};

/* The snapshot as a recording that has its names, in the place of `path`. */
static int
write_named(const char *path, const struct snapshot_options *o,
    const void *bytes, size_t len, pid_t pid)
{
	const struct pack_plan plan = {
	    .path = path, .existing = BUNDLE_REPLACE, .naming = &o->naming};
	struct fault where = {""};
	int err;

	progress_begin("finding names", NULL);
	err = pack_bytes(&plan, bytes, len, pid, &where);
	progress_end();
	return err;
}

/* The name it got. */
static char *
save(pid_t pid, const struct snapshot_options *o)
{
	const char *what = o->path ? o->path : "snapshot";
	char *temporary, *name = NULL;
	struct seg_header h;
	void *bytes;
	size_t len;
	int fd, err;

	copy_segment(pid, o->label, &h, &bytes, &len);
	if (asprintf(&temporary, "%s.XXXXXX", o->path ? o->path : "seep-snap") <
	    0)
		die(CMD_INPUT, "snapshot: out of memory");
	fd = mkstemp(temporary); /* 0600, O_EXCL */
	if (fd < 0)
		die(CMD_INPUT, "%s: cannot be written: %s", what,
		    strerror(errno));
	err = o->names ? 0 : write_all(fd, bytes, len);
	if (close(fd) < 0 && err == 0)
		err = -errno;
	if (o->names && err == 0)
		err = write_named(temporary, o, bytes, len, pid);
	if (err == 0 && o->path) {
		err = publish(temporary, o->path);
		name = strdup(o->path);
	} else if (err == 0) {
		name = publish_numbered(temporary, &h, pid, &err);
	}
	if (err < 0) {
		(void)unlink(temporary);
		die(CMD_INPUT, "%s: cannot be written: %s", what,
		    strerror(-err));
	}
	free(temporary);
	free(bytes);
	return name;
}

static int
run(const struct cmd *self, int argc, char **argv)
{
	struct snapshot_options o = {0};
	pid_t pid;
	char *name;

	(void)opts_parse(self, argc, argv, &o);
	name_opts_check(self->name, o.naming.debug_dirs);
	pid = input_pid(self->name, argv[1]);
	if (o.path && access(o.path, F_OK) == 0)
		die(CMD_INPUT, "%s: exists, and a snapshot overwrites nothing",
		    o.path);
	name = save(pid, &o);
	if (name)
		output_tell_path(name);
	free(name);
	return output_flush();
}

static const struct opts_option rows[] = {
    {"output", 'o', OPTS_TEXT, offsetof(struct snapshot_options, path), 0,
        "FILE", "write to FILE, which must not exist"},
    {"label", 0, OPTS_TEXT, offsetof(struct snapshot_options, label), 0, "TEXT",
        "a word about this moment"},
    {"names", 0, OPTS_FLAG, offsetof(struct snapshot_options, names), 0, NULL,
        "with the names of its functions, so that it reads the same on "
        "another machine and after an upgrade"},
    {0},
};
static const struct opts_group options[] = {{NULL, rows, 0},
    {"Where names come from", name_opts_rows,
        offsetof(struct snapshot_options, naming)},
    {0}};

const struct cmd cmd_snapshot = {
    .name = "snapshot",
    .summary = "save the state of a running process",
    .operands = "PID",
    .about =
        "Saves what is known of a running process now, without disturbing it. "
        "The file is an INPUT of seep report. Without -o it gets the name "
        "PROGRAM-PID-NUMBER.seep-snap, the first that is free. seep export "
        "--format seep gives names to one that was taken without --names.",
    .options = options,
    .run = run,
};
