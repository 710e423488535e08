/* drain.c - returns the chunks of event logs, so that their hosts can go on. */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * usage: drain DIR
 *
 * A reader that keeps up with every host and keeps nothing: with it the cost of
 * the log in the host is measured, and not how fast seep record compresses. It
 * looks as often as seep record and reads every word. Ends with its parent.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/seg_log.h"

enum { LOGS_MAX = 64, NAME_BYTES = 256 };

struct log {
	char name[NAME_BYTES]; /* empty: unused */
	const uint8_t *at;
	uint64_t bytes;
	int control;
	uint8_t returned[LOG_CHUNKS_MAX];
	bool is_seen;
};

static struct log logs[LOGS_MAX];
static volatile uint64_t sum; /* so that the words are read */

static void close_log(struct log *l)
{
	munmap((void *)(uintptr_t)l->at, l->bytes);
	close(l->control);
	l->name[0] = '\0';
}

static void open_log(struct log *l, int dir, const char *name)
{
	char control[NAME_BYTES + 8];
	struct stat st;
	void *p = MAP_FAILED;
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_size > LOG_HEAD_BYTES)
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return;
	snprintf(control, sizeof(control), "%s.ctl", name);
	memset(l, 0, sizeof(*l));
	l->at = p;
	l->bytes = (uint64_t)st.st_size;
	l->control = openat(dir, control, O_WRONLY | O_CLOEXEC);
	if (l->control < 0) {
		munmap(p, l->bytes);
		return;
	}
	snprintf(l->name, sizeof(l->name), "%s", name);
}

/* Has this process a log that is described? Pools of its children are not read. */
static uint32_t chunk_count(const struct log *l)
{
	const struct log_head *h = (const void *)l->at;
	uint32_t n = h->chunk_count;

	if (__atomic_load_n(&h->magic, __ATOMIC_ACQUIRE) != LOG_MAGIC ||
	    h->version != LOG_VERSION || n > LOG_CHUNKS_MAX ||
	    LOG_HEAD_BYTES + (uint64_t)n * LOG_CHUNK_BYTES > l->bytes)
		return 0;
	return n;
}

/* Returns how many words there were. */
static uint64_t drain(struct log *l)
{
	uint32_t count = chunk_count(l), i, k;
	uint64_t words_read = 0;

	for (i = 0; i < count; i++) {
		const struct log_chunk *c =
		    (const void *)(l->at + LOG_HEAD_BYTES + (uint64_t)i * LOG_CHUNK_BYTES);
		const uint64_t *words = (const void *)c;
		uint32_t end, use;
		uint8_t byte;

		/* chunks are taken from the first one on: an empty one ends them */
		if (!__atomic_load_n(&c->use, __ATOMIC_RELAXED))
			break;
		end = __atomic_load_n(&c->closed, __ATOMIC_ACQUIRE);
		use = c->use;
		if (!end || end > LOG_CHUNK_WORDS || l->returned[i] == use)
			continue;
		for (k = 0; k < end; k++)
			sum += words[k];
		words_read += end;
		byte = (uint8_t)use;
		if (pwrite(l->control, &byte, 1, i) == 1)
			l->returned[i] = byte;
	}
	return words_read;
}

static struct log *find(const char *name)
{
	struct log *l, *unused = NULL;

	for (l = logs; l < logs + LOGS_MAX; l++) {
		if (strcmp(l->name, name) == 0)
			return l;
		if (!l->name[0] && !unused)
			unused = l;
	}
	return unused;
}

/* Returns the most words of a log. */
static uint64_t look(DIR *d)
{
	const struct dirent *e;
	uint64_t words, most = 0;
	struct log *l;

	for (l = logs; l < logs + LOGS_MAX; l++)
		l->is_seen = false;
	rewinddir(d);
	while ((e = readdir(d))) {
		size_t n = strlen(e->d_name);

		if (n < 8 || n >= NAME_BYTES || strcmp(e->d_name + n - 8, ".seg.log") != 0)
			continue;
		l = find(e->d_name);
		if (l && !l->name[0])
			open_log(l, dirfd(d), e->d_name);
		if (l && l->name[0]) {
			l->is_seen = true;
			words = drain(l);
			most = words > most ? words : most;
		}
	}
	for (l = logs; l < logs + LOGS_MAX; l++) {
		if (l->name[0] && !l->is_seen)
			close_log(l);
	}
	return most;
}

int main(int argc, char **argv)
{
	DIR *d = argc == 2 ? opendir(argv[1]) : NULL;
	uint32_t wait_ms = 0;

	if (!d) {
		fprintf(stderr, "usage: drain DIR (%s)\n", strerror(errno));
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	for (;;) {
		wait_ms = log_wait_ms(look(d), wait_ms);
		usleep(wait_ms * 1000);
	}
}
