/* blame.c - decides which frame of a stack is the user's own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/stacks/blame.h"

#include <string.h>

#include "view/stacks/wrappers.h"
#include "kit/words/text.h"

bool blame_is_system(const char *module)
{
	static const char *const names[] = {
	    "libc.so", "libc-", "libpthread", "ld-linux", "ld-2.", "ld-musl", "[vdso]", "libseep"};
	const char *base = text_base(module);

	for (size_t i = 0; base && i < sizeof(names) / sizeof(names[0]); i++)
		if (text_begins_with(base, names[i]))
			return true;
	return false;
}

/* Inlined or not does not matter, because that depends on compiler options. */
bool blame_is_library(const char *function)
{
	static const char *const names[] = {"std::", "__gnu_cxx::", "operator new",
	    "alloc::", "core::", "<alloc::", "<core::", "<std::", "hashbrown::", "__rust_",
	    "__rdl_"};
	const char *name = function;

	/* demangled templates begin with their return type */
	while (name[strcspn(name, " (<")] == ' ')
		name += strcspn(name, " ") + 1;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (text_begins_with(name, names[i]) || text_begins_with(function, names[i]))
			return true;
	return wrappers_has(function);
}

/* Is it a source file of a standard library? Not all of its names show that. */
static bool is_library_file(const char *module)
{
	static const char *const names[] = {
	    "libstdc++.so", "libc++.so", "libc++abi.so", "libgcc_s.so"};
	const char *base = text_base(module);

	for (size_t i = 0; base && i < sizeof(names) / sizeof(names[0]); i++)
		if (text_begins_with(base, names[i]))
			return true;
	return false;
}

uint8_t blame_weigh(const struct frame *x)
{
	if (x->is_missing)
		return BLAME_NONE;
	if (blame_is_system(x->module))
		return BLAME_SYSTEM;
	if (is_library_file(x->module) || (x->function && blame_is_library(x->function)))
		return BLAME_LIBRARY;
	return BLAME_OWN;
}

uint32_t blame_find(const struct frame *frames, const uint32_t *stack, uint32_t count)
{
	uint32_t found = 0;
	uint8_t most = BLAME_NONE;

	for (uint32_t i = 0; i < count && most < BLAME_OWN; i++) {
		uint8_t weight = frames[stack[i]].weight;

		/* frames of the system itself are all alike */
		if (weight > most && (weight > BLAME_SYSTEM || i == 0)) {
			most = weight;
			found = i;
		}
	}
	return found;
}
