/* kernel_words.c - pointers of a process that only the kernel keeps. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/leaks/owned.h"

#include "base/cpu/cpu.h"
#include "host/memory/foreign.h"
#include "host/proc/procfs.h"
#include "kit/data/room.h"

enum { FILES_MAX = 1 << 17 };

/* Hexadecimal digits at p; false: there is none, or too many. */
static bool get_hex(const char *p, uint64_t *ret)
{
	uint64_t n = 0;
	int digits = 0;

	for (;; p++, digits++) {
		int d = *p >= '0' && *p <= '9' ? *p - '0'
		    : *p >= 'a' && *p <= 'f'   ? *p - 'a' + 10
		                               : -1;

		if (d < 0)
			break;
		if (digits == 16)
			return false;
		n = n << 4 | (uint64_t)d;
	}
	*ret = n;
	return digits > 0;
}

static const char *next_line(const char *p)
{
	const char *end = strchr(p, '\n');

	return end ? end + 1 : p + strlen(p);
}

/* Does the line at p have this text? Where it ends, NULL: no. */
static const char *in_line(const char *p, const char *text)
{
	const char *end = next_line(p);
	const char *at = memmem(p, (size_t)(end - p), text, strlen(text));

	return at ? at + strlen(text) : NULL;
}

/* tfd:        5 events:       19 data:     7ffc12345678  pos:0 ino:... */
int kernel_words_parse_epoll(const char *text, kernel_word *visit, void *context, uint64_t *count)
{
	const char *p;
	uint64_t word;
	int err = 0;

	for (p = text; *p && err == 0; p = next_line(p)) {
		const char *data;

		if (strncmp(p, "tfd:", 4) != 0)
			continue;
		data = in_line(p, " data:");
		if (!data || !get_hex(data + strspn(data, " "), &word))
			continue;
		++*count;
		err = visit(word, context);
	}
	return err;
}

/* signal: 60/00007fff86e452a8 */
int kernel_words_parse_timers(const char *text, kernel_word *visit, void *context, uint64_t *count)
{
	const char *p;
	uint64_t word;
	int err = 0;

	for (p = text; *p && err == 0; p = next_line(p)) {
		const char *value;

		if (strncmp(p, "signal:", 7) != 0)
			continue;
		value = in_line(p, "/");
		if (!value || !get_hex(value, &word))
			continue;
		++*count;
		err = visit(word, context);
	}
	return err;
}

/* What /proc/PID/fd has behind a name, "" if that cannot be said. */
static void target_of(int dir, const char *name, char *ret, size_t size)
{
	ssize_t n = readlinkat(dir, name, ret, size - 1);

	ret[n > 0 ? n : 0] = '\0';
}

static int epoll_words(pid_t pid, int fds, const char *name, kernel_word *visit, void *context,
    struct kernel_seen *ret)
{
	char target[64], info[FOREIGN_NAME_BYTES];
	char *text;
	size_t len;
	int err;

	target_of(fds, name, target, sizeof(target));
	if (strcmp(target, "anon_inode:[io_uring]") == 0)
		ret->has_io_uring = true;
	if (strcmp(target, "anon_inode:[eventpoll]") != 0)
		return 0;
	/* read under a lock that epoll_wait() holds while it copies events */
	(void)snprintf(info, sizeof(info), "fdinfo/%.16s", name);
	if (foreign_text(pid, info, &text, &len) < 0) {
		ret->not_read++;
		return 0;
	}
	err = kernel_words_parse_epoll(text, visit, context, &ret->epoll_words);
	free(text);
	return err;
}

static int each_descriptor(
    pid_t pid, int proc, kernel_word *visit, void *context, struct kernel_seen *ret)
{
	int fds = openat(proc, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fds >= 0 ? fdopendir(fds) : NULL;
	const struct dirent *e;
	int err = 0, n = 0;

	if (!d) {
		err = -errno;
		if (fds >= 0)
			close(fds);
		return err;
	}
	while (err == 0 && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		if (++n > FILES_MAX) {
			ret->not_read++;
			break;
		}
		err = epoll_words(pid, fds, e->d_name, visit, context, ret);
	}
	closedir(d);
	return err;
}

int kernel_words(pid_t pid, kernel_word *visit, void *context, struct kernel_seen *ret)
{
	char *text;
	size_t len;
	int proc, err, found;

	*ret = (struct kernel_seen){0};
	proc = procfs_open(pid);
	if (proc < 0)
		return proc;
	err = each_descriptor(pid, proc, visit, context, ret);
	/* a kernel without CONFIG_CHECKPOINT_RESTORE has no such file */
	found = err == 0 ? foreign_text(pid, "timers", &text, &len) : err;
	if (found == 0) {
		err = kernel_words_parse_timers(text, visit, context, &ret->timer_words);
		free(text);
	} else if (err == 0 && found != -ENOENT) {
		ret->not_read++;
	}
	close(proc);
	return err;
}

/* ---- moving_blocks: blocks that a process is resizing right now ---- */

_Static_assert((int)RESIZING_PAGE_BYTES == (int)FOREIGN_PAGE_BYTES,
    "one page of the process is one page of notes");

static int add_notes(struct moving *m, const struct resizing_page *page)
{
	for (size_t i = 0; i < RESIZING_NOTES; i++) {
		if (page->notes[i].count == 0)
			continue; /* never used */
		if (room_make(&m->notes, &m->room, m->count, sizeof(*m->notes)) < 0)
			return -ENOMEM;
		m->notes[m->count++] = page->notes[i];
	}
	return 0;
}

int moving_blocks_read(
    struct foreign *memory, const struct seg_header *h, struct moving *m, struct fault *where)
{
	uint64_t at = h->moving_root;
	int err = 0;

	m->count = 0;
	for (int i = 0; i < MOVING_PAGES_MAX && at && err == 0; i++) {
		const struct foreign_range r = {at, 1};
		struct resizing_page page;
		struct foreign_batch b;

		if (at % RESIZING_PAGE_BYTES || at >> CPU_ADDRESS_BITS)
			break;
		err = foreign_read(memory, &r, 1, &b, where);
		if (err < 0 || b.pages[0] != FOREIGN_READ)
			break;
		memcpy(&page, b.bytes, sizeof(page));
		err = add_notes(m, &page);
		at = page.next;
	}
	return err;
}

void moving_blocks_release(struct moving *m)
{
	free(m->notes);
	*m = (struct moving){0};
}

bool moving_blocks_is_same(const struct moving *a, const struct moving *b)
{
	return a->count == b->count &&
	    (a->count == 0 || memcmp(a->notes, b->notes, a->count * sizeof(*a->notes)) == 0);
}

bool moving_blocks_any(const struct moving *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->notes[i].address)
			return true;
	return false;
}
