/* no_writable_and_executable_memory.c - with PR_SET_MDWE, as set by MemoryDenyWriteExecute, counts are exact, because the collector needs no such memory. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T86 */
/* also: mappings */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define SITES(X) X(alloc_strictly)
#include "../../lib/ledger.h"

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif

SITE_FN static void *alloc_strictly(size_t n)
{
	return led_keep(malloc(n));
}

static void *work(void *arg)
{
	for (size_t n = 0; n < 5000; n++) {
		void *p = alloc_strictly(n * 3);

		led_alloc(L_alloc_strictly, n * 3);
		if (n % 7) {
			led_free(L_alloc_strictly, n * 3);
			free(p);
		}
	}
	return arg;
}

int main(void)
{
	pthread_t t[3];

	printf("mdwe %d\n", prctl(PR_SET_MDWE, 1, 0, 0, 0) ? errno : 0);
	void *p = mmap(
	    NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	printf("writable and executable: %s\n", p == MAP_FAILED ? "no" : "yes");
	fflush(stdout);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	led_print(1);
	return 0;
}
