/* resolvers_call_the_whole_family.c - IFUNC resolvers run while the loader relocates the program, before any constructor: each function of the family is first there. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T19 */
/* also: mappings */
/* flags: -fno-builtin -Wl,-z,now -Wno-deprecated-declarations */
#include "early_calls.h"
#include <stdio.h>

/* which one is first differs by resolver */
static void call_all_from(int first)
{
	for (int i = 0; i < EARLY_KINDS; i++)
		early_call((first + i) % EARLY_KINDS);
}

#define RESOLVER(n) \
	static int value##n(void) \
	{ \
		return n; \
	} \
	static int (*resolve##n(void))(void) \
	{ \
		call_all_from(n); \
		return value##n; \
	} \
	int chosen##n(void) __attribute__((ifunc("resolve" #n)))

RESOLVER(0);
RESOLVER(1);
RESOLVER(2);
RESOLVER(3);
RESOLVER(4);
RESOLVER(5);
RESOLVER(6);
RESOLVER(7);
RESOLVER(8);

int main(void)
{
	printf("%d\n",
	    chosen0() + chosen1() + chosen2() + chosen3() + chosen4() + chosen5() + chosen6() +
	        chosen7() + chosen8());
	for (int i = 0; i < 100; i++)
		call_all_from(i);
	return 0;
}
