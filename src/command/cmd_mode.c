/* cmd_mode.c - seep on, seep off: the command word of a traced process. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "command/cmd.h"

#include "base/std.h"
#include "command/shell/die.h"
#include "command/shell/input.h"
#include "command/options/opts.h"
#include "command/shell/output.h"
#include "host/memory/foreign_ask.h"
#include "segments/find/proc.h"
#include "segments/read/losses.h"

enum { WAIT_STEPS = 50, STEP_NS = 20000000 }; /* one second in all */

/* A forked child has its own command word, in a slot or in its own file. */
static void write_command(
    pid_t pid, const char *segment, uid_t owner, uint32_t word, uint32_t command)
{
	off_t at = word >= SEG_SLOTS
	    ? (off_t)offsetof(struct ctl_block, command)
	    : (off_t)(offsetof(struct ctl_block, slot_command) + (size_t)word * sizeof(command));
	char path[4096 + 8];
	struct ctl_block block;
	ssize_t n = -1;
	struct stat st;
	int fd, err;

	(void)snprintf(path, sizeof(path), "%s.ctl", segment);
	err = foreign_file_open_to_write(pid, path, &fd);
	if (err < 0)
		die(CMD_INPUT, "process %d: its control file cannot be opened: %s%s", (int)pid,
		    strerror(-err), err == -ENOENT ? " (its segment may have been deleted)" : "");
	/* the path may lead to another user's file by now */
	if (fstat(fd, &st) < 0 || st.st_uid != owner)
		die(CMD_INPUT, "process %d: its control file %s belongs to another user", (int)pid,
		    path);
	if (pread(fd, &block, sizeof(block), 0) != sizeof(block) || block.magic != SEG_CTL_MAGIC)
		die(CMD_INPUT, "process %d: %s is not a control file", (int)pid, path);
	n = pwrite(fd, &command, sizeof(command), at);
	if (n != sizeof(command))
		die(CMD_INPUT, "process %d: cannot write to %s: %s", (int)pid, path,
		    strerror(errno));
	close(fd);
}

static bool is_followed(const struct seg_header *h, uint32_t command)
{
	return h->mode == command || (command == SEG_MODE_ON && h->mode == SEG_MODE_SAMPLED);
}

static int switch_mode(const struct cmd *self, int argc, char **argv, uint32_t command)
{
	const struct timespec step = {.tv_nsec = STEP_NS};
	struct fault where = {""};
	struct seg_header h;
	struct segfile *f;
	char path[4096];
	bool followed = false;
	int slot, err;
	pid_t pid;

	(void)opts_parse(self, argc, argv, NULL);
	pid = input_pid(self->name, argv[1]);
	err = proc_open(pid, &f, &slot, path, &where);
	if (err < 0)
		input_die_pid(pid, err, &where);
	err = segfile_header(f, slot, &h, &where);
	if (err < 0)
		input_die_pid(pid, err, &where);
	if (h.state == SEG_INERT)
		die(CMD_INPUT, "process %d: cannot be traced: %s", (int)pid,
		    losses_inert(h.inert_reason));
	write_command(pid, path, segfile_source(f)->uid,
	    slot == SEGFILE_OWN ? h.slot_index : (uint32_t)slot, command);
	for (int i = 0; i < WAIT_STEPS && !followed; i++) {
		followed = segfile_header(f, slot, &h, NULL) == 0 && is_followed(&h, command);
		if (!followed)
			(void)nanosleep(&step, NULL);
	}
	segfile_close(f);
	if (followed)
		(void)printf("process %d: recording is %s\n", (int)pid, self->name);
	else
		(void)printf("process %d: asked to turn %s, which it does at its next "
		             "allocation\n",
		    (int)pid, self->name);
	return output_flush();
}

static int run_on(const struct cmd *self, int argc, char **argv)
{
	return switch_mode(self, argc, argv, SEG_MODE_ON);
}

static int run_off(const struct cmd *self, int argc, char **argv)
{
	return switch_mode(self, argc, argv, SEG_MODE_OFF);
}

const struct cmd cmd_on = {
    .name = "on",
    .summary = "start recording in a traced process",
    .operands = "PID",
    .about = "Starts recording in a traced process: one that was started with "
             "SEEP_MODE=dormant, or turned off.",
    .run = run_on,
};

const struct cmd cmd_off = {
    .name = "off",
    .summary = "stop recording in a traced process",
    .operands = "PID",
    .about = "Stops recording allocations in a traced process. Frees of blocks that "
             "were recorded before are still counted, so the figures of live memory "
             "stay correct.",
    .run = run_off,
};
