/* test_quota.c - what a recording takes, and of whom. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "../lib/mkseg.h"
#include "session/load/session.h"
#include "recording/file/meta.h"
#include "follow/recorder/quota.h"

#define MIB (UINT64_C(1) << 20)

static struct recording_writer *nowhere(void)
{
	struct recording_writer *w = NULL;

	assert_int_equal(recording_create("/dev/null", RECORDING_REPLACE, &w), 0);
	return w;
}

TEST(another_user_has_a_share_and_no_more)
{
	struct recording_writer *w = nowhere();
	struct quota_user *they, *we;
	struct quota q;

	quota_init(&q, QUOTA_FILE_BYTES);
	we = quota_user(&q, geteuid());
	they = quota_user(&q, geteuid() + 1);
	assert_ptr_not_equal(we, they);
	assert_ptr_equal(quota_user(&q, geteuid() + 1), they);
	assert_true(they->room.bytes < we->room.bytes);
	for (int i = 0; i < QUOTA_OTHERS_MIB; i++)
		assert_true(quota_take(&q, they, MIB, w));
	assert_false(quota_take(&q, they, 1, w));
	assert_int_equal(q.refused[QUOTA_USER], 1);
	/* others are none the worse for it */
	assert_true(quota_take(&q, we, 400 * MIB, w));
	assert_true(quota_take(&q, quota_user(&q, geteuid() + 2), MIB, w));
	quota_release(&q);
	recording_discard(w);
}

TEST(another_user_has_so_many_records_and_files)
{
	struct recording_writer *w = nowhere();
	struct quota_user *they;
	struct quota q;

	quota_init(&q, QUOTA_FILE_BYTES);
	they = quota_user(&q, geteuid() + 1);
	for (int i = 0; i < QUOTA_OTHERS_MAX; i++)
		assert_true(quota_take(&q, they, 0, w));
	assert_false(quota_take(&q, they, 0, w));
	assert_int_equal(q.refused[QUOTA_COUNT], 1);
	for (int look = 0; look < 3; look++) {
		quota_look(&q);
		for (int i = 0; i < QUOTA_OTHERS_FILES + 5; i++) {
			assert_int_equal(quota_file(&q, geteuid() + 1), i < QUOTA_OTHERS_FILES);
			assert_true(quota_file(&q, geteuid()));
		}
	}
	assert_int_equal(q.refused[QUOTA_FILES], 5); /* not 15 */
	quota_release(&q);
	recording_discard(w);
}

TEST(verdicts_have_a_quarter_of_the_file)
{
	struct recording_writer *w = nowhere();
	struct quota q;

	quota_init(&q, 256 << 10);
	assert_true(quota_verdicts(&q, 60 << 10, w));
	assert_false(quota_verdicts(&q, 5 << 10, w));
	assert_true(quota_verdicts(&q, 4 << 10, w));
	assert_false(quota_verdicts(&q, 1, w));
	assert_false(quota_verdicts(&q, UINT64_MAX, w));
	assert_int_equal(q.verdicts_left, 3);
	quota_release(&q);
	recording_discard(w);
}

TEST(very_many_users_share_one)
{
	struct quota_user *last = NULL;
	struct quota q;

	quota_init(&q, QUOTA_FILE_BYTES);
	for (uid_t i = 1; i <= QUOTA_USERS_MAX + 100; i++)
		last = quota_user(&q, geteuid() + i);
	assert_int_equal(q.other_count, QUOTA_USERS_MAX);
	assert_ptr_equal(quota_user(&q, geteuid() + 5000), last);
	quota_release(&q);
}

TEST(the_recording_ends_at_its_size)
{
	static char zeros[65536];
	struct recording_writer *w = nowhere();
	struct quota_user *we;
	struct quota q;

	quota_init(&q, 256 << 10);
	we = quota_user(&q, geteuid());
	assert_true(quota_timeline(&q, w));
	assert_true(quota_take(&q, we, 100 << 10, w));
	for (int i = 0; i < 3; i++)
		assert_int_equal(
		    recording_append(w, RECORDING_LINE, zeros, sizeof(zeros), NULL, 0), 0);
	assert_false(quota_timeline(&q, w));
	assert_false(quota_take(&q, we, 100 << 10, w));
	assert_int_equal(q.refused[QUOTA_FULL], 1);
	assert_false(quota_take(&q, we, (uint64_t)RECORDING_ENTRY_MAX, w));
	assert_int_equal(q.refused[QUOTA_LARGE], 1);
	recording_discard(w);
	quota_release(&q);
}

static bool has_note(const struct session *s, const char *words)
{
	for (size_t i = 0; i < s->note_count; i++)
		if (strstr(s->notes[i], words))
			return true;
	return false;
}

/* What was refused is in the recording, and who reads it says so. */
TEST(a_reader_says_what_was_refused)
{
	char name[] = "true", *const command[] = {name, NULL};
	const struct meta about = {.version = "0",
	    .session = "",
	    .program = "",
	    .command = command,
	    .ended = true,
	    .unwatched = 2,
	    .unplaced = 1,
	    .timeline_cut = true};
	char path[] = "/tmp/seep-quota.XXXXXX";
	struct session *s = NULL;
	struct recording_writer *w;
	struct fault where = {""};
	struct quota q;
	const struct recording_segment end = {.exit_status = -1};
	const uint64_t frame = MKSEG_FRAME(1, 0x1000);
	struct mkseg *m = mkseg_new();
	void *bytes;
	size_t len;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	quota_init(&q, QUOTA_FILE_BYTES);
	for (int i = 0; i < QUOTA_REASONS; i++)
		q.refused[i] = 2 + (size_t)i;
	assert_int_equal(recording_create(path, RECORDING_REPLACE, &w), 0);
	assert_int_equal(meta_write(&about, w), 0);
	mkseg_book(m, 0, mkseg_stack(m, &frame, 1), 1, 16, 0);
	bytes = mkseg_finish(m, &len);
	assert_int_equal(recording_append(w, RECORDING_SEGMENT, &end, sizeof(end), bytes, len), 0);
	quota_write(&q, w);
	assert_int_equal(recording_finish(w), 0);
	(void)session_load(path, &s, &where);
	assert_non_null(s);
	assert_true(s->is_truncated); /* check exits with 3 */
	for (int i = 0; i < QUOTA_REASONS; i++)
		assert_true(has_note(s, quota_words((enum quota_reason)i)));
	assert_true(has_note(s, "2 processes have no time line"));
	assert_true(has_note(s, "1 module of a relative path was not"));
	assert_true(has_note(s, "the time line ends before the command"));
	session_free(s);
	mkseg_free(m);
	free(bytes);
	quota_release(&q);
	(void)unlink(path);
}
