/* suppress_parse.c - suppression files, LeakSanitizer's and valgrind's. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/suppress_parts.h"
#include "trace/infile.h"

enum {
	MAX_FILE_BYTES = 16 << 20,
	MAX_STEPS = 512, /* of one entry; valgrind takes 50 */
	MAX_LINE_BYTES = 8192,
};

enum {
	ALL_KINDS = SUPPRESS_DEFINITE | SUPPRESS_INDIRECT | SUPPRESS_POSSIBLE |
	    SUPPRESS_REACHABLE
};

/* Where the reading is. */
struct parser {
	struct suppress *suppress;
	const char *at, *end;
	const char *file;
	const char *name; /* for all entries, or NULL */
	uint64_t max_blocks;
	struct fault *where;
	const char *word; /* the line, without blanks around it */
	size_t len;
	unsigned line;
};

/* The next line that says something; false: there is none. */
static bool
next_line(struct parser *p)
{
	while (p->at < p->end) {
		const char *stop =
		    memchr(p->at, '\n', (size_t)(p->end - p->at));
		const char *from = p->at, *to = stop ? stop : p->end;

		p->line++;
		p->at = stop ? stop + 1 : p->end;
		while (from < to && (*from == ' ' || *from == '\t'))
			from++;
		while (to > from &&
		    (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\r'))
			to--;
		if (from == to || *from == '#')
			continue;
		p->word = from;
		p->len = (size_t)(to - from);
		return true;
	}
	return false;
}

static int
bad(const struct parser *p, unsigned line, const char *what)
{
	return fault_set(p->where, -EBADMSG, "%s:%u: %s", p->file, line, what);
}

static bool
is(const struct parser *p, const char *text)
{
	return p->len == strlen(text) && memcmp(p->word, text, p->len) == 0;
}

/* What follows `prefix` in this line; NULL: it begins otherwise. */
static const char *
after(const struct parser *p, const char *prefix)
{
	size_t n = strlen(prefix);

	return p->len >= n && memcmp(p->word, prefix, n) == 0 ? p->word + n
	                                                      : NULL;
}

static size_t
rest(const struct parser *p, const char *from)
{
	return p->len - (size_t)(from - p->word);
}

static char *
name_of(const struct parser *p)
{
	return p->name ? strdup(p->name) : strndup(p->word, p->len);
}

/* ---- leak:PATTERN ---- */

/* The other words that the sanitizers' files know. */
static bool
is_for_others(const struct parser *p)
{
	static const char *const types[] = {
	    "race:", "race_top:", "mutex:", "thread:", "deadlock:", "signal:",
	    "called_from_lib:", "interceptor_name:", "interceptor_via_fun:",
	    "interceptor_via_lib:", "odr_violation:", "alloc_dealloc_mismatch:",
	    "vptr_check:", "undefined:", "alignment:", "bounds:", "null:",
	    "signed-integer-overflow:", "unsigned-integer-overflow:"};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (after(p, types[i]))
			return true;
	return false;
}

static int
parse_leak(struct parser *p, const char *pattern)
{
	struct suppress_rule r = {.floats = true,
	    .kinds = ALL_KINDS,
	    .max_blocks = p->max_blocks,
	    .entry = {.file = p->file, .line = p->line}};
	size_t len = rest(p, pattern);
	uint32_t number;
	int err;

	if (len == 0)
		return bad(p, p->line, "leak: without a pattern");
	err = suppress_pattern(p->suppress,
	    SUPPRESS_FUN | SUPPRESS_OBJ | SUPPRESS_SRC, pattern, len, 0, true,
	    &number);
	if (err < 0)
		return err;
	r.steps = malloc(sizeof(*r.steps));
	if (!r.steps)
		return -ENOMEM;
	r.steps[0] = number;
	r.step_count = 1;
	r.name = name_of(p);
	return suppress_rule(p->suppress, &r);
}

/* ---- { ... } ---- */

/* "Memcheck,Helgrind:Leak": is it about leaks that memcheck finds? */
static bool
is_leak(const struct parser *p)
{
	const char *colon = memchr(p->word, ':', p->len);
	const char *at = p->word;

	if (!colon || rest(p, colon) != strlen(":Leak") ||
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

static int
parse_kinds(struct parser *p, const char *list, uint8_t *ret)
{
	static const struct {
		const char *name;
		uint8_t bits;
	} words[] = {{"definite", SUPPRESS_DEFINITE},
	    {"indirect", SUPPRESS_INDIRECT}, {"possible", SUPPRESS_POSSIBLE},
	    {"reachable", SUPPRESS_REACHABLE}, {"all", ALL_KINDS}, {"none", 0}};
	const char *end = p->word + p->len;

	*ret = 0;
	while (list < end) {
		size_t n = 0, i = 0;

		list += *list == ' ' || *list == '\t' || *list == ',';
		while (list + n < end && !strchr(", \t", list[n]))
			n++;
		for (; n > 0 && i < sizeof(words) / sizeof(words[0]); i++)
			if (strlen(words[i].name) == n &&
			    memcmp(words[i].name, list, n) == 0)
				break;
		if (i == sizeof(words) / sizeof(words[0]))
			return bad(p, p->line,
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

/* Is this valgrind's own frame, which our stacks begin after? */
static int
is_head(struct steps *s, const char *text, size_t len, bool is_object)
{
	char *glob = strndup(text, len);
	uint32_t apis = 0;
	bool yes;

	if (!glob)
		return -ENOMEM;
	if (is_object) {
		yes = s->apis == 0 &&
		    suppress_glob(
		        glob, "/vgpreload_memcheck-amd64-linux.so", true);
	} else {
		apis = suppress_apis(glob);
		/* fun:malloc, fun:realloc is one call; fun:* is a caller */
		yes = apis != 0 && (s->apis == 0 || !strpbrk(glob, "*?"));
	}
	free(glob);
	s->apis |= apis;
	return yes;
}

/* "FILE:12" to FILE and 12. */
static uint32_t
source_line(const char *text, size_t *len)
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

static int
parse_frame(struct parser *p, struct steps *s)
{
	static const struct {
		const char *prefix;
		uint8_t role;
	} kinds[] = {{"fun:", SUPPRESS_FUN}, {"obj:", SUPPRESS_OBJ},
	    {"src:", SUPPRESS_SRC}};
	const char *text = NULL;
	uint32_t line = 0;
	uint8_t role = 0;
	size_t len;
	int err;

	if (s->count == MAX_STEPS)
		return bad(p, p->line, "more than 512 frames in one entry");
	if (is(p, "...")) {
		s->in_head = false;
		if (s->count == 0)
			s->floats = true;
		else if (s->items[s->count - 1] != SUPPRESS_DOTS)
			s->items[s->count++] = SUPPRESS_DOTS;
		return 0;
	}
	for (int i = 0; i < 3 && !text; i++) {
		text = after(p, kinds[i].prefix);
		role = kinds[i].role;
	}
	if (!text || rest(p, text) == 0)
		return bad(p, p->line,
		    "a frame is fun:NAME, obj:FILE, src:FILE or \"...\"");
	len = rest(p, text);
	if (s->in_head && role != SUPPRESS_SRC) {
		err = is_head(s, text, len, role == SUPPRESS_OBJ);
		if (err != 0)
			return err < 0 ? err : 0;
	}
	s->in_head = false;
	if (role == SUPPRESS_SRC)
		line = source_line(text, &len);
	err = suppress_pattern(
	    p->suppress, role, text, len, line, false, &s->items[s->count]);
	s->count += err == 0;
	return err;
}

static int
add_entry(struct parser *p, struct suppress_rule *r, struct steps *s)
{
	if (s->count > 0 && s->items[s->count - 1] == SUPPRESS_DOTS)
		s->count--; /* callers beyond are free anyhow */
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

/* The lines of an entry that is not for us. */
static int
skip_entry(struct parser *p, unsigned begin)
{
	do {
		if (is(p, "}")) {
			p->suppress->skipped++;
			return 0;
		}
	} while (next_line(p));
	return bad(p, begin, "this entry has no \"}\"");
}

static int
parse_entry(struct parser *p)
{
	struct suppress_rule r = {.kinds = ALL_KINDS,
	    .max_blocks = p->max_blocks,
	    .entry = {.file = p->file, .line = p->line}};
	struct steps s = {.in_head = true};
	const char *kinds;
	bool any = false;
	int err = 0;

	if (!next_line(p) || is(p, "}"))
		return bad(p, r.entry.line, "this entry has no name");
	r.name = name_of(p);
	if (!r.name)
		return -ENOMEM;
	if (!next_line(p) || is(p, "}") || !memchr(p->word, ':', p->len)) {
		free(r.name);
		return bad(p, p->line,
		    "after its name an entry says what it is about: "
		    "Memcheck:Leak");
	}
	if (!is_leak(p)) {
		free(r.name);
		return skip_entry(p, r.entry.line);
	}
	while (next_line(p) && err == 0) {
		if (is(p, "}")) {
			if (any)
				return add_entry(p, &r, &s);
			err = bad(p, p->line, "this entry has no frames");
			break;
		}
		kinds = after(p, "match-leak-kinds:");
		if (kinds && !any) {
			err = parse_kinds(p, kinds, &r.kinds);
		} else {
			err = parse_frame(p, &s);
			any = true;
		}
	}
	free(r.name);
	return err < 0 ? err : bad(p, r.entry.line, "this entry has no \"}\"");
}

/* ---- files ---- */

static int
parse_line(struct parser *p)
{
	const char *pattern = after(p, "leak:");

	if (pattern)
		return parse_leak(p, pattern);
	if (is(p, "{"))
		return parse_entry(p);
	if (is_for_others(p)) {
		p->suppress->skipped++;
		return 0;
	}
	return bad(
	    p, p->line, "neither leak:PATTERN nor a valgrind entry in { }");
}

/* All lines are text, and none is so long that it would be a trick. */
static int
check_lines(const struct parser *p)
{
	const char *at = p->at;
	unsigned line = 0;

	while (at < p->end) {
		const char *stop = memchr(at, '\n', (size_t)(p->end - at));
		size_t len = (size_t)((stop ? stop : p->end) - at);

		line++;
		if (memchr(at, '\0', len))
			return bad(p, line, "not a text file");
		if (len > MAX_LINE_BYTES)
			return bad(p, line, "the line is too long");
		at += len + 1;
	}
	return 0;
}

int
suppress_parse(struct suppress *s, const char *text, size_t len,
    const char *file, const char *name, uint64_t max_blocks,
    struct fault *where)
{
	struct parser p = {.suppress = s,
	    .at = text,
	    .end = text + len,
	    .name = name,
	    .max_blocks = max_blocks,
	    .where = where};
	char **files =
	    reallocarray(s->files, s->file_count + 1, sizeof(char *));
	int err = 0;

	if (!files)
		return -ENOMEM;
	s->files = files;
	files[s->file_count] = strdup(file);
	if (!files[s->file_count])
		return -ENOMEM;
	p.file = files[s->file_count++];
	err = check_lines(&p);
	while (err == 0 && next_line(&p))
		err = parse_line(&p);
	if (err == -ENOMEM)
		(void)fault_set(where, err, "%s: out of memory", file);
	return err;
}

int
suppress_text(struct suppress *s, const char *text, size_t len,
    const char *file, struct fault *where)
{
	return suppress_parse(s, text, len, file, NULL, 0, where);
}

/* All of a file or pipe, for free(). */
static int
read_all(int fd, char **ret, size_t *ret_len)
{
	size_t room = 64 << 10, len = 0;
	char *text = malloc(room), *bigger;
	ssize_t n;

	while (text) {
		n = read(fd, text + len, room - len);
		if (n <= 0)
			break;
		len += (size_t)n;
		if (len > MAX_FILE_BYTES) {
			free(text);
			return -EFBIG;
		}
		if (len == room) {
			bigger = realloc(text, room * 2);
			if (!bigger) {
				free(text);
				return -ENOMEM;
			}
			text = bigger;
			room *= 2;
		}
	}
	if (!text)
		return -ENOMEM;
	if (n < 0) {
		n = -errno;
		free(text);
		return (int)n;
	}
	*ret = text;
	*ret_len = len;
	return 0;
}

int
suppress_load(struct suppress *s, const char *path, struct fault *where)
{
	int fd = infile_open_text(path);
	char *text = NULL;
	size_t len = 0;
	int err;

	if (fd < 0)
		return fault_set(where, fd, "%s: %s", path,
		    fd == -EINVAL ? "not a file" : strerror(-fd));
	err = read_all(fd, &text, &len);
	(void)close(fd);
	if (err == -EFBIG)
		return fault_set(where, err, "%s: above 16 MiB", path);
	if (err < 0)
		return fault_set(where, err, "%s: %s", path, strerror(-err));
	err = suppress_text(s, text, len, path, where);
	free(text);
	return err;
}
