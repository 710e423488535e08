/* meta.c - the text entries of a recording: about the run, and untraced programs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/file/meta.h"

#include "kit/os/clock.h"

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
