/* main.c - finds the command and runs it. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "command/cmd.h"

#include "base/std.h"
#include "command/options/opts.h"
#include "command/shell/output.h"

/*
 * If stdin, stdout or stderr is closed, a result could get its number, and
 * messages would be written into it. So /dev/null is opened there, in the wrong
 * direction: writing to a closed stdout is still an error.
 */
static void open_standard_streams(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

static void do_nothing(int sig)
{
	(void)sig;
}

/*
 * A file that grows beyond RLIMIT_FSIZE is an error like a full disk, with a
 * message, and ends nothing. A handler, unlike SIG_IGN, does not pass to the
 * programs that we start.
 */
static void survive_file_limit(void)
{
	struct sigaction now, ours = {.sa_handler = do_nothing};

	ours.sa_flags = SA_RESTART;
	if (sigaction(SIGXFSZ, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
		(void)sigaction(SIGXFSZ, &ours, NULL);
}

int main(int argc, char **argv)
{
	const struct cmd *c;

	/* record passes on its descriptors as they are */
	if (argc < 2 || strcmp(argv[1], "record") != 0)
		open_standard_streams();
	survive_file_limit();
	if (argc < 2) {
		(void)dup2(STDERR_FILENO, STDOUT_FILENO);
		(void)help_all();
		return CMD_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return help_all();
	if (strcmp(argv[1], "--version") == 0) {
		(void)printf("seep %s\n", SEEP_VERSION);
		return output_flush();
	}
	c = cmd_find(argv[1]);
	if (!c)
		help_die_unknown(argv[1]);
	return c->run(c, argc - 1, argv + 1);
}
