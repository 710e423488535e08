/* namespaces_are_entered_as_bare.c - unshare and setns work, which an additional thread would prevent. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T45 T44 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	free(malloc(1000));
	errno = 0;
	printf("wait %d", (int)wait(NULL));
	printf(" errno %d\n", errno);
	int user = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	int uts = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);

	errno = 0;
	printf("unshare user %d", unshare(CLONE_NEWUSER));
	printf(" errno %d\n", errno);
	errno = 0;
	printf("unshare mount %d", unshare(CLONE_NEWNS | CLONE_NEWUTS));
	printf(" errno %d\n", errno);
	errno = 0;
	printf("setns uts %d", setns(uts, CLONE_NEWUTS));
	printf(" errno %d\n", errno);
	errno = 0;
	printf("setns user %d", setns(user, CLONE_NEWUSER));
	printf(" errno %d\n", errno);
	for (int i = 0; i < 1000; i++)
		free(malloc((size_t)i));
	return 0;
}
