/* known_answer_places.c - pointers in places that are seldom thought of: what they hold is no LEAK. */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_answer_places [ring] [namespace] [leaderless]: prints lines as
 * known_answer does, and waits for the end of its input.
 *	ring		a pointer is with io_uring, which nobody can read
 *	namespace	a library of another dlmopen() namespace holds blocks
 *	leaderless	its first thread has ended
 *	growing		a thread puts new items in front of a list without end
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "../lib/known_answer.h"

enum { PAGE = 4096 };

#define FILL(at, name) \
	do { \
		for (int i_ = 0; i_ < N; i_++) \
			(at)[i_] = k_##name(SIZE); \
		say(#name, "held", N); \
	} while (0)

MAKER(lost)

static OWN void lose(void)
{
	for (int i = 0; i < N; i++)
		(void)k_lost(SIZE);
	say("lost", "lost", N);
}

/* ---- mappings ------------------------------------------------------------- */

MAKER(shared_file)
MAKER(private_file)
MAKER(sysv)
MAKER(program_break)
MAKER(program_break_first)
MAKER(grown)
MAKER(moved_map)
MAKER(moved_block)
MAKER(huge_pages)
MAKER(grows_down)
MAKER(read_only)
MAKER(user_fault)
MAKER(code)

static int open_file(size_t bytes)
{
	char path[] = "/var/tmp/seep-known-answer-XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0 || unlink(path) != 0 || ftruncate(fd, (off_t)bytes) != 0)
		abort();
	return fd;
}

static OWN void hold_in_files(void)
{
	int fd = open_file(4 * PAGE), id = shmget(IPC_PRIVATE, PAGE, 0600);
	void **p;

	FILL((void **)map_pages(4 * PAGE, MAP_SHARED, fd), shared_file);
	FILL((void **)map_pages(4 * PAGE, MAP_PRIVATE, fd), private_file);
	close(fd);
	p = id < 0 ? (void *)-1 : shmat(id, NULL, 0);
	if (id >= 0)
		(void)shmctl(id, IPC_RMID, NULL);
	if (p != (void *)-1)
		FILL(p, sysv);
}

void **grown[1000];

/* glibc goes on behind memory that a program takes by sbrk() itself. */
static OWN void hold_in_program_break(void)
{
	void **p = sbrk(1000), **q;

	if (p == (void *)-1)
		return;
	FILL((void **)(((uintptr_t)p + 7) & ~(uintptr_t)7), program_break_first);
	for (int i = 0; i < 1000; i++)
		grown[i] = k_grown(1000);
	q = sbrk(PAGE);
	if (q != (void *)-1)
		FILL(q, program_break);
}

void **moved_block;

static OWN void hold_in_moved(void)
{
	void **p = map_pages(PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1), **q;

	FILL(p, moved_map);
	q = mremap(p, PAGE, 512 * PAGE, MREMAP_MAYMOVE);
	if (q == MAP_FAILED)
		abort();
	moved_block = malloc(200000);
	FILL(moved_block, moved_block);
	for (size_t bytes = 400000; bytes < 20000000; bytes *= 2)
		moved_block = realloc(moved_block, bytes);
}

static OWN void hold_in_odd_mappings(void)
{
	size_t huge = 2 << 20;
	char *p = map_pages(3 * huge, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	void **q;

	p = (char *)(((uintptr_t)p + huge - 1) & -(uintptr_t)huge);
	(void)madvise(p, huge, MADV_HUGEPAGE);
	FILL((void **)(void *)(p + huge / 2), huge_pages);
	q = map_pages(16 * PAGE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1);
	FILL(q + 15 * PAGE / 8, grows_down);
	q = map_pages(PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	FILL(q, read_only);
	if (mprotect(q, PAGE, PROT_READ) != 0)
		abort();
}

/* Instructions of a compiler at run time: a number of eight bytes, anywhere. */
static OWN void hold_in_code(void)
{
	char *p = map_pages(PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	for (int i = 0; i < N; i++) {
		void *block = k_code(SIZE);

		p[i * 11] = 0x48; /* mov $..., %rax */
		p[i * 11 + 1] = (char)0xb8;
		memcpy(p + i * 11 + 2, &block, 8);
		p[i * 11 + 10] = (char)0xc3; /* ret */
	}
	if (mprotect(p, PAGE, PROT_READ | PROT_EXEC) != 0)
		abort();
	say("code", "held", N);
}

/* Some of its pages come from us, the others never. */
static OWN void hold_behind_user_faults(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY | O_NONBLOCK);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register r = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	char *p;

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0)
		return;
	p = map_pages(64 * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	FILL((void **)(void *)p, user_fault);
	r.range.start = (uintptr_t)p;
	r.range.len = 64 * PAGE;
	if (ioctl(fd, UFFDIO_REGISTER, &r) != 0)
		abort();
}

/* ---- threads -------------------------------------------------------------- */

MAKER(huge_stack)
MAKER(malloced_stack)
MAKER(own_stack)
MAKER(own_stack_itself)
MAKER(many_keys)

static sem_t ready;

static void *hold_deep(void *arg)
{
	void *volatile held[N];

	if (arg) {
		for (int i = 0; i < N; i++)
			held[i] = k_malloced_stack(SIZE);
	} else {
		for (int i = 0; i < N; i++)
			held[i] = k_huge_stack(SIZE);
	}
	scrub();
	sem_post(&ready);
	for (;;)
		pause();
	return held[0];
}

/* Its stack is a block, and only the stack pointer says so. */
static ucontext_t unused, own;

static void on_own_stack(void)
{
	void *volatile held[N];

	for (int i = 0; i < N; i++)
		held[i] = k_own_stack(SIZE);
	memset(&own, 0, sizeof(own));
	memset(&unused, 0, sizeof(unused));
	scrub();
	sem_post(&ready);
	for (;;)
		pause();
	(void)held[0];
}

static OWN void enter_own_stack(void)
{
	size_t bytes = 1 << 18;

	if (getcontext(&own) != 0)
		abort();
	own.uc_stack.ss_sp = k_own_stack_itself(bytes);
	own.uc_stack.ss_size = bytes;
	makecontext(&own, on_own_stack, 0);
}

static void *hold_on_own_stack(void *arg)
{
	enter_own_stack();
	scrub();
	(void)swapcontext(&unused, &own);
	return arg;
}

static void start(void *(*f)(void *), void *arg, const pthread_attr_t *a)
{
	pthread_t t;

	if (pthread_create(&t, a, f, arg) != 0)
		abort();
	sem_wait(&ready);
}

static OWN void hold_in_threads(void)
{
	pthread_attr_t a;
	pthread_key_t keys[200];

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, (size_t)1 << 30);
	pthread_attr_setguardsize(&a, 1 << 20);
	start(hold_deep, NULL, &a);
	say("huge_stack", "held", N);
	pthread_attr_init(&a);
	pthread_attr_setstack(&a, aligned_alloc(PAGE, 64 * PAGE), 64 * PAGE);
	start(hold_deep, "", &a);
	say("malloced_stack", "held", N);
	start(hold_on_own_stack, NULL, NULL);
	say("own_stack", "held", N);
	say("own_stack_itself", "held", 1);
	for (int i = 0; i < 200; i++)
		if (pthread_key_create(&keys[i], NULL) != 0 ||
		    pthread_setspecific(keys[i], k_many_keys(SIZE)) != 0)
			abort();
	say("many_keys", "held", 200);
}

/* ---- the kernel ----------------------------------------------------------- */

MAKER(pending_signal)
MAKER(in_pipe)
MAKER(signal_stack)
MAKER(ring)

static OWN void hold_in_kernel(void)
{
	sigset_t set;
	int pipes[2];
	void *p;
	stack_t s = {.ss_size = 1 << 16};

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 3);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (pthread_sigqueue(pthread_self(), SIGRTMIN + 3,
	        (union sigval){.sival_ptr = k_pending_signal(SIZE)}) != 0 ||
	    pipe(pipes) != 0)
		abort();
	p = k_in_pipe(SIZE);
	if (write(pipes[1], &p, sizeof(p)) != sizeof(p))
		abort();
	p = NULL;
	s.ss_sp = k_signal_stack(1 << 16);
	if (sigaltstack(&s, NULL) != 0)
		abort();
	/* no file in /proc has these */
	say("pending_signal", "hidden", 1);
	say("in_pipe", "hidden", 1);
	say("signal_stack", "hidden", 1);
}

/* Without mappings: what counts is that there is a ring. */
static OWN void hold_in_ring(void)
{
	struct io_uring_params p = {0};
	int fd = (int)syscall(SYS_io_uring_setup, 4, &p);
	void **at;

	if (fd < 0) {
		say("no_ring", "held", 0);
		return;
	}
	at = mmap(NULL, p.sq_entries * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE,
	    MAP_SHARED, fd, IORING_OFF_SQES);
	if (at == MAP_FAILED)
		abort();
	at[4] = k_ring(SIZE); /* user_data */
	say("ring", "held", 1);
}

/* ---- another namespace ---------------------------------------------------- */

MAKER(namespace)
MAKER(namespace_tls)

static OWN void hold_in_namespace(const char *program)
{
	char path[4096];
	void (*keep)(int, void *, void *);
	void *h;

	snprintf(path, sizeof(path), "%s", program);
	snprintf(strrchr(path, '/') + 1, 64, "%s", "known_answer_places_plugin.so");
	h = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
	keep = h ? (void (*)(int, void *, void *))dlsym(h, "keep") : NULL;
	if (!keep)
		abort();
	for (int i = 0; i < N; i++)
		keep(i, k_namespace(SIZE), k_namespace_tls(SIZE));
	say("namespace", "held", N);
	say("namespace_tls", "held", N);
}

/* ---- a list that grows at its head ----------------------------------------- */

MAKER(list)

void **volatile list;

static OWN void push(void)
{
	void **item = k_list(SIZE);

	item[0] = (void *)list;
	list = item;
}

static void *grow(void *arg)
{
	for (int i = 0; i < 1000; i++)
		push();
	sem_post(&ready);
	for (;;) {
		push();
		usleep(20);
	}
	return arg;
}

static void *wait_for_end(void *arg)
{
	char byte;

	(void)arg;
	usleep(100000); /* until the first thread is gone, if it goes */
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (read(0, &byte, 1) > 0 || errno == EINTR)
		;
	_exit(0);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t t;

	sem_init(&ready, 0, 0);
	lose();
	hold_in_program_break();
	hold_in_files();
	hold_in_moved();
	hold_in_odd_mappings();
	hold_in_code();
	hold_behind_user_faults();
	hold_in_threads();
	hold_in_kernel();
	if (strcmp(how, "ring") == 0)
		hold_in_ring();
	if (strcmp(how, "namespace") == 0)
		hold_in_namespace(argv[0]);
	if (strcmp(how, "growing") == 0)
		start(grow, NULL, NULL);
	scrub();
	if (strcmp(how, "leaderless") != 0)
		wait_for_end(NULL);
	/* the values of keys go with their thread */
	say("many_keys", "lost", 2 * N);
	if (pthread_create(&t, NULL, wait_for_end, NULL) != 0)
		abort();
	pthread_exit(NULL);
}
