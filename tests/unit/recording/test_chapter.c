/* test_chapter.c - chapters: their names, their order, and how they get them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "recording/file/chapter.h"

#define S UINT64_C(1000000000)

/* 2026-11-16T11:05:19Z */
#define NOON INT64_C(1794827119)

TEST(a_name_is_read_as_it_was_written)
{
	static const struct chapter_name names[] = {{1, NOON, false}, {9999, NOON, true},
	    {10000, 0, false}, {123456789012, 1, true}, {0, -1, false},
	    {7, INT64_C(253402300799), false}};
	char text[CHAPTER_NAME_BYTES];
	struct chapter_name back;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		chapter_name_write(&names[i], text);
		assert_true(chapter_name_read(text, &back));
		assert_int_equal(back.number, names[i].number);
		assert_int_equal(back.start_s, names[i].start_s);
		assert_int_equal(back.is_part, names[i].is_part);
	}
	chapter_name_write(&names[0], text);
	assert_string_equal(text, "20261116T110519Z-0001.seep");
	chapter_name_write(&names[1], text);
	assert_string_equal(text, "20261116T110519Z-9999.seep.part");
}

TEST(another_name_is_none_of_a_chapter)
{
	static const char *const others[] = {"", ".", "seep.data", "20261116T110519Z-0001",
	    "20261116T110519Z-0001.seep.par", "20261116T110519Z-0001.seep.part.old",
	    "20261116T110519Z-001.seep", "20261116T110519Z-00001.seep",
	    "20261332T110519Z-0001.seep", "20261116T250519Z-0001.seep",
	    "20261116T110560Z-0001.seep", "20260230T110519Z-0001.seep",
	    "2026-11-16T110519Z-0001.seep", "20261116T110519Z-+001.seep",
	    "20261116T110519Z 0001.seep", "x20261116T110519Z-0001.seep", "20261116T110519Z-",
	    "20261116T110519Z-1234567890123456789.seep",
	    "20261116T110519Z-0001.seep                               "
	    "                    "};
	struct chapter_name name;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(chapter_name_read(others[i], &name));
}

struct folder {
	char path[64];
};

static void make_folder(struct folder *f)
{
	strcpy(f->path, "/tmp/seep-chapter.XXXXXX");
	assert_non_null(mkdtemp(f->path));
}

static void touch(const struct folder *f, const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", f->path, name);
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
}

/* Removes all chapters and then the folder, which must be empty. */
static void remove_folder(const struct folder *f)
{
	struct chapter_entry *all;
	size_t count;
	char path[128];

	assert_int_equal(chapter_list(f->path, &all, &count), 0);
	for (size_t i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", f->path, all[i].text);
		assert_int_equal(unlink(path), 0);
	}
	free(all);
	assert_int_equal(rmdir(f->path), 0);
}

TEST(the_order_is_that_of_the_numbers)
{
	struct chapter_entry *all;
	struct folder f;
	size_t count;
	char path[128];

	make_folder(&f);
	touch(&f, "20261116T110519Z-10000.seep");
	touch(&f, "20271116T110519Z-0009.seep"); /* the clock was set back */
	touch(&f, "20261116T110519Z-9999.seep.part");
	touch(&f, "seep.data");
	snprintf(path, sizeof(path), "%s/%s", f.path, "20261116T110519Z-0010.seep");
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_int_equal(chapter_list(f.path, &all, &count), 0);
	assert_int_equal(count, 3);
	assert_int_equal(all[0].name.number, 9);
	assert_int_equal(all[1].name.number, 9999);
	assert_true(all[1].name.is_part);
	assert_int_equal(all[2].name.number, 10000);
	free(all);
	assert_int_equal(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/seep.data", f.path);
	assert_int_equal(unlink(path), 0);
	remove_folder(&f);
}

TEST(a_chapter_gets_its_last_name_when_it_is_complete)
{
	struct chapter_entry *all;
	struct chapter *c;
	struct folder f;
	struct stat st;
	size_t count;
	char path[128];

	make_folder(&f);
	touch(&f, "20261116T110519Z-0041.seep.part");
	assert_int_equal(chapter_begin(f.path, (uint64_t)NOON * S + 5, &c), 0);
	assert_int_equal(chapter_number(c), 42);
	assert_int_equal(
	    recording_append(chapter_writer(c), RECORDING_META, "seep=1\n", 7, NULL, 0), 0);
	snprintf(path, sizeof(path), "%s", chapter_path(c));
	assert_int_equal(chapter_list(f.path, &all, &count), 0);
	assert_int_equal(count, 1); /* nothing is there before it is named */
	free(all);
	assert_int_equal(recording_publish(chapter_writer(c)), 0);
	assert_int_equal(chapter_list(f.path, &all, &count), 0);
	assert_int_equal(count, 2);
	assert_string_equal(all[1].text, "20261116T110519Z-0042.seep.part");
	free(all);
	assert_int_equal(stat(path, &st), -1);
	assert_int_equal(chapter_finish(c), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(chapter_list(f.path, &all, &count), 0);
	assert_int_equal(count, 2);
	assert_string_equal(all[1].text, "20261116T110519Z-0042.seep");
	free(all);
	remove_folder(&f);
}

TEST(a_chapter_that_was_given_up_leaves_what_has_a_name)
{
	struct chapter_entry *all;
	struct chapter *c;
	struct folder f;
	size_t count;

	make_folder(&f);
	assert_int_equal(chapter_begin(f.path, 0, &c), 0);
	chapter_discard(c);
	assert_int_equal(chapter_list(f.path, &all, &count), 0);
	assert_int_equal(count, 0);
	free(all);
	assert_int_equal(chapter_begin(f.path, 0, &c), 0);
	assert_int_equal(recording_publish(chapter_writer(c)), 0);
	chapter_discard(c);
	assert_int_equal(chapter_list(f.path, &all, &count), 0);
	assert_int_equal(count, 1);
	assert_true(all[0].name.is_part);
	free(all);
	remove_folder(&f);
}

TEST(time_and_size_fill_a_chapter)
{
	static const char bytes[4096];
	struct chapter *c;
	struct folder f;

	make_folder(&f);
	assert_int_equal(chapter_begin(f.path, 0, &c), 0);
	assert_false(chapter_is_full(c, &(struct chapter_limits){0}));
	assert_false(chapter_is_full(c, &(struct chapter_limits){.bytes = 4096}));
	assert_false(chapter_is_full(c, &(struct chapter_limits){.ns = 3600 * S}));
	assert_true(chapter_is_full(c, &(struct chapter_limits){.ns = 1}));
	assert_int_equal(chapter_wait_ms(c, &(struct chapter_limits){.ns = 1}), 0);
	assert_true(chapter_wait_ms(c, &(struct chapter_limits){.ns = 3600 * S}) > 3000000);
	assert_int_equal(
	    recording_append(chapter_writer(c), RECORDING_META, bytes, sizeof(bytes), NULL, 0), 0);
	assert_true(chapter_is_full(c, &(struct chapter_limits){.bytes = 4096}));
	assert_false(
	    chapter_is_full(c, &(struct chapter_limits){.bytes = 4096, .least_ns = 3600 * S}));
	chapter_discard(c);
	remove_folder(&f);
}

TEST(a_folder_that_is_missing_is_an_error)
{
	struct chapter_entry *all;
	struct chapter *c;
	struct folder f;
	size_t count;

	make_folder(&f);
	remove_folder(&f);
	assert_int_equal(chapter_begin(f.path, 0, &c), -ENOENT);
	assert_int_equal(chapter_list(f.path, &all, &count), -ENOENT);
}
