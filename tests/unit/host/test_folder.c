/* test_folder.c - promises of host/proc/folder.h: whose is the directory of segments? */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "host/proc/folder.h"

TEST(what_others_have_is_taken_whatever_it_is)
{
	char text[FOLDER_TEXT_BYTES];
	struct stat st;
	uid_t owner = 4711;

	assert_int_equal(stat("/", &st), 0);
	assert_int_equal(folder_look("/", st.st_uid + 1, &owner), FOLDER_TAKEN);
	assert_int_equal(owner, st.st_uid);
	assert_int_equal(folder_look("/proc/self/exe", 4711, &owner), FOLDER_TAKEN);
	assert_true(folder_complaint("/", st.st_uid + 1, text, sizeof(text)));
	assert_non_null(strstr(text, "/ belongs to uid"));
}

TEST(ones_own_must_be_a_directory_that_nobody_else_writes)
{
	char dir[] = "/tmp/seep-test.XXXXXX", link[64], text[FOLDER_TEXT_BYTES];
	uid_t me = geteuid(), owner;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(folder_look(dir, me, &owner), FOLDER_FIT);
	assert_false(folder_complaint(dir, me, text, sizeof(text)));
	assert_int_equal(chmod(dir, 0770), 0);
	assert_int_equal(folder_look(dir, me, &owner), FOLDER_SHARED);
	assert_true(folder_complaint(dir, me, text, sizeof(text)));
	assert_int_equal(chmod(dir, 0755), 0);
	assert_int_equal(folder_look(dir, me, &owner), FOLDER_FIT);
	snprintf(link, sizeof(link), "%s/link", dir);
	assert_int_equal(folder_look(link, me, &owner), FOLDER_MISSING);
	assert_false(folder_complaint(link, me, text, sizeof(text)));
	assert_int_equal(symlink(dir, link), 0);
	assert_int_equal(folder_look(link, me, &owner), FOLDER_NO_DIRECTORY);
	assert_true(folder_complaint(link, me, text, sizeof(text)));
	assert_int_equal(unlink(link), 0);
	assert_int_equal(rmdir(dir), 0);
}
