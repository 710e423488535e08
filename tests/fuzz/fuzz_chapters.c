/* fuzz_chapters.c - any recordings as the chapters of one folder. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/twist.h"
#include "lib/whole.h"
#include "print/export/pack.h"
#include "recording/file/chapter.h"
#include "kit/os/fault.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

enum { PARTS_MAX = 8 };

/* The input is cut where a recording begins. */
struct parts {
	size_t at[PARTS_MAX + 1];
	size_t count;
};

static void cut(const uint8_t *data, size_t size, struct parts *p)
{
	const uint64_t magic = RECORDING_MAGIC;

	p->count = 0;
	p->at[0] = 0;
	while (p->count + 1 < PARTS_MAX) {
		size_t from = p->at[p->count] + 1;
		const uint8_t *next =
		    from < size ? memmem(data + from, size - from, &magic, sizeof(magic)) : NULL;

		if (!next)
			break;
		p->at[++p->count] = (size_t)(next - data);
	}
	p->at[++p->count] = size;
}

static char folder[64];

static void remove_folder(void)
{
	(void)rmdir(folder);
}

static void make_folder(void)
{
	if (folder[0])
		return;
	(void)snprintf(folder, sizeof(folder), "/dev/shm/seep-fuzz.XXXXXX");
	if (!mkdtemp(folder) || atexit(remove_folder) != 0)
		abort(); /* the fuzzer's own trouble */
}

static void put_file(size_t number, bool is_part, const uint8_t *bytes, size_t len, char path[128])
{
	const struct chapter_name name = {
	    .number = number, .start_s = 1794827119, .is_part = is_part};
	char text[CHAPTER_NAME_BYTES];
	int fd;

	chapter_name_write(&name, text);
	(void)snprintf(path, 128, "%s/%s", folder, text);
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
		abort();
	close(fd);
}

static void check_times(const struct session *s)
{
	for (size_t i = 0; i < s->count; i++)
		for (size_t k = 1; k < s->processes[i]->point_count; k++)
			if (s->processes[i]->points[k].time_us <
			    s->processes[i]->points[k - 1].time_us)
				abort(); /* the time line goes back */
}

/* All time lines behind each other, as export does, are a sound one. */
static void splice_parts(char path[PARTS_MAX][128], size_t count)
{
	struct recording_writer *w;
	struct session *s = NULL;
	struct splice all = {0};
	struct fault where;
	char result[128];

	(void)snprintf(result, sizeof(result), "%s.spliced", folder);
	if (recording_create(result, RECORDING_REPLACE, &w) < 0)
		return;
	all.writer = w;
	for (size_t i = 0; i < count; i++) {
		struct recording *b;

		if (recording_open(path[i], &b) < 0)
			continue;
		(void)splice_add(&all, b, (i + 1) * 1000000000);
		recording_close(b);
	}
	if (recording_finish(w) < 0)
		return;
	if (session_load(result, &s, &where) == 0) {
		for (size_t i = 0; i < s->note_count; i++)
			if (strstr(s->notes[i], "time line is damaged"))
				abort();
		check_times(s);
		session_free(s);
	}
	(void)unlink(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[PARTS_MAX][128];
	struct session *s = NULL;
	struct fault where;
	struct parts p;

	make_folder();
	cut(data, size, &p);
	for (size_t i = 0; i < p.count; i++)
		put_file(i + 1, i + 1 == p.count && size % 2, data + p.at[i], p.at[i + 1] - p.at[i],
		    path[i]);
	if (session_load(folder, &s, &where) == 0) {
		check_times(s);
		if (size % 32 == 7) /* other fuzzers write reports all day */
			whole_session(s, WHOLE_ALL, size, true);
		session_free(s);
	}
	splice_parts(path, p.count);
	for (size_t i = 0; i < p.count; i++)
		(void)unlink(path[i]);
	return 0;
}

/* One of the chapters is changed, as a recording; or all of it, as bytes. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct chance c = {seed};
	struct codec_out out;
	struct parts p;
	struct shape s;
	size_t i, from, len;

	cut(data, size, &p);
	i = chance_below(&c, p.count);
	from = p.at[i];
	len = p.at[i + 1] - from;
	if (chance_below(&c, 8) == 0 || !shape_parse(&s, data + from, len))
		return LLVMFuzzerMutate(data, size, max_size);
	twist_random(&s, &s, &c);
	shape_write(&s, &out);
	shape_release(&s);
	if (out.len > 0 && size - len + out.len <= max_size) {
		memmove(data + from + out.len, data + from + len, size - from - len);
		memcpy(data + from, out.bytes, out.len);
		size = size - len + out.len;
	}
	codec_release(&out);
	return size;
}
