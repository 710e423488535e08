/* test_foreign.c - memory of another process: which pages are read, and that nobody waits for one that does not come. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "test.h"
#include "../lib/forked_copy.h"

#include "kit/os/clock.h"
#include "host/memory/foreign.h"

enum { PAGE = FOREIGN_PAGE_BYTES };

static struct foreign *open_host(const struct forked_copy *h, const struct foreign_options *o)
{
	struct fault where = {""};
	struct foreign *f = NULL;
	int err = foreign_open(h->pid, o, &f, &where);

	if (err < 0)
		print_error("foreign_open: %s\n", where.text);
	assert_int_equal(err, 0);
	return f;
}

static char *map(int flags, int fd, size_t pages)
{
	char *p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static char *anonymous(size_t pages)
{
	return map(MAP_PRIVATE | MAP_ANONYMOUS, -1, pages);
}

static int read_one(struct foreign *f, const void *at, size_t pages, struct foreign_batch *ret)
{
	struct foreign_range r = {(uint64_t)(uintptr_t)at, pages};

	return foreign_read(f, &r, 1, ret, NULL);
}

static enum foreign_page page_at(struct foreign *f, const void *at, char *ret_first)
{
	struct foreign_batch b;

	assert_int_equal(read_one(f, at, 1, &b), 0);
	assert_int_equal(b.count, 1);
	*ret_first = (char)b.bytes[0];
	return b.pages[0];
}

TEST(own_pages_are_read_and_pages_of_files_are_not)
{
	char name[] = "/tmp/seep-foreign.XXXXXX", c;
	int file = mkstemp(name), memory = memfd_create("test", MFD_CLOEXEC);
	char *anon = anonymous(2), *none = anonymous(1);
	char *shared = map(MAP_SHARED | MAP_ANONYMOUS, -1, 1);
	char *of_memfd, *of_file, *written, *common;
	struct foreign *f;
	struct forked_copy h;

	assert_true(file >= 0 && memory >= 0);
	unlink(name);
	assert_int_equal(ftruncate(file, 4 * PAGE), 0);
	assert_int_equal(ftruncate(memory, PAGE), 0);
	of_memfd = map(MAP_SHARED, memory, 1);
	of_file = map(MAP_PRIVATE, file, 1);
	written = map(MAP_PRIVATE, file, 1);
	common = map(MAP_SHARED, file, 1);
	*anon = 'a';
	*shared = 's';
	*of_memfd = 'm';
	*written = 'w';
	*common = 'c';
	assert_int_equal(*(volatile char *)of_file, 'c');
	*none = 'n';
	assert_int_equal(mprotect(none, PAGE, PROT_NONE), 0);

	h = forked_copy_start(NULL);
	/* what a fork leaves out the child touches: it has its own tables */
	f = open_host(&h, NULL);
	assert_int_equal(page_at(f, anon, &c), FOREIGN_READ);
	assert_int_equal(c, 'a');
	assert_int_equal(page_at(f, written, &c), FOREIGN_READ);
	assert_int_equal(c, 'w');
	assert_int_equal(page_at(f, anon + PAGE, &c), FOREIGN_UNTOUCHED);
	/* no right to read it, but content */
	assert_int_equal(page_at(f, none, &c), FOREIGN_READ);
	assert_int_equal(c, 'n');
	foreign_close(f);
	forked_copy_end(&h);

	/* shared pages are not in a child's tables: so look at ourselves */
	h = (struct forked_copy){.pid = getpid(), .go = -1};
	f = open_host(&h, NULL);
	assert_int_equal(page_at(f, shared, &c), FOREIGN_READ);
	assert_int_equal(c, 's');
	assert_int_equal(page_at(f, of_memfd, &c), FOREIGN_READ);
	assert_int_equal(c, 'm');
	if (page_at(f, common, &c) != FOREIGN_READ) /* /tmp may be a tmpfs */
	{
		assert_int_equal(page_at(f, common, &c), FOREIGN_FILE);
		assert_int_equal(c, 0);
		assert_int_equal(page_at(f, of_file, &c), FOREIGN_FILE);
		assert_int_equal(c, 0);
	}
	foreign_close(f);
	close(file);
	close(memory);
}

/* A page is listed wherever it is in a reserve, which has no others. */
TEST(a_reserve_of_terabytes_is_passed_over)
{
	const size_t bytes = (size_t)1 << 40;
	char *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *island = p + bytes / 2 + 3 * PAGE;
	uint64_t at = (uint64_t)(uintptr_t)p, end = at + bytes, pages = 0;
	struct foreign *f;
	struct forked_copy h;

	if (p == MAP_FAILED) /* a limit of address space */
		return;
	assert_int_equal(mprotect(island, PAGE, PROT_READ | PROT_WRITE), 0);
	*island = 'i';
	h = forked_copy_start(NULL);
	f = open_host(&h, NULL);
	while (at < end) {
		const struct foreign_run *runs;
		uint64_t next;
		size_t count;

		assert_int_equal(foreign_present(f, at, end, &runs, &count, &next, NULL), 0);
		assert_true(next > at && next <= end);
		for (size_t i = 0; i < count; i++) {
			assert_int_equal(runs[i].start, (uint64_t)(uintptr_t)island);
			pages += runs[i].pages;
		}
		at = next;
	}
	assert_int_equal(pages, 1);
	foreign_close(f);
	forked_copy_end(&h);
	munmap(p, bytes);
}

/* A reserve of 64 GiB of which three pages are there. */
TEST(it_is_told_what_stands_where)
{
	const uint64_t bytes = UINT64_C(64) << 30;
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint64_t at = (uint64_t)(uintptr_t)p, end = at + bytes, seen = 0;
	const struct foreign_run *runs;
	struct foreign *f;
	struct forked_copy h;
	size_t count;
	int calls = 0;

	assert_ptr_not_equal(p, MAP_FAILED);
	(void)madvise(p, bytes, MADV_NOHUGEPAGE);
	p[5 * PAGE] = p[6 * PAGE] = 1;
	p[bytes - 1] = 1;
	h = forked_copy_start(NULL);
	f = open_host(&h, NULL);
	for (; at < end; calls++) {
		assert_int_equal(foreign_present(f, at, end, &runs, &count, &at, NULL), 0);
		for (size_t i = 0; i < count; i++) {
			assert_int_equal(runs[i].kind, FOREIGN_READ);
			seen += runs[i].pages;
		}
	}
	assert_int_equal(seen, 3);
	assert_true(calls <= 64);
	at = (uint64_t)(uintptr_t)p;
	assert_int_equal(foreign_present(f, at, at, &runs, &count, &at, NULL), -EINVAL);
	assert_int_equal(foreign_present(f, at + 1, end, &runs, &count, &at, NULL), -EINVAL);
	foreign_close(f);
	forked_copy_end(&h);
	munmap(p, bytes);
}

TEST(many_ranges_come_in_one_batch_in_order)
{
	struct foreign_range ranges[100];
	char *p = anonymous(1000);
	struct foreign_batch b;
	struct foreign *f;
	struct forked_copy h;

	for (size_t i = 0; i < 1000; i++)
		if (i % 7 != 3)
			memcpy(p + i * PAGE, &i, sizeof(i));
	h = forked_copy_start(NULL);
	f = open_host(&h, NULL);
	for (size_t i = 0; i < 100; i++) /* backwards */
		ranges[i] =
		    (struct foreign_range){(uint64_t)(uintptr_t)(p + (990 - 10 * i) * PAGE), 10};
	assert_int_equal(foreign_read(f, ranges, 100, &b, NULL), 0);
	assert_int_equal(b.count, 1000);
	for (size_t i = 0; i < 1000; i++) {
		size_t page = 990 - i / 10 * 10 + i % 10, got;

		memcpy(&got, b.bytes + i * PAGE, sizeof(got));
		assert_int_equal(b.pages[i], page % 7 == 3 ? FOREIGN_UNTOUCHED : FOREIGN_READ);
		assert_int_equal(got, page % 7 == 3 ? 0 : page);
	}
	assert_true(foreign_is_same(f));
	foreign_close(f);
	forked_copy_end(&h);
}

TEST(what_cannot_be_asked_is_refused)
{
	struct foreign_range many[FOREIGN_BATCH_RANGES + 1] = {{0, 0}};
	struct foreign_batch b;
	struct foreign *f;
	struct forked_copy h;

	h = forked_copy_start(NULL);
	f = open_host(&h, NULL);
	assert_int_equal(foreign_read(f, many, 0, &b, NULL), -EINVAL);
	assert_int_equal(foreign_read(f, many, FOREIGN_BATCH_RANGES + 1, &b, NULL), -EINVAL);
	assert_int_equal(read_one(f, NULL, 1 + FOREIGN_BATCH_PAGES, &b), -EINVAL);
	assert_int_equal(read_one(f, (void *)8, 1, &b), -EINVAL);
	assert_int_equal(read_one(f, (void *)(UINTPTR_MAX << 47), 1, &b), -EINVAL);
	assert_int_equal(read_one(f, (void *)((UINT64_C(1) << 47) - PAGE), 2, &b), -EINVAL);
	/* nothing is there: no fault of anybody's */
	assert_int_equal(read_one(f, NULL, 16, &b), 0);
	assert_int_equal(b.pages[15], FOREIGN_UNTOUCHED);
	foreign_close(f);
	forked_copy_end(&h);
}

static void become_nobody(void)
{
	if (setgid(65534) == 0 && setuid(65534) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0)
		pause();
}

static uid_t owner_of(pid_t pid)
{
	struct stat st;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &st) == 0 ? st.st_uid : 0;
}

/* The child that this process has, beside the host. */
static pid_t helper_of(const struct forked_copy *h)
{
	FILE *file = fopen("/proc/thread-self/children", "re");
	int pid, found = 0;

	while (file && fscanf(file, "%d", &pid) == 1)
		if (pid != h->pid)
			found = pid;
	if (file)
		(void)fclose(file);
	/* every kernel with CONFIG_PROC_CHILDREN has this file */
	assert_int_not_equal(found, 0);
	return found;
}

TEST(a_helper_that_hangs_is_not_waited_for)
{
	const struct foreign_options hasty = {.patience_ns = 50000000};
	char *p = anonymous(1);
	struct fault where = {""};
	struct foreign_range r = {(uint64_t)(uintptr_t)p, 1};
	struct foreign_batch b;
	struct foreign *f;
	uint64_t began;
	struct forked_copy h;

	h = forked_copy_start(NULL);
	f = open_host(&h, &hasty);
	assert_int_equal(kill(helper_of(&h), SIGSTOP), 0);
	began = clock_ns(CLOCK_MONOTONIC);
	assert_int_equal(foreign_read(f, &r, 1, &b, &where), -ETIMEDOUT);
	assert_string_equal(where.text, "a page did not come");
	assert_int_equal(foreign_read(f, &r, 1, &b, &where), -ETIMEDOUT);
	assert_true(clock_ns(CLOCK_MONOTONIC) - began < 5000000000);
	assert_false(foreign_is_same(f));
	foreign_close(f);

	f = open_host(&h, NULL);
	assert_int_equal(kill(helper_of(&h), SIGKILL), 0);
	assert_int_equal(foreign_read(f, &r, 1, &b, &where), -EIO);
	foreign_close(f);
	forked_copy_end(&h);
}

static void become_another(void)
{
	execlp("sleep", "sleep", "60", NULL);
}

TEST(a_process_that_ends_or_becomes_another_is_told)
{
	char *p = anonymous(1);
	struct foreign_batch b;
	struct foreign *f;
	struct forked_copy h;
	int err = 0;

	*p = 1;
	h = forked_copy_start(become_another);
	f = open_host(&h, NULL);
	assert_int_equal(read_one(f, p, 1, &b), 0);
	assert_true(foreign_is_same(f));
	close(h.go);
	for (int i = 0; i < 500 && foreign_is_same(f); i++)
		usleep(10000);
	assert_false(foreign_is_same(f));
	assert_int_equal(read_one(f, p, 1, &b), -ESRCH);
	foreign_close(f);

	f = open_host(&h, NULL);
	(void)kill(h.pid, SIGKILL);
	for (int i = 0; i < 500 && err == 0; i++, usleep(10000))
		err = read_one(f, p, 1, &b);
	assert_int_equal(err, -ESRCH);
	foreign_close(f);
	(void)waitpid(h.pid, NULL, 0);
	assert_int_equal(foreign_open(h.pid, NULL, &f, NULL), -ESRCH);
}

static struct forked_copy start_nobody(void)
{
	struct forked_copy h = forked_copy_start(become_nobody);

	close(h.go);
	for (int i = 0; i < 500 && owner_of(h.pid) == 0; i++)
		usleep(10000);
	return h;
}

static void kill_host(const struct forked_copy *h)
{
	(void)kill(h->pid, SIGKILL);
	(void)waitpid(h->pid, NULL, 0);
}

/* How long it took to be told that there is no answer in time. */
static uint64_t time_lost(const struct forked_copy *h)
{
	uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	char *text = NULL;
	size_t len;

	assert_int_equal(foreign_text(h->pid, "maps", &text, &len), -ETIMEDOUT);
	return clock_ns(CLOCK_MONOTONIC) - begin;
}

TEST(a_memory_map_that_does_not_come_is_not_waited_for)
{
	struct forked_copy first, second;
	char *text = NULL;
	size_t len;

	if (geteuid() != 0)
		return; /* needs a process of another user that we may read */
	first = start_nobody();
	second = start_nobody();
	assert_int_equal(foreign_text(first.pid, "maps", &text, &len), 0);
	assert_non_null(strstr(text, "[stack]"));
	assert_int_equal(strlen(text), len);
	free(text);
	assert_int_equal(foreign_text(first.pid, "environ", &text, &len), 0);
	free(text);
	assert_int_equal(foreign_text(first.pid, "no such file", &text, &len), -ENOENT);

	/* the helper serves all processes, and hangs with one of them */
	assert_int_equal(kill(helper_of(&first), SIGSTOP), 0);
	assert_in_range(time_lost(&first), UINT64_C(1900000000), UINT64_MAX);
	/* which is not asked again, with whatever file */
	assert_in_range(time_lost(&first), 0, 500000000);
	/* while another helper reads the others */
	assert_int_equal(foreign_text(second.pid, "maps", &text, &len), 0);
	free(text);
	/* a second one that does not answer costs no 2 s more */
	assert_int_equal(kill(helper_of(&second), SIGSTOP), 0);
	assert_in_range(time_lost(&second), 0, 1500000000);
	kill_host(&first);
	assert_int_equal(foreign_text(first.pid, "maps", &text, &len), -ESRCH);
	kill_host(&second);
}

/* What Yama does: the call is refused, descriptors opened before work. */
static void forbid_the_call(void)
{
	struct sock_filter program[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = {4, program};

	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

static void hide(void)
{
	(void)prctl(PR_SET_DUMPABLE, 0);
	(void)pause();
}

/* In a child: 0 if the page is read with what was lent, and not without. */
static int try_with_loan(const struct forked_copy *h, const char *page)
{
	struct foreign_batch b;
	struct foreign *f;
	struct fault where;

	/* root may read a process that hides itself, and nobody may not */
	if (geteuid() == 0 && setuid(65534) != 0)
		return 1;
	if (foreign_open(h->pid, NULL, &f, &where) < 0 || read_one(f, page, 1, &b) < 0 ||
	    b.pages[0] != FOREIGN_READ || b.bytes[0] != 'l')
		return 2;
	foreign_close(f);
	foreign_take_back();
	return foreign_open(h->pid, NULL, &f, &where) == -EPERM ? 0 : 3;
}

TEST(files_that_an_ancestor_has_lent_do)
{
	char *page = anonymous(1);
	struct forked_copy h;
	pid_t child;
	int status;

	*page = 'l';
	h = forked_copy_start(hide);
	foreign_lend(h.pid);
	assert_int_equal(write(h.go, "x", 1), 1);
	(void)usleep(50000);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(try_with_loan(&h, page));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_true(WIFEXITED(status));
	foreign_take_back();
	forked_copy_end(&h);
}

/* Last of all: the filter stays. */
TEST(descriptors_do_where_the_call_is_refused)
{
	char name[] = "/tmp/seep-foreign.XXXXXX", c;
	char *anon = anonymous(2), *written;
	int file = mkstemp(name);
	struct foreign *f;
	struct forked_copy h;

	assert_true(file >= 0);
	unlink(name);
	assert_int_equal(ftruncate(file, PAGE), 0);
	written = map(MAP_PRIVATE, file, 1);
	*anon = 'a';
	*written = 'w';
	h = forked_copy_start(NULL);
	forbid_the_call();
	f = open_host(&h, NULL);
	assert_int_equal(page_at(f, anon, &c), FOREIGN_READ);
	assert_int_equal(c, 'a');
	assert_int_equal(page_at(f, written, &c), FOREIGN_READ);
	assert_int_equal(c, 'w');
	assert_int_equal(page_at(f, anon + PAGE, &c), FOREIGN_UNTOUCHED);
	assert_int_equal(c, 0);
	foreign_close(f);
	forked_copy_end(&h);
	close(file);
}

static int count_open(pid_t pid)
{
	char path[64];
	int n = 0;

	for (int fd = 0; fd < 1024; fd++) {
		(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
		n += faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	}
	return n;
}

TEST(the_helper_is_confined)
{
	char path[64], line[256];
	bool filtered = false;
	struct foreign *f;
	struct forked_copy h;
	FILE *status;
	pid_t pid;

	h = forked_copy_start(NULL);
	f = open_host(&h, NULL);
	pid = helper_of(&h);
	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	status = fopen(path, "re");
	assert_non_null(status);
	while (fgets(line, sizeof(line), status))
		filtered |= strcmp(line, "Seccomp:\t2\n") == 0;
	(void)fclose(status);
	assert_true(filtered);
	/* nowhere (3), socket, pagemap, maps, mountinfo, mem */
	if (geteuid() == 0)
		assert_int_equal(count_open(pid), 8);
	foreign_close(f);
	for (int i = 0; i < 500 && waitpid(pid, NULL, WNOHANG) == 0; i++)
		usleep(10000);
	assert_int_equal(kill(pid, 0), -1);
	forked_copy_end(&h);
}

/* A guard page has the bit of one that is swapped out, and nothing is. */
TEST(guard_pages_and_the_end_of_all_addresses_have_no_content)
{
	char *p = anonymous(4), c;
	const void *last = (const void *)((UINTPTR_MAX >> 17) - PAGE + 1);
	struct forked_copy h;
	struct foreign *f;

	memset(p, 'g', 4 * PAGE);
	if (madvise(p + PAGE, 2 * PAGE, 102) != 0) /* MADV_GUARD_INSTALL */
		memset(p + PAGE, 0, 2 * PAGE);     /* before Linux 6.13 */
	h = forked_copy_start(NULL);
	f = open_host(&h, NULL);
	assert_int_equal(page_at(f, p, &c), FOREIGN_READ);
	assert_int_equal(c, 'g');
	assert_int_not_equal(page_at(f, p + PAGE, &c), FOREIGN_SWAPPED);
	assert_int_equal(c, 0);
	assert_int_equal(page_at(f, p + 3 * PAGE, &c), FOREIGN_READ);
	assert_int_equal(page_at(f, last, &c), FOREIGN_UNTOUCHED);
	foreign_close(f);
	forked_copy_end(&h);
}
