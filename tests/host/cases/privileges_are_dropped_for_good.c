/* privileges_are_dropped_for_good.c - after chroot, setuid, landlock and no_new_privs the process and its children are still recorded in the same place. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T80 */
/* needs: root */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/landlock.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define SITES(X) X(alloc_confined)
#include "../../lib/ledger.h"

SITE_FN static void *alloc_confined(size_t n)
{
	return led_keep(malloc(n));
}

static void work(void)
{
	for (size_t n = 0; n < 3000; n++) {
		void *p = alloc_confined(n);

		led_alloc(L_alloc_confined, n);
		if (n % 3) {
			led_free(L_alloc_confined, n);
			free(p);
		}
	}
}

/* no file may be opened, made or removed any more */
static const char *confine(void)
{
	struct landlock_ruleset_attr all = {
	    .handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1};
	int fd = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);

	if (fd < 0 || syscall(SYS_landlock_restrict_self, fd, 0))
		return "without landlock";
	close(fd);
	return "with landlock";
}

int main(void)
{
	int status;

	work();
	led_check(!mkdir("jail", 0755) && !chroot("jail") && !chdir("/"), "chroot");
	led_check(!setgroups(0, NULL) && !setresgid(65534, 65534, 65534) &&
	        !setresuid(65534, 65534, 65534),
	    "setresuid");
	led_check(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl");
	printf("confined %s\n", confine());
	printf("open %d errno %d\n", open("/x", O_CREAT | O_RDWR, 0600), errno);
	fflush(stdout);
	work();
	pid_t pid = fork();

	if (pid == 0) {
		for (int i = 0; i < 3000; i++)
			free(malloc((size_t)i));
		exit(6);
	}
	waitpid(pid, &status, 0);
	printf("child %d\n", status);
	fflush(stdout);
	work();
	led_print(1);
	return 0;
}
