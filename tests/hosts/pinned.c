/* pinned - layouts of blocks whose resident pages are known: each site must hold what this program counts. */
/* flags: -O1 -g -fno-builtin -pthread */
/* SPDX-License-Identifier: Apache-2.0 */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/*
 * usage: pinned LAYOUT [COUNT]. Builds the layout, prints for each site
 * "SITE NAME LIVE HOLDS" and for all "PARTLY BYTES", then "ready", and waits for
 * the end of its input. A line makes it return free memory to the system, and
 * say "trimmed".
 *
 * The answer is found in a slow way of its own: each byte of the blocks is
 * painted with the number of its site, and the painted bytes of each resident
 * page are counted. Pages are those between the first and the last block of a
 * cluster, where only blocks of this program are.
 */
#define OWN static __attribute__((noinline))

enum { SITES = 2, BLOCKS_MAX = 10000000, PAGE = 4096, WINDOW = 16 << 20 };

static const char *const names[SITES] = {"site_note", "site_other"};

static struct block {
	unsigned char *at;
	size_t size;
	int site;
} * kept;
static size_t kept_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *touched(void *p, size_t size)
{
	if (!p)
		abort();
	return memset(p, 0x55, size);
}

OWN void *site_note(size_t size)
{
	return touched(malloc(size), size);
}

OWN void *site_other(size_t size)
{
	return touched(malloc(size), size);
}

OWN void *site_filler(size_t size)
{
	return touched(malloc(size), size);
}

OWN void *site_mapped(size_t size)
{
	void *p = malloc(size);

	if (!p)
		abort();
	return p;
}

static void keep(void *p, size_t size, int site)
{
	(void)pthread_mutex_lock(&lock);
	if (kept_count == BLOCKS_MAX)
		abort();
	kept[kept_count++] = (struct block){p, size, site};
	(void)pthread_mutex_unlock(&lock);
}

/* ---- layouts ---- */

/* `stride` bytes with a note of 40 bytes at the begin; the rest is freed. */
static void notes(size_t count, size_t stride)
{
	void **fillers = calloc(count, sizeof(*fillers));

	for (size_t i = 0; i < count; i++) {
		keep(site_note(40), 40, 0);
		fillers[i] = site_filler(stride - 48 - 8);
	}
	for (size_t i = 0; i < count; i++)
		free(fillers[i]);
	free(fillers);
}

/* Blocks of 8 KiB, of which every other one is freed. */
static void checkerboard(size_t count)
{
	void **gone = calloc(count, sizeof(*gone));

	for (size_t i = 0; i < count; i++) {
		keep(site_note(8176), 8176, 0);
		gone[i] = site_filler(8176);
	}
	for (size_t i = 0; i < count; i++)
		free(gone[i]);
	free(gone);
}

/* Two sites take turns: each page belongs to both by halves. */
static void halves(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		keep(site_note(2040), 2040, 0);
		keep(site_other(2040), 2040, 1);
	}
}

/* Blocks of 3,000 bytes lie over borders of pages; every third is freed. */
static void borders(size_t count)
{
	void **gone = calloc(count, sizeof(*gone));

	for (size_t i = 0; i < count; i++) {
		keep(site_note(3000), 3000, 0);
		keep(site_other(3000), 3000, 1);
		gone[i] = site_filler(3000);
	}
	for (size_t i = 0; i < count; i++)
		free(gone[i]);
	free(gone);
}

/* Everything is freed, and stays resident behind the last block. */
static void top(size_t count)
{
	void **gone = calloc(count, sizeof(*gone));

	for (size_t i = 0; i < count; i++)
		gone[i] = site_filler(1000);
	keep(site_note(1000), 1000, 0);
	for (size_t i = 0; i < count; i++)
		free(gone[i]);
	free(gone);
}

/* Blocks with a mapping of their own, of which half the pages are touched. */
static void mapped(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t size = (1 << 20) + 100 * i;
		unsigned char *p = site_mapped(size);

		for (size_t k = 0; k < size; k += (size_t)2 * PAGE)
			p[k] = 1;
		keep(p, size, 0);
	}
}

static struct arena {
	pthread_t thread;
	size_t count, one_in;
} arenas[64];
static pthread_barrier_t made, ended;

static void *fill_arena(void *arg)
{
	const struct arena *a = arg;
	void **gone = calloc(a->count, sizeof(*gone));

	for (size_t i = 0; i < a->count; i++) {
		if (i % a->one_in == 0)
			keep(site_note(1000), 1000, 0);
		else
			gone[i] = site_filler(1000);
	}
	for (size_t i = 0; i < a->count; i++)
		free(gone[i]);
	free(gone);
	(void)pthread_barrier_wait(&made);
	(void)pthread_barrier_wait(&ended);
	return NULL;
}

/* Threads with an arena each; one block of four stays. */
static void threads(size_t count, size_t blocks)
{
	(void)pthread_barrier_init(&made, NULL, (unsigned)count + 1);
	(void)pthread_barrier_init(&ended, NULL, (unsigned)count + 1);
	for (size_t i = 0; i < count; i++) {
		arenas[i].count = blocks;
		arenas[i].one_in = 4;
		if (pthread_create(&arenas[i].thread, NULL, fill_arena, &arenas[i]) != 0)
			abort();
	}
	(void)pthread_barrier_wait(&made);
}

/*
 * The blocks of a parent, in a child that has some of its own. Its answer is not
 * printed, but its pid.
 */
static void forked(size_t count)
{
	notes(count, PAGE);
	if (fork() != 0)
		return;
	for (int i = 0; i < 2000; i++)
		(void)site_other(5000); /* larger than the holes */
	(void)printf("CHILD %d\n", (int)getpid());
	for (char c; read(0, &c, 1) > 0;)
		;
	_exit(0);
}

/* Nothing to complain about. */
static void dense(size_t count)
{
	for (size_t i = 0; i < count; i++)
		keep(site_note(1000), 1000, 0);
}

/* ---- the answer ---- */

static int by_address(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static double holds[SITES], partly, live[SITES];

static void count_page(const unsigned char *paint, size_t first, size_t last)
{
	size_t painted[SITES + 1] = {0}, all = 0;

	for (size_t i = first; i < last; i++)
		painted[paint[i]]++;
	all = painted[1] + painted[2];
	if (all == 0)
		return;
	partly += (double)(PAGE - all);
	for (int s = 0; s < SITES; s++) {
		holds[s] += (double)PAGE * (double)painted[s + 1] / (double)all;
		live[s] += (double)painted[s + 1];
	}
}

/* Paints the blocks of [at, at + bytes); returns the first that reaches beyond. */
static size_t paint_window(
    unsigned char *paint, uintptr_t at, size_t bytes, const struct block *b, size_t count)
{
	size_t i = 0, beyond = count;

	for (; i < count && (uintptr_t)b[i].at < at + bytes; i++) {
		uintptr_t low = (uintptr_t)b[i].at, end = low + b[i].size;

		if (end > at + bytes) {
			beyond = beyond < i ? beyond : i;
			end = at + bytes;
		}
		low = low > at ? low : at;
		memset(paint + (low - at), b[i].site + 1, end - low);
	}
	return beyond < i ? beyond : i;
}

/*
 * All blocks of one cluster: no two neighbours are a megabyte apart. Painted
 * window by window, so that ten gigabytes need no second ten.
 */
static void count_cluster(const struct block *b, size_t count)
{
	static unsigned char paint[WINDOW], in[WINDOW / PAGE];
	uintptr_t at = (uintptr_t)b[0].at & ~(uintptr_t)(PAGE - 1);
	uintptr_t end = (uintptr_t)b[count - 1].at + b[count - 1].size;

	end = (end + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	for (size_t first = 0; at < end; at += WINDOW) {
		size_t bytes = end - at < WINDOW ? end - at : WINDOW;

		if (mincore((void *)at, bytes, in) != 0)
			abort();
		memset(paint, 0, bytes);
		first += paint_window(paint, at, bytes, b + first, count - first);
		for (size_t i = 0; i < bytes / PAGE; i++)
			if (in[i] & 1)
				count_page(paint, i * PAGE, (i + 1) * PAGE);
	}
}

static void answer(void)
{
	size_t first = 0;

	qsort(kept, kept_count, sizeof(*kept), by_address);
	for (size_t i = 1; i <= kept_count; i++) {
		if (i < kept_count && kept[i].at < kept[i - 1].at + kept[i - 1].size + (1 << 20))
			continue;
		count_cluster(kept + first, i - first);
		first = i;
	}
	for (int s = 0; s < SITES; s++)
		(void)printf("SITE %s %.0f %.0f\n", names[s], live[s], holds[s]);
	(void)printf("PARTLY %.0f\nready\n", partly);
}

int main(int argc, char **argv)
{
	static char out[4096];
	const char *what = argc > 1 ? argv[1] : "notes";
	size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

	(void)setvbuf(stdout, out, _IOLBF, sizeof(out));
	(void)mallopt(M_TRIM_THRESHOLD, 1 << 30);
	(void)mallopt(M_MMAP_THRESHOLD, 256 << 10);
	kept = mmap(NULL, sizeof(*kept) * BLOCKS_MAX, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (kept == MAP_FAILED)
		return 1;
	if (strcmp(what, "notes") == 0)
		notes(n ? n : 5000, PAGE);
	else if (strcmp(what, "pairs") == 0)
		notes(n ? n : 5000, (size_t)2 * PAGE);
	else if (strcmp(what, "checkerboard") == 0)
		checkerboard(n ? n : 1500);
	else if (strcmp(what, "halves") == 0)
		halves(n ? n : 3000);
	else if (strcmp(what, "borders") == 0)
		borders(n ? n : 2000);
	else if (strcmp(what, "top") == 0)
		top(n ? n : 20000);
	else if (strcmp(what, "mapped") == 0)
		mapped(n ? n : 16);
	else if (strcmp(what, "threads") == 0)
		threads(n ? n : 4, 5000);
	else if (strcmp(what, "fork") == 0)
		forked(n ? n : 5000);
	else if (strcmp(what, "hidden") == 0 && prctl(PR_SET_DUMPABLE, 0) == 0)
		notes(n ? n : 5000, PAGE);
	else if (strcmp(what, "dense") == 0)
		dense(n ? n : 20000);
	else
		return 2;
	answer();
	for (char c; read(0, &c, 1) > 0;) {
		(void)malloc_trim(0);
		(void)printf("trimmed\n");
	}
	if (strcmp(what, "threads") == 0)
		(void)pthread_barrier_wait(&ended);
	return 0;
}
