/* demangle.c - symbol names as their authors wrote them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/demangle.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

#include "trace/format.h"

enum { MAX_MANGLED = 16384 }; /* longer ones are shown as they are */

static const char *const suffixes[] = {".constprop.", ".isra.", ".part.",
    ".cold", ".lto_priv.", ".localalias", ".llvm."};

/* Length of the symbol without version and compiler's suffixes. */
static size_t
plain_length(const char *symbol)
{
	size_t len = strcspn(symbol, "@");

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		const char *at = strstr(symbol, suffixes[i]);

		if (at && at > symbol && (size_t)(at - symbol) < len)
			len = (size_t)(at - symbol);
	}
	return len ? len : strlen(symbol);
}

char *
demangle_name(const char *symbol)
{
	char *plain = strndup(symbol, plain_length(symbol));
	char *name = NULL;

	if (!plain || plain[0] != '_' || strlen(plain) > MAX_MANGLED)
		return plain;
	if (plain[1] == 'R' || plain[1] == 'Z')
		name = rust_demangle(plain, DMGL_NO_OPTS);
	if (!name && plain[1] == 'Z')
		name = cplus_demangle_v3(plain, DMGL_PARAMS | DMGL_ANSI);
	if (!name)
		return plain;
	free(plain);
	return name;
}

uint8_t
demangle_operator_new(const char *symbol)
{
	static const char *const tails[] = {"", "RKSt9nothrow_t",
	    "St11align_val_t", "St11align_val_tRKSt9nothrow_t"};
	size_t len = strcspn(symbol, "@");
	uint8_t api;

	if (strncmp(symbol, "_Znwm", 5) == 0)
		api = SEG_API_NEW;
	else if (strncmp(symbol, "_Znam", 5) == 0)
		api = SEG_API_NEW_ARRAY;
	else
		return 0;
	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++)
		if (strlen(tails[i]) == len - 5 &&
		    strncmp(symbol + 5, tails[i], len - 5) == 0)
			return api;
	return 0;
}
