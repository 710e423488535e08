/* test_reader.c - promises of segments/read/segment_copy.h and segments/read/segfile.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "../lib/mkseg.h"
#include "segments/read/losses.h"
#include "segments/read/segfile.h"
#include "session/load/session.h"

static const uint64_t deep[] = {MKSEG_FRAME(1, 0x1010), MKSEG_FRAME(1, 0x1020),
    MKSEG_FRAME(1, 0x1030), MKSEG_FRAME(1, 0x1040), MKSEG_FRAME(1, 0x1050), MKSEG_FRAME(1, 0x1060),
    MKSEG_FRAME(1, 0x1070), MKSEG_FRAME(1, 0x1080), MKSEG_FRAME(1, 0x1090)};

/* A segment with a bit of everything; *ret is for free(). */
static void *small_segment(size_t *ret_len)
{
	struct mkseg *m = mkseg_new();
	void *bytes;
	uint32_t id;

	(void)mkseg_module(m, "/bin/host", 0x1000);
	for (uint32_t i = 1; i <= 9; i++) {
		id = mkseg_stack(m, deep, i);
		mkseg_book(m, 0, id, 10 * i, 16, i);
		mkseg_book(m, 17, id, i, 8, 0);
		mkseg_info(m, id)->ages[2] = 1;
	}
	mkseg_live(m, 3)->blocks = 1;
	bytes = mkseg_finish(m, ret_len);
	mkseg_free(m);
	return bytes;
}

static struct segment *read_own(const void *bytes, size_t len)
{
	struct segment *seg;
	struct segfile *f;

	assert_int_equal(segfile_open_bytes(bytes, len, &f, NULL), 0);
	assert_int_equal(segfile_read(f, SEGFILE_OWN, &seg, NULL), 0);
	segfile_close(f);
	return seg;
}

TEST(foreign_bytes_are_no_segment)
{
	uint8_t bytes[8192];
	struct segfile *f;

	memset(bytes, 'x', sizeof(bytes));
	assert_int_equal(segfile_open_bytes(bytes, sizeof(bytes), &f, NULL), -EINVAL);
	assert_int_equal(segfile_open_bytes(bytes, 3, &f, NULL), -EINVAL);
	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(segfile_open_bytes(bytes, sizeof(bytes), &f, NULL), -ENODATA);
	assert_int_equal(segfile_open_bytes(bytes, 0, &f, NULL), -ENODATA);
}

TEST(other_version_is_told_apart)
{
	size_t len;
	uint8_t *bytes = small_segment(&len);
	uint32_t version = SEG_VERSION_INFOS + 1;
	struct fault where;
	struct segfile *f;

	memcpy(bytes + offsetof(struct seg_header, version), &version, sizeof(version));
	assert_int_equal(segfile_open_bytes(bytes, len, &f, &where), -ENOTSUP);
	assert_non_null(strstr(where.text, "version 4"));
	free(bytes);
}

TEST(a_fifo_or_directory_is_refused_at_once)
{
	struct segfile *f;

	assert_int_equal(segfile_open(AT_FDCWD, "/dev/null", &f, NULL), -EINVAL);
	assert_int_equal(segfile_open(AT_FDCWD, "/", &f, NULL), -EISDIR);
	assert_int_equal(segfile_open(AT_FDCWD, "/proc/none", &f, NULL), -ENOENT);
}

/* A segment with one site whose blocks have births and who frees them. */
static struct session *session_with_facts(uint32_t live_bytes)
{
	struct mkseg *m = mkseg_new();
	uint64_t frame = UINT64_C(0x1000);
	struct seg_live *live;
	struct seg_info *info;
	struct session *s;
	uint8_t *bytes;
	size_t len;

	mkseg_site(m, 1)->inner = mkseg_inner(m, &frame, 1, 0);
	mkseg_row(m, 0, 1)->allocations = 10;
	mkseg_row(m, 0, 1)->frees = 3;
	info = mkseg_info(m, 1);
	info->freed_by[1] = 0x2000;
	info->freed_by_count[1] = 5;
	info->freed_by[2] = 0x3000;
	info->freed_by_count[2] = 9;
	info->freed_by[3] = 0x4000; /* never counted: no entry */
	live = mkseg_live_of(m, 1, live_bytes);
	live->blocks = 7;
	live->sizes[3] = 7;
	if (live_bytes == sizeof(*live))
		live->births[31] = 7;
	bytes = mkseg_finish(m, &len);
	assert_int_equal(session_load_bytes(bytes, len, &s, NULL), 0);
	free(bytes);
	assert_int_equal(s->processes[0]->site_count, 1);
	return s;
}

TEST(births_and_freers_of_a_site_are_read)
{
	struct session *s = session_with_facts(sizeof(struct seg_live));
	const struct process_site *site = &s->processes[0]->sites[0];

	assert_true(site->ages->births_known);
	assert_int_equal(site->ages->births[31], 7);
	assert_int_equal(site->ages->births[0], 0);
	assert_true(site->ages->sizes_known);
	assert_int_equal(site->freed_by->count, 2);
	assert_int_equal(site->freed_by->at[0].frame, 0x3000);
	assert_int_equal(site->freed_by->at[0].count, 9);
	assert_int_equal(site->freed_by->at[1].frame, 0x2000);
	session_free(s);
}

TEST(rows_of_older_collectors_have_sizes_but_no_births)
{
	struct session *s = session_with_facts(offsetof(struct seg_live, births));
	const struct process_site *site = &s->processes[0]->sites[0];

	assert_false(site->ages->births_known);
	assert_true(site->ages->sizes_known);
	assert_int_equal(site->ages->sizes[3], 7);
	session_free(s);
}

TEST(freers_of_two_sites_are_added_up)
{
	struct process_freers a = {{{1, 10}, {2, 5}, {3, 4}, {4, 1}}, 4};
	const struct process_freers b = {{{2, 9}, {9, 3}}, 2};

	process_add_freers(&a, &b);
	assert_int_equal(a.count, 4);
	assert_int_equal(a.at[0].frame, 2);
	assert_int_equal(a.at[0].count, 14);
	assert_int_equal(a.at[3].frame, 9); /* the rarest is gone */
	a.at[0].count = UINT64_MAX;
	process_add_freers(&a, &b);
	assert_int_equal(a.at[0].count, UINT64_MAX);
}

/* Every prefix: an error or a sound result, never more. */
TEST(truncation_at_every_byte_is_survived)
{
	size_t len, sound = 0, step;
	uint8_t *bytes = small_segment(&len);
	struct session *s;

	for (size_t n = 0; n <= len; n += step) {
		/* a copy of just that size, so that ASan guards its end */
		uint8_t *prefix = malloc(n ? n : 1);

		memcpy(prefix, bytes, n);
		if (session_load_bytes(prefix, n, &s, NULL) == 0) {
			sound++;
			assert_int_equal(s->count, 1);
			session_free(s);
		}
		free(prefix);
		/* all bytes where something is, then some */
		step = n < 12000 || n > len - 3000 ? 1 : 61;
	}
	assert_true(sound >= 1);
	free(bytes);
}

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

TEST(random_damage_is_survived)
{
	static const uint64_t nasty[] = {0, 1, 0xff, 0x7fffffff, 0xffffffff, 0x8000000000000000,
	    0xffffffffffffffff, 0x1000, 0xfffffffffffffff8};
	uint64_t x = 88172645463325252;
	time_t start = time(NULL);
	size_t len;
	uint8_t *bytes = small_segment(&len), *copy = malloc(len);
	struct session *s;
	int sound = 0;

	for (int i = 0; i < 20000; i++) {
		int hits = 1 + (int)(next_random(&x) % 8);

		memcpy(copy, bytes, len);
		while (hits-- > 0) {
			/* half of them where the structure is */
			size_t room = next_random(&x) % 2 ? len : 10240;
			size_t at = next_random(&x) % (room - 8);
			uint64_t v =
			    next_random(&x) % 2 ? next_random(&x) : nasty[next_random(&x) % 9];

			at &= ~(size_t)3;
			memcpy(copy + at, &v, next_random(&x) % 2 ? 8 : 4);
		}
		if (session_load_bytes(copy, len, &s, NULL) == 0) {
			sound++;
			session_free(s);
		}
	}
	assert_in_range(sound, 1000, 19999); /* both ways were taken */
	assert_true(time(NULL) - start < 15);
	free(copy);
	free(bytes);
}

TEST(huge_counts_are_refused)
{
	static const struct {
		size_t offset;
		uint32_t value;
	} cases[] = {
	    {offsetof(struct seg_extent, count), UINT32_MAX},
	    {offsetof(struct seg_extent, row_bytes), UINT32_MAX},
	    {offsetof(struct seg_extent, row_bytes), 1},
	    {offsetof(struct seg_extent, offset) + 4, UINT32_MAX},
	};
	struct segment *seg;
	struct segfile *f;
	size_t len;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t *bytes = small_segment(&len);

		memcpy(
		    bytes + SEG_HEADER_BYTES + cases[i].offset, &cases[i].value, sizeof(uint32_t));
		assert_int_equal(segfile_open_bytes(bytes, len, &f, NULL), 0);
		assert_int_equal(segfile_read(f, SEGFILE_OWN, &seg, NULL), -EBADMSG);
		segfile_close(f);
		free(bytes);
	}
}

/* A thousand extents over the same bytes must not cost a thousand copies. */
TEST(overlapping_extents_stay_within_the_bound)
{
	struct seg_header *h;
	struct segment *seg;
	struct segfile *f;
	size_t len = 80 << 20, n = 1000;
	uint8_t *bytes = calloc(1, len);

	h = (struct seg_header *)bytes;
	h->magic = SEG_MAGIC;
	h->version = SEG_VERSION;
	h->header_bytes = SEG_HEADER_BYTES;
	h->dir_offset = SEG_HEADER_BYTES;
	h->dir_used = h->dir_capacity = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		struct seg_extent x = {
		    .kind = SEG_EXT_LEDGER, .row_bytes = 64, .count = 1 << 20, .offset = 1 << 20};

		memcpy(bytes + SEG_HEADER_BYTES + i * sizeof(x), &x, sizeof(x));
	}
	assert_int_equal(segfile_open_bytes(bytes, len, &f, NULL), 0);
	assert_int_equal(segfile_read(f, SEGFILE_OWN, &seg, NULL), -EBADMSG);
	segfile_close(f);
	free(bytes);
}

TEST(half_written_directory_entries_are_skipped)
{
	size_t len;
	uint8_t *bytes = small_segment(&len);
	uint32_t none = 0, more = 60;
	struct segment *seg;

	memcpy(bytes + SEG_HEADER_BYTES, &none, sizeof(none));
	/* entries begun beyond those that are complete */
	memcpy(bytes + offsetof(struct seg_header, dir_used), &more, sizeof(more));
	seg = read_own(bytes, len);
	assert_true(seg->extent_count > 0);
	segment_copy_free(seg);
	free(bytes);
}

TEST(compact_copy_says_the_same)
{
	size_t len, small_len;
	uint8_t *bytes = small_segment(&len);
	struct session *a, *b;
	struct segfile *f;
	void *small;

	assert_int_equal(segfile_open_bytes(bytes, len, &f, NULL), 0);
	assert_int_equal(segfile_compact(f, SEGFILE_OWN, &small, &small_len, NULL), 0);
	segfile_close(f);
	assert_true(small_len < len / 2);
	assert_int_equal(session_load_bytes(bytes, len, &a, NULL), 0);
	assert_int_equal(session_load_bytes(small, small_len, &b, NULL), 0);
	assert_int_equal(a->processes[0]->site_count, b->processes[0]->site_count);
	assert_memory_equal(
	    &a->processes[0]->totals, &b->processes[0]->totals, sizeof(a->processes[0]->totals));
	for (size_t i = 0; i < a->processes[0]->site_count; i++) {
		const struct process_site *x = &a->processes[0]->sites[i];
		const struct process_site *y = &b->processes[0]->sites[i];
		uint64_t one[16], two[16];
		uint32_t flags;
		size_t n;

		assert_int_equal(x->id, y->id);
		assert_memory_equal(&x->figures, &y->figures, sizeof(x->figures));
		n = stacks_frames(a->processes[0]->stacks, x->stack, one, 16, &flags);
		assert_int_equal(n, i + 1);
		assert_int_equal(
		    n, stacks_frames(b->processes[0]->stacks, y->stack, two, 16, &flags));
		assert_memory_equal(one, two, n * sizeof(one[0]));
		assert_memory_equal(one, deep, n * sizeof(one[0]));
	}
	assert_string_equal(b->processes[0]->modules[1].path, "/bin/host");
	session_free(a);
	session_free(b);
	free(small);
	free(bytes);
}

TEST(compact_copy_of_a_compact_copy_is_the_same_bytes)
{
	size_t len, one_len, two_len;
	uint8_t *bytes = small_segment(&len);
	struct segment *seg = read_own(bytes, len);
	void *one, *two;

	assert_int_equal(segment_copy_compact(seg, &one, &one_len), 0);
	segment_copy_free(seg);
	seg = read_own(one, one_len);
	assert_int_equal(segment_copy_compact(seg, &two, &two_len), 0);
	segment_copy_free(seg);
	assert_int_equal(one_len, two_len);
	assert_memory_equal(one, two, one_len);
	free(one);
	free(two);
	free(bytes);
}

TEST(snapshot_mark_survives_the_copy)
{
	size_t len, small_len;
	uint8_t *bytes = small_segment(&len);
	struct segment *seg = read_own(bytes, len);
	struct session *s;
	void *small;

	assert_int_equal(segment_copy_mark_snapshot(seg, "before the storm"), 0);
	assert_int_equal(segment_copy_compact(seg, &small, &small_len), 0);
	segment_copy_free(seg);
	assert_int_equal(session_load_bytes(small, small_len, &s, NULL), 0);
	assert_true(s->processes[0]->is_snapshot);
	assert_int_equal(s->processes[0]->end, PROCESS_RUNNING);
	assert_string_equal(s->processes[0]->marks[0].label, "before the storm");
	session_free(s);
	free(small);
	free(bytes);
}

TEST(sparse_file_is_read_without_filling_its_holes)
{
	size_t len;
	uint8_t *bytes = small_segment(&len);
	char path[] = "/dev/shm/seep-test.XXXXXX";
	int fd = mkstemp(path);
	struct segment *seg;
	struct segfile *f;
	uint64_t before;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	assert_int_equal(ftruncate(fd, 256 << 20), 0);
	assert_int_equal(segfile_open(AT_FDCWD, path, &f, NULL), 0);
	before = segfile_source(f)->stored_bytes;
	assert_int_equal(segfile_read(f, SEGFILE_OWN, &seg, NULL), 0);
	segment_copy_free(seg);
	segfile_close(f);
	assert_int_equal(segfile_open(AT_FDCWD, path, &f, NULL), 0);
	assert_int_equal(segfile_source(f)->stored_bytes, before);
	segfile_close(f);
	close(fd);
	unlink(path);
	free(bytes);
}

TEST(file_cut_while_open_is_an_error)
{
	size_t len;
	uint8_t *bytes = small_segment(&len);
	char path[] = "/tmp/seep-test.XXXXXX";
	int fd = mkstemp(path);
	struct segment *seg;
	struct segfile *f;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	assert_int_equal(segfile_open(AT_FDCWD, path, &f, NULL), 0);
	assert_int_equal(ftruncate(fd, 9000), 0);
	assert_int_equal(segfile_read(f, SEGFILE_OWN, &seg, NULL), -EBADMSG);
	segfile_close(f);
	close(fd);
	unlink(path);
	free(bytes);
}

TEST(every_loss_has_a_name_of_its_own)
{
	const struct losses_name *names;
	size_t n;

	names = losses_names(&n);
	/* by number; a number may be kept free for later */
	assert_int_equal(names[n - 1].count, SEG_COUNTS_USED - 1);
	for (size_t i = 0; i < n; i++) {
		assert_true(i == 0 || names[i].count > names[i - 1].count);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(names[i].key, names[k].key);
	}
	assert_non_null(losses_inert(SEG_INERT_FAULT));
	assert_non_null(losses_inert(12345));
}
