/* test_recording.c - a recording: what is written is read, and damage is reported. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/resource.h>
#include <zstd.h>

#include "test.h"
#include "recording/file/recording.h"
#include "recording/file/recording_bytes.h"

struct place {
	char dir[64];
	char file[96];
};

static int make_place(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	if (!p)
		return -1;
	strcpy(p->dir, "/tmp/test_recording.XXXXXX");
	if (!mkdtemp(p->dir))
		return -1;
	snprintf(p->file, sizeof(p->file), "%s/data", p->dir);
	*state = p;
	return 0;
}

static int drop_place(void **state)
{
	struct place *p = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", p->dir);
	if (system(command) != 0)
		return -1;
	free(p);
	return 0;
}

/* Three entries: text, a segment of 1000 bytes, an empty one. */
static void write_sample(const char *path, enum recording_existing existing)
{
	struct recording_segment seg = {.end_kind = RECORDING_END_EXITED};
	struct recording_writer *w;
	unsigned char body[1000];

	for (size_t i = 0; i < sizeof(body); i++)
		body[i] = (unsigned char)(i * 7);
	assert_int_equal(recording_create(path, existing, &w), 0);
	assert_int_equal(recording_append(w, RECORDING_META, "seep=1\n", 7, NULL, 0), 0);
	assert_int_equal(
	    recording_append(w, RECORDING_SEGMENT, &seg, sizeof(seg), body, sizeof(body)), 0);
	assert_int_equal(recording_append(w, RECORDING_UNTRACED, NULL, 0, NULL, 0), 0);
	assert_int_equal(recording_finish(w), 0);
}

/* Number of entries, or the error after them. */
static int count_entries(const char *path, bool *ret_truncated)
{
	struct recording *b;
	const void *bytes;
	uint32_t type;
	size_t len;
	int n = 0, err;

	err = recording_open(path, &b);
	if (err < 0)
		return err;
	while ((err = recording_next(b, &type, &bytes, &len)) > 0)
		n++;
	*ret_truncated = recording_truncated(b);
	recording_close(b);
	return err < 0 ? err : n;
}

static size_t load(const char *path, unsigned char *to, size_t room)
{
	FILE *f = fopen(path, "rb");
	size_t n;

	assert_non_null(f);
	n = fread(to, 1, room, f);
	fclose(f);
	return n;
}

static void store(const char *path, const unsigned char *bytes, size_t len)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	fclose(f);
}

TEST_WITH(what_was_written_is_read_back, make_place, drop_place)
{
	struct place *p = *state;
	struct recording_segment seg;
	const unsigned char *body;
	const void *bytes;
	struct recording *b;
	struct stat st;
	uint32_t type;
	size_t len;

	write_sample(p->file, RECORDING_REFUSE);
	assert_int_equal(stat(p->file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_nlink, 1);
	assert_int_equal(recording_open(p->file, &b), 0);
	assert_int_equal(recording_next(b, &type, &bytes, &len), 1);
	assert_int_equal(type, RECORDING_META);
	assert_int_equal(len, 7);
	assert_memory_equal(bytes, "seep=1\n", 7);
	assert_int_equal(recording_next(b, &type, &bytes, &len), 1);
	assert_int_equal(type, RECORDING_SEGMENT);
	assert_int_equal(len, sizeof(seg) + 1000);
	assert_int_equal((uintptr_t)bytes % 8, 0);
	memcpy(&seg, bytes, sizeof(seg));
	body = (const unsigned char *)bytes + sizeof(seg);
	assert_int_equal(seg.end_kind, RECORDING_END_EXITED);
	assert_int_equal(body[999], (unsigned char)(999 * 7));
	assert_int_equal(recording_next(b, &type, &bytes, &len), 1);
	assert_int_equal(type, RECORDING_UNTRACED);
	assert_int_equal(len, 0);
	assert_int_equal(recording_next(b, &type, &bytes, &len), 0);
	assert_int_equal(recording_next(b, &type, &bytes, &len), 0);
	assert_false(recording_truncated(b));
	recording_close(b);
}

TEST_WITH(every_prefix_is_readable_up_to_its_last_whole_entry, make_place, drop_place)
{
	struct place *p = *state;
	unsigned char file[4096];
	size_t len;
	int last = 0;

	write_sample(p->file, RECORDING_REFUSE);
	len = load(p->file, file, sizeof(file));
	for (size_t n = 0; n < len; n++) {
		bool truncated = false;
		int got;

		store(p->file, file, n);
		got = count_entries(p->file, &truncated);
		if (n < 8) {
			assert_int_equal(got, -EINVAL);
		} else if (n < 32) {
			assert_int_equal(got, -EBADMSG);
		} else {
			assert_true(got >= last && got <= 3);
			assert_true(truncated);
			last = got;
		}
	}
	assert_int_equal(last, 3);
}

TEST_WITH(every_flipped_bit_is_noticed, make_place, drop_place)
{
	struct place *p = *state;
	unsigned char file[4096];
	size_t len;
	int quiet = 0;

	write_sample(p->file, RECORDING_REFUSE);
	len = load(p->file, file, sizeof(file));
	for (size_t bit = 0; bit < len * 8; bit++) {
		bool truncated = false;
		int got;

		file[bit / 8] ^= (unsigned char)(1 << bit % 8);
		store(p->file, file, len);
		file[bit / 8] ^= (unsigned char)(1 << bit % 8);
		got = count_entries(p->file, &truncated);
		quiet += got == 3 && !truncated;
		assert_true(
		    got == -EBADMSG || got == -EINVAL || got == -ENOTSUP || (got >= 0 && got <= 3));
	}
	/* the reserved word of the header and the padding, nothing else */
	assert_int_equal(quiet, (8 + 1) * 8);
}

TEST_WITH(damage_in_the_middle_leaves_what_came_before, make_place, drop_place)
{
	struct place *p = *state;
	unsigned char file[4096];
	const void *bytes;
	struct recording *b;
	uint32_t type;
	size_t len;

	write_sample(p->file, RECORDING_REFUSE);
	len = load(p->file, file, sizeof(file));
	file[500] ^= 1; /* inside the segment */
	store(p->file, file, len);
	assert_int_equal(recording_open(p->file, &b), 0);
	assert_int_equal(recording_next(b, &type, &bytes, &len), 1);
	assert_int_equal(recording_next(b, &type, &bytes, &len), -EBADMSG);
	recording_close(b);
}

TEST_WITH(a_foreign_file_is_not_a_recording, make_place, drop_place)
{
	struct place *p = *state;
	struct recording *b;

	store(p->file, (const unsigned char *)"#!/bin/sh\nexit 0\n", 17);
	assert_int_equal(recording_open(p->file, &b), -EINVAL);
	store(p->file, (const unsigned char *)"", 0);
	assert_int_equal(recording_open(p->file, &b), -EINVAL);
	assert_int_equal(recording_open(p->dir, &b), -EISDIR);
	assert_int_equal(recording_open("/dev/null", &b), -EINVAL);
	unlink(p->file);
	assert_int_equal(recording_open(p->file, &b), -ENOENT);
	assert_int_equal(mkfifo(p->file, 0600), 0);
	assert_int_equal(recording_open(p->file, &b), -EINVAL);
}

TEST_WITH(another_version_is_told_apart_from_damage, make_place, drop_place)
{
	struct place *p = *state;
	unsigned char file[4096];
	struct recording *b;
	size_t len;

	write_sample(p->file, RECORDING_REFUSE);
	len = load(p->file, file, sizeof(file));
	file[8] = RECORDING_VERSION + 1;
	store(p->file, file, len);
	assert_int_equal(recording_open(p->file, &b), -ENOTSUP);
	file[8] = RECORDING_VERSION;
	file[16] = 1; /* a feature that must be understood */
	store(p->file, file, len);
	assert_int_equal(recording_open(p->file, &b), -ENOTSUP);
}

TEST_WITH(nothing_appears_before_the_end, make_place, drop_place)
{
	struct place *p = *state;
	struct recording_writer *w;
	char command[128];

	assert_int_equal(recording_create(p->file, RECORDING_REFUSE, &w), 0);
	assert_int_equal(recording_append(w, RECORDING_META, "a", 1, NULL, 0), 0);
	assert_int_equal(access(p->file, F_OK), -1);
	recording_discard(w);
	snprintf(command, sizeof(command), "test -z \"$(ls -A '%s')\"", p->dir);
	assert_int_equal(system(command), 0);
}

TEST_WITH(an_existing_file_is_refused_replaced_or_kept_as_old, make_place, drop_place)
{
	struct place *p = *state;
	unsigned char file[64];
	struct recording_writer *w;
	char old[128];
	bool truncated;

	snprintf(old, sizeof(old), "%s.old", p->file);
	store(p->file, (const unsigned char *)"precious", 8);
	assert_int_equal(recording_create(p->file, RECORDING_REFUSE, &w), -EEXIST);

	assert_int_equal(recording_create(p->file, RECORDING_KEEP_OLD, &w), 0);
	recording_discard(w); /* a run that failed */
	assert_int_equal(load(p->file, file, sizeof(file)), 8);
	assert_int_equal(access(old, F_OK), -1);

	write_sample(p->file, RECORDING_KEEP_OLD);
	assert_int_equal(load(old, file, sizeof(file)), 8);
	assert_int_equal(count_entries(p->file, &truncated), 3);

	write_sample(p->file, RECORDING_REPLACE);
	assert_int_equal(count_entries(p->file, &truncated), 3);
	assert_int_equal(load(old, file, sizeof(file)), 8);
}

TEST_WITH(a_file_that_appears_meanwhile_is_not_overwritten, make_place, drop_place)
{
	struct place *p = *state;
	unsigned char file[64];
	struct recording_writer *w;

	assert_int_equal(recording_create(p->file, RECORDING_REFUSE, &w), 0);
	store(p->file, (const unsigned char *)"precious", 8);
	assert_int_equal(recording_finish(w), -EEXIST);
	assert_int_equal(load(p->file, file, sizeof(file)), 8);
}

TEST_WITH(a_link_is_followed_not_replaced, make_place, drop_place)
{
	struct place *p = *state;
	char link_path[128];
	struct stat st;
	bool truncated;

	snprintf(link_path, sizeof(link_path), "%s/link", p->dir);
	store(p->file, (const unsigned char *)"x", 1);
	assert_int_equal(symlink(p->file, link_path), 0);
	write_sample(link_path, RECORDING_REPLACE);
	assert_int_equal(lstat(link_path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(count_entries(p->file, &truncated), 3);
}

TEST_WITH(a_device_is_written_and_stays_a_device, make_place, drop_place)
{
	struct stat st;

	write_sample("/dev/null", RECORDING_REFUSE);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
}

TEST_WITH(a_full_disk_is_an_error_and_leaves_nothing, make_place, drop_place)
{
	static unsigned char large[1 << 16];
	struct place *p = *state;
	struct recording_writer *w;

	if (access("/dev/full", W_OK) == 0)
		assert_int_equal(recording_create("/dev/full", RECORDING_REFUSE, &w), -ENOSPC);
	assert_int_equal(recording_create("/proc/none/x", RECORDING_REFUSE, &w), -ENOENT);
	assert_int_equal(recording_create(p->dir, RECORDING_REPLACE, &w), -EISDIR);

	struct rlimit old, limit;

	getrlimit(RLIMIT_FSIZE, &old);
	limit = old;
	limit.rlim_cur = 4096;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(recording_create(p->file, RECORDING_REFUSE, &w), 0);
	setrlimit(RLIMIT_FSIZE, &limit);
	assert_int_equal(
	    recording_append(w, RECORDING_SEGMENT, large, sizeof(large), NULL, 0), -EFBIG);
	assert_int_equal(recording_append(w, RECORDING_META, "a", 1, NULL, 0), -EFBIG);
	assert_int_equal(recording_finish(w), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &old);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(access(p->file, F_OK), -1);
}

TEST_WITH(a_packed_entry_is_smaller_and_comes_back, make_place, drop_place)
{
	static unsigned char large[1 << 20];
	struct place *p = *state;
	struct recording_writer *w;
	const void *bytes;
	struct recording *b;
	uint32_t type;
	size_t len;

	for (size_t i = 0; i < sizeof(large); i++)
		large[i] = (unsigned char)(i >> 8);
	assert_int_equal(recording_create(p->file, RECORDING_REFUSE, &w), 0);
	assert_int_equal(
	    recording_append_packed(w, RECORDING_LINE, "head", 4, large, sizeof(large), 3), 0);
	assert_int_equal(recording_append_packed(w, RECORDING_LINE, NULL, 0, NULL, 0, 3), 0);
	assert_true(recording_size(w) < sizeof(large) / 10);
	assert_int_equal(recording_finish(w), 0);
	assert_int_equal(recording_open(p->file, &b), 0);
	assert_int_equal(recording_next(b, &type, &bytes, &len), 1);
	assert_int_equal(type, RECORDING_LINE);
	assert_int_equal(len, 4 + sizeof(large));
	assert_memory_equal(bytes, "head", 4);
	assert_memory_equal((const unsigned char *)bytes + 4, large, sizeof(large));
	assert_int_equal(recording_next(b, &type, &bytes, &len), 1);
	assert_int_equal(len, 0);
	assert_int_equal(recording_next(b, &type, &bytes, &len), 0);
	assert_false(recording_truncated(b));
	recording_rewind(b);
	assert_int_equal(recording_next(b, &type, &bytes, &len), 1);
	assert_int_equal(len, 4 + sizeof(large));
	recording_close(b);
}

/* As a packed entry that a hostile writer made. */
static void write_frame(const char *path, const void *bytes, size_t len)
{
	const struct recording_file_head file = {
	    RECORDING_MAGIC, RECORDING_VERSION, sizeof(struct recording_file_head), 0, 0};
	struct recording_entry_head h = {.type = RECORDING_LINE,
	    .flags = RECORDING_ZSTD,
	    .length = len,
	    .crc = recording_crc_of(0, bytes, len)};
	FILE *out = fopen(path, "wb");

	assert_non_null(out);
	h.head_crc = recording_crc_of(0, &h, RECORDING_HEAD_CRC_BYTES);
	assert_int_equal(fwrite(&file, sizeof(file), 1, out), 1);
	assert_int_equal(fwrite(&h, sizeof(h), 1, out), 1);
	assert_int_equal(fwrite(bytes, len, 1, out), 1);
	assert_int_equal(fclose(out), 0);
}

TEST_WITH(a_few_bytes_do_not_unpack_to_very_many, make_place, drop_place)
{
	enum { MANY = 40 << 20 };
	struct place *p = *state;
	size_t room = ZSTD_compressBound(MANY), len;
	unsigned char *zeros = calloc(1, MANY), *packed = malloc(room);
	struct recording_writer *w;
	const void *bytes;
	struct recording *b;
	uint32_t type;

	assert_true(zeros && packed);
	len = ZSTD_compress(packed, room, zeros, MANY, 1);
	assert_true(len < MANY / 1000);
	write_frame(p->file, packed, len);
	assert_int_equal(recording_open(p->file, &b), 0);
	assert_int_equal(recording_next(b, &type, &bytes, &len), -EBADMSG);
	recording_close(b);
	/* the writer knows: it is stored as it is */
	assert_int_equal(recording_create(p->file, RECORDING_REPLACE, &w), 0);
	assert_int_equal(recording_append_packed(w, RECORDING_LINE, "head", 4, zeros, MANY, 1), 0);
	assert_true(recording_size(w) > MANY);
	assert_int_equal(recording_finish(w), 0);
	assert_int_equal(recording_open(p->file, &b), 0);
	assert_int_equal(recording_next(b, &type, &bytes, &len), 1);
	assert_int_equal(len, 4 + MANY);
	assert_memory_equal(bytes, "head", 4);
	recording_close(b);
	free(zeros);
	free(packed);
}

/* 1,000 entries, each its number; several indexes. */
static void write_many(const char *path)
{
	struct recording_writer *w;

	assert_int_equal(recording_create(path, RECORDING_REPLACE, &w), 0);
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(recording_append(w, RECORDING_META, &i, sizeof(i), NULL, 0), 0);
	assert_int_equal(recording_finish(w), 0);
}

TEST_WITH(reading_goes_on_behind_damage, make_place, drop_place)
{
	static unsigned char file[1 << 17];
	struct place *p = *state;
	const void *bytes;
	struct recording *b;
	uint64_t number, next = 0;
	uint32_t type;
	size_t len, got;
	int err, damages = 0;

	write_many(p->file);
	got = load(p->file, file, sizeof(file));
	for (int i = 100; i < 110; i++) /* heads and payloads of several */
		file[32 + i * 32 + i % 32] ^= 1;
	store(p->file, file, got);
	assert_int_equal(recording_open(p->file, &b), 0);
	for (;;) {
		err = recording_next(b, &type, &bytes, &len);
		if (err == 0)
			break;
		if (err < 0) {
			assert_int_equal(err, -EBADMSG);
			assert_true(recording_resume(b));
			damages++;
			continue;
		}
		memcpy(&number, bytes, sizeof(number));
		assert_true(number >= next);
		assert_true(number == next || (next >= 100 && number <= 110));
		next = number + 1;
	}
	assert_int_equal(damages, 10);
	assert_int_equal(next, 1000);
	assert_false(recording_truncated(b));
	recording_close(b);
	/* without its end a file has no index: it ends at the damage */
	store(p->file, file, got - 8);
	assert_int_equal(recording_open(p->file, &b), 0);
	while ((err = recording_next(b, &type, &bytes, &len)) == 1)
		continue;
	assert_int_equal(err, -EBADMSG);
	assert_false(recording_resume(b));
	recording_close(b);
}

TEST_WITH(a_published_file_is_readable_at_once, make_place, drop_place)
{
	struct place *p = *state;
	struct recording_writer *w;
	unsigned char file[64];
	bool truncated;
	char old[128];

	snprintf(old, sizeof(old), "%s.old", p->file);
	store(p->file, (const unsigned char *)"precious", 8);
	assert_int_equal(recording_create(p->file, RECORDING_KEEP_OLD, &w), 0);
	assert_int_equal(recording_append(w, RECORDING_META, "a", 1, NULL, 0), 0);
	assert_int_equal(recording_publish(w), 0);
	assert_int_equal(recording_publish(w), 0);
	assert_int_equal(load(old, file, sizeof(file)), 8);
	assert_int_equal(count_entries(p->file, &truncated), 1);
	assert_true(truncated);
	assert_int_equal(recording_append(w, RECORDING_META, "b", 1, NULL, 0), 0);
	assert_int_equal(count_entries(p->file, &truncated), 2);
	assert_int_equal(recording_finish(w), 0);
	assert_int_equal(count_entries(p->file, &truncated), 2);
	assert_false(truncated);
	assert_int_equal(load(old, file, sizeof(file)), 8);
}

TEST_WITH(a_name_taken_away_is_given_back, make_place, drop_place)
{
	struct place *p = *state;
	struct recording_writer *w;
	unsigned char file[64];
	struct stat st;
	bool truncated;

	assert_int_equal(recording_create(p->file, RECORDING_REFUSE, &w), 0);
	assert_int_equal(recording_append(w, RECORDING_META, "a", 1, NULL, 0), 0);
	assert_int_equal(recording_publish(w), 0);
	unlink(p->file);
	assert_int_equal(recording_append(w, RECORDING_META, "b", 1, NULL, 0), 0);
	assert_int_equal(recording_finish(w), 0);
	assert_int_equal(count_entries(p->file, &truncated), 2);
	assert_false(truncated);
	assert_int_equal(stat(p->file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	/* but what another has put there stays */
	unlink(p->file);
	assert_int_equal(recording_create(p->file, RECORDING_REFUSE, &w), 0);
	assert_int_equal(recording_append(w, RECORDING_META, "a", 1, NULL, 0), 0);
	assert_int_equal(recording_publish(w), 0);
	unlink(p->file);
	store(p->file, (const unsigned char *)"precious", 8);
	assert_int_equal(recording_finish(w), -EEXIST);
	assert_int_equal(load(p->file, file, sizeof(file)), 8);
}

TEST_WITH(a_file_that_another_wrote_is_left_to_him, make_place, drop_place)
{
	struct place *p = *state;
	struct recording_writer *w;
	unsigned char file[64];

	assert_int_equal(recording_create(p->file, RECORDING_REFUSE, &w), 0);
	assert_int_equal(recording_append(w, RECORDING_META, "a", 1, NULL, 0), 0);
	assert_int_equal(recording_publish(w), 0);
	store(p->file, (const unsigned char *)"precious", 8);
	assert_int_equal(recording_append(w, RECORDING_META, "b", 1, NULL, 0), -ESTALE);
	assert_int_equal(recording_finish(w), -ESTALE);
	assert_int_equal(load(p->file, file, sizeof(file)), 8);
	assert_memory_equal(file, "precious", 8);
}

TEST_WITH(version_1_is_still_read, make_place, drop_place)
{
	struct place *p = *state;
	unsigned char file[4096];
	struct recording *b;
	size_t len;

	write_sample(p->file, RECORDING_REFUSE);
	len = load(p->file, file, sizeof(file));
	file[8] = 1;
	store(p->file, file, len);
	assert_int_equal(recording_open(p->file, &b), 0);
	recording_close(b);
	file[8] = 0;
	store(p->file, file, len);
	assert_int_equal(recording_open(p->file, &b), -ENOTSUP);
}

/* Entries of a whole file; *ret_types gets the types, up to max of them. */
static size_t types_of(const char *path, uint32_t *types, size_t max)
{
	struct recording *b;
	const void *bytes;
	uint32_t type;
	size_t len, n = 0;

	assert_int_equal(recording_open(path, &b), 0);
	while (recording_next(b, &type, &bytes, &len) == 1)
		if (n < max)
			types[n++] = type;
	assert_false(recording_truncated(b));
	recording_close(b);
	return n;
}

TEST_WITH(checkpoint_is_a_whole_file_and_goes_on, make_place, drop_place)
{
	struct place *p = *state;
	struct recording_writer *w;
	uint32_t types[600];

	assert_int_equal(recording_create(p->file, RECORDING_REFUSE, &w), 0);
	for (int i = 0; i < 255; i++) /* the index is about to be full */
		assert_int_equal(recording_append(w, RECORDING_META, "a", 1, NULL, 0), 0);
	assert_int_equal(recording_checkpoint(w), 0);
	assert_int_equal(types_of(p->file, types, 600), 255);
	assert_int_equal(recording_checkpoint(w), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(recording_append(w, RECORDING_NAMES, "b", 1, NULL, 0), 0);
	assert_int_equal(recording_finish(w), 0);
	assert_int_equal(types_of(p->file, types, 600), 258);
	assert_int_equal(types[254], RECORDING_META);
	assert_int_equal(types[255], RECORDING_NAMES);
	unlink(p->file);
	/* without anything more */
	assert_int_equal(recording_create(p->file, RECORDING_REFUSE, &w), 0);
	assert_int_equal(recording_append(w, RECORDING_META, "a", 1, NULL, 0), 0);
	assert_int_equal(recording_checkpoint(w), 0);
	assert_int_equal(recording_finish(w), 0);
	assert_int_equal(types_of(p->file, types, 600), 1);
}

TEST_WITH(rollback_forgives_a_full_disk, make_place, drop_place)
{
	struct place *p = *state;
	struct rlimit old, limit;
	struct recording_writer *w;
	uint32_t types[8];
	char *big = calloc(1, 1 << 20);

	assert_non_null(big);
	assert_int_equal(recording_create(p->file, RECORDING_REFUSE, &w), 0);
	assert_int_equal(recording_append(w, RECORDING_META, "a", 1, NULL, 0), 0);
	assert_int_equal(recording_checkpoint(w), 0);
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = 65536;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(recording_append(w, RECORDING_NAMES, big, 1 << 20, NULL, 0), -EFBIG);
	assert_int_equal(recording_rollback(w), 0);
	assert_int_equal(recording_finish(w), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(types_of(p->file, types, 8), 1);
	free(big);
}

/* seep watch writes for months: the disk is full one day, and not the next. */
TEST_WITH(recovering_leaves_whole_entries_and_goes_on, make_place, drop_place)
{
	struct place *p = *state;
	struct rlimit old, limit;
	struct recording_writer *w;
	uint32_t types[512];
	bool truncated;
	char *big = calloc(1, 1 << 20);

	assert_non_null(big);
	assert_int_equal(recording_create(p->file, RECORDING_REFUSE, &w), 0);
	/* so many that the next one needs an index before it */
	for (int i = 0; i < 256; i++)
		assert_int_equal(recording_append(w, RECORDING_META, "a", 1, NULL, 0), 0);
	assert_int_equal(recording_publish(w), 0);
	assert_int_equal(recording_sync(w), 0);
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	for (rlim_t room = 1; room < 5000; room = room * 3 + 5) {
		limit = old;
		limit.rlim_cur = (rlim_t)recording_size(w) + room;
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		assert_int_equal(
		    recording_append(w, RECORDING_NAMES, big, 1 << 20, NULL, 0), -EFBIG);
		assert_int_equal(recording_append(w, RECORDING_META, "b", 1, NULL, 0), -EFBIG);
		assert_int_equal(recording_recover(w), 0);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
		assert_int_equal(count_entries(p->file, &truncated), 256);
		assert_true(truncated);
	}
	recording_rest(w);
	assert_int_equal(recording_append_packed(w, RECORDING_LINE, "c", 1, "d", 1, 3), 0);
	assert_int_equal(recording_finish(w), 0);
	assert_int_equal(types_of(p->file, types, 512), 257);
	assert_int_equal(types[256], RECORDING_LINE);
	assert_int_equal(count_entries(p->file, &truncated), 257);
	assert_false(truncated);
	free(big);
}
