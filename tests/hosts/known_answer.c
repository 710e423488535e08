/* known_answer.c - blocks of which it is known whether they are lost: LEAK for those that are, and for no other. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -lrt */
/*
 * known_answer [busy] [spin] [fork [quiet|few]] [private]: for each case the blocks come from one
 * function, k_CASE. quiet: the child allocates nothing; few: three blocks. Prints "CASE k_CASE TRUTH BLOCKS", then "ready PID", and
 * waits for the end of its input. TRUTH:
 *	lost		nothing points to them
 *	held		something does
 *	weak		held by a pointer that may be none
 *	hidden		held by arithmetic, which nobody can see
 *	register	held in a register of another thread
 *	kernel		held by a POSIX timer, which a forked child does not have
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "../lib/known_answer.h"

enum { CHILDREN = 1000 };

/*
 * What holds blocks is not static: the compiler would leave out what nobody reads.
 */

/* ---- lost ----------------------------------------------------------------- */

MAKER(lost)
MAKER(lost_large)
MAKER(lost_aligned_filler)
MAKER(cycle)
MAKER(list_head)
MAKER(list_child)
MAKER(freed_holder)
MAKER(in_freed)

static OWN void *k_lost_aligned(size_t size)
{
	void *p = NULL;

	if (posix_memalign(&p, 64, size) != 0)
		abort();
	memset(p, 0, size);
	return p;
}

static OWN void lose_plain(void)
{
	for (int i = 0; i < N; i++) {
		(void)k_lost(SIZE);
		(void)k_lost_aligned(SIZE);
		(void)k_lost_aligned_filler(SIZE + 16 * (i % 3));
	}
	for (int i = 0; i < 10; i++)
		(void)k_lost_large(200000 + 4096 * (size_t)i);
}

static OWN void lose_cycles(void)
{
	for (int i = 0; i < N / 2; i++) {
		void **a = k_cycle(SIZE), **b = k_cycle(SIZE);

		a[1] = b;
		b[2] = a;
	}
}

static OWN void lose_list(void)
{
	void **last = k_list_head(SIZE);

	for (int i = 0; i < CHILDREN; i++) {
		void **child = k_list_child(48);

		last[3] = child;
		last = child;
	}
}

/* The pointers to them are in memory that is free again. */
static OWN void lose_in_freed(void)
{
	void **holders[N];

	for (int i = 0; i < N; i++) {
		holders[i] = k_freed_holder(SIZE);
		holders[i][4] = k_in_freed(SIZE);
	}
	for (int i = 0; i < N; i++)
		free(holders[i]);
	memset(holders, 0, sizeof(holders));
	__asm__ volatile("" : : "r"(holders) : "memory");
}

/* ---- held ----------------------------------------------------------------- */

MAKER(global_list)
MAKER(interior)
MAKER(low_tag)
MAKER(high_tag)
MAKER(tls)
MAKER(key)
MAKER(key40)
MAKER(private_map)
MAKER(shared_map)
MAKER(memfd)
MAKER(no_access)
MAKER(epoll)
MAKER(timer)
MAKER(in_big)
MAKER(big)
MAKER(realloced)
MAKER(in_aligned)

void **global_list;
uintptr_t interior[N], low_tag[N], high_tag[N];
_Thread_local void *tls[N];
static pthread_key_t keys[64];
void *realloced[N];
void **aligned_large, **aligned_small[N];

static OWN void hold_in_memory(void)
{
	for (int i = 0; i < N; i++) {
		void **item = k_global_list(SIZE);

		item[0] = global_list;
		global_list = item;
		interior[i] = (uintptr_t)k_interior(SIZE) + 1 + i % (SIZE - 2);
		low_tag[i] = (uintptr_t)k_low_tag(SIZE) | 3;
		high_tag[i] = (uintptr_t)k_high_tag(SIZE) | (uintptr_t)(i + 1) << 56;
		tls[i] = k_tls(SIZE);
		realloced[i] = realloc(k_realloced(16), 3000);
	}
}

/* memalign() leaves a part of a mapping before the chunk it gives. */
static OWN void *k_aligned(size_t alignment, size_t size)
{
	void *p = NULL;

	if (posix_memalign(&p, alignment, size) != 0)
		abort();
	memset(p, 0, size);
	return p;
}

static OWN void hold_in_aligned(void)
{
	aligned_large = k_aligned(1 << 16, 300000);
	for (int i = 0; i < N; i++) {
		aligned_large[300 * i] = k_in_aligned(SIZE);
		aligned_small[i] = k_aligned(256, SIZE);
		aligned_small[i][1] = k_in_aligned(SIZE);
	}
}

static OWN void hold_in_keys(void)
{
	for (int i = 0; i < 64; i++)
		if (pthread_key_create(&keys[i], NULL) != 0)
			abort();
	if (pthread_setspecific(keys[2], k_key(SIZE)) != 0 ||
	    pthread_setspecific(keys[60], k_key40(SIZE)) != 0)
		abort();
}

void **private_map, **shared_map, **memory_file, **no_access;
static int epoll;

static OWN void hold_in_shared(void)
{
	int fd = memfd_create("known_answer", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, 16384) != 0)
		abort();
	shared_map = map_pages(16384, MAP_SHARED | MAP_ANONYMOUS, -1);
	memory_file = map_pages(16384, MAP_SHARED, fd);
	for (int i = 0; i < N; i++) {
		shared_map[i] = k_shared_map(SIZE);
		memory_file[i] = k_memfd(SIZE);
	}
	close(fd);
}

static OWN void hold_in_mappings(void)
{
	private_map = map_pages(16384, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	no_access = map_pages(16384, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	for (int i = 0; i < N; i++) {
		private_map[i] = k_private_map(SIZE);
		no_access[i] = k_no_access(SIZE);
	}
	if (mprotect(no_access, 16384, PROT_NONE) != 0)
		abort();
}

static OWN void hold_in_kernel(void)
{
	epoll = epoll_create1(EPOLL_CLOEXEC);
	for (int i = 0; i < N; i++) {
		struct epoll_event e = {.events = EPOLLIN, .data.ptr = k_epoll(SIZE)};

		if (epoll_ctl(epoll, EPOLL_CTL_ADD, eventfd(0, EFD_CLOEXEC), &e) != 0)
			abort();
	}
	for (int i = 0; i < 10; i++) {
		struct sigevent e = {.sigev_notify = SIGEV_SIGNAL,
		    .sigev_signo = SIGRTMIN,
		    .sigev_value.sival_ptr = k_timer(SIZE)};
		timer_t t;

		if (timer_create(CLOCK_MONOTONIC, &e, &t) != 0)
			abort();
	}
}

void **big;

/* A block above 4 GiB, of which few pages are there. */
static OWN int hold_in_big(void)
{
	size_t words = (size_t)5 << 27; /* 5 GiB */

	big = malloc(words * sizeof(void *));
	if (!big)
		return 0;
	free(big);
	big = k_big(words * sizeof(void *));
	for (size_t i = 0; i < N; i++)
		big[words / N * i + 7] = k_in_big(SIZE);
	return N;
}

/* ---- held by other threads and stacks ------------------------------------- */

MAKER(thread_stack)
MAKER(thread_lost)
MAKER(thread_held)
MAKER(coroutine)
MAKER(heap_coroutine)
MAKER(signal_stack)
MAKER(in_register)
MAKER(in_register_spinning)

static sem_t ready;
void *thread_held[N];

static OWN void thread_lose(void)
{
	for (int i = 0; i < N; i++)
		(void)k_thread_lost(SIZE);
}

/* Another arena than the first, where the allocator has them. */
static void *hold_on_stack(void *arg)
{
	void *volatile held[N];

	(void)arg;
	for (int i = 0; i < N; i++) {
		held[i] = k_thread_stack(SIZE);
		thread_held[i] = k_thread_held(SIZE);
	}
	thread_lose();
	scrub();
	sem_post(&ready);
	for (;;)
		pause();
	return held[0];
}

static ucontext_t back, forth;

static void wait_in_coroutine(void)
{
	void *volatile held[N];

	for (int i = 0; i < N; i++)
		held[i] = k_coroutine(SIZE);
	(void)swapcontext(&forth, &back);
	(void)held[0];
}

static ucontext_t heap_forth;
void *heap_stack;

static void wait_in_heap_coroutine(void)
{
	void *volatile held[N];

	for (int i = 0; i < N; i++)
		held[i] = k_heap_coroutine(SIZE);
	(void)swapcontext(&heap_forth, &back);
	(void)held[0];
}

static OWN void enter(ucontext_t *c, void *stack, size_t bytes, void (*f)(void))
{
	if (getcontext(c) != 0)
		abort();
	c->uc_stack.ss_sp = stack;
	c->uc_stack.ss_size = bytes;
	c->uc_link = &back;
	makecontext(c, f, 0);
	if (swapcontext(&back, c) != 0)
		abort();
}

static void on_signal(int number)
{
	void *volatile held[N];

	(void)number;
	for (int i = 0; i < N; i++)
		held[i] = k_signal_stack(SIZE);
	sem_post(&ready);
	for (;;)
		pause();
	(void)held[0];
}

static void *hold_on_signal_stack(void *arg)
{
	const stack_t s = {
	    .ss_size = 1 << 16, .ss_sp = map_pages(1 << 16, MAP_PRIVATE | MAP_ANONYMOUS, -1)};
	const struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	if (sigaltstack(&s, NULL) != 0 || sigaction(SIGUSR1, &a, NULL) != 0)
		abort();
	(void)raise(SIGUSR1);
	return arg;
}

/* The only pointer is in a register that a call keeps for its caller. */
static void *hold_in_register(void *arg)
{
	void *p = k_in_register(SIZE);

	(void)arg;
	scrub();
	sem_post(&ready);
	__asm__ volatile("mov %0, %%r12\n\t"
	                 "xor %%ebx, %%ebx\n\t"
	                 "xor %%ebp, %%ebp\n\t"
	                 "xor %%r13d, %%r13d\n\t"
	                 "xor %%r14d, %%r14d\n\t"
	                 "xor %%r15d, %%r15d\n\t"
	                 "1: mov $34, %%eax\n\t" /* pause() */
	                 "syscall\n\t"
	                 "jmp 1b"
	                 :
	                 : "r"(p)
	                 : "r12", "rax", "rcx", "r11", "memory");
	return NULL;
}

static void *hold_in_register_spinning(void *arg)
{
	void *p = k_in_register_spinning(SIZE);

	(void)arg;
	scrub();
	sem_post(&ready);
	__asm__ volatile("mov %0, %%r12\n\t"
	                 "1: pause\n\t"
	                 "jmp 1b"
	                 :
	                 : "r"(p)
	                 : "r12", "memory");
	return NULL;
}

static void start(void *(*f)(void *))
{
	pthread_t t;

	if (pthread_create(&t, NULL, f, NULL) != 0)
		abort();
	sem_wait(&ready);
}

/* ---- weak and hidden ------------------------------------------------------ */

MAKER(past_end)
MAKER(packed)
MAKER(xor)
MAKER(offset)
MAKER(base)

char *past_end[N];
struct {
	uint32_t before;
	void *p;
} __attribute__((packed)) packed[2 * N];
uintptr_t xored[N];
uint32_t offsets[N];
char *base;

static OWN void hide(void)
{
	base = k_base(SIZE);
	for (int i = 0; i < N; i++) {
		past_end[i] = (char *)k_past_end(SIZE) + SIZE;
		/* of these every other one is at a multiple of eight */
		packed[2 * i].p = k_packed(SIZE);
		if ((uintptr_t)&packed[2 * i].p % 8 == 0) {
			packed[2 * i + 1].p = packed[2 * i].p;
			packed[2 * i].p = NULL;
		}
		xored[i] = (uintptr_t)k_xor(SIZE) ^ UINT64_C(0x5555555555555555);
		offsets[i] = (uint32_t)((char *)k_offset(SIZE) - base);
	}
}

/* ---- a busy program ------------------------------------------------------- */

MAKER(churn)

static void *churn(void *arg)
{
	void *slots[64] = {0};
	unsigned seed = (unsigned)(uintptr_t)arg;

	for (;;) {
		unsigned i = rand_r(&seed) % 64;

		free(slots[i]);
		slots[i] = k_churn(16 + rand_r(&seed) % 500);
		if (rand_r(&seed) % 256 == 0)
			usleep(100);
	}
	return NULL;
}

/* ---- all of it ------------------------------------------------------------ */

static void *open_plugin(const char *dir, const char *name)
{
	char path[4096];
	void (*fill)(void);
	void *h;

	snprintf(path, sizeof(path), "%s/known_answer_plugin_%s.so", dir, name);
	h = dlopen(path, RTLD_NOW);
	fill = h ? (void (*)(void))dlsym(h, "fill") : NULL;
	if (!fill)
		abort();
	fill();
	return h;
}

static void say_all(int in_big, int shared)
{
	say("lost", "lost", N);
	say("lost_aligned", "lost", N);
	say("lost_aligned_filler", "lost", N);
	say("lost_large", "lost", 10);
	say("cycle", "lost", N);
	say("list_head", "lost", 1);
	say("list_child", "lost", CHILDREN);
	say("in_freed", "lost", N);
	say("thread_lost", "lost", N);
	say("dlclosed", "lost", N);
	say("global_list", "held", N);
	say("interior", "held", N);
	say("low_tag", "held", N);
	say("high_tag", "held", N);
	say("tls", "held", N);
	say("realloced", "held", N);
	say("aligned", "held", N + 1);
	say("in_aligned", "held", 2 * N);
	say("key", "held", 1);
	say("key40", "held", 1);
	say("private_map", "held", N);
	if (shared) {
		say("shared_map", "held", N);
		say("memfd", "held", N);
	}
	say("no_access", "held", N);
	say("epoll", "held", N);
	say("timer", "kernel", 10);
	say("thread_stack", "held", N);
	say("thread_held", "held", N);
	say("coroutine", "held", N);
	say("heap_coroutine", "held", N);
	say("signal_stack", "held", N);
	say("plugin_tls", "held", N);
	say("base", "held", 1);
	if (in_big) {
		say("big", "held", 1);
		say("in_big", "held", in_big);
	}
	say("past_end", "weak", N);
	say("packed", "weak", N);
	say("xor", "hidden", N);
	say("offset", "hidden", N);
	say("in_register", "register", 1);
}

static void make_all(const char *dir, int spin, int shared)
{
	dlclose(open_plugin(dir, "gone"));
	(void)open_plugin(dir, "tls");
	lose_plain();
	lose_cycles();
	lose_list();
	lose_in_freed();
	hold_in_memory();
	hold_in_aligned();
	hold_in_keys();
	hold_in_mappings();
	if (shared)
		hold_in_shared();
	hold_in_kernel();
	hide();
	enter(&forth, map_pages(1 << 16, MAP_PRIVATE | MAP_ANONYMOUS, -1), 1 << 16,
	    wait_in_coroutine);
	heap_stack = malloc(1 << 16);
	enter(&heap_forth, heap_stack, 1 << 16, wait_in_heap_coroutine);
	start(hold_on_stack);
	start(hold_on_signal_stack);
	start(hold_in_register);
	if (spin)
		start(hold_in_register_spinning);
}

/* In the child: what it inherits stays as it was, and it loses some itself. */
MAKER(child_lost)
MAKER(child_held)

void *child_held[N];

static OWN void lose_in_child(void)
{
	for (int i = 0; i < N; i++) {
		(void)k_child_lost(SIZE);
		child_held[i] = k_child_held(SIZE);
	}
}

static void wait_for_end(void)
{
	char byte;

	scrub();
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (read(0, &byte, 1) > 0 || errno == EINTR)
		;
}

void *kept_by_child[3];

int main(int argc, char **argv)
{
	int busy = 0, spin = 0, fork_it = 0, quiet = 0, few = 0, shared = 1;
	int in_big;
	char dir[4096], *slash;
	pthread_t t;

	for (int i = 1; i < argc; i++) {
		busy |= strcmp(argv[i], "busy") == 0;
		spin |= strcmp(argv[i], "spin") == 0;
		fork_it |= strcmp(argv[i], "fork") == 0;
		quiet |= strcmp(argv[i], "quiet") == 0;
		few |= strcmp(argv[i], "few") == 0;
		shared &= strcmp(argv[i], "private") != 0;
	}
	snprintf(dir, sizeof(dir), "%s", argv[0]);
	slash = strrchr(dir, '/');
	if (slash)
		*slash = '\0';
	sem_init(&ready, 0, 0);
	make_all(slash ? dir : ".", spin, shared);
	in_big = hold_in_big();
	say_all(in_big, shared);
	if (spin)
		say("in_register_spinning", "register", 1);
	for (intptr_t i = 1; i <= 2 && busy; i++)
		if (pthread_create(&t, NULL, churn, (void *)i) != 0)
			abort();
	if (fork_it) {
		pid_t child;

		fflush(stdout);
		child = fork();
		if (child > 0)
			return waitpid(child, NULL, 0) == child ? 0 : 1;
		if (!quiet && !few) {
			lose_in_child();
			say("child_lost", "lost", N);
			say("child_held", "held", N);
		}
		for (int i = 0; few && i < 3; i++)
			kept_by_child[i] = malloc(SIZE);
	}
	wait_for_end();
	return 0;
}
