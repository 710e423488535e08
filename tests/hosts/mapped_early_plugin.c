/* mapped_early_plugin.c - is bound by a resolver of another library, and maps in its constructor. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -D_GNU_SOURCE -Wl,-z,now -Lbuild/hosts -l:mapped_early_plugin_resolver.so -Wl,-rpath,'$ORIGIN' */
#include <stddef.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

int mapped_early_chosen(void);
int mapped_early_right;
static int (*volatile chosen)(void) = mapped_early_chosen;

__attribute__((constructor)) static void early_map(void)
{
	char *p = mmap(NULL, 10 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mapped_early_right = p != MAP_FAILED && chosen();
	if (munmap(p, PAGE))
		mapped_early_right = 0;
}
