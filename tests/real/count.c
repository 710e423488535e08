/* count.c - counts allocations and frees: nothing else, and nothing of ours. */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded behind libseep.so: whatever reaches the allocator, by us or past
 * us, comes through here. The counts lie in a shared mapping, one line per
 * process, so neither _exit nor SIGKILL loses them. A forked child finds its
 * pid wiped and takes a line of its own; one of vfork works in its parent's
 * memory, and for its parent's line. realloc is an allocation and a free, as
 * in a trace. Each program image makes COUNT_DIR/PID.TIME:
 * u64 pid of the image, then lines of u64 pid, allocations, frees.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
	LINES = 4096, /* processes forked by one image, at most */
	POOL_BYTES = 65536,
};

struct line {
	uint64_t pid, allocations, frees;
};

struct table {
	uint64_t pid;
	struct line lines[LINES];
};

static struct table before; /* until there is a file: events of the loader */
static struct table *table = &before;
static uint64_t early_pid, *wiped_by_fork = &early_pid;
static _Alignas(16) char pool[POOL_BYTES];
static size_t pool_used;
static int finding;
static void *(*real_malloc)(size_t), *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t), *(*real_memalign)(size_t, size_t);
static void *(*real_aligned)(size_t, size_t);
static void *(*real_valloc)(size_t), *(*real_pvalloc)(size_t);
static void (*real_free)(void *);
static int (*real_posix)(void **, size_t, size_t);
/*
 * Of jemalloc. They are looked up when they are called, because dlsym()
 * allocates a message where there is no such function.
 */
static void *(*real_mallocx)(size_t, int);
static void *(*real_rallocx)(void *, size_t, int);
static size_t (*real_xallocx)(void *, size_t, size_t, int);
static void (*real_dallocx)(void *, int);
static void (*real_sdallocx)(void *, size_t, int);

static uint64_t own_pid(void)
{
	uint64_t pid = __atomic_load_n(wiped_by_fork, __ATOMIC_RELAXED);

	if (!pid) {
		pid = (uint64_t)getpid();
		__atomic_store_n(wiped_by_fork, pid, __ATOMIC_RELAXED);
	}
	return pid;
}

static struct line *own_line(void)
{
	uint64_t pid = own_pid(), i, found;

	for (i = 0; i < LINES; i++) {
		struct line *l = &table->lines[(pid + i) % LINES];

		found = __atomic_load_n(&l->pid, __ATOMIC_RELAXED);
		if (!found)
			__atomic_compare_exchange_n(
			    &l->pid, &found, pid, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		if (!found || found == pid)
			return l;
	}
	abort(); /* a count that is wrong is worse than none */
}

static void count_alloc(const void *p)
{
	if (p)
		__atomic_fetch_add(&own_line()->allocations, 1, __ATOMIC_RELAXED);
}

static void count_free(void)
{
	__atomic_fetch_add(&own_line()->frees, 1, __ATOMIC_RELAXED);
}

static void look(void *to, const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	memcpy(to, &found, sizeof(found));
}

static void find_next(void)
{
	finding = 1;
	look(&real_free, "free");
	look(&real_calloc, "calloc");
	look(&real_realloc, "realloc");
	look(&real_memalign, "memalign");
	look(&real_aligned, "aligned_alloc");
	look(&real_posix, "posix_memalign");
	look(&real_valloc, "valloc");
	look(&real_pvalloc, "pvalloc");
	look(&real_malloc, "malloc");
	finding = 0;
}

__attribute__((constructor)) static void begin(void)
{
	const char *dir = getenv("COUNT_DIR");
	char path[4096];
	struct timespec now;
	struct table *shared;
	void *page;
	int fd;

	if (!dir)
		return;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED || madvise(page, 4096, MADV_WIPEONFORK) != 0)
		return; /* no file: the reader will miss it */
	wiped_by_fork = page;
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(path, sizeof(path), "%s/%d.%lld%09ld", dir, (int)getpid(), (long long)now.tv_sec,
	    now.tv_nsec);
	fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	if (ftruncate(fd, sizeof(*shared)) == 0) {
		shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (shared != MAP_FAILED) {
			*shared = before;
			shared->pid = (uint64_t)getpid();
			table = shared;
		}
	}
	close(fd);
}

static int is_pool(const void *p)
{
	return (const char *)p >= pool && (const char *)p < pool + sizeof(pool);
}

/* jemalloc/jemalloc.h, of a package that is not needed otherwise */
void *mallocx(size_t n, int flags);
void *rallocx(void *old, size_t n, int flags);
size_t xallocx(void *p, size_t n, size_t extra, int flags);
void dallocx(void *p, int flags);
void sdallocx(void *p, size_t n, int flags);

/* reallocarray must not come back through the one who is before us */
static void *do_realloc(void *old, size_t n)
{
	void *p;

	if (!real_malloc)
		find_next();
	p = real_realloc(old, n);
	if (old && (p || !n))
		count_free();
	count_alloc(p);
	return p;
}

void *malloc(size_t n)
{
	void *p;

	if (!real_malloc)
		find_next();
	p = real_malloc(n);
	count_alloc(p);
	return p;
}

void *calloc(size_t n, size_t size)
{
	void *p;

	if (finding) { /* dlsym's own */
		p = pool + pool_used;
		pool_used += (n * size + 15) & ~(size_t)15;
		return pool_used <= sizeof(pool) ? p : NULL;
	}
	if (!real_malloc)
		find_next();
	p = real_calloc(n, size);
	count_alloc(p);
	return p;
}

void *realloc(void *old, size_t n)
{
	return do_realloc(old, n);
}

void *reallocarray(void *old, size_t n, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(n, size, &bytes) ? NULL : do_realloc(old, bytes);
}

void *memalign(size_t align, size_t n)
{
	void *p;

	if (!real_malloc)
		find_next();
	p = real_memalign(align, n);
	count_alloc(p);
	return p;
}

void *aligned_alloc(size_t align, size_t n)
{
	void *p;

	if (!real_malloc)
		find_next();
	p = real_aligned(align, n);
	count_alloc(p);
	return p;
}

int posix_memalign(void **ret, size_t align, size_t n)
{
	int err;

	if (!real_malloc)
		find_next();
	err = real_posix(ret, align, n);
	if (!err)
		count_alloc(*ret);
	return err;
}

void *valloc(size_t n)
{
	void *p;

	if (!real_malloc)
		find_next();
	p = real_valloc(n);
	count_alloc(p);
	return p;
}

void *pvalloc(size_t n)
{
	void *p;

	if (!real_malloc)
		find_next();
	p = real_pvalloc(n);
	count_alloc(p);
	return p;
}

void free(void *p)
{
	if (!p || is_pool(p))
		return;
	if (!real_malloc)
		find_next();
	count_free();
	real_free(p);
}

void *mallocx(size_t n, int flags)
{
	void *p;

	if (!real_mallocx)
		look(&real_mallocx, "mallocx");
	p = real_mallocx(n, flags);
	count_alloc(p);
	return p;
}

void *rallocx(void *old, size_t n, int flags)
{
	void *p;

	if (!real_rallocx)
		look(&real_rallocx, "rallocx");
	p = real_rallocx(old, n, flags);
	if (p)
		count_free();
	count_alloc(p);
	return p;
}

size_t xallocx(void *p, size_t n, size_t extra, int flags)
{
	size_t real;

	if (!real_xallocx)
		look(&real_xallocx, "xallocx");
	real = real_xallocx(p, n, extra, flags);
	if (real >= n) {
		count_free();
		count_alloc(p);
	}
	return real;
}

void dallocx(void *p, int flags)
{
	if (!real_dallocx)
		look(&real_dallocx, "dallocx");
	count_free();
	real_dallocx(p, flags);
}

void sdallocx(void *p, size_t n, int flags)
{
	if (!real_sdallocx)
		look(&real_sdallocx, "sdallocx");
	count_free();
	real_sdallocx(p, n, flags);
}
