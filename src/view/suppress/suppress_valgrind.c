/* suppress_valgrind.c - parses suppressions of valgrind: { ... }. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/suppress/suppress_parts.h"

enum { MAX_STEPS = 512 }; /* frames of one entry; valgrind takes 50 */

/* "Memcheck,Helgrind:Leak": is it about leaks that memcheck finds? */
static bool is_leak(const struct suppress_lines *p)
{
	const char *colon = memchr(p->word, ':', p->len);
	const char *at = p->word;

	if (!colon || suppress_lines_rest(p, colon) != strlen(":Leak") ||
	    memcmp(colon, ":Leak", strlen(":Leak")) != 0)
		return false;
	while (at < colon) {
		const char *comma = memchr(at, ',', (size_t)(colon - at));
		const char *to = comma ? comma : colon;

		if ((size_t)(to - at) == strlen("Memcheck") &&
		    strncasecmp(at, "Memcheck", strlen("Memcheck")) == 0)
			return true;
		at = to + (comma != NULL);
	}
	return false;
}

static int parse_kinds(struct suppress_lines *p, const char *list, uint8_t *ret)
{
	static const struct {
		const char *name;
		uint8_t bits;
	} words[] = {{"definite", SUPPRESS_DEFINITE}, {"indirect", SUPPRESS_INDIRECT},
	    {"possible", SUPPRESS_POSSIBLE}, {"reachable", SUPPRESS_REACHABLE},
	    {"all", SUPPRESS_ALL_KINDS}, {"none", 0}};
	const char *end = p->word + p->len;

	*ret = 0;
	while (list < end) {
		size_t n = 0, i = 0;

		list += *list == ' ' || *list == '\t' || *list == ',';
		while (list + n < end && !strchr(", \t", list[n]))
			n++;
		for (; n > 0 && i < sizeof(words) / sizeof(words[0]); i++)
			if (strlen(words[i].name) == n && memcmp(words[i].name, list, n) == 0)
				break;
		if (i == sizeof(words) / sizeof(words[0]))
			return suppress_lines_bad(p, p->line,
			    "match-leak-kinds: takes definite, indirect, "
			    "possible, reachable, all or none");
		if (n > 0)
			*ret |= words[i].bits;
		list += n;
	}
	return 0;
}

/* The frames of one entry so far. */
struct steps {
	uint32_t items[MAX_STEPS];
	size_t count;
	uint32_t apis;
	bool floats;
	bool in_head; /* only allocation functions so far */
};

/* Is this valgrind's own frame? Our stacks do not have it. */
static int is_head(struct steps *s, const char *text, size_t len, bool is_object)
{
	char *glob = strndup(text, len);
	uint32_t apis = 0;
	bool yes;

	if (!glob)
		return -ENOMEM;
	if (is_object) {
		yes =
		    s->apis == 0 && suppress_glob(glob, "/vgpreload_memcheck-amd64-linux.so", true);
	} else {
		apis = suppress_apis(glob);
		/*
		 * fun:malloc followed by fun:realloc is one call; fun:* is a
		 * caller
		 */
		yes = apis != 0 && (s->apis == 0 || !strpbrk(glob, "*?"));
	}
	free(glob);
	s->apis |= apis;
	return yes;
}

/* Splits "FILE:12" into FILE and 12. */
static uint32_t source_line(const char *text, size_t *len)
{
	size_t n = *len;
	uint64_t line = 0;

	while (n > 0 && text[n - 1] >= '0' && text[n - 1] <= '9')
		n--;
	if (n == *len || n < 2 || text[n - 1] != ':')
		return 0;
	for (size_t i = n; i < *len && line < UINT32_MAX; i++)
		line = line * 10 + (uint64_t)(text[i] - '0');
	*len = n - 1;
	return line > UINT32_MAX ? UINT32_MAX : (uint32_t)line;
}

static int parse_frame(struct suppress_lines *p, struct steps *s)
{
	static const struct {
		const char *prefix;
		uint8_t role;
	} kinds[] = {{"fun:", SUPPRESS_FUN}, {"obj:", SUPPRESS_OBJ}, {"src:", SUPPRESS_SRC}};
	const char *text = NULL;
	uint32_t line = 0;
	uint8_t role = 0;
	size_t len;
	int err;

	if (s->count == MAX_STEPS)
		return suppress_lines_bad(p, p->line, "more than 512 frames in one entry");
	if (suppress_lines_is(p, "...")) {
		s->in_head = false;
		if (s->count == 0)
			s->floats = true;
		else if (s->items[s->count - 1] != SUPPRESS_DOTS)
			s->items[s->count++] = SUPPRESS_DOTS;
		return 0;
	}
	for (int i = 0; i < 3 && !text; i++) {
		text = suppress_lines_after(p, kinds[i].prefix);
		role = kinds[i].role;
	}
	if (!text || suppress_lines_rest(p, text) == 0)
		return suppress_lines_bad(
		    p, p->line, "a frame is fun:NAME, obj:FILE, src:FILE or \"...\"");
	len = suppress_lines_rest(p, text);
	if (s->in_head && role != SUPPRESS_SRC) {
		err = is_head(s, text, len, role == SUPPRESS_OBJ);
		if (err != 0)
			return err < 0 ? err : 0;
	}
	s->in_head = false;
	if (role == SUPPRESS_SRC)
		line = source_line(text, &len);
	err = suppress_pattern(p->suppress, role, text, len, line, false, &s->items[s->count]);
	s->count += err == 0;
	return err;
}

static int add_entry(struct suppress_lines *p, struct suppress_rule *r, struct steps *s)
{
	if (s->count > 0 && s->items[s->count - 1] == SUPPRESS_DOTS)
		s->count--; /* callers beyond do not matter anyway */
	r->steps = calloc(s->count + 1, sizeof(*r->steps));
	if (!r->steps) {
		free(r->name);
		return -ENOMEM;
	}
	memcpy(r->steps, s->items, s->count * sizeof(*r->steps));
	r->step_count = s->count;
	r->floats = s->floats;
	r->apis = s->apis;
	return suppress_rule(p->suppress, r);
}

/* Skips the lines of an entry that is not for us. */
static int skip_entry(struct suppress_lines *p, unsigned begin)
{
	do {
		if (suppress_lines_is(p, "}")) {
			p->suppress->skipped++;
			return 0;
		}
	} while (suppress_lines_next(p));
	return suppress_lines_bad(p, begin, "this entry has no \"}\"");
}

int suppress_valgrind(struct suppress_lines *p)
{
	struct suppress_rule r = {.kinds = SUPPRESS_ALL_KINDS,
	    .max_blocks = p->max_blocks,
	    .entry = {.file = p->file, .line = p->line}};
	struct steps s = {.in_head = true};
	const char *kinds;
	bool any = false;
	int err = 0;

	if (!suppress_lines_next(p) || suppress_lines_is(p, "}"))
		return suppress_lines_bad(p, r.entry.line, "this entry has no name");
	r.name = suppress_lines_name(p);
	if (!r.name)
		return -ENOMEM;
	if (!suppress_lines_next(p) || suppress_lines_is(p, "}") || !memchr(p->word, ':', p->len)) {
		free(r.name);
		return suppress_lines_bad(p, p->line,
		    "after its name an entry says what it is about: "
		    "Memcheck:Leak");
	}
	if (!is_leak(p)) {
		free(r.name);
		return skip_entry(p, r.entry.line);
	}
	while (suppress_lines_next(p) && err == 0) {
		if (suppress_lines_is(p, "}")) {
			if (any)
				return add_entry(p, &r, &s);
			err = suppress_lines_bad(p, p->line, "this entry has no frames");
			break;
		}
		kinds = suppress_lines_after(p, "match-leak-kinds:");
		if (kinds && !any) {
			err = parse_kinds(p, kinds, &r.kinds);
		} else {
			err = parse_frame(p, &s);
			any = true;
		}
	}
	free(r.name);
	return err < 0 ? err : suppress_lines_bad(p, r.entry.line, "this entry has no \"}\"");
}
