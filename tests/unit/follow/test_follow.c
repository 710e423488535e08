/* test_follow.c - what a recorder keeps of files that come and go. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "../lib/mkseg.h"
#include "follow/recorder/follow.h"
#include "follow/recorder/follow_parts.h"

enum { ROUNDS = 40, AT_ONCE = 30, STAY = 3 };

struct run {
	char dir[128];
	struct segment_dir segment_dir;
	struct quota quota;
	struct collect collect;
	struct recording_writer *writer;
	struct follow *follow;
};

static void run_init(struct run *r)
{
	struct segment_dir_problem why;
	struct follow_plan plan;

	memset(r, 0, sizeof(*r));
	(void)snprintf(r->dir, sizeof(r->dir), "/dev/shm/seep-test.%s.XXXXXX",
	    getenv("SEEP_RUN") ? getenv("SEEP_RUN") : "0");
	assert_non_null(mkdtemp(r->dir));
	assert_int_equal(setenv("SEEP_DIR", r->dir, 1), 0);
	assert_int_equal(segment_dir_init(&r->segment_dir, &why), 0);
	assert_int_equal(recording_create("/dev/null", RECORDING_REPLACE, &r->writer), 0);
	quota_init(&r->quota, QUOTA_FILE_BYTES);
	r->collect.quota = &r->quota;
	plan = (struct follow_plan){
	    .segment_dir = &r->segment_dir, .writer = r->writer, .collect = &r->collect};
	assert_int_equal(follow_new(&plan, &r->follow), 0);
}

static void run_release(struct run *r)
{
	follow_free(r->follow);
	collect_release(&r->collect);
	quota_release(&r->quota);
	recording_discard(r->writer);
	segment_dir_release(&r->segment_dir);
	assert_int_equal(rmdir(r->dir), 0);
}

static void name_of(const struct run *r, int number, char path[256])
{
	(void)snprintf(path, 256, "%s/child-%d.seg", r->dir, number);
}

static void make_file(const struct run *r, int number, const char *session)
{
	struct mkseg *m = mkseg_new();
	struct seg_header *h = mkseg_header(m);
	uint8_t *bytes;
	char path[256];
	size_t len;
	int fd;

	(void)snprintf(h->session, sizeof(h->session), "%s", session);
	memcpy(h->uuid, &number, sizeof(number));
	h->pid = (uint32_t)number + 1;
	bytes = mkseg_finish(m, &len);
	mkseg_free(m);
	name_of(r, number, path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	(void)close(fd);
	free(bytes);
}

static size_t watched(const struct follow *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->file_count; i++)
		n += f->files[i].watch_count;
	return n;
}

/* Other tests may have theirs in /dev/shm at the same time. */
static size_t own_files(const struct run *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->follow->file_count; i++)
		n += strcmp(r->follow->files[i].dir, r->dir) == 0;
	return n;
}

/* Ours and those of other runs; the first few stay until the end. */
TEST(files_that_are_gone_are_forgotten)
{
	int made = 0, removed = STAY;
	char path[256];
	struct run r;

	run_init(&r);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < AT_ONCE; i++, made++)
			make_file(&r, made, made % 3 ? r.segment_dir.session : "other");
		assert_int_equal(follow_files_look(r.follow, true, false), 0);
		for (; removed < made - AT_ONCE / 2; removed++) {
			name_of(&r, removed, path);
			assert_int_equal(unlink(path), 0);
		}
		assert_int_equal(follow_files_look(r.follow, true, false), 0);
		assert_true(
		    own_files(&r) < 4 * AT_ONCE + 64 + r.follow->file_count - own_files(&r));
	}
	/* who is there is known once, and watched */
	assert_int_equal(r.follow->numbers, made - made / 3);
	assert_int_equal(watched(r.follow), (STAY + AT_ONCE / 2) * 2 / 3);
	for (size_t i = 0; i + 1 < r.follow->file_count; i++)
		for (size_t k = i + 1; k < r.follow->file_count; k++)
			assert_false(strcmp(r.follow->files[i].dir, r.follow->files[k].dir) == 0 &&
			    strcmp(r.follow->files[i].name, r.follow->files[k].name) == 0);
	for (int i = 0; i < made; i++) {
		name_of(&r, i, path);
		(void)unlink(path);
	}
	run_release(&r);
}
