/* logpool.c - the chunks of the event log: a file, its mapping, who has which. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/log/logpool.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/vfs.h>

#include "base/fmt.h"
#include "base/sys.h"
#include "collector/segment/kernel.h"
#include "collector/segment/config.h"
#include "collector/segment/mem.h"
#include "collector/segment/place.h"
#include "collector/segment/segment.h"
#include "collector/segment/slots.h"
#include "format/seg_flight.h"

enum {
	NAME_BYTES = 128,
	CHUNKS_MIN = 4,
	AHEAD = 4, /* chunks whose pages are made at the start */
	OLDEST_TRIES = 8,
	CHILD_SHARE = 8,     /* a child's pool is this part of the first one */
	CTL_CHILDREN = 4096, /* offset of the bytes for the pools of children */
};

enum logpool_state {
	CHUNK_FREE = 0, /* never used by this process, or given back */
	CHUNK_OPEN,
	CHUNK_CLOSED, /* free again when a reader has returned it */
};

_Static_assert((int)LOG_CHUNKS_MAX <= (int)CTL_CHILDREN, "a byte for each chunk");

struct logpool logpool;
struct logpool_lack logpool_lack;

/* The file that this family shares, and the pools of children in it. */
static struct {
	uint8_t *anchor;  /* the page at which they begin; NULL: none */
	bool is_separate; /* and it is a mapping of its own */
	uint64_t child_bytes;
	uint32_t child_chunks, child_count;
	const uint8_t *control; /* mapped read-only */
	uint64_t control_bytes;
} file;

static struct {
	struct log_head *head; /* NULL: there is none */
	uint32_t slot;
} prepared;

static uint32_t number; /* of the pool in the file */
static uint32_t closings;
static bool is_fresh; /* nobody had this pool before */

/* Notes why there is no pool; `result` is that of a system call. */
static bool lacks(enum seg_log_lack why, long result)
{
	logpool_lack =
	    (struct logpool_lack){why, result < 0 && result > -4096 ? (uint32_t)-result : 0};
	return false;
}

static void unmap(void *at, uint64_t bytes)
{
	own_memory_remove(at, bytes);
	sys_munmap(at, bytes);
}

/* ---- files ---------------------------------------------------------------- */

static void file_name(char to[NAME_BYTES], const char *of, const char *end)
{
	struct fmt f;

	fmt_init(&f, to, NAME_BYTES);
	fmt_string(&f, of);
	fmt_string(&f, ".log");
	fmt_string(&f, end);
}

/* The bytes that readers write, mapped read-only as the control block is. */
static bool make_control(long dir, const char *of, uint64_t bytes)
{
	static const uint8_t zero;
	char name[NAME_BYTES];
	long fd, read_only;
	void *p;

	file_name(name, of, ".ctl");
	sys_call(SYS_unlinkat, dir, (long)name, 0, 0);
	fd = place_make_file(dir, name, bytes);
	if (fd < 0)
		return lacks(SEG_LOG_LACK_FILE, fd);
	/* the first page must exist, because reading a hole may fail */
	read_only = cpu_syscall6(SYS_pwrite64, fd, (long)&zero, 1, 0, 0, 0) == 1
	    ? sys_openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0)
	    : -1;
	sys_close(fd);
	p = read_only < 0 ? (void *)-1
	                  : sys_mmap(NULL, bytes, PROT_READ, MAP_SHARED, (int)read_only, 0);
	if (read_only >= 0)
		sys_close(read_only);
	if (sys_failed(p)) {
		sys_call(SYS_unlinkat, dir, (long)name, 0, 0);
		return read_only < 0 ? lacks(SEG_LOG_LACK_FILE, read_only)
		                     : lacks(SEG_LOG_LACK_MEMORY, (long)p);
	}
	sys_madvise(p, bytes, MADV_DONTDUMP);
	own_memory_add(p, bytes, OWN_MEMORY_FOR_NOW);
	file.control = p;
	file.control_bytes = bytes;
	return true;
}

static uint32_t ring_entries(void)
{
	return flight_entries(config.log_last, config.log == (uint32_t)FLIGHT_MODE_FREES);
}

static uint64_t chunk_bytes(void)
{
	return config.log_last ? flight_ring_bytes(ring_entries()) : LOG_CHUNK_BYTES;
}

/* How the file is divided. Returns its size; 0: there is too little room. */
static uint64_t divide(long dir, uint64_t *ret_pool_bytes)
{
	const uint64_t limit = kernel_limit(RLIMIT_FSIZE);
	struct statfs fs;
	uint64_t chunks, bytes;

	lacks(
	    config.log_pool / LOG_CHUNK_BYTES < CHUNKS_MIN ? SEG_LOG_LACK_SMALL : SEG_LOG_LACK_ROOM,
	    0);
	if (sys_call(SYS_fstatfs, dir, (long)&fs, 0, 0) != 0)
		return 0;
	chunks = budget_of_log(&fs, kernel.populate) / chunk_bytes();
	if (chunks < CHUNKS_MIN)
		return 0;
	if (chunks > LOG_CHUNKS_MAX)
		chunks = LOG_CHUNKS_MAX;
	*ret_pool_bytes = LOG_HEAD_BYTES + chunks * chunk_bytes();
	file.child_chunks = (uint32_t)chunks / CHILD_SHARE;
	if (file.child_chunks < CHUNKS_MIN)
		file.child_chunks = CHUNKS_MIN;
	file.child_bytes = LOG_HEAD_BYTES + (uint64_t)file.child_chunks * chunk_bytes();
	file.child_count = kernel.populate ? SEG_SLOTS : 0;
	bytes = *ret_pool_bytes + file.child_count * file.child_bytes;
	if (bytes > limit) {
		file.child_count = 0;
		bytes = *ret_pool_bytes;
	}
	return bytes <= limit ? bytes : 0;
}

static bool make_pages(void *at, uint64_t bytes)
{
	return !kernel.populate || sys_madvise(at, bytes, MADV_POPULATE_WRITE) == 0;
}

/* The pool at `head` becomes that of this process. */
static bool use(struct log_head *head, uint32_t chunks, uint64_t mapped, const uint8_t *returned)
{
	static uint8_t *notes;
	static uint32_t *order;
	uint32_t i;

	if (!notes)
		notes = mem_alloc(3 * (size_t)LOG_CHUNKS_MAX);
	if (!order && config.log_last)
		order = mem_alloc(LOG_CHUNKS_MAX * sizeof(*order));
	if (!notes || (!order && config.log_last))
		return false;
	for (i = 0; i < 3 * LOG_CHUNKS_MAX; i++)
		STORE(&notes[i], 0);
	logpool = (struct logpool){.head = head,
	    .chunk_count = chunks,
	    .bytes = mapped,
	    .chunk_bytes = chunk_bytes(),
	    .closed = order,
	    .returned = returned,
	    .states = notes,
	    .uses = notes + LOG_CHUNKS_MAX,
	    .made = notes + 2 * (size_t)LOG_CHUNKS_MAX};
	return true;
}

static bool map_pool(long fd, uint64_t pool_bytes)
{
	const uint64_t mapped = pool_bytes + (file.child_count ? CPU_PAGE : 0);
	uint32_t chunks = (uint32_t)((pool_bytes - LOG_HEAD_BYTES) / chunk_bytes()), i;
	uint8_t *p = sys_mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);

	if (sys_failed(p))
		return lacks(SEG_LOG_LACK_MEMORY, (long)p);
	sys_madvise(p, mapped, MADV_DONTDUMP);
	own_memory_add(p, mapped, OWN_MEMORY_FOR_NOW);
	if (!make_pages(p, LOG_HEAD_BYTES) ||
	    !use((struct log_head *)(void *)p, chunks, mapped, file.control)) {
		unmap(p, mapped);
		return false;
	}
	file.anchor = file.child_count ? p + pool_bytes : NULL;
	file.is_separate = false;
	for (i = 0; i < chunks && (i == 0 || i * chunk_bytes() < AHEAD * (uint64_t)LOG_CHUNK_BYTES);
	     i++)
		logpool.made[i] = make_pages(logpool_chunk(i), chunk_bytes());
	return true;
}

bool logpool_create(long dir, const char *of)
{
	char name[NAME_BYTES];
	uint64_t pool_bytes, bytes = divide(dir, &pool_bytes);
	bool done = false;
	long fd;

	if (!bytes)
		return false;
	file_name(name, of, "");
	/* of a child that had this number and no event */
	sys_call(SYS_unlinkat, dir, (long)name, 0, 0);
	if (!make_control(dir, of, CTL_CHILDREN + (uint64_t)file.child_count * file.child_chunks))
		return false;
	fd = place_make_file(dir, name, bytes);
	lacks(fd < 0 ? SEG_LOG_LACK_FILE : SEG_LOG_LACK_ROOM, fd);
	if (fd >= 0) {
		/* without MADV_POPULATE_WRITE all pages are made now */
		done =
		    (kernel.populate || sys_call(SYS_fallocate, fd, 0, 0, (long)pool_bytes) == 0) &&
		    map_pool(fd, pool_bytes);
		sys_call(SYS_fchmod, fd, 0400, 0, 0);
		sys_close(fd);
	}
	if (done) {
		logpool_lack.why = SEG_LOG_LACK_NONE;
		number = 0;
		is_fresh = true;
		return true;
	}
	unmap((void *)(uintptr_t)file.control, file.control_bytes);
	sys_call(SYS_unlinkat, dir, (long)name, 0, 0);
	file_name(name, of, ".ctl");
	sys_call(SYS_unlinkat, dir, (long)name, 0, 0);
	return false;
}

void logpool_publish(uint32_t first_number, uint64_t start_ns)
{
	struct log_head *h = logpool.head;

	STORE(&h->magic, 0);
	h->version = config.log_last ? FLIGHT_VERSION : LOG_VERSION;
	h->entries = config.log_last ? ring_entries() : 0;
	h->mode = config.log;
	memcpy(h->uuid, segment.header->uuid, sizeof(h->uuid));
	h->chunk_bytes = (uint32_t)logpool.chunk_bytes;
	h->chunk_count = logpool.chunk_count;
	h->first_number = first_number;
	h->tick_ns = LOG_TICK_NS;
	h->start_monotonic_ns = start_ns;
	h->child_offset = number ? 0 : LOG_HEAD_BYTES + logpool.chunk_count * logpool.chunk_bytes;
	h->child_bytes = number ? 0 : file.child_bytes;
	h->child_count = number ? 0 : file.child_count;
	h->pid = segment.header->pid;
	STORE_RELEASE(&h->magic, LOG_MAGIC);
}

uint32_t logpool_number(void)
{
	return number;
}

/* ---- chunks --------------------------------------------------------------- */

/* A call of memset would be a call of libc. */
static void clear(struct log_chunk *c, uint64_t count)
{
	uint64_t *words = (uint64_t *)(void *)c;

	/* the head first: what is left of the others is no chunk any more */
	STORE(&words[0], 0);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	cpu_zero(words + 1, count - 1);
}

static bool is_free(uint32_t i, uint8_t state)
{
	return state == CHUNK_FREE ||
	    (state == CHUNK_CLOSED && LOAD(&logpool.returned[i]) == LOAD(&logpool.uses[i]));
}

/*
 * A handler that interrupts a hook may fork. In the child the hook goes on after
 * logpool_leave(), which keeps the memory of the pool, but logpool.head is NULL,
 * or another pool's. So a chunk is found by the head that was there before it was
 * taken, and an index that is none of the present pool is left alone.
 */

/* The chunk is CHUNK_OPEN now, and gets pages and zeros. NULL: no memory. */
static struct log_chunk *empty(struct log_head *head, uint32_t i, uint64_t words)
{
	struct log_chunk *c = logpool_chunk_of(head, i);

	if (!logpool.made[i] && !make_pages(c, logpool.chunk_bytes)) {
		segment_count(SEG_NO_MEMORY, 1);
		STORE_RELEASE(&logpool.states[i], CHUNK_FREE);
		return NULL;
	}
	logpool.made[i] = 1;
	/* the kernel has zeroed pages that nobody has used */
	if (!is_fresh || logpool.uses[i])
		clear(c, words);
	/* whatever is written there now does not return it */
	logpool.uses[i] = (uint8_t)(LOAD(&logpool.returned[i]) + 1);
	if (!logpool.uses[i])
		logpool.uses[i] = 1; /* 0: never used */
	c->use = logpool.uses[i];
	/* a child that had this pool before has left chunks of the same numbers */
	memcpy(c->uuid, head->uuid, sizeof(c->uuid));
	return c;
}

struct log_chunk *logpool_take(uint64_t words, uint32_t *ret_index)
{
	struct log_head *head = LOAD(&logpool.head);
	uint32_t i;

	for (i = 0; head && i < logpool.chunk_count; i++) {
		uint8_t s = LOAD_ACQUIRE(&logpool.states[i]);

		if (!is_free(i, s) || !CAS(&logpool.states[i], &s, CHUNK_OPEN))
			continue;
		*ret_index = i;
		/* if NULL, there is none for the others */
		return empty(head, i, words);
	}
	return NULL;
}

struct log_chunk *logpool_take_oldest(uint32_t *ret_index)
{
	struct log_head *head = LOAD(&logpool.head);
	const uint64_t words = logpool.chunk_bytes / sizeof(uint64_t);
	struct log_chunk *c = logpool_take(words, ret_index);
	int tries;

	for (tries = 0; head && !c && tries < OLDEST_TRIES; tries++) {
		uint32_t best = UINT32_MAX, i, order = 0;
		uint8_t s = CHUNK_CLOSED;

		for (i = 0; i < logpool.chunk_count; i++) {
			if (LOAD_ACQUIRE(&logpool.states[i]) != CHUNK_CLOSED ||
			    (best != UINT32_MAX && LOAD(&logpool.closed[i]) >= order))
				continue;
			best = i;
			order = LOAD(&logpool.closed[i]);
		}
		if (best == UINT32_MAX)
			return NULL;
		if (!CAS(&logpool.states[best], &s, CHUNK_OPEN))
			continue; /* another thread was faster */
		*ret_index = best;
		c = empty(head, best, words);
	}
	return c;
}

void logpool_give_back(uint32_t index)
{
	struct log_head *head = LOAD(&logpool.head);

	if (!head || index >= LOAD(&logpool.chunk_count))
		return;
	STORE(&logpool_chunk_of(head, index)->head, 0);
	STORE_RELEASE(&logpool.states[index], CHUNK_FREE);
}

void logpool_close(uint32_t index, uint32_t end)
{
	struct log_head *head = LOAD(&logpool.head);

	if (!head || index >= LOAD(&logpool.chunk_count))
		return;
	STORE_RELEASE(&logpool_chunk_of(head, index)->closed, end);
	if (logpool.closed)
		STORE(&logpool.closed[index], ADD(&closings, 1));
	STORE_RELEASE(&logpool.states[index], CHUNK_CLOSED);
}

/* ---- forked children ------------------------------------------------------ */

static void drop_prepared(void)
{
	if (prepared.head)
		unmap(prepared.head, file.child_bytes);
	prepared.head = NULL;
}

static void leave_file(void)
{
	if (file.anchor && file.is_separate)
		unmap(file.anchor, CPU_PAGE);
	if (file.control)
		sys_munmap((void *)(uintptr_t)file.control, file.control_bytes);
	memset(&file, 0, sizeof(file));
}

void logpool_leave(bool keep, bool keeps_file)
{
	drop_prepared();
	if (keeps_file && file.anchor && !file.is_separate) {
		file.anchor = sys_view(file.anchor, CPU_PAGE);
		file.is_separate = true;
		if (file.anchor)
			own_memory_add(file.anchor, CPU_PAGE, OWN_MEMORY_FOR_NOW);
	}
	if (logpool.head)
		segment_leave_mapping((uint8_t *)logpool.head, logpool.bytes, keep);
	logpool.head = NULL;
	logpool.chunk_count = 0;
	if (!keeps_file) {
		if (!file.is_separate)
			file.anchor = NULL;
		leave_file();
	}
}

static bool map_child(uint32_t slot)
{
	uint8_t *p;

	if (prepared.head && prepared.slot == slot)
		return true;
	drop_prepared();
	if (!file.anchor || slot >= file.child_count)
		return false;
	p = slots_view_far(file.anchor, slot * file.child_bytes, file.child_bytes);
	if (!p)
		return false;
	own_memory_add(p, file.child_bytes, OWN_MEMORY_FOR_NOW);
	if (!make_pages(p, LOG_HEAD_BYTES + chunk_bytes())) {
		unmap(p, file.child_bytes);
		return false;
	}
	prepared.head = (struct log_head *)(void *)p;
	prepared.slot = slot;
	return true;
}

/* The bytes of this pool; NULL if they cannot be read. */
static const uint8_t *returned_of(uint32_t slot)
{
	const uint8_t *at = file.control + CTL_CHILDREN + (uint64_t)slot * file.child_chunks;
	uintptr_t from = cpu_page_down((uintptr_t)at);
	uintptr_t to = (uintptr_t)at + file.child_chunks;

	return sys_madvise((void *)from, to - from, MADV_POPULATE_READ) == 0 ? at : NULL;
}

void logpool_prepare(uint32_t slot)
{
	if (map_child(slot))
		(void)returned_of(slot);
}

void logpool_enter(uint32_t slot)
{
	const uint8_t *returned;

	if (!map_child(slot))
		return;
	returned = returned_of(slot);
	/*
	 * Again, because the slot may have had another child since
	 * logpool_prepare(), and who gave it back has taken the pages away.
	 */
	if (!returned || !make_pages(prepared.head, LOG_HEAD_BYTES + chunk_bytes()) ||
	    !use(prepared.head, file.child_chunks, file.child_bytes, returned))
		return;
	logpool.made[0] = 1;
	prepared.head = NULL; /* it is the pool now */
	number = 1 + slot;
	is_fresh = false;
}
