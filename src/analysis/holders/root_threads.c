/* root_threads.c - the stacks and the thread-local storage of threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/holders/root_notes.h"

#include <elf.h>
#include <link.h>

#include "base/cpu/elf_machine.h"
#include "kit/data/room.h"
#include "kit/data/sorted.h"

enum {
	PAGE = FOREIGN_PAGE_BYTES,
	TIDS_MAX = 1 << 15,
	TID_BYTES = 1024, /* of a control block, in which the tid is searched */
	DTV_ENTRY = 16,
};

#define DTV_UNALLOCATED UINT64_MAX

/* ---- memory --------------------------------------------------------------- */

/* Bytes that may lie across two pages. false: some are not there. */
static bool read_at(struct foreign *memory, uint64_t address, void *to, size_t bytes)
{
	uint64_t start = address / PAGE * PAGE;
	struct foreign_range r = {start, (address + bytes - start + PAGE - 1) / PAGE};
	struct foreign_batch b;

	if (address + bytes < address || foreign_read(memory, &r, 1, &b, NULL) < 0)
		return false;
	for (size_t i = 0; i < b.count; i++)
		if (b.pages[i] != FOREIGN_READ)
			return false;
	memcpy(to, b.bytes + (address - start), bytes);
	return true;
}

/* ---- ids and names -------------------------------------------------------- */

struct tids {
	pid_t *at;
	size_t count, room;
};

static int by_tid(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

static int read_tids(pid_t pid, struct tids *t)
{
	const struct dirent *e;
	char path[64];
	int err = 0;
	DIR *d;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	while (d && err == 0 && t->count < TIDS_MAX && (e = readdir(d))) {
		long tid = strtol(e->d_name, NULL, 10);

		if (tid <= 0)
			continue;
		err = room_make(&t->at, &t->room, t->count, sizeof(*t->at));
		if (err == 0)
			t->at[t->count++] = (pid_t)tid;
	}
	if (d)
		(void)closedir(d);
	if (t->count)
		qsort(t->at, t->count, sizeof(*t->at), by_tid);
	return err;
}

static void read_name(pid_t pid, struct root_thread *t)
{
	char path[64];
	ssize_t n = 0;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)t->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, t->name, sizeof(t->name) - 1);
		(void)close(fd);
	}
	t->name[n > 0 ? n : 0] = '\0';
	t->name[strcspn(t->name, "\n")] = '\0';
}

/* ---- thread-local storage ------------------------------------------------- */

/* A module with thread-local storage. */
struct tls_part {
	uint32_t module;
	uint64_t bytes;
};

/* A header of the kind that is wanted, in the first page of a module. */
static bool find_header(const uint8_t *page, uint32_t type, Elf64_Phdr *ret)
{
	Elf64_Ehdr e;

	memcpy(&e, page, sizeof(e));
	if (memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_phentsize != sizeof(*ret) ||
	    e.e_phoff > PAGE - sizeof(*ret))
		return false;
	for (unsigned i = 0; i < e.e_phnum; i++) {
		if (e.e_phoff + (i + 1) * sizeof(*ret) > PAGE)
			return false;
		memcpy(ret, page + e.e_phoff + i * sizeof(*ret), sizeof(*ret));
		if (ret->p_type == type)
			return true;
	}
	return false;
}

struct tls_parts {
	struct tls_part at[ROOT_THREADS_TLS_MAX];
	size_t count; /* number i of the dtv, from 1 on, is at[i - 1] */
};

/* The list of modules of the loader: the program's DT_DEBUG leads there. */
static uint64_t find_list(struct foreign *memory, const struct process_module *m)
{
	enum { TAGS = 64 };
	uint8_t page[PAGE];
	uint64_t list;
	Elf64_Phdr h;
	Elf64_Dyn d;

	if (!read_at(memory, m->start / PAGE * PAGE, page, PAGE) ||
	    !find_header(page, PT_DYNAMIC, &h))
		return 0;
	for (unsigned i = 0; i < TAGS && i < h.p_memsz / sizeof(d); i++) {
		if (!read_at(memory, m->base + h.p_vaddr + i * sizeof(d), &d, sizeof(d)))
			return 0;
		if (d.d_tag == DT_DEBUG)
			return read_at(memory, d.d_un.d_ptr + offsetof(struct r_debug, r_map),
			           &list, sizeof(list))
			    ? list
			    : 0;
	}
	return 0;
}

/* The module with this difference between memory and file; 0: not known. */
static uint32_t module_of(const struct process *p, uint64_t base)
{
	for (size_t i = 1; i < p->module_count; i++)
		if (!p->modules[i].is_gone && p->modules[i].end && p->modules[i].base == base)
			return (uint32_t)i;
	return 0;
}

/* One module of the list; false: its headers cannot be read. */
static bool add_part(
    const struct process *p, struct foreign *memory, uint64_t base, struct tls_parts *s)
{
	uint32_t module = module_of(p, base);
	uint64_t start = module ? p->modules[module].start : base;
	uint8_t page[PAGE];
	Elf64_Phdr h;

	if (!read_at(memory, start / PAGE * PAGE, page, PAGE))
		return false;
	if (find_header(page, PT_TLS, &h) && h.p_memsz > 0)
		s->at[s->count++] = (struct tls_part){.module = module, .bytes = h.p_memsz};
	return true;
}

/*
 * Modules with thread-local storage, in the order in which they were loaded,
 * until one cannot be read.
 */
static void read_parts(const struct process *p, pid_t pid, struct tls_parts *s)
{
	enum { MODULES = 4096 };
	const struct foreign_options o = {.with_files = true};
	struct foreign *memory;
	struct fault why;
	uint64_t at = 0;

	if (foreign_open(pid, &o, &memory, &why) < 0)
		return;
	for (size_t i = 1; i < p->module_count && at == 0; i++)
		if (p->modules[i].is_main)
			at = find_list(memory, &p->modules[i]);
	for (int i = 0; at && i < MODULES && s->count < ROOT_THREADS_TLS_MAX; i++) {
		struct link_map m;

		if (!read_at(memory, at, &m, sizeof(m)) || !add_part(p, memory, m.l_addr, s))
			break;
		at = (uint64_t)(uintptr_t)m.l_next;
	}
	foreign_close(memory);
}

/* The addresses of a dtv, where they fit below the control block. */
static void read_dtv(
    struct root_thread *t, uint64_t dtv, struct foreign *memory, const struct tls_parts *s)
{
	uint64_t words[2 * (ROOT_THREADS_TLS_MAX + 1)];
	size_t n = s->count;

	/* a short one may end at the end of its page */
	while (n > 0 && !read_at(memory, dtv, words, (n + 1) * DTV_ENTRY))
		n--;
	for (size_t i = 0; i < n; i++) {
		uint64_t start = words[2 * (i + 1)];
		const struct tls_part *x = &s->at[i];

		if (start == DTV_UNALLOCATED || start >= t->tcb || x->bytes > t->tcb - start ||
		    t->tcb - start > (UINT64_C(1) << 20))
			continue;
		t->tls[t->tls_count++] =
		    (struct root_tls){.start = start, .end = start + x->bytes, .module = x->module};
		if (t->low > start)
			t->low = start;
	}
}

/* Parts that overlap show that the order was another one: none is believed. */
static void check_tls(struct root_thread *t)
{
	for (size_t i = 0; i < t->tls_count; i++)
		for (size_t k = 0; k < t->tls_count; k++)
			if (i != k && t->tls[i].start < t->tls[k].end &&
			    t->tls[k].start < t->tls[i].end) {
				t->tls_count = 0;
				return;
			}
}

/* ---- all threads ---------------------------------------------------------- */

static bool read_thread(struct root_thread *t, pid_t pid, struct foreign *memory,
    const struct tids *tids, const struct tls_parts *s)
{
	uint32_t words[TID_BYTES / 4];
	uint64_t dtv;

	if (!read_at(memory, t->tcb, words, sizeof(words)))
		return false;
	for (size_t i = 6; i < TID_BYTES / 4 && !t->tid; i++) {
		pid_t tid = (pid_t)words[i];

		if (tids->count && bsearch(&tid, tids->at, tids->count, sizeof(tid), by_tid))
			t->tid = tid;
	}
	if (t->tid)
		read_name(pid, t);
	memcpy(&dtv, words + (size_t)2 * CPU_TCB_DTV_WORD, sizeof(dtv));
	t->low = t->tcb;
	if (dtv % 8 == 0 && dtv)
		read_dtv(t, dtv, memory, s);
	check_tls(t);
	return t->tid != 0 || t->tls_count > 0;
}

BY(by_address, struct root_thread, UP(tcb))

int root_threads_read(
    struct root_notes *n, const struct process *p, pid_t pid, struct foreign *memory)
{
	struct tls_parts *s = calloc(1, sizeof(*s));
	struct tids tids = {0};
	int err = s ? read_tids(pid, &tids) : -ENOMEM;

	if (err == 0 && n->tcb_count) {
		n->threads = calloc(n->tcb_count, sizeof(*n->threads));
		if (!n->threads)
			err = -ENOMEM;
	}
	if (err == 0 && n->threads)
		read_parts(p, pid, s);
	for (size_t i = 0; err == 0 && i < n->tcb_count; i++) {
		struct root_thread *t = &n->threads[n->thread_count];

		*t = (struct root_thread){.tcb = n->tcbs[i]};
		n->thread_count += read_thread(t, pid, memory, &tids, s);
	}
	if (n->threads && n->thread_count)
		qsort(n->threads, n->thread_count, sizeof(*n->threads), by_address);
	free(tids.at);
	free(s);
	return err;
}

const struct root_thread *root_threads_at(
    const struct root_notes *n, const struct roots_area *a, uint64_t address)
{
	size_t low;

	/* the first one that does not end below the address */
	low = sorted_first(
	    n->threads, n->thread_count, x, x->tcb + ROOT_THREADS_TCB_BYTES <= address);
	if (low == n->thread_count || n->threads[low].tcb < a->start ||
	    n->threads[low].tcb >= a->end)
		return NULL;
	return &n->threads[low];
}

const struct root_tls *root_threads_tls(const struct root_thread *t, uint64_t address)
{
	for (size_t i = 0; i < t->tls_count; i++)
		if (address >= t->tls[i].start && address < t->tls[i].end)
			return &t->tls[i];
	return NULL;
}
