/* test_free_slots.c - slots of ended children are given back, and no others. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "test.h"
#include "../lib/mkseg.h"
#include "segments/read/segfile.h"
#include "segments/find/free_slots.h"

static char folder[] = "/dev/shm/seep-test.slots.XXXXXX";
static int dir;
static const char name[] = "a.seg";

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
	(void)unlinkat(dir, name, 0);
	(void)unlinkat(dir, "a.seg.ctl", 0);
	(void)unlinkat(dir, "rec-0123456789abcdef0123456789abcdef.ctl", 0);
	close(dir);
	return rmdir(folder);
}

static void write_file(const char *path, const void *bytes, size_t len)
{
	int fd = openat(dir, path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	assert_int_equal(fchmod(fd, 0400), 0);
	close(fd);
}

/* Of this machine, this namespace, started now. */
static void describe(struct seg_header *h, pid_t pid, uint8_t number)
{
	struct timespec now;
	struct stat st;

	assert_int_equal(stat("/proc/self/ns/pid", &st), 0);
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	h->pid = (uint32_t)pid;
	h->ppid = (uint32_t)getpid();
	h->pid_ns = st.st_ino;
	h->start_jiffies = 0;
	h->start_monotonic_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	memset(h->boot_id, 0, sizeof(h->boot_id));
	memset(h->uuid, number, sizeof(h->uuid));
}

/* A file of ours with a child in each of the first slots. */
static void make_family(const pid_t *children, size_t count, const char *session)
{
	struct mkseg *m = mkseg_new();
	void *bytes;
	size_t len;

	describe(mkseg_header(m), getpid(), 100);
	(void)snprintf(mkseg_header(m)->session, sizeof(mkseg_header(m)->session), "%s", session);
	for (size_t i = 0; i < count; i++) {
		struct mkseg *child = mkseg_new();

		describe(mkseg_header(child), children[i], (uint8_t)(i + 1));
		bytes = mkseg_finish(child, &len);
		if (children[i] == 0) /* it has claimed the slot, no more */
			memset(bytes, 0, len);
		mkseg_child(m, bytes, len);
		free(bytes);
		mkseg_free(child);
	}
	bytes = mkseg_finish(m, &len);
	write_file(name, bytes, len);
	write_file("a.seg.ctl", "", 1);
	free(bytes);
	mkseg_free(m);
}

/* As a child in a slot: it maps the file as soon as that is there. */
static pid_t start_child(void)
{
	pid_t pid = fork();
	int fd;

	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	while ((fd = openat(dir, name, O_RDONLY)) < 0)
		usleep(1000);
	(void)mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	for (;;)
		pause();
}

static bool has_mapped(pid_t pid)
{
	char path[64], line[512];
	bool found = false;
	FILE *maps;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		found |= strstr(line, folder) != NULL;
	(void)fclose(maps);
	return found;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static pid_t dead_pid(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

static bool is_taken(int slot)
{
	uint8_t taken[SEGFILE_SLOTS];
	struct segfile *f;

	assert_int_equal(segfile_open(dir, name, &f, NULL), 0);
	segfile_taken(f, taken);
	segfile_close(f);
	return taken[slot] != 0;
}

static size_t free_all(void)
{
	char *names[] = {strdup(name)};
	size_t n;

	assert_non_null(names[0]);
	/* who began while the list of processes was made is not called dead */
	usleep(100000);
	n = free_slots_of_dead(dir, names, 1);
	free(names[0]);
	return n;
}

TEST_WITH(the_dead_give_theirs_back_and_the_living_keep_theirs, begin, end)
{
	pid_t living = start_child();
	const pid_t children[] = {dead_pid(), living, dead_pid()};

	make_family(children, 3, "");
	while (!has_mapped(living))
		usleep(1000);
	assert_int_equal(free_all(), 2);
	assert_false(is_taken(0));
	assert_true(is_taken(1));
	assert_false(is_taken(2));
	assert_int_equal(free_all(), 0);
	end_child(living);
	assert_int_equal(free_all(), 1);
}

TEST_WITH(a_slot_that_is_claimed_and_not_filled_stays, begin, end)
{
	const pid_t children[] = {0, dead_pid()};

	make_family(children, 2, "");
	assert_int_equal(free_all(), 1);
	assert_true(is_taken(0));
	assert_false(is_taken(1));
}

TEST_WITH(a_slot_with_another_process_by_now_stays, begin, end)
{
	const pid_t children[] = {dead_pid()};
	uint8_t uuid[16], other[16];
	struct free_slots s;
	struct segfile *f;

	memset(uuid, 1, sizeof(uuid));
	memset(other, 2, sizeof(other));
	make_family(children, 1, "");
	assert_int_equal(segfile_open(dir, name, &f, NULL), 0);
	assert_int_equal(free_slots_begin(&s, dir, name, f), 0);
	assert_false(free_slots_give(&s, f, 0, other));
	assert_true(is_taken(0));
	assert_false(free_slots_give(&s, f, SEGFILE_OWN, uuid));
	assert_true(free_slots_give(&s, f, 0, uuid));
	assert_false(is_taken(0));
	assert_false(free_slots_give(&s, f, 0, uuid));
	free_slots_end(&s);
	segfile_close(f);
}

TEST_WITH(one_at_a_time_gives_back, begin, end)
{
	const pid_t children[] = {dead_pid()};
	struct free_slots first, second;
	struct segfile *f;

	make_family(children, 1, "");
	assert_int_equal(segfile_open(dir, name, &f, NULL), 0);
	assert_int_equal(free_slots_begin(&first, dir, name, f), 0);
	assert_int_equal(free_slots_begin(&second, dir, name, f), -EWOULDBLOCK);
	assert_int_equal(free_all(), 0);
	free_slots_end(&first);
	assert_int_equal(unlinkat(dir, "a.seg.ctl", 0), 0);
	assert_int_equal(free_slots_begin(&second, dir, name, f), -ENOENT);
	segfile_close(f);
}

TEST_WITH(what_a_living_recorder_has_not_read_stays, begin, end)
{
	static const char session[] = "0123456789abcdef0123456789abcdef";
	const pid_t children[] = {dead_pid()};
	int lock;

	make_family(children, 1, session);
	write_file("rec-0123456789abcdef0123456789abcdef.ctl", "", 1);
	lock = openat(dir, "rec-0123456789abcdef0123456789abcdef.ctl", O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(lock, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(free_all(), 0);
	close(lock); /* the recorder has been killed */
	assert_int_equal(free_all(), 1);
}
