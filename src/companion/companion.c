/* companion.c - what the libraries beside libseep.so have in common. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "companion/companion.h"

#include <link.h>

#include "collector/segment/loader.h"

/* The linker's names for the first and the last byte of this library. */
extern const char __ehdr_start[] SEEP_HIDDEN;
extern const char _end[] SEEP_HIDDEN;

void *companion_resolve(struct companion_next *next)
{
	void *p = LOAD_ACQUIRE(&next->found);

	if (!p && loader_ready()) {
		p = loader_after_us(next->name);
		STORE_RELEASE(&next->found, p);
	}
	return p;
}

/*
 * If a name is absent, dlsym takes memory for its error message from the host's
 * heap. So each object after us is searched first.
 */
static void find_next(const struct link_map *us, struct companion_next *next)
{
	const struct link_map *l;

	for (l = us->l_next; l; l = l->l_next) {
		if (loader_defines(l, next->name)) {
			companion_resolve(next);
			return;
		}
	}
}

void companion_enter(void)
{
	loader_ready(); /* before there is a second thread */
	if (seep_cxx_library)
		seep_cxx_library(__ehdr_start, (size_t)((uintptr_t)_end - (uintptr_t)__ehdr_start));
}

void companion_start(struct companion_next *all, size_t count)
{
	const struct r_debug *debug = loader_ready() ? loader_symbol("_r_debug") : NULL;
	const struct link_map *us = debug ? debug->r_map : NULL;
	size_t i;

	companion_enter();
	while (us && us->l_ld != _DYNAMIC)
		us = us->l_next;
	for (i = 0; us && i < count; i++) {
		find_next(us, &all[i]);
		if (all[i].found && seep_next_module)
			seep_next_module(all[i].found);
	}
}
