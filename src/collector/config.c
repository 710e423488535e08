/* config.c - SEEP_* variables, read once in the constructor. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/config.h"

#include <stddef.h>

#include "base/fmt.h"

struct config config;

/* The value of a variable if this entry is it, else NULL. */
static const char *
value_of(const char *entry, const char *name)
{
	while (*name && *entry == *name)
		entry++, name++;
	return !*name && *entry == '=' ? entry + 1 : NULL;
}

static uint64_t
number(const char *s)
{
	const char *end = s + fmt_length(s, 24);
	uint64_t v;

	s = fmt_scan_decimal(s, end, &v);
	if (s < end && (*s == 'k' || *s == 'K'))
		v <<= 10;
	else if (s < end && (*s == 'm' || *s == 'M'))
		v <<= 20;
	return v;
}

void
config_read(char **envp)
{
	for (; envp && *envp; envp++) {
		const char *v;

		if ((*envp)[0] != 'S' || (*envp)[1] != 'E')
			continue;
		if ((v = value_of(*envp, "SEEP_DIR"))) {
			if (!fmt_copy(config.dir, sizeof(config.dir), v))
				config.dir[0] = 0;
		} else if ((v = value_of(*envp, "SEEP_SESSION"))) {
			fmt_copy(config.session, sizeof(config.session), v);
		} else if ((v = value_of(*envp, "SEEP_MODE"))) {
			config.dormant = fmt_same(v, "dormant");
		} else if ((v = value_of(*envp, "SEEP_CHILD_FILES"))) {
			config.child_files = fmt_same(v, "1");
		} else if ((v = value_of(*envp, "SEEP_SAMPLE"))) {
			config.sample = number(v);
		} else if ((v = value_of(*envp, "SEEP_DEPTH"))) {
			config.depth = (uint32_t)number(v);
		} else if ((v = value_of(*envp, "SEEP_BUDGET"))) {
			config.budget = number(v);
		}
	}
}
