/* perfmap.c - functions made by a run-time compiler: /tmp/perf-PID.map. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/dwarf/lookup.h"

#include "names/jail/opener.h"
#include "kit/data/sorted.h"

enum { NAME_MAX_BYTES = 4096 };

/* ---- in the parent ---- */

/* The user whose file is accepted. */
static uid_t owner_of(const struct perfmap_process *p)
{
	char path[32];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)p->running_pid);
	if (p->running_pid > 0 && stat(path, &st) == 0)
		return st.st_uid;
	return geteuid();
}

static int open_map(
    struct opener *o, const struct perfmap_process *p, const char *root, int *ret_fd)
{
	char path[96];
	const struct opener_question q = {
	    .kind = OPENER_MAP, .path = path, .root_bytes = strlen(root)};
	struct opener_file file;
	int fd = -1, err;

	(void)snprintf(path, sizeof(path), "%s/tmp/perf-%u.map", root, (unsigned)p->pid);
	err = opener_ask(o, &q, &file, ret_fd ? &fd : NULL);
	if (err == -ELOOP || err == -EINVAL)
		return -EPERM;
	if (err < 0)
		return err == -ETIMEDOUT ? err : -ENOENT;
	if (file.owner != owner_of(p) && file.owner != 0)
		err = -EPERM;
	else if (file.modified_ns / 1000000000 < p->start_ns / 1000000000)
		err = -ESTALE;
	if (err < 0 && fd >= 0)
		close(fd);
	else if (ret_fd)
		*ret_fd = fd;
	return err;
}

int perfmap_open(struct opener *o, const struct perfmap_process *p, int *ret_fd)
{
	char root[32];
	int err = -ENOENT;

	(void)snprintf(root, sizeof(root), "/proc/%d/root", (int)p->running_pid);
	if (p->running_pid > 0)
		err = open_map(o, p, root, ret_fd);
	return err == 0 ? 0 : open_map(o, p, "", ret_fd);
}

/* ---- in the jail ---- */

/* One line of the map, and the addresses that still need names. */
struct search {
	const uint64_t *addresses;
	size_t count;
	size_t *next; /* the first from here on that has no name yet */
	perfmap_found *found;
	void *context;
};

/* Shortens the chain for later searches. */
static size_t next_nameless(struct search *s, size_t at)
{
	size_t end = at;

	while (s->next[end] != end)
		end = s->next[end];
	while (s->next[at] != end) {
		size_t then = s->next[at];

		s->next[at] = end;
		at = then;
	}
	return end;
}

static size_t first_from(const struct search *s, uint64_t start)
{
	return sorted_first(s->addresses, s->count, x, *x < start);
}

/*
 * "START SIZE NAME", numbers in hexadecimal; `line` ends with a NUL. False: it
 * is another text.
 */
static bool take_line(struct search *s, const char *line)
{
	uint64_t start, size;
	size_t i, len;
	char *at, *name;

	start = strtoull(line, &at, 16);
	if (at == line || *at != ' ')
		return false;
	size = strtoull(at, &name, 16);
	if (name == at || *name != ' ')
		return false;
	at = name + 1;
	len = strlen(at);
	if (len == 0)
		return false;
	if (len > NAME_MAX_BYTES)
		len = NAME_MAX_BYTES;
	for (i = next_nameless(s, first_from(s, start));
	     i < s->count && s->addresses[i] - start < size; i = next_nameless(s, i)) {
		s->found(s->context, i, at, len);
		s->next[i] = i + 1;
	}
	return true;
}

/* The end of the file in memory, with a NUL after it; the caller frees it. */
static char *read_end(int fd, size_t *ret_len, bool *ret_cut)
{
	off_t size = lseek(fd, 0, SEEK_END), from = 0;
	size_t len = 0;
	char *text;

	if (size < 0)
		return NULL;
	if (size > PERFMAP_MAX_BYTES)
		from = size - PERFMAP_MAX_BYTES;
	*ret_cut = from > 0;
	text = malloc((size_t)(size - from) + 1);
	while (text && len < (size_t)(size - from)) {
		ssize_t n = pread(fd, text + len, (size_t)(size - from) - len, from + (off_t)len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break; /* the file has become shorter meanwhile */
		len += (size_t)n;
	}
	*ret_len = len;
	return text;
}

/*
 * Goes from the last line to the first, because the last line that contains an
 * address names it. False: some lines before those were not read, and some
 * addresses still have no name.
 */
static bool take_lines(struct search *s, char *text, size_t len, bool is_cut, size_t *ret_malformed)
{
	for (size_t lines = 0; len > 0; lines++) {
		char *newline = memrchr(text, '\n', len);
		const char *line = newline ? newline + 1 : text;

		if (next_nameless(s, 0) == s->count)
			return true;
		if (lines == PERFMAP_MAX_LINES || (!newline && is_cut))
			return false;
		text[len] = '\0';
		/* the last line of a process that was killed may be a part */
		*ret_malformed += *line != '\0' && !take_line(s, line) && lines > 0;
		len = newline ? (size_t)(newline - text) : 0;
	}
	return !is_cut || next_nameless(s, 0) == s->count;
}

int perfmap_read(int fd, const uint64_t *addresses, size_t count, perfmap_found *found,
    void *context, struct perfmap_gaps *ret)
{
	struct search s = {
	    .addresses = addresses, .count = count, .found = found, .context = context};
	char *text;
	size_t len;
	int err;

	*ret = (struct perfmap_gaps){0};
	s.next = calloc(count + 1, sizeof(*s.next));
	text = s.next ? read_end(fd, &len, &ret->is_cut) : NULL;
	for (size_t i = 0; s.next && i <= count; i++)
		s.next[i] = i;
	if (text)
		ret->is_cut = !take_lines(&s, text, len, ret->is_cut, &ret->malformed);
	err = text ? 0 : -ENOMEM;
	free(text);
	free(s.next);
	return err;
}
