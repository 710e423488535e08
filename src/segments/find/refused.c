/* refused.c - programs of a recording that had no room for a segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/find/segment_dir.h"

#include "recording/file/meta.h"

enum { NAMED_MAX = 20, LINE_BYTES = 256 };

static const struct {
	const char *word, *reason;
} reasons[] = {
    {"file-system",
        "its directory for segments is on an unsuitable file "
        "system"},
    {"too-many-files", "too many segments in one directory"},
    {"no-space", "no space left for its segment"},
    {"no-file", "its segment could not be made"},
};

struct refusals {
	int dir_fd;
	const char *session; /* NULL: all are ours */
	struct recording_writer *writer;
	size_t ours, others;
	bool is_full, is_recorded;
	uint64_t at_ns;  /* of the last line */
	const char *why; /* of the last that is ours */
	char name[REFUSED_NAME_BYTES];
	pid_t pid;
};

static const char *reason_of(const char *word)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (strcmp(word, reasons[i].word) == 0)
			return reasons[i].reason;
	return META_NO_REASON;
}

/* SESSION PID REASON COMM */
static void take_line(struct refusals *r, char *line)
{
	char *save = NULL;
	const char *session = strtok_r(line, " ", &save);
	const char *pid = strtok_r(NULL, " ", &save);
	const char *word = strtok_r(NULL, " ", &save);
	const char *name = strtok_r(NULL, "\n", &save);

	if (!session || !pid || !word)
		return;
	if (r->session && strcmp(session, r->session) != 0) {
		r->others++;
		return;
	}
	r->is_recorded =
	    r->is_recorded || (!r->session && segment_dir_is_recorded(r->dir_fd, session));
	r->why = reason_of(word);
	r->pid = (pid_t)strtol(pid, NULL, 10);
	(void)snprintf(r->name, sizeof(r->name), "%s", name ? name : "?");
	if (r->writer && r->ours < NAMED_MAX)
		(void)meta_write_refused(r->writer, r->pid, r->name, r->why, 1);
	r->ours++;
}

static void read_file(struct refusals *r)
{
	int fd =
	    openat(r->dir_fd, SEG_REFUSED_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char line[LINE_BYTES];
	struct stat st;

	if (!f) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		r->is_full = st.st_size >= SEG_REFUSED_BYTES;
		r->at_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
		while (fgets(line, sizeof(line), f))
			take_line(r, line);
	}
	(void)fclose(f);
}

void refused_report(const struct segment_dir *s, struct recording_writer *w, size_t *ret_count,
    bool *ret_more, const char **ret_why)
{
	struct refusals r = {.dir_fd = s->fd, .session = s->session, .writer = w};

	read_file(&r);
	if (w && r.ours > NAMED_MAX)
		(void)meta_write_refused(w, 0, "others", r.why, r.ours - NAMED_MAX);
	*ret_count = r.ours;
	*ret_more = r.is_full;
	*ret_why = r.why;
}

void refused_forget(const struct segment_dir *s)
{
	struct refusals r = {.dir_fd = s->fd, .session = s->session};

	read_file(&r);
	if (r.ours > 0 && r.others == 0)
		(void)unlinkat(s->fd, SEG_REFUSED_NAME, 0);
}

size_t refused_look(int dir_fd, struct refused_last *ret)
{
	struct refusals r = {.dir_fd = dir_fd};

	read_file(&r);
	*ret = (struct refused_last){.pid = r.pid,
	    .why = r.why,
	    .at_ns = r.at_ns,
	    .is_more = r.is_full,
	    .is_recorded = r.is_recorded};
	memcpy(ret->name, r.name, sizeof(ret->name));
	return r.ours;
}
