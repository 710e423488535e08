/* mapper.c - maps, cuts, moves and unmaps at random in several threads; its own counts must be found. */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapper [THREADS [STEPS [SEED]]]: at the end it prints "MAPPED function bytes
 * ranges" for each function that maps, and waits for a line on stdin. Ranges go
 * from thread to thread. A range that is cut counts as two. Each function that
 * fails must leave errno as the kernel does.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, MAKERS = 6, ITEMS = 128, SWAPS = 64, THREADS = 16 };

struct item {
	char *at;
	size_t pages;
	int maker; /* -1: a file, which is not counted */
};

static struct {
	long bytes, ranges;
} counts[MAKERS];
static struct item *swaps[SWAPS];
static int steps = 20000, memory = -1;

static void count(int maker, long pages, long ranges)
{
	if (maker < 0)
		return;
	__atomic_fetch_add(&counts[maker].bytes, pages * PAGE, __ATOMIC_RELAXED);
	__atomic_fetch_add(&counts[maker].ranges, ranges, __ATOMIC_RELAXED);
}

static _Noreturn void wrong(const char *what)
{
	perror(what);
	_exit(1);
}

/* Each is a site of its own; the empty asm keeps the call from being a jump. */
#define MAKER(n, call) \
	__attribute__((noinline)) static void *maker_##n(void *at, size_t bytes, int flags) \
	{ \
		void *p = call(at, bytes, PROT_READ | PROT_WRITE, \
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0); \
\
		__asm__ volatile("" ::"r"(p) : "memory"); \
		return p; \
	}
MAKER(0, mmap)
MAKER(1, mmap)
MAKER(2, mmap)
MAKER(3, mmap64)
MAKER(4, mmap64)
MAKER(5, mmap)

static void *(*const makers[MAKERS])(void *, size_t, int) = {
    maker_0, maker_1, maker_2, maker_3, maker_4, maker_5};

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> 11;
}

/* Mostly small; some cover whole entries of the collector's table. */
static size_t some_pages(uint64_t *r)
{
	static const size_t most[] = {4, 16, 80, 300, 5000};

	return 1 + next_random(r) % most[next_random(r) % 5];
}

struct worker {
	uint64_t r;
	struct item *items[ITEMS];
	int count;
};

static void keep(struct worker *w, char *at, size_t pages, int maker)
{
	struct item *i = malloc(sizeof(*i));

	*i = (struct item){at, pages, maker};
	w->items[w->count++] = i;
}

static void drop(struct worker *w, int n)
{
	free(w->items[n]);
	w->items[n] = w->items[--w->count];
}

static void map_one(struct worker *w)
{
	int maker = (int)(next_random(&w->r) % MAKERS);
	size_t pages = some_pages(&w->r);
	/* a length that is no multiple of a page is rounded up */
	char *p = makers[maker](NULL, pages * PAGE - next_random(&w->r) % PAGE, 0);

	if (p == MAP_FAILED)
		wrong("mmap");
	if (next_random(&w->r) % 4 == 0)
		p[0] = 1;
	count(maker, (long)pages, 1);
	keep(w, p, pages, maker);
}

/* Counts a part that is no longer there, and keeps what is left. */
static void cut(struct worker *w, int n, size_t from, size_t pages)
{
	struct item old = *w->items[n];
	size_t behind = old.pages - from - pages;

	count(old.maker, -(long)pages, (from > 0) + (behind > 0) - 1);
	drop(w, n);
	if (from)
		keep(w, old.at, from, old.maker);
	if (behind)
		keep(w, old.at + (from + pages) * PAGE, behind, old.maker);
}

static void unmap_part(struct worker *w, int n)
{
	struct item *i = w->items[n];
	size_t from = next_random(&w->r) % i->pages;
	size_t pages = 1 + next_random(&w->r) % (i->pages - from);

	if (next_random(&w->r) % 2 || w->count > ITEMS - 8)
		from = 0, pages = i->pages;
	if (munmap(i->at + from * PAGE, pages * PAGE) < 0)
		wrong("munmap");
	cut(w, n, from, pages);
}

static void map_over(struct worker *w, int n)
{
	int maker = (int)(next_random(&w->r) % (MAKERS + 1)) - 1;
	struct item *i = w->items[n];
	size_t from = next_random(&w->r) % i->pages;
	size_t pages = 1 + next_random(&w->r) % (i->pages - from);
	char *at = i->at + from * PAGE;
	void *p = maker < 0 ? mmap(at, pages * PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, memory, 0)
	                    : makers[maker](at, pages * PAGE, MAP_FIXED);

	if (p != at)
		wrong("mmap over");
	cut(w, n, from, pages);
	count(maker, (long)pages, 1);
	keep(w, at, pages, maker);
}

static void resize(struct worker *w, int n)
{
	struct item *i = w->items[n];
	size_t pages = some_pages(&w->r);
	int flags = next_random(&w->r) % 4 ? MREMAP_MAYMOVE : 0;
	char *p;

	errno = 0;
	p = mremap(i->at, i->pages * PAGE, pages * PAGE, flags);
	if (p == MAP_FAILED) {
		if (errno != ENOMEM || flags)
			wrong("mremap");
		return;
	}
	count(i->maker, (long)pages - (long)i->pages, 0);
	i->at = p;
	i->pages = pages;
}

/* Onto the beginning of another one. */
static void move_over(struct worker *w, int n, int to)
{
	struct item *from = w->items[n], *over = w->items[to];
	size_t pages = from->pages;
	char *at = over->at;

	if (n == to || pages > over->pages)
		return;
	if (mremap(from->at, pages * PAGE, pages * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, at) != at)
		wrong("mremap over");
	from->at = at;
	cut(w, to, 0, pages);
}

static void fail(struct worker *w, int n)
{
	struct item *i = w->items[n];

	errno = 0;
	if (munmap(i->at + 1, PAGE) != -1 || errno != EINVAL)
		wrong("munmap of no page");
	if (munmap(i->at, 0) != -1 || errno != EINVAL)
		wrong("munmap of nothing");
	if (mremap(i->at, i->pages * PAGE, 0, MREMAP_MAYMOVE) != MAP_FAILED || errno != EINVAL)
		wrong("mremap to nothing");
	if (makers[0](i->at, PAGE, 0x100000 /* MAP_FIXED_NOREPLACE */) != MAP_FAILED ||
	    errno != EEXIST)
		wrong("mmap where something is");
	errno = 77;
	if (munmap(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, memory, 0), PAGE))
		wrong("munmap of a file");
	if (errno != 77)
		wrong("errno has changed");
}

/* Halves of one range end in two threads. */
static void hand_over(struct worker *w, int n)
{
	struct item **place = &swaps[next_random(&w->r) % SWAPS];
	struct item *other = __atomic_exchange_n(place, w->items[n], __ATOMIC_ACQ_REL);

	w->items[n] = other;
	if (!other)
		w->items[n] = w->items[--w->count];
}

static void *work(void *arg)
{
	struct worker w = {.r = 88172645463325252u + (uintptr_t)arg * 7919};

	for (int i = 0; i < steps; i++) {
		int n = w.count ? (int)(next_random(&w.r) % (uint64_t)w.count) : 0;
		int what = (int)(next_random(&w.r) % 100);

		if (w.count < 2 || (what < 30 && w.count < ITEMS - 8))
			map_one(&w);
		else if (what < 60 || w.count > ITEMS - 8)
			unmap_part(&w, n);
		else if (what < 70)
			map_over(&w, n);
		else if (what < 80)
			resize(&w, n);
		else if (what < 85)
			move_over(&w, n, (int)(next_random(&w.r) % (uint64_t)w.count));
		else if (what < 87)
			fail(&w, n);
		else
			hand_over(&w, n);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 4;
	uintptr_t seed = argc > 3 ? (uintptr_t)atoi(argv[3]) : 1;
	pthread_t all[THREADS];
	char line[8];

	steps = argc > 2 ? atoi(argv[2]) : steps;
	memory = memfd_create("mapper", 0);
	if (memory < 0 || ftruncate(memory, 5000L * PAGE) < 0)
		wrong("memfd");
	for (int i = 0; i < threads; i++)
		pthread_create(&all[i], NULL, work, (void *)(seed * 100 + (uintptr_t)i));
	for (int i = 0; i < threads; i++)
		pthread_join(all[i], NULL);
	for (int i = 0; i < MAKERS; i++)
		printf("MAPPED maker_%d %ld %ld\n", i, counts[i].bytes, counts[i].ranges);
	fflush(stdout);
	return !fgets(line, sizeof(line), stdin) && ferror(stdin);
}
