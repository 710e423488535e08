/* meta.c - the text entries of a recording: about the run, and untraced programs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/file/meta.h"

#include <sys/file.h>

#include "base/hash.h"
#include "kit/os/clock.h"
#include "kit/os/infile.h"
#include "recording/file/recording.h"

/* Characters that could end a line or mislead are written as \xHH. */
static void put(FILE *f, const char *text, bool space_too)
{
	for (const char *p = text; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c < 0x20 || c == 0x7f || c == '\\' || (c == ' ' && space_too))
			fprintf(f, "\\x%02x", c);
		else
			fputc(c, f);
	}
}

static void put_line(FILE *f, const char *key, const char *text)
{
	fprintf(f, "%s=", key);
	put(f, text, false);
	fputc('\n', f);
}

static int append(
    struct recording_writer *w, enum recording_type type, FILE *f, char **text, size_t *len)
{
	int err = fclose(f) == 0 ? 0 : -ENOMEM;

	if (err == 0)
		err = recording_append(w, type, *text, *len, NULL, 0);
	free(*text);
	return err;
}

static void put_command(FILE *f, const struct meta *m)
{
	put_line(f, "program", m->program);
	fprintf(f, "command=");
	for (char *const *a = m->command; *a; a++) {
		if (a != m->command)
			fputc(' ', f);
		put(f, *a, true);
	}
	fprintf(f, "\npid=%d\n", (int)m->pid);
}

int meta_write(const struct meta *m, struct recording_writer *w)
{
	char host[256] = "";
	char *text = NULL;
	size_t len = 0;
	FILE *f;

	f = open_memstream(&text, &len);
	if (!f)
		return -errno;
	(void)gethostname(host, sizeof(host) - 1);
	put_line(f, "seep", m->version);
	put_line(f, "session", m->session);
	put_line(f, "host", host);
	if (m->service)
		put_line(f, "service", m->service);
	else
		put_command(f, m);
	fprintf(f, "start_ns=%" PRIu64 "\n", m->start_ns);
	fprintf(f, "start_monotonic_ns=%" PRIu64 "\n", m->start_monotonic_ns);
	fprintf(f, "follow=%d\n", m->follow);
	if (m->sample_bytes)
		fprintf(f, "sample_bytes=%" PRIu64 "\n", m->sample_bytes);
	if (m->leaks_ns)
		fprintf(f, "leaks=%" PRIu64 "\n", (m->leaks_ns + 999999999) / 1000000000);
	if (m->chapter)
		fprintf(f, "chapter=%" PRIu64 "\n", m->chapter);
	if (!m->ended && !m->turned)
		return append(w, RECORDING_META, f, &text, &len);
	fprintf(f, "end_ns=%" PRIu64 "\n", m->end_ns ? m->end_ns : clock_ns(CLOCK_REALTIME));
	if (m->max_rss_bytes)
		fprintf(f, "max_rss_bytes=%" PRIu64 "\n", m->max_rss_bytes);
	if (m->oom_kills)
		fprintf(f, "oom_kills=%" PRIu64 "\n", m->oom_kills);
	if (m->unwatched)
		fprintf(f, "unwatched=%zu\n", m->unwatched);
	if (m->unplaced)
		fprintf(f, "unplaced=%zu\n", m->unplaced);
	if (m->timeline_cut)
		fprintf(f, "line_cut=1\n");
	if (m->turned)
		return append(w, RECORDING_META, f, &text, &len);
	if (WIFSIGNALED(m->status))
		fprintf(f, "signal=%d\n", WTERMSIG(m->status));
	else
		fprintf(f, "exit_status=%d\n", WEXITSTATUS(m->status));
	return append(w, RECORDING_META, f, &text, &len);
}

static int write_missing(
    struct recording_writer *w, pid_t pid, const char *exe, const char *reason, size_t refused)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return -errno;
	fprintf(f, "pid=%d\n", (int)pid);
	put_line(f, "exe", exe);
	put_line(f, "reason", reason);
	if (refused)
		fprintf(f, "refused=%zu\n", refused);
	return append(w, RECORDING_UNTRACED, f, &text, &len);
}

int meta_write_untraced(struct recording_writer *w, pid_t pid, const char *exe, const char *reason)
{
	return write_missing(w, pid, exe, reason, 0);
}

int meta_write_refused(
    struct recording_writer *w, pid_t pid, const char *exe, const char *reason, size_t count)
{
	return write_missing(w, pid, exe, reason, count);
}

/* ---- claim: says which file a recorder is about to write, and to which no other may ---- */

enum { TRIES = 16 };

static uint64_t hash_of(uint64_t seed, const struct stat *folder, const char *name)
{
	uint64_t h = hash_mix(seed, folder->st_dev);

	h = hash_mix(h, folder->st_ino);
	for (; *name; name++)
		h = hash_mix(h, (unsigned char)*name);
	return hash_finish(h);
}

/* Locks the file of that name. -ESTALE: it was removed meanwhile. */
static int lock(struct claim *c, pid_t *ret_holder)
{
	struct stat st;
	int err = 0;

	c->fd = openat(
	    c->dir_fd, c->name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (c->fd < 0)
		return -errno;
	if (flock(c->fd, LOCK_EX | LOCK_NB) < 0)
		err = errno == EWOULDBLOCK ? -EBUSY : -errno;
	if (fstat(c->fd, &st) < 0 || st.st_nlink == 0)
		err = err ? err : -ESTALE;
	else if (err == -EBUSY)
		*ret_holder = lock_holder_find(&st);
	if (err < 0) {
		close(c->fd);
		c->fd = -1;
	}
	return err;
}

int claim_take(struct claim *c, int segments_fd, int folder_fd, const char *name, pid_t *ret_holder)
{
	struct stat folder;
	int err = -ESTALE;

	*c = (struct claim){.dir_fd = segments_fd, .fd = -1};
	if (fstat(folder_fd, &folder) < 0)
		return -errno;
	/* as long as the name of a session, so that it is swept as those are */
	(void)snprintf(c->name, sizeof(c->name), "rec-%016" PRIx64 "%016" PRIx64 ".ctl",
	    hash_of(1, &folder, name), hash_of(2, &folder, name));
	for (int i = 0; i < TRIES && err == -ESTALE; i++)
		err = lock(c, ret_holder);
	return err;
}

void claim_release(struct claim *c)
{
	if (c->fd < 0)
		return;
	(void)unlinkat(c->dir_fd, c->name, 0);
	close(c->fd);
	c->fd = -1;
}

bool claim_is_written(const char *path, pid_t *ret_holder)
{
	struct recording *b;
	struct stat st;
	bool is_growing;

	if (recording_open(path, &b) < 0)
		return false;
	is_growing = recording_is_growing(b);
	recording_close(b);
	if (is_growing && stat(path, &st) == 0)
		*ret_holder = lock_holder_find(&st);
	return is_growing;
}
