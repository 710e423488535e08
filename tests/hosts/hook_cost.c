/* hook_cost.c - measures, from inside a host, the stack below its calls and the time they take; bare and traced are compared. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -fno-builtin -Wl,-z,now */
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

/*
 * hook_cost stack             "stack NAME BYTES": the most that a call of this
 *                             function has used below its caller's frame
 * hook_cost time CALLS        "time PERCENTILE NANOSECONDS" over all threads;
 *                             batches during which the thread was preempted,
 *                             or had to wait, are left out
 * hook_cost slow COUNT        "slow NAME MEDIAN 99% WORST", in nanoseconds, of
 *                             calls that take one of the rare ways
 */
enum { STACK = 1 << 20, PAINT = 0x5a, THREADS = 8, BATCH = 64 };

static unsigned char *low;

/* ---- stack ---- */

struct kind {
	const char *name;
	void (*call)(size_t n);
	size_t most;
};

static void *volatile block;

static void call_malloc(size_t n)
{
	block = malloc(n);
	free(block);
}

static void call_calloc(size_t n)
{
	block = calloc(1, n);
	free(block);
}

static void call_realloc(size_t n)
{
	block = realloc(malloc(n), 2 * n + 1);
	free(block);
}

static void call_free(size_t n)
{
	static void *before;

	free(before);
	before = realloc(malloc(n), n + 1);
}

static void call_memalign(size_t n)
{
	block = memalign(64, n);
	free(block);
}

/* other callers, other depths: memo misses, new sites, growing tables */
__attribute__((noipa)) static void from_depth(int depth, void (*call)(size_t), size_t n)
{
	if (depth > 0)
		from_depth(depth - 1, call, n);
	else
		call(n);
	__asm__ volatile("" ::: "memory");
}

static void call_nothing(size_t n)
{
	__asm__ volatile("" ::"r"(n) : "memory");
}

__attribute__((noipa)) static size_t used_below(void (*call)(size_t), int depth, size_t n)
{
	unsigned char *sp, *at = low;

	__asm__ volatile("mov %%rsp, %0" : "=r"(sp));
	/* no call is under way here, and memset needs a return address */
	memset(low, PAINT, (size_t)(sp - low) - 64);
	from_depth(depth, call, n);
	while (at < sp && *at == PAINT)
		at++;
	return (size_t)(sp - at);
}

/* a block in a region where none was before: a new leaf of the live map */
static void call_large(size_t n)
{
	static void *volatile held[4096] __attribute__((used));
	static size_t at;

	if (at < 4096)
		held[at++] = malloc((1 << 20) + n);
}

/* the first call from an object: a new module, new rows */
static void call_plugin(size_t n)
{
	static const char *const names[] = {"twin_plugin_a.so", "twin_plugin_b.so"};
	static unsigned turn;
	char path[4096] = "";
	ssize_t len = readlink("/proc/self/exe", path, 4000);

	if (len <= 0)
		abort();
	strcpy(strrchr(path, '/') + 1, names[turn % 2]);
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *(*work)(size_t) = (void *(*)(size_t))dlsym(lib, turn++ % 2 ? "work_B" : "work_A");

	free(work(n));
	dlclose(lib);
}

enum { KINDS = 7 };
static struct kind kinds[KINDS] = {{"malloc", call_malloc, 0}, {"calloc", call_calloc, 0},
    {"realloc", call_realloc, 0}, {"memalign", call_memalign, 0}, {"free", call_free, 0},
    {"leaf", call_large, 0}, {"module", call_plugin, 0}};

/* The very first call of a thread, which makes its block. */
static void *measure_first(void *arg)
{
	size_t used = used_below(call_malloc, 0, 100) - used_below(call_nothing, 0, 100);

	printf("stack first %zu\n", used);
	return arg;
}

static void *measure_stack(void *arg)
{
	call_malloc(1); /* makes an arena: 4 KiB in sched_getaffinity */
	for (int depth = 0; depth < 200; depth++)
		for (size_t k = 0; k < KINDS; k++) {
			size_t n = (size_t)depth * 100 + 8;
			size_t used = used_below(kinds[k].call, depth, n) -
			    used_below(call_nothing, depth, n);

			if (used > kinds[k].most)
				kinds[k].most = used;
		}
	for (size_t k = 0; k < KINDS; k++)
		printf("stack %s %zu\n", kinds[k].name, kinds[k].most);
	return arg;
}

/* ---- time ---- */

enum { BUCKETS = 4096 }; /* 1/64 of a power of two each: under 2 % */

struct histogram {
	uint64_t count[BUCKETS], all, left_out;
};

static struct histogram histogram[THREADS];
static long calls_each;

static unsigned bucket_of(uint64_t v)
{
	unsigned top = v < 64 ? 6 : 63 - (unsigned)__builtin_clzll(v);

	return (top - 6) * 64 + (unsigned)(v >> (top - 6)) % 128;
}

static uint64_t value_of(unsigned bucket)
{
	return bucket < 128 ? bucket : (uint64_t)(64 + bucket % 64) << (bucket / 64 - 1);
}

static long interruptions(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nivcsw + u.ru_nvcsw;
}

static void one_batch(struct histogram *h, unsigned *seed, void **held)
{
	uint64_t took[BATCH];
	long before = interruptions();

	for (int i = 0; i < BATCH; i++) {
		unsigned aux, k = (*seed = *seed * 1103515245 + 12345) >> 24;
		uint64_t start = __rdtscp(&aux);

		free(held[k]);
		held[k] = malloc(16 + (*seed >> 8) % 500);
		took[i] = __rdtscp(&aux) - start;
	}
	if (interruptions() != before) {
		h->left_out += BATCH;
		return;
	}
	for (int i = 0; i < BATCH; i++)
		h->count[bucket_of(took[i])]++;
	h->all += BATCH;
}

static void *measure_time(void *arg)
{
	struct histogram *h = arg;
	unsigned seed = (unsigned)(h - histogram) + 1;
	static __thread void *held[256];

	for (long i = 0; i < calls_each; i += BATCH)
		one_batch(h, &seed, held);
	for (int k = 0; k < 256; k++)
		free(held[k]);
	return NULL;
}

static double ticks_per_ns(void)
{
	struct timespec a, b, nap = {0, 50000000};

	clock_gettime(CLOCK_MONOTONIC, &a);
	uint64_t start = __rdtsc();

	nanosleep(&nap, NULL);
	clock_gettime(CLOCK_MONOTONIC, &b);
	return (double)(__rdtsc() - start) /
	    ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec));
}

static void print_times(void)
{
	static const double wanted[] = {50, 99, 99.9, 99.99, 99.999};
	double per_ns = ticks_per_ns();
	uint64_t all = 0, left_out = 0;

	for (int t = 0; t < THREADS; t++) {
		all += histogram[t].all;
		left_out += histogram[t].left_out;
	}
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		uint64_t seen = 0, rank = (uint64_t)(wanted[i] / 100 * all);
		unsigned b = 0;

		for (; b < BUCKETS && seen <= rank; b++)
			for (int t = 0; t < THREADS; t++)
				seen += histogram[t].count[b];
		printf("time %g %.0f\n", wanted[i], (double)value_of(b ? b - 1 : 0) / per_ns);
	}
	printf("calls %llu left out %llu\n", (unsigned long long)all, (unsigned long long)left_out);
}

/* ---- rare ways, one by one ---- */

static uint64_t *slow; /* ticks of each */
static long slow_count, slow_max;

/* One call, unless something else ran meanwhile. */
static void time_one(void (*call)(size_t), size_t n)
{
	unsigned aux;
	long before = interruptions();
	uint64_t start = __rdtscp(&aux);

	call(n);
	start = __rdtscp(&aux) - start;
	if (interruptions() == before && slow_count < slow_max)
		slow[slow_count++] = start;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void print_slow(const char *name)
{
	double per_ns = ticks_per_ns();

	qsort(slow, (size_t)slow_count, sizeof(*slow), by_value);
	printf("slow %s %.0f %.0f %.0f of %ld\n", name, (double)slow[slow_count / 2] / per_ns,
	    (double)slow[slow_count * 99 / 100] / per_ns, (double)slow[slow_count - 1] / per_ns,
	    slow_count);
	slow_count = 0;
}

static void just_malloc(size_t n)
{
	block = malloc(n);
}

static void *first_of_thread(void *arg)
{
	time_one(just_malloc, 100);
	free(block);
	return arg;
}

/* as many stacks as there are numbers: each is new once */
__attribute__((noipa)) static void by_path(unsigned path, int bits)
{
	if (bits == 0)
		time_one(just_malloc, 64);
	else if (path & 1) {
		by_path(path >> 1, bits - 1);
		__asm__ volatile("# one" ::: "memory"); /* not the other */
	} else {
		by_path(path >> 1, bits - 1);
		__asm__ volatile("# none" ::: "memory");
	}
	__asm__ volatile("" ::: "memory");
}

static void *measure_slow(void *arg)
{
	pthread_t t;

	for (long i = 0; i < slow_max; i++) {
		pthread_create(&t, NULL, first_of_thread, NULL);
		pthread_join(t, NULL);
	}
	print_slow("first_of_thread");
	for (long i = 0; i < slow_max; i++)
		by_path((unsigned)i, 20);
	print_slow("new_site");
	for (long i = 0; i < slow_max && i < 4000; i++)
		time_one(call_large, 0);
	print_slow("new_leaf");
	for (long i = 0; i < slow_max; i++)
		time_one(just_malloc, 64); /* each is a new peak */
	print_slow("new_peak");
	return arg;
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;
	pthread_t t[THREADS];

	if (argc > 2 && argv[1][0] == 's' && argv[1][1] == 'l') {
		slow_max = atol(argv[2]);
		slow = mmap(NULL, (size_t)slow_max * sizeof(*slow), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		measure_slow(NULL);
		return 0;
	}

	if (argc > 2 && argv[1][0] == 't') {
		calls_each = atol(argv[2]) / THREADS;
		for (int i = 0; i < THREADS; i++)
			pthread_create(&t[i], NULL, measure_time, &histogram[i]);
		for (int i = 0; i < THREADS; i++)
			pthread_join(t[i], NULL);
		print_times();
		return 0;
	}
	low = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, low, STACK);
	pthread_create(&t[0], &attr, measure_first, NULL);
	pthread_join(t[0], NULL);
	pthread_create(&t[0], &attr, measure_stack, NULL);
	pthread_join(t[0], NULL);
	return 0;
}
