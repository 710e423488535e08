/* lost.c - loses blocks in somebody else's program, and counts them. */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded behind libseep.so. Each LOST_EVERY-th call of read() loses a block
 * of 72 bytes that holds one of 200 bytes, and puts one in front of a list: this
 * one is not lost. Each LOST_EVERY-th call of write() loses two blocks of 48
 * bytes, which every other time point to each other. LOST_FILE is mapped to be
 * shared and gets four numbers: blocks lost by read, held by these, lost by
 * write, and kept.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone))

struct counts {
	_Atomic uint64_t heads, children, pairs, kept;
};

static struct counts none;
static struct counts *counts = &none;
static uint64_t every;
static _Thread_local unsigned busy __attribute__((tls_model("initial-exec")));
static _Atomic uint64_t reads, writes;
static ssize_t (*next_read)(int, void *, size_t);
static ssize_t (*next_write)(int, const void *, size_t);

struct kept {
	struct kept *next;
	char rest[40];
};
static _Atomic(struct kept *) list;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("LOST_FILE"), *n = getenv("LOST_EVERY");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *p;

	if (fd < 0)
		return;
	p = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return;
	counts = p;
	every = n ? strtoull(n, NULL, 10) : 0;
}

/* What these functions leave on the stack would hold the blocks. */
static OWN void wipe_stack(void)
{
	volatile char below[4096];

	for (size_t i = 0; i < sizeof(below); i++)
		below[i] = 0;
}

static OWN void lost_in_read(void)
{
	void **p = calloc(1, 72);

	if (!p)
		return;
	p[0] = malloc(200);
	counts->heads++;
	counts->children += p[0] != NULL;
	__asm__ volatile("" : : "r"(p) : "memory");
}

static OWN void lost_in_write(void)
{
	void **p = calloc(1, 48), **q = calloc(1, 48);

	if (p && q && counts->pairs % 4 == 0) {
		p[1] = q;
		q[1] = p;
	}
	counts->pairs += (p != NULL) + (q != NULL);
	__asm__ volatile("" : : "r"(p), "r"(q) : "memory");
}

static OWN void lost_never(void)
{
	struct kept *k = calloc(1, sizeof(*k));

	if (!k)
		return;
	k->next = list;
	while (!atomic_compare_exchange_weak(&list, &k->next, k))
		;
	counts->kept++;
}

ssize_t read(int fd, void *buf, size_t n)
{
	if (!next_read)
		next_read = (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
	if (every && !busy && ++reads % every == 0) {
		busy = 1;
		lost_in_read();
		lost_never();
		wipe_stack();
		busy = 0;
	}
	return next_read(fd, buf, n);
}

ssize_t write(int fd, const void *buf, size_t n)
{
	if (!next_write)
		next_write = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
	if (every && !busy && ++writes % every == 0) {
		busy = 1;
		lost_in_write();
		wipe_stack();
		busy = 0;
	}
	return next_write(fd, buf, n);
}
