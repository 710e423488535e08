/* forks.c - parents, children and grandchildren each have exact counts of their own, however they were forked. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#define SITES(X) \
	X(alloc_heirloom) \
	X(alloc_busy) \
	X(alloc_child) \
	X(alloc_grandchild) \
	X(alloc_in_thread) \
	X(alloc_in_vfork) \
	X(alloc_doubtful)
#include "../lib/inside.h"
#include "../lib/ledger.h"
#include "../lib/sandbox.h"

/*
 * forks threads|bare|exec|handler COUNT [nofile]
 *   threads  fork(), with four busy threads
 *   bare     _Fork() and clone(2), one thread (malloc after them is not safe
 *            in a threaded process, with or without us)
 *   exec     vfork + exec and posix_spawn of ourselves, four busy threads
 *   handler  fork() and _Fork() in a handler that interrupted a hook; the
 *            interrupted call is in doubt: alloc_doubtful, one event a fork
 *   nofile   no child can open a file any more
 */
enum { MAX_RESULTS = 4096, HEIRLOOMS = 200, HEIRLOOM_BYTES = 88 };

struct result {
	int pid;
	int optional; /* under 64 events: need not be in the report */
	uint64_t inherited;
	struct led_site site[LED_SITES];
};

struct results {
	_Atomic uint32_t used;
	struct result one[MAX_RESULTS];
};

static struct results *results; /* shared with all descendants */
static int results_fd;
static void *heirloom[HEIRLOOMS];
static atomic_bool stop;
static uint64_t inherited; /* freed by this process, allocated by another */

#define ALLOC_FN(name) \
	SITE_FN static void *name(size_t size_bytes) \
	{ \
		return led_keep(malloc(size_bytes)); \
	}
ALLOC_FN(alloc_heirloom)
ALLOC_FN(alloc_busy)
ALLOC_FN(alloc_child)
ALLOC_FN(alloc_grandchild)
ALLOC_FN(alloc_in_thread)
ALLOC_FN(alloc_in_vfork)
ALLOC_FN(alloc_doubtful)

static void map_results(int fd)
{
	results_fd = fd;
	results = mmap(NULL, sizeof(*results), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	led_check(results != MAP_FAILED, "mmap");
}

/* the pid is an argument: a sandboxed child may not ask for it any more */
static void publish(int pid, bool optional)
{
	uint32_t at = atomic_fetch_add(&results->used, 1);

	led_check(at < MAX_RESULTS, "too many results");
	struct result *r = &results->one[at];

	r->optional = optional;
	r->inherited = inherited;
	memcpy(r->site, led, sizeof(led));
	r->pid = pid;
}

static void begin_child(void)
{
	led_reset();
	inherited = 0;
}

/* exactly `events` calls: allocate, free, allocate, free, ... */
static void child_events(int events)
{
	for (int i = 0; i < events; i += 2) {
		size_t n = 20 + (size_t)i % 150;
		void *p = alloc_child(n);

		led_alloc(L_alloc_child, n);
		if (i + 1 < events) {
			led_free(L_alloc_child, n);
			free(p);
		}
	}
}

static void free_heirlooms(int count)
{
	for (int i = 0; i < count; i++) {
		free(heirloom[i]);
		inherited++;
	}
}

static void *allocate_in_thread(void *arg)
{
	(void)arg;
	for (size_t i = 0; i < 100; i++) {
		void *p = alloc_in_thread(64 + i);

		led_alloc(L_alloc_in_thread, 64 + i);
		if (i % 10) {
			led_free(L_alloc_in_thread, 64 + i);
			free(p);
		}
	}
	return NULL;
}

static void child_with_threads(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		led_check(!pthread_create(&t[i], NULL, allocate_in_thread, NULL),
		    "pthread_create in child");
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

static pid_t clone_bare(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static void wait_for(pid_t pid)
{
	int status;
	char line[64];

	while (waitpid(pid, &status, 0) < 0)
		led_check(errno == EINTR, "waitpid");
	snprintf(line, sizeof(line), "child %d ended with status %#x", (int)pid, status);
	led_check(status == 0, line);
}

static void child_with_grandchild(pid_t (*make)(void))
{
	void *mine[60];

	for (int i = 0; i < 60; i++) {
		mine[i] = alloc_child(300);
		led_alloc(L_alloc_child, 300);
	}
	pid_t pid = make();

	led_check(pid >= 0, "fork of a grandchild");
	if (pid == 0) {
		begin_child();
		for (size_t i = 0; i < 100; i++) {
			void *p = alloc_grandchild(i);

			led_alloc(L_alloc_grandchild, i);
			if (i % 2) {
				led_free(L_alloc_grandchild, i);
				free(p);
			}
		}
		for (int i = 0; i < 20; i++) {
			free(mine[i]); /* its parent's */
			inherited++;
		}
		free_heirlooms(5); /* its grandparent's */
		publish((int)getpid(), false);
		_exit(0);
	}
	wait_for(pid);
	for (int i = 0; i < 60; i += 2) {
		led_free(L_alloc_child, 300);
		free(mine[i]);
	}
}

/* It forks twice before its first event, and all three go on at once. */
static void child_forks_first(pid_t (*make)(void))
{
	pid_t pid[2];

	for (int i = 0; i < 2; i++) {
		pid[i] = make();
		led_check(pid[i] >= 0, "fork of a grandchild");
		if (pid[i] == 0) {
			begin_child();
			child_events(200 + 100 * i);
			publish((int)getpid(), false);
			_exit(0);
		}
	}
	child_events(100);
	for (int i = 0; i < 2; i++)
		wait_for(pid[i]);
	child_events(101);
}

enum { ROLES = 11 };

static void be_child(int role, pid_t (*make)(void), bool threads_allowed)
{
	static const int events[] = {0, 10, 63, 64, 65, 1000};
	int pid = (int)getpid();
	bool optional = role < 3;

	begin_child();
	if (role < 6) {
		child_events(events[role]);
	} else if (role == 6) {
		free_heirlooms(100);
		child_events(30);
	} else if (role == 7) {
		child_with_grandchild(make);
	} else if (role == 10) {
		child_forks_first(make);
	} else if (role == 8 || !threads_allowed) {
		led_check(sandbox_enter(), "seccomp");
		child_events(300);
	} else {
		child_with_threads();
	}
	publish(pid, optional);
	if (role == 5 || role == 6)
		exit(0); /* the way through our destructor */
	_exit(0);
}

static void *stay_busy(void *arg)
{
	uint64_t seed = 99 + (uintptr_t)arg;
	void *held[32] = {NULL};
	size_t size[32];

	while (!stop) {
		size_t k = led_random(&seed) % 32;

		if (held[k]) {
			led_free(L_alloc_busy, size[k]);
			free(held[k]);
		}
		size[k] = led_random(&seed) % 500;
		held[k] = alloc_busy(size[k]);
		led_alloc(L_alloc_busy, size[k]);
	}
	return NULL; /* what it still holds is live */
}

static void fork_children(int count, pid_t (*const make[2])(void), bool threads_allowed)
{
	for (int i = 0; i < count; i++) {
		pid_t (*how)(void) = make[i / ROLES % 2];
		pid_t pid = how();

		led_check(pid >= 0, "fork");
		if (pid == 0)
			be_child(i % ROLES, how, threads_allowed);
		wait_for(pid);
		/* the parent goes on with its own copy of the heirlooms */
		led_free(L_alloc_heirloom, HEIRLOOM_BYTES);
		free(heirloom[i % HEIRLOOMS]);
		heirloom[i % HEIRLOOMS] = alloc_heirloom(HEIRLOOM_BYTES);
		led_alloc(L_alloc_heirloom, HEIRLOOM_BYTES);
	}
}

static void exec_children(int count)
{
	extern char **environ;
	char fd_text[16], self[] = "/proc/self/exe", leaf[] = "leaf";
	char *argv[] = {self, leaf, fd_text, NULL};

	snprintf(fd_text, sizeof(fd_text), "%d", results_fd);
	for (int i = 0; i < count; i++) {
		pid_t pid;

		if (i % 2) {
			pid = vfork();
			if (pid == 0) {
				/* shares our memory: counts as ours */
				led_keep(alloc_in_vfork(33));
				led_alloc(L_alloc_in_vfork, 33);
				execv(self, argv);
				_exit(1);
			}
		} else if (posix_spawn(&pid, self, NULL, NULL, argv, environ)) {
			pid = -1;
		}
		led_check(pid > 0, "spawn");
		wait_for(pid);
	}
}

static int leaf_main(int fd)
{
	map_results(fd);
	child_events(200);
	publish((int)getpid(), false);
	return 0;
}

static volatile pid_t forked = -1; /* 0: we are the child */
static volatile sig_atomic_t handler_forks, handler_limit;

static void on_alarm(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info;
	if (forked != -1 || !inside_hook(context) || handler_forks >= handler_limit)
		return;
	handler_forks++;
	pid_t pid = handler_forks % 2 ? fork() : _Fork();

	led_check(pid >= 0, "fork in handler");
	if (pid == 0)
		begin_child();
	forked = pid; /* the child too returns into the hook */
}

static void fork_in_handler(int count)
{
	struct sigaction act = {.sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct itimerval every = {{0, 150}, {0, 150}}, never = {{0, 0}, {0, 0}};

	inside_find();
	handler_limit = count;
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < 30000000 && handler_forks < count; i++) {
		void *p = alloc_doubtful(77);

		led_alloc(L_alloc_doubtful, 77);
		if (forked != 0 && i % 16) { /* some stay: live > doubt */
			led_free(L_alloc_doubtful, 77);
			free(p);
		}
		if (forked > 0) {
			wait_for(forked);
			forked = -1;
		}
		if (forked == 0) {
			child_events(500);
			free_heirlooms(10);
			publish((int)getpid(), false);
			_exit(0);
		}
		if (!inside_end && i > 1000000)
			break; /* bare: nothing to interrupt */
	}
	setitimer(ITIMER_REAL, &never, NULL);
	if (forked > 0)
		wait_for(forked);
	led_check(!inside_end || handler_forks == count, "too few forks");
}

static void print_children(bool doubtful)
{
	char line[64];

	for (uint32_t i = 0; i < results->used; i++) {
		struct result *r = &results->one[i];

		led_print_pid(1, r->pid);
		if (r->optional)
			led_say(1, "OPTIONAL\n");
		snprintf(line, sizeof(line), "INHERITED %llu\n", (unsigned long long)r->inherited);
		led_say(1, line);
		for (int k = 0; k < LED_SITES; k++) {
			if (doubtful && k == L_alloc_doubtful)
				continue;
			/* a leaf has names at other addresses than we */
			r->site[k].name = led[k].name;
			led_print_site(1, &r->site[k]);
		}
	}
}

int main(int argc, char **argv)
{
	static pid_t (*const plain[2])(void) = {fork, fork};
	static pid_t (*const bare[2])(void) = {_Fork, clone_bare};
	const char *kind = argc > 1 ? argv[1] : "threads";
	int count = argc > 2 ? atoi(argv[2]) : 50;
	pthread_t busy[4];

	if (!strcmp(kind, "leaf"))
		return leaf_main(count);
	int fd = memfd_create("results", 0);

	led_check(fd >= 0 && !ftruncate(fd, sizeof(*results)), "memfd");
	map_results(fd);
	if (argc > 3) {
		struct rlimit few = {(rlim_t)fd + 1, (rlim_t)fd + 1};

		led_check(!setrlimit(RLIMIT_NOFILE, &few), "setrlimit");
	}
	for (int i = 0; i < HEIRLOOMS; i++) {
		heirloom[i] = alloc_heirloom(HEIRLOOM_BYTES);
		led_alloc(L_alloc_heirloom, HEIRLOOM_BYTES);
	}
	bool threaded = !strcmp(kind, "threads") || !strcmp(kind, "exec");

	for (uintptr_t i = 0; threaded && i < 4; i++)
		led_check(!pthread_create(&busy[i], NULL, stay_busy, (void *)i), "pthread_create");
	if (!strcmp(kind, "threads"))
		fork_children(count, plain, true);
	else if (!strcmp(kind, "bare"))
		fork_children(count, bare, false);
	else if (!strcmp(kind, "exec"))
		exec_children(count);
	else
		fork_in_handler(count);
	stop = true;
	for (int i = 0; threaded && i < 4; i++)
		pthread_join(busy[i], NULL);
	led_print(1);
	print_children(!strcmp(kind, "handler"));
	return 0;
}
