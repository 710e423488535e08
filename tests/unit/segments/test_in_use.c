/* test_in_use.c - the kernel knows whether anybody has a segment file mapped. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/file.h>
#include <sys/mman.h>

#include "test.h"
#include "segments/find/free_slots.h"

static char folder[] = "/dev/shm/seep-test.in_use.XXXXXX";
static int dir;

static int begin(void **state)
{
	(void)state;
	memset(folder + sizeof(folder) - 7, 'X', 6);
	if (!mkdtemp(folder))
		return -1;
	dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? -1 : 0;
}

static int end(void **state)
{
	(void)state;
	(void)unlinkat(dir, "a.seg", 0);
	(void)unlinkat(dir, "b.seg", 0);
	close(dir);
	return rmdir(folder);
}

/* A file as a collector makes it; *ret_st is of it. */
static int make_file(const char *name, struct stat *ret_st)
{
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 8192), 0);
	assert_int_equal(fchmod(fd, 0400), 0);
	assert_int_equal(fstat(fd, ret_st), 0);
	return fd;
}

static void *map_file(int fd)
{
	void *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static enum in_use check(const char *name, const struct stat *st)
{
	return in_use_check(dir, name, st->st_dev, st->st_ino);
}

TEST_WITH(a_file_is_in_use_as_long_as_anybody_maps_it, begin, end)
{
	struct stat st;
	int fd = make_file("a.seg", &st), ready[2];
	void *p = map_file(fd);
	pid_t child;
	char c;

	close(fd);
	assert_int_equal(check("a.seg", &st), IN_USE_YES);
	/* a child keeps it, also after we have let it go */
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		(void)!read(ready[0], &c, 1);
		_exit(0);
	}
	munmap(p, 8192);
	assert_int_equal(check("a.seg", &st), IN_USE_YES);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	close(ready[0]);
	close(ready[1]);
	assert_int_equal(check("a.seg", &st), IN_USE_NO);
	/* and it is as it was */
	assert_int_equal(check("a.seg", &st), IN_USE_NO);
}

TEST_WITH(readers_do_not_use_it, begin, end)
{
	struct stat st;
	int fd = make_file("a.seg", &st), reader;

	close(fd);
	reader = openat(dir, "a.seg", O_RDONLY | O_CLOEXEC);
	assert_true(reader >= 0);
	assert_int_equal(check("a.seg", &st), IN_USE_NO);
	close(reader);
}

TEST_WITH(a_locked_file_is_in_use, begin, end)
{
	struct stat st;
	int fd = make_file("a.seg", &st), locked;

	close(fd);
	locked = openat(dir, "a.seg", O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(locked, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(check("a.seg", &st), IN_USE_YES);
	close(locked);
	assert_int_equal(check("a.seg", &st), IN_USE_NO);
}

TEST_WITH(another_file_under_the_name_is_not_judged, begin, end)
{
	struct stat st, other;
	int a = make_file("a.seg", &st), b = make_file("b.seg", &other);

	close(a);
	close(b);
	assert_int_equal(check("b.seg", &st), IN_USE_UNKNOWN);
	assert_int_equal(unlinkat(dir, "b.seg", 0), 0);
	assert_int_equal(check("b.seg", &other), IN_USE_UNKNOWN);
	assert_int_equal(symlinkat("a.seg", dir, "b.seg"), 0);
	assert_int_equal(check("b.seg", &st), IN_USE_UNKNOWN);
}
