/* invalid_free_aborts_as_bare.c - free of a pointer that malloc never returned prints libc's message and aborts as bare, and leaves a readable trace. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -fno-builtin -w */
/* torture: T17 */
/* status: 134 */
/* allow: unknown_frees */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

int main(void)
{
	struct rlimit none = {0, 0};
	char *p = malloc(100);

	setrlimit(RLIMIT_CORE, &none);
	puts("before");
	fflush(stdout);
	free(p + 24);
	puts("not reached");
	return 0;
}
