/* curses_load.c - ncurses, loaded when the first screen is opened. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/top/curses_load.h"

#include "base/std.h"
#include <dlfcn.h>

/* Of the interface that curses.h describes; the name never changes without it. */
#define LIBRARY "libncursesw.so.6"

const struct curses *curses_load(void)
{
	static const struct {
		const char *name;
		size_t at;
	} symbols[] = {
#define CURSES_SYMBOL(name) {#name, offsetof(struct curses, name)},
	    CURSES_FUNCTIONS(CURSES_SYMBOL) CURSES_VARIABLES(CURSES_SYMBOL)
#undef CURSES_SYMBOL
	};
	static struct curses found;
	static bool is_loaded;
	void *library;

	if (is_loaded)
		return &found;
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return NULL;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *symbol = dlsym(library, symbols[i].name);

		if (!symbol)
			return NULL; /* it stays loaded: nobody asks again */
		memcpy((char *)&found + symbols[i].at, &symbol, sizeof(symbol));
	}
	is_loaded = true;
	return &found;
}
