/* odd_plugin.h - the code of plugins that are linked in odd ways. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

/* calls back, so that frames on both sides of it are on the stack */
#define ODD_PLUGIN(name) \
	__attribute__((noipa)) void *name(void *(*back)(size_t), size_t n) \
	{ \
		void *volatile p = malloc(n); \
\
		free(p); \
		p = back(n); \
		return p; \
	}
