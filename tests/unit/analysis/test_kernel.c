/* test_kernel.c - pointers of a process that only the kernel keeps. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <grp.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "test.h"
#include "kit/os/clock.h"
#include "analysis/leaks/owned.h"

struct words {
	uint64_t at[16];
	size_t count, stop; /* stop: after so many */
};

static int take(uint64_t word, void *context)
{
	struct words *w = context;

	w->at[w->count++ % 16] = word;
	return w->stop && w->count == w->stop ? 7 : 0;
}

static bool has(const struct words *w, uint64_t word)
{
	for (size_t i = 0; i < w->count && i < 16; i++)
		if (w->at[i] == word)
			return true;
	return false;
}

TEST(words_of_epoll_and_timers_are_found)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u64 = UINT64_C(0x7f1234567898)};
	struct sigevent s = {.sigev_notify = SIGEV_SIGNAL,
	    .sigev_signo = SIGUSR1,
	    .sigev_value.sival_ptr = (void *)(uintptr_t)UINT64_C(0x5566778899a0)};
	struct kernel_seen seen;
	struct words w = {0};
	int pipes[2], ep = epoll_create1(EPOLL_CLOEXEC);
	timer_t timer;

	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(epoll_ctl(ep, EPOLL_CTL_ADD, pipes[0], &e), 0);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &s, &timer), 0);
	assert_int_equal(kernel_words(getpid(), take, &w, &seen), 0);
	assert_int_equal(seen.epoll_words, 1);
	assert_int_equal(seen.not_read, 0);
	assert_true(has(&w, e.data.u64));
	if (access("/proc/self/timers", R_OK) == 0) {
		assert_int_equal(seen.timer_words, 1);
		assert_true(has(&w, UINT64_C(0x5566778899a0)));
	}
	timer_delete(timer);
	close(ep);
	close(pipes[0]);
	close(pipes[1]);
}

TEST(nonsense_is_passed_over)
{
	static const char text[] = "pos:\t0\n"
	                           "tfd: 5 events: 19 data: 12ab pos:0\n"
	                           "tfd: 6 events: 19 data:\n"
	                           "tfd: 7 events: 19 data: xyz\n"
	                           "tfd: 8\n data: 99\n"
	                           "tfd: 9 data: 12345678901234567\n"
	                           "tfd: a data: ffffffffffffffff";
	struct words w = {0};
	uint64_t n = 0;

	assert_int_equal(kernel_words_parse_epoll(text, take, &w, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(w.at[0], 0x12ab);
	assert_true(w.at[1] == UINT64_MAX);
	w = (struct words){.stop = 1};
	assert_int_equal(kernel_words_parse_epoll(text, take, &w, &n), 7);
	assert_int_equal(w.count, 1);
	assert_int_equal(
	    kernel_words_parse_timers("signal: 1\nsignal:/\nID: 0/ff\n", take, &w, &n), 0);
	assert_int_equal(w.count, 1);
}

TEST(a_process_that_is_gone)
{
	struct kernel_seen seen;
	struct words w = {0};

	assert_int_equal(kernel_words(INT32_MAX, take, &w, &seen), -ESRCH);
}

static struct epoll_event *events; /* in a page that never comes */
static int epoll;

static void *wait_for_events(void *unused)
{
	(void)epoll_wait(epoll, events, 1, -1);
	return unused;
}

/* A child of another user, whose epoll_wait() holds the descriptor's lock. */
static void hold_lock(int ready)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register all = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	struct epoll_event e = {.events = EPOLLIN};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	pthread_t thread;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	events = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	all.range.start = (unsigned long)events;
	all.range.len = 4096;
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 || ioctl(fd, UFFDIO_REGISTER, &all) < 0 ||
	    epoll_ctl(epoll, EPOLL_CTL_ADD, eventfd(1, 0), &e) < 0 || setgroups(0, NULL) < 0 ||
	    setgid(65534) < 0 || setuid(65534) < 0 ||
	    pthread_create(&thread, NULL, wait_for_events, NULL) != 0)
		_exit(1);
	(void)prctl(PR_SET_DUMPABLE, 1);
	usleep(200000);
	(void)!write(ready, "", 1);
	for (;;)
		pause();
}

TEST(a_descriptor_whose_lock_is_held_is_not_waited_for)
{
	struct kernel_seen seen;
	struct words w = {0};
	uint64_t begin;
	int both[2];
	char byte;
	pid_t pid;

	if (geteuid() != 0)
		return; /* needs a process of another user that we may read */
	assert_int_equal(pipe2(both, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		hold_lock(both[1]);
	close(both[1]);
	if (read(both[0], &byte, 1) == 1) { /* else no userfaultfd here */
		begin = clock_ns(CLOCK_MONOTONIC);
		assert_int_equal(kernel_words(pid, take, &w, &seen), 0);
		assert_true(clock_ns(CLOCK_MONOTONIC) - begin < 10000000000);
		assert_true(seen.not_read >= 1);
	}
	close(both[0]);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}
