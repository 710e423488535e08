/* test_procfs.c - the files of /proc/PID, with the words of a process in them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/sysmacros.h>

#include "test.h"
#include "host/proc/procfs.h"

static int parse_stat(const char *text, struct procfs_stat *ret)
{
	char copy[1024];

	(void)snprintf(copy, sizeof(copy), "%s", text);
	return procfs_parse_stat(copy, ret);
}

#define FIELDS_5_TO_25 "5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 2222 23 24 25"

TEST(a_name_cannot_change_the_other_fields)
{
	struct procfs_stat s;

	assert_int_equal(parse_stat("7 (a) Z 1 (b) R 44 " FIELDS_5_TO_25 " 26 27 28 29\n", &s), 0);
	assert_string_equal(s.name, "a) Z 1 (b");
	assert_int_equal(s.state, 'R');
	assert_int_equal(s.parent, 44);
	assert_int_equal(s.start_jiffies, 2222);
	assert_int_equal(s.code_start, 26);
	assert_int_equal(s.code_end, 27);
	assert_int_equal(s.stack_start, 28);
	assert_int_equal(parse_stat("7 (a) Z 1 " FIELDS_5_TO_25 " 26 27 28\n", &s), -ESRCH);
}

TEST(a_stat_that_is_cut_is_refused_at_every_length)
{
	static const char whole[] = "7 (name) S 44 " FIELDS_5_TO_25 " 26 27 28 29\n";
	struct procfs_stat s;
	char *copy;

	for (size_t n = 0; n + 6 < strlen(whole); n++) {
		copy = strndup(whole, n); /* so that ASan sees its end */
		(void)procfs_parse_stat(copy, &s);
		free(copy);
		copy = strndup(whole, n);
		if (n < strlen("7 (name) S 44 " FIELDS_5_TO_25 " 26 27 "))
			assert_int_equal(procfs_parse_stat(copy, &s), -EBADMSG);
		free(copy);
	}
}

static bool parse_mapping(const char *text, struct procfs_mapping *ret)
{
	static char copy[1024];

	(void)snprintf(copy, sizeof(copy), "%s", text);
	return procfs_parse_mapping(copy, ret);
}

TEST(mappings_are_parsed_with_and_without_a_file)
{
	struct procfs_mapping m;

	assert_true(parse_mapping("7f00-8f00 r--p 00001000 fd:1a 123   "
	                          "/tmp/a b\\012c (deleted)",
	    &m));
	assert_int_equal(m.start, 0x7f00);
	assert_int_equal(m.end, 0x8f00);
	assert_int_equal(m.device, makedev(0xfd, 0x1a));
	assert_int_equal(m.inode, 123);
	assert_string_equal(m.path, "/tmp/a b\\012c (deleted)");
	assert_true(procfs_is_deleted(m.path));
	assert_false(procfs_is_deleted("(deleted)"));
	assert_true(parse_mapping("7f00-8f00 rw-p 00000000 00:00 0 ", &m));
	assert_int_equal(m.inode, 0);
	assert_string_equal(m.path, "");
	assert_true(parse_mapping("7f00-8f00 rw-p 00000000 00:00 0           [heap]", &m));
	assert_string_equal(m.path, "[heap]");
}

TEST(lines_that_are_no_mappings_are_refused)
{
	static const char whole[] = "7f00-8f00 r--p 00001000 fd:1a 123   /x";
	struct procfs_mapping m;

	assert_false(parse_mapping("", &m));
	assert_false(parse_mapping("8f00-7f00 r--p 0 fd:1a 123 /x", &m));
	assert_false(parse_mapping("7f00-8f00 r--p 0 fd:1a x /x", &m));
	assert_false(parse_mapping("11112222333344445-8f00 r--p 0 fd:1a 123 /x", &m));
	for (size_t n = 0; n < strlen(whole); n++) {
		char *copy = strndup(whole, n);

		assert_int_equal(
		    procfs_parse_mapping(copy, &m), n >= strlen("7f00-8f00 r--p 00001000 fd:1a 1"));
		free(copy);
	}
}

static bool is_this(pid_t pid, void *context)
{
	return pid == *(pid_t *)context;
}

static bool has_text(void *context, uint64_t start, const char *path, bool is_deleted)
{
	(void)start;
	*(bool *)context |= strstr(path, "test_procfs") && !is_deleted;
	return true;
}

TEST(our_own_process_is_seen)
{
	pid_t self = getpid(), none = INT32_MAX;
	struct procfs_stat s;
	bool found = false;
	uid_t owner = 77;

	assert_int_equal(procfs_stat(self, &s), 0);
	assert_int_equal(s.parent, getppid());
	assert_int_equal(procfs_stat(none, &s), -ENOENT);
	assert_int_equal(procfs_owner(self, &owner), 0);
	assert_int_equal(owner, geteuid());
	assert_int_equal(procfs_owner(none, &owner), -ESRCH);
	assert_int_equal(procfs_status(self, "NSpid"), self);
	assert_int_equal(procfs_status(self, "NSpi"), 0);
	assert_true(procfs_resident(self) > 4096);
	assert_int_equal(procfs_each(is_this, &self), 1);
	assert_int_equal(procfs_each(is_this, &none), 0);
	assert_int_equal(procfs_files(self, has_text, &found), 0);
	assert_true(found);
	assert_int_equal(procfs_files(none, has_text, &found), -ESRCH);
}

TEST(a_variable_is_found_as_a_whole)
{
	static char entry[] = "SEEP_TEST_PROCFS=1";
	char *const argv[] = {(char *)(uintptr_t) "sleep", (char *)(uintptr_t) "60", NULL};
	char *const env[] = {entry, NULL};
	pid_t pid = fork();
	bool found = false;

	if (pid == 0) {
		(void)execvpe("sleep", argv, env);
		_exit(1);
	}
	for (int i = 0; i < 500 && !found; i++, usleep(10000))
		found = procfs_has_variable(pid, "SEEP_TEST_PROCFS=1");
	assert_true(found);
	assert_false(procfs_has_variable(pid, "SEEP_TEST_PROCFS="));
	assert_false(procfs_has_variable(pid, "TEST_PROCFS=1"));
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	assert_false(procfs_has_variable(pid, "SEEP_TEST_PROCFS=1"));
}
