/* seccomp_strict_mode.c - under seccomp's strict mode, where any call but read, write, _exit and sigreturn kills, a program that makes no other call survives. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T95 */
/* also: mappings */
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../lib/many_stacks.h"

int main(void)
{
	void *volatile warm = malloc(120000);
	void *kept[64];
	long n;

	free(warm); /* what comes now fits into what the heap has */
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		return 77;
	for (int round = 0; round < 30; round++) {
		for (int i = 0; i < 64; i++)
			kept[i] =
			    many_stacks(i + round, i % 8, (size_t)((i + round) >> i % 8) % 300 + 1);
		for (int i = 0; i < 64; i++)
			free(realloc(kept[i], 301 + (size_t)i));
	}
	n = write(1, "alive\n", 6);
	syscall(SYS_exit, n == 6 ? 0 : 1);
	return 1;
}
