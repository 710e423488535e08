/* small_leaks - small programs after the ideas of heaptrack's, valgrind's and LeakSanitizer's own tests: what each leaves at exit. */
/* flags: -O0 -g -fno-builtin -pthread */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

/*
 * usage: small_leaks [CASE...]; without any, all of them in one process.
 * Prints for each "case_NAME BLOCKS BYTES": what is not freed when it ends, by
 * a ledger of its own. Every allocation is below a function case_NAME*, so
 * that tools can tell whose it is. No stdio: its buffers are on the heap.
 */
#define OWN static __attribute__((noinline, unused))

static atomic_long blocks, bytes;

/* Notes a block that stays. */
static void *stays(void *p, size_t size)
{
	if (p) {
		atomic_fetch_add(&blocks, 1);
		atomic_fetch_add(&bytes, (long)size);
	}
	return p;
}

/* Notes that one of these went. */
static void goes(size_t size)
{
	atomic_fetch_add(&blocks, -1);
	atomic_fetch_add(&bytes, -(long)size);
}

/* Where pointers stay, or seem to: the counts are the same for both. */
static void *volatile kept[64];
static void *volatile lost;
static volatile size_t half = SIZE_MAX / 2;
static pthread_key_t key;

/* ---- valgrind: memcheck's leak tests ---- */

/* leak-0: everything is freed. */
OWN void case_none(void)
{
	void *p[100];

	for (int i = 0; i < 100; i++)
		p[i] = malloc((size_t)i * 10);
	for (int i = 100; i-- > 0;)
		free(p[i]);
	free(NULL);
}

struct link {
	struct link *next, *other;
	char more[48];
};

OWN struct link *case_cases_link(struct link *next)
{
	struct link *l = stays(malloc(sizeof(*l)), sizeof(*l));

	*l = (struct link){.next = next};
	return l;
}

/* leak-cases: reached by a start, by the inside, through others, not at all. */
OWN void case_cases(void)
{
	struct link *l;

	kept[0] = case_cases_link(NULL);
	kept[1] = (char *)case_cases_link(NULL) + 8;
	kept[2] = case_cases_link(case_cases_link(NULL));
	l = case_cases_link(case_cases_link(NULL));
	kept[3] = (char *)l + 16;
	l = case_cases_link(NULL);
	l->next = (struct link *)((char *)case_cases_link(NULL) + 1);
	kept[4] = l;
	lost = case_cases_link(NULL);
	lost = case_cases_link(case_cases_link(NULL));
	lost = NULL;
}

/* leak-cycle: rings that only know each other. */
OWN void case_cycle(void)
{
	for (int size = 1; size < 5; size++) {
		struct link *first = NULL, *last = NULL;

		for (int i = 0; i < size; i++) {
			first = stays(malloc(sizeof(*first)), sizeof(*first));
			*first = (struct link){.next = last};
			last = first;
			if (i == 0)
				lost = first;
		}
		((struct link *)lost)->next = first;
	}
	lost = NULL;
}

OWN struct link *case_tree_node(int depth)
{
	struct link *l = stays(malloc(sizeof(*l)), sizeof(*l));

	*l = (struct link){0};
	if (depth > 0) {
		l->next = case_tree_node(depth - 1);
		l->other = case_tree_node(depth - 1);
	}
	return l;
}

/* leak-tree: the root is lost, and a branch was freed before. */
OWN void case_tree(void)
{
	struct link *root = case_tree_node(5), *branch = root->other;

	root->other = branch->other;
	free(branch);
	goes(sizeof(*branch));
}

/* leak-pool: one block, from which a program hands out its own. */
OWN void case_pool(void)
{
	char *pool = stays(malloc(10000), 10000);

	for (int i = 0; i < 10; i++)
		kept[5 + i] = pool + (ptrdiff_t)i * 1000;
}

/* leak-autofreepool: blocks of a pool go with it. */
OWN void case_autofree(void)
{
	struct link *pool = NULL;

	for (int i = 0; i < 20; i++) {
		struct link *l = malloc(sizeof(*l));

		*l = (struct link){.next = pool};
		pool = l;
	}
	kept[16] = stays(malloc(33), 33);
	while (pool) {
		struct link *next = pool->next;

		free(pool);
		pool = next;
	}
}

/* sh-mem: pointers are in shared memory alone. */
OWN void case_shared(void)
{
	void **page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < 8; i++)
		page[i] = stays(malloc(24), 24);
}

/* realloc: new, grown, shrunk, moved, refused, freed by size 0. */
OWN void case_realloc(void)
{
	char *p = realloc(NULL, 100), *q;
	void *volatile refused;

	p = realloc(p, 100000);
	p = realloc(p, 10);
	kept[17] = stays(p, 10);
	p = malloc(50);
	kept[18] = stays(p, 50);
	refused = realloc(p, PTRDIFF_MAX);
	if (refused)
		abort();
	q = malloc(77);
	q = realloc(q, 0);
	kept[19] = q; /* glibc: freed */
	for (size_t i = 1; i < 200; i++)
		q = realloc(q, i * 37);
	kept[20] = stays(q, 199 * 37);
	kept[21] = stays(reallocarray(NULL, 7, 9), 63);
}

/* memalign and its kin, zero sizes, strings that libc allocates. */
OWN void case_kinds(void)
{
	void *p = NULL;
	char *text = NULL;

	kept[22] = stays(memalign(64, 100), 100);
	if (posix_memalign(&p, 4096, 5000) == 0)
		kept[23] = stays(p, 5000);
	kept[24] = stays(aligned_alloc(32, 320), 320);
	kept[25] = stays(valloc(10), 10);
	kept[26] = stays(calloc(10, 11), 110);
	kept[27] = stays(malloc(0), 0);
	kept[28] = stays(calloc(0, 5), 0);
	kept[29] = stays(strdup("twelve bytes"), 13);
	kept[30] = stays(strndup("twelve bytes", 6), 7);
	if (asprintf(&text, "%d", 12345) == 5)
		kept[31] = stays(text, 6);
	p = calloc(half, 4); /* too much */
	free(p);
}

/* ---- heaptrack: test_c, threaded, lib, sysalloc, signals ---- */

OWN void case_basics_deep(int n)
{
	if (n > 0) {
		case_basics_deep(n - 1);
		return;
	}
	lost = stays(malloc(11), 11);
}

OWN void case_basics(void)
{
	void *p = malloc(100);

	free(p);
	lost = stays(malloc(200), 200);
	case_basics_deep(30);
	for (int i = 0; i < 1000; i++) {
		p = calloc(1, (size_t)i + 1);
		free(p);
	}
}

OWN void *case_threads_run(void *number)
{
	long n = (long)number;

	for (long i = 0; i < 100; i++) {
		void *p = malloc(100);

		lost = stays(malloc(16 + (size_t)n), 16 + (size_t)n);
		free(p);
	}
	return stays(malloc(64), 64);
}

OWN void case_threads(void)
{
	pthread_t threads[4];
	void *given;

	for (long i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, case_threads_run, (void *)i) != 0)
			abort();
	for (int i = 0; i < 4; i++) {
		(void)pthread_join(threads[i], &given);
		if (i % 2 == 0) { /* what a thread gave, freed by another */
			free(given);
			goes(64);
		}
	}
}

/* a library comes and goes; its own blocks are not of this case */
OWN void case_library(void)
{
	void *handle = dlopen("libm.so.6", RTLD_NOW);
	double (*root)(double);

	if (handle) {
		root = (double (*)(double))dlsym(handle, "sqrt");
		lost = stays(malloc((size_t)root(256)), 16);
		(void)dlclose(handle);
	}
}

/* memory that is no heap */
OWN void case_system(void)
{
	char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	p[0] = 1;
	lost = stays(malloc(5), 5);
}

OWN void case_signals_handler(int number)
{
	(void)number;
	lost = stays(malloc(21), 21);
}

OWN void case_signals(void)
{
	struct sigaction action = {.sa_handler = case_signals_handler};

	(void)sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 10; i++)
		(void)raise(SIGUSR1);
}

/* a child of its own: what it leaves is not ours */
OWN void case_child(void)
{
	void *p = stays(malloc(500), 500);
	pid_t pid = fork();

	if (pid == 0) {
		free(p);
		for (int i = 0; i < 100; i++)
			lost = malloc(1000);
		_exit(0);
	}
	(void)waitpid(pid, NULL, 0);
}

/* ---- LLVM: lsan's tests ---- */

OWN void case_at_exit_last(void)
{
	kept[32] = malloc(1338); /* noted before */
}

/* leak_check_at_exit: also what an exit handler leaves. */
OWN void case_at_exit(void)
{
	lost = stays(malloc(1337), 1337);
	if (atexit(case_at_exit_last) == 0)
		(void)stays(&key, 1338);
}

/* large_allocation_leak: one block of many pages, none touched. */
OWN void case_large(void)
{
	lost = stays(malloc((size_t)256 << 20), (size_t)256 << 20);
}

/* use_globals, use_stacks, use_unaligned */
OWN void case_places(void)
{
	static void *global;
	static char bytes_of[sizeof(void *) + 1];
	void *volatile local, *p;

	global = stays(malloc(1337), 1337);
	local = stays(malloc(1338), 1338);
	p = stays(malloc(1339), 1339);
	memcpy(bytes_of + 1, (const void *)&p, sizeof(void *));
	kept[33] = global;
	(void)local;
}

static __thread void *in_tls;

OWN void case_tls_done(void *p)
{
	free(p);
	goes(1340);
	lost = stays(malloc(9), 9); /* made by the destructor itself */
}

OWN void *case_tls_run(void *unused)
{
	(void)unused;
	in_tls = stays(malloc(1341), 1341);
	(void)pthread_setspecific(key, stays(malloc(1340), 1340));
	return NULL;
}

/* use_tls_*, cleanup_in_tsd_destructor */
OWN void case_tls(void)
{
	pthread_t thread;

	(void)pthread_key_create(&key, case_tls_done);
	if (pthread_create(&thread, NULL, case_tls_run, NULL) == 0)
		(void)pthread_join(thread, NULL);
	(void)pthread_key_delete(key);
}

/* pointer_to_self, ignore_object */
OWN void case_self(void)
{
	void **p = stays(malloc(1337), 1337);

	p[0] = p;
	p = stays(malloc(666), 666);
	p[0] = stays(malloc(667), 667);
	lost = p;
}

OWN void *case_contention_run(void *unused)
{
	for (int i = 0; i < 2000; i++) {
		void *p = malloc(1 + (size_t)i % 500), *q = malloc(10);

		free(p);
		if (i % 100 == 0)
			stays(q, 10);
		else
			free(q);
	}
	return unused;
}

/* high_allocator_contention: the locks must not lose any */
OWN void case_contention(void)
{
	pthread_t threads[8];

	for (int i = 0; i < 8; i++)
		if (pthread_create(&threads[i], NULL, case_contention_run, NULL) != 0)
			abort();
	for (int i = 0; i < 8; i++)
		(void)pthread_join(threads[i], NULL);
}

/* realloc_leak_origin: one block, though two functions had it */
OWN void case_origin(void)
{
	char *p = malloc(42);

	p = realloc(p, 133);
	lost = stays(p, 133);
}

static ucontext_t here, there;

OWN void case_context_run(void)
{
	lost = stays(malloc(144), 144);
	(void)swapcontext(&there, &here);
}

/* swapcontext: from a stack that is itself on the heap */
OWN void case_context(void)
{
	size_t size = 64 << 10;
	char *stack = stays(malloc(size), size);

	(void)getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = size;
	there.uc_link = &here;
	makecontext(&there, case_context_run, 0);
	(void)swapcontext(&here, &there);
}

static jmp_buf back;

OWN void case_jump_inner(int n)
{
	lost = stays(malloc(31), 31);
	if (n > 0)
		case_jump_inner(n - 1);
	if (half > 0)
		longjmp(back, 1);
}

/* a function that never returns leaves its blocks */
OWN void case_jump(void)
{
	if (setjmp(back) == 0)
		case_jump_inner(5);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {{"none", case_none}, {"cases", case_cases}, {"cycle", case_cycle}, {"tree", case_tree},
    {"pool", case_pool}, {"autofree", case_autofree}, {"shared", case_shared},
    {"realloc", case_realloc}, {"kinds", case_kinds}, {"basics", case_basics},
    {"threads", case_threads}, {"library", case_library}, {"system", case_system},
    {"signals", case_signals}, {"child", case_child}, {"at_exit", case_at_exit},
    {"large", case_large}, {"places", case_places}, {"tls", case_tls}, {"self", case_self},
    {"contention", case_contention}, {"origin", case_origin}, {"context", case_context},
    {"jump", case_jump}};

static void run(size_t i)
{
	char line[128];
	int n;

	blocks = bytes = 0;
	cases[i].run();
	n = snprintf(
	    line, sizeof(line), "case_%s %ld %ld\n", cases[i].name, (long)blocks, (long)bytes);
	if (write(STDOUT_FILENO, line, (size_t)n) != n)
		abort();
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (argc == 1)
			run(i);
		for (int k = 1; k < argc; k++)
			if (strcmp(argv[k], cases[i].name) == 0)
				run(i);
	}
	return 0;
}
