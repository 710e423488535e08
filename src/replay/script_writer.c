/* script_writer.c - writes a script into a file without a name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/script.h"

#include <sys/mman.h>

/* The first chunk of a thread is small, because there may be many threads. */
enum { FIRST_WORDS = 64, HEAD_WORDS = 64 };

_Static_assert(sizeof(struct script_head) <= HEAD_WORDS * sizeof(uint64_t),
    "the head is in front of the first chunk");

int script_writer_init(struct script_writer *w)
{
	const char *dir = getenv("TMPDIR");

	if (!dir || dir[0] != '/')
		dir = "/tmp";
	w->fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (w->fd < 0)
		w->fd = memfd_create("seep-replay", MFD_CLOEXEC);
	w->end = HEAD_WORDS;
	return w->fd < 0 ? -errno : 0;
}

static int write_at(const struct script_writer *w, const void *bytes, size_t len, uint64_t offset)
{
	const char *from = bytes;

	while (len > 0) {
		ssize_t n = pwrite(w->fd, from, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		from += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/* Takes room for a chunk in the file, and in memory. */
static int begin_chunk(struct script_writer *w, struct script_stream *s, uint32_t room)
{
	uint64_t *words = s->words;

	if (room > s->room || !words)
		words = realloc(s->words, room * sizeof(*words));
	if (!words)
		return -ENOMEM;
	s->words = words;
	s->room = room;
	s->used = 0;
	s->at = w->end;
	w->end += room;
	return 0;
}

int script_writer_open(struct script_writer *w, struct script_stream *s)
{
	free(s->words);
	s->words = NULL;
	return begin_chunk(w, s, FIRST_WORDS);
}

static int write_chunk(const struct script_writer *w, const struct script_stream *s)
{
	return write_at(w, s->words, s->used * sizeof(*s->words), s->at * sizeof(*s->words));
}

/* Ends the chunk with a jump to the next one. */
static int next_chunk(struct script_writer *w, struct script_stream *s)
{
	uint32_t room = s->room < SCRIPT_CHUNK_WORDS ? s->room * 2 : s->room;
	int err;

	s->words[s->used++] = script_word(SCRIPT_JUMP, w->end);
	err = write_chunk(w, s);
	return err < 0 ? err : begin_chunk(w, s, room);
}

int script_writer_put(
    struct script_writer *w, struct script_stream *s, const uint64_t *words, uint32_t count)
{
	int err = 0;

	/* one word is kept for the jump */
	if (s->used + count + 1 > s->room)
		err = next_chunk(w, s);
	if (err < 0)
		return err;
	memcpy(s->words + s->used, words, count * sizeof(*words));
	s->used += count;
	return 0;
}

int script_writer_close(struct script_writer *w, struct script_stream *s)
{
	const uint64_t end = script_word(SCRIPT_END, 0);
	int err = script_writer_put(w, s, &end, 1);

	if (err == 0)
		err = write_chunk(w, s);
	free(s->words);
	*s = (struct script_stream){0};
	return err;
}

int script_writer_finish(
    struct script_writer *w, struct script_head *head, const uint32_t *windows, size_t count)
{
	int err;

	head->magic = SCRIPT_MAGIC;
	head->windows = count;
	head->windows_at = w->end * sizeof(uint64_t);
	err = write_at(w, windows, count * sizeof(*windows), head->windows_at);
	return err < 0 ? err : write_at(w, head, sizeof(*head), 0);
}
