/* targets.c - the INPUTs of commands that follow what runs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/shell/input.h"

#include "command/cmd.h"
#include "command/shell/die.h"
#include "segments/find/proc.h"

/* A forked process that has not allocated anything yet will. */
static void check_pid(pid_t pid)
{
	struct fault where = {""};
	struct segfile *f;
	char path[4096];
	int slot, err = proc_open(pid, &f, &slot, path, &where);

	if (err < 0 && err != -EAGAIN)
		input_die_pid(pid, err, &where);
	if (err == 0)
		segfile_close(f);
}

static void check_directory(const char *command, const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		die(CMD_INPUT, "%s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		die(CMD_USAGE,
		    "%s: takes processes or directories of segments, not "
		    "\"%s\"",
		    command, path);
}

void targets_take(const char *command, char **inputs, size_t count, struct targets *ret)
{
	const char **directories = calloc(count + 1, sizeof(char *));
	pid_t *pids = calloc(count + 1, sizeof(*pids));
	size_t n = 0;

	if (!directories || !pids)
		die(CMD_INPUT, "%s: out of memory", command);
	for (size_t i = 0; i < count; i++) {
		if (input_is_pid(inputs[i], &pids[n])) {
			check_pid(pids[n++]);
		} else {
			check_directory(command, inputs[i]);
			directories[i - n] = inputs[i];
		}
	}
	if (n > 0 && n < count)
		die(CMD_USAGE, "%s: takes processes or directories, not both", command);
	*ret = (struct targets){.pids = n > 0 ? pids : NULL,
	    .pid_count = n,
	    .directories = count > n ? directories : NULL};
	if (n == 0)
		free(pids);
	if (count == n)
		free(directories);
}
