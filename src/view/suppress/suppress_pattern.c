/* suppress_pattern.c - the patterns of suppressions, each stored once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/suppress/suppress_parts.h"

#include "names/find/demangle.h"
#include "format/format.h"
#include "kit/data/room.h"

bool suppress_glob(const char *glob, const char *text, bool question)
{
	const char *star = NULL, *again = NULL;

	while (*text) {
		if (*glob == '*') {
			star = ++glob;
			again = text;
		} else if (*glob && (*glob == *text || (question && *glob == '?'))) {
			glob++;
			text++;
		} else if (star) {
			/*
			 * the star takes more, up to where the rest may begin
			 */
			glob = star;
			text = ++again;
			if (*star != '?' && *star != '*')
				text = again = strchrnul(again, *star);
		} else {
			return false;
		}
	}
	while (*glob == '*')
		glob++;
	return *glob == '\0';
}

static bool same_pattern(const void *items, uint32_t item, const void *key)
{
	const struct suppress_pattern *a = (const struct suppress_pattern *)items + item;
	const struct suppress_pattern *b = key;

	return a->roles == b->roles && a->line == b->line && a->question == b->question &&
	    strcmp(a->glob, b->glob) == 0;
}

/* Converts LeakSanitizer's pattern to one for a whole text; NULL: no memory. */
static char *whole(const char *pattern, size_t len, bool lsan)
{
	bool start = lsan && len > 0 && pattern[0] == '^';
	bool end = lsan && len > 0 && pattern[len - 1] == '$';
	char *glob;

	if (!lsan)
		return strndup(pattern, len);
	if (end)
		len--;
	if (start && len > 0) {
		pattern++;
		len--;
	}
	if (asprintf(&glob, "%s%.*s%s", start ? "" : "*", (int)len, pattern, end ? "" : "*") < 0)
		return NULL;
	return glob;
}

/* The demangled form of a mangled name; NULL: it is not mangled. */
static char *demangled(const struct suppress_pattern *p)
{
	char *name;

	if (!(p->roles & SUPPRESS_FUN) ||
	    (strncmp(p->glob, "_Z", 2) != 0 && strncmp(p->glob, "_R", 2) != 0))
		return NULL;
	if (strpbrk(p->glob, p->question ? "*?" : "*"))
		return NULL;
	name = demangle_name(p->glob);
	if (name && strcmp(name, p->glob) == 0) {
		free(name);
		return NULL;
	}
	return name;
}

int suppress_pattern(struct suppress *s, uint8_t roles, const char *pattern, size_t len,
    uint32_t line, bool lsan, uint32_t *ret)
{
	struct suppress_pattern p = {.roles = roles, .line = line, .question = !lsan};
	uint32_t fresh = (uint32_t)s->pattern_count;
	int err = -ENOMEM;

	p.glob = whole(pattern, len, lsan);
	if (!p.glob ||
	    room_make(&s->patterns, &s->pattern_room, s->pattern_count, sizeof(*s->patterns)))
		goto out;
	err = dict_find(&s->pattern_index, dict_hash(dict_hash_text(p.glob), roles, line),
	    same_pattern, s->patterns, &p, fresh, ret);
	if (err < 0 || *ret != fresh)
		goto out;
	p.demangled = demangled(&p);
	suppress_forget_memos(s);
	s->patterns[s->pattern_count++] = p;
	p.glob = NULL;
out:
	free(p.glob);
	return err;
}

uint32_t suppress_apis(const char *glob)
{
	static const struct {
		uint32_t api;
		const char *name;
	} names[] = {
	    {SEG_API_MALLOC, "malloc"},
	    {SEG_API_CALLOC, "calloc"},
	    {SEG_API_REALLOC, "realloc"},
	    {SEG_API_REALLOCARRAY, "reallocarray"},
	    {SEG_API_REALLOCARRAY, "realloc"},
	    {SEG_API_MEMALIGN, "memalign"},
	    {SEG_API_ALIGNED_ALLOC, "aligned_alloc"},
	    {SEG_API_ALIGNED_ALLOC, "memalign"},
	    {SEG_API_POSIX_MEMALIGN, "posix_memalign"},
	    {SEG_API_POSIX_MEMALIGN, "memalign"},
	    {SEG_API_VALLOC, "valloc"},
	    {SEG_API_PVALLOC, "pvalloc"},
	    {SEG_API_NEW, "_Znwm"},
	    {SEG_API_NEW, "_ZnwmRKSt9nothrow_t"},
	    {SEG_API_NEW, "_ZnwmSt11align_val_t"},
	    {SEG_API_NEW, "_ZnwmSt11align_val_tRKSt9nothrow_t"},
	    {SEG_API_NEW, "operator new"},
	    {SEG_API_NEW, "operator new(unsigned long)"},
	    {SEG_API_NEW_ARRAY, "_Znam"},
	    {SEG_API_NEW_ARRAY, "_ZnamRKSt9nothrow_t"},
	    {SEG_API_NEW_ARRAY, "_ZnamSt11align_val_t"},
	    {SEG_API_NEW_ARRAY, "_ZnamSt11align_val_tRKSt9nothrow_t"},
	    {SEG_API_NEW_ARRAY, "operator new[]"},
	    {SEG_API_NEW_ARRAY, "operator new[](unsigned long)"},
	    {SEG_API_MALLOCX, "mallocx"},
	    {SEG_API_RALLOCX, "rallocx"},
	    {SEG_API_XALLOCX, "xallocx"},
	};
	uint32_t bits = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (suppress_glob(glob, names[i].name, true))
			bits |= UINT32_C(1) << names[i].api;
	return bits;
}
