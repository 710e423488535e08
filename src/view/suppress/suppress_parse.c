/* suppress_parse.c - parses suppressions of LeakSanitizer and valgrind. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/suppress/suppress_parts.h"

#include "kit/os/infile.h"

enum {
	MAX_FILE_BYTES = 16 << 20,
	MAX_LINE_BYTES = 8192,
};

/* Other kinds of entries in the files of the sanitizers. */
static bool is_for_others(const struct suppress_lines *p)
{
	static const char *const types[] = {
	    "race:", "race_top:", "mutex:", "thread:", "deadlock:", "signal:", "called_from_lib:",
	    "interceptor_name:", "interceptor_via_fun:", "interceptor_via_lib:", "odr_violation:",
	    "alloc_dealloc_mismatch:", "vptr_check:", "undefined:", "alignment:", "bounds:",
	    "null:", "signed-integer-overflow:", "unsigned-integer-overflow:"};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (suppress_lines_after(p, types[i]))
			return true;
	return false;
}

static int parse_leak(struct suppress_lines *p, const char *pattern)
{
	struct suppress_rule r = {.floats = true,
	    .kinds = SUPPRESS_ALL_KINDS,
	    .max_blocks = p->max_blocks,
	    .entry = {.file = p->file, .line = p->line}};
	size_t len = suppress_lines_rest(p, pattern);
	uint32_t number;
	int err;

	if (len == 0)
		return suppress_lines_bad(p, p->line, "leak: without a pattern");
	err = suppress_pattern(p->suppress, SUPPRESS_FUN | SUPPRESS_OBJ | SUPPRESS_SRC, pattern,
	    len, 0, true, &number);
	if (err < 0)
		return err;
	r.steps = malloc(sizeof(*r.steps));
	if (!r.steps)
		return -ENOMEM;
	r.steps[0] = number;
	r.step_count = 1;
	r.name = suppress_lines_name(p);
	return suppress_rule(p->suppress, &r);
}

static int parse_line(struct suppress_lines *p)
{
	const char *pattern = suppress_lines_after(p, "leak:");

	if (pattern)
		return parse_leak(p, pattern);
	if (suppress_lines_is(p, "{"))
		return suppress_valgrind(p);
	if (is_for_others(p)) {
		p->suppress->skipped++;
		return 0;
	}
	return suppress_lines_bad(p, p->line, "neither leak:PATTERN nor a valgrind entry in { }");
}

/* Is everything text, without lines of absurd length? */
static int check_lines(const struct suppress_lines *p)
{
	const char *at = p->at;
	unsigned line = 0;

	while (at < p->end) {
		const char *stop = memchr(at, '\n', (size_t)(p->end - at));
		size_t len = (size_t)((stop ? stop : p->end) - at);

		line++;
		if (memchr(at, '\0', len))
			return suppress_lines_bad(p, line, "not a text file");
		if (len > MAX_LINE_BYTES)
			return suppress_lines_bad(p, line, "the line is too long");
		at += len + 1;
	}
	return 0;
}

int suppress_parse(struct suppress *s, const char *text, size_t len, const char *file,
    const char *name, uint64_t max_blocks, struct fault *where)
{
	struct suppress_lines p = {.suppress = s,
	    .at = text,
	    .end = text + len,
	    .name = name,
	    .max_blocks = max_blocks,
	    .where = where};
	char **files = reallocarray(s->files, s->file_count + 1, sizeof(char *));
	int err = 0;

	if (!files)
		return -ENOMEM;
	s->files = files;
	files[s->file_count] = strdup(file);
	if (!files[s->file_count])
		return -ENOMEM;
	p.file = files[s->file_count++];
	err = check_lines(&p);
	while (err == 0 && suppress_lines_next(&p))
		err = parse_line(&p);
	if (err == -ENOMEM)
		(void)fault_set(where, err, "%s: out of memory", file);
	return err;
}

int suppress_text(
    struct suppress *s, const char *text, size_t len, const char *file, struct fault *where)
{
	return suppress_parse(s, text, len, file, NULL, 0, where);
}

/* Reads all of a file or pipe; the caller frees it. */
static int read_all(int fd, char **ret, size_t *ret_len)
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

int suppress_load(struct suppress *s, const char *path, struct fault *where)
{
	int fd = infile_open_text(path);
	char *text = NULL;
	size_t len = 0;
	int err;

	if (fd < 0)
		return fault_set(
		    where, fd, "%s: %s", path, fd == -EINVAL ? "not a file" : strerror(-fd));
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

/* ---- suppress_lines: reads a suppression file line by line ---- */

bool suppress_lines_next(struct suppress_lines *p)
{
	while (p->at < p->end) {
		const char *stop = memchr(p->at, '\n', (size_t)(p->end - p->at));
		const char *from = p->at, *to = stop ? stop : p->end;

		p->line++;
		p->at = stop ? stop + 1 : p->end;
		while (from < to && (*from == ' ' || *from == '\t'))
			from++;
		while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\r'))
			to--;
		if (from == to || *from == '#')
			continue;
		p->word = from;
		p->len = (size_t)(to - from);
		return true;
	}
	return false;
}

int suppress_lines_bad(const struct suppress_lines *p, unsigned line, const char *what)
{
	return fault_set(p->where, -EBADMSG, "%s:%u: %s", p->file, line, what);
}

bool suppress_lines_is(const struct suppress_lines *p, const char *text)
{
	return p->len == strlen(text) && memcmp(p->word, text, p->len) == 0;
}

const char *suppress_lines_after(const struct suppress_lines *p, const char *prefix)
{
	size_t n = strlen(prefix);

	return p->len >= n && memcmp(p->word, prefix, n) == 0 ? p->word + n : NULL;
}

size_t suppress_lines_rest(const struct suppress_lines *p, const char *from)
{
	return p->len - (size_t)(from - p->word);
}

char *suppress_lines_name(const struct suppress_lines *p)
{
	return p->name ? strdup(p->name) : strndup(p->word, p->len);
}
