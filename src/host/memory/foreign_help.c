/* foreign_help.c - the helper: reads the pages of one process, on request. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/ioctl.h>
#include <sys/uio.h>

#include "host/memory/address_ranges.h"
#include "host/memory/foreign_ask.h"
#include "host/memory/foreign_parts.h"

enum {
	PAGE = FOREIGN_PAGE_BYTES,
	/* read by one call, with the lock of the memory map held for 10 us */
	PIECE_PAGES = 32,
	STATES_PAGES = 256,
	SCAN_PAGES = 128, /* whose states are found by one call, as quickly */
	REGIONS = 64,     /* of equal pages, among these */
};

#define ADDRESS_END  (UINT64_C(1) << 47)
#define MAPPED_END   (ADDRESS_END - PAGE) /* the kernel maps nothing above */
#define PAGE_PRESENT (UINT64_C(1) << 63)
#define PAGE_SWAPPED (UINT64_C(1) << 62)
#define PAGE_GUARD   (UINT64_C(1) << 58) /* MADV_GUARD_INSTALL: no content */
#define PAGE_SHARED  (UINT64_C(1) << 61) /* of a file, or shared anonymous */

struct work {
	const struct foreign_helper *h;
	struct foreign_window *w;
	struct foreign_areas *areas;
	bool may_call;     /* process_vm_readv is allowed */
	size_t pages;      /* of the batch */
	uint64_t *address; /* of each page */
	bool may_scan;     /* PAGEMAP_SCAN exists */
	uint64_t kinds;    /* what it is asked for */
	struct foreign_pace pace;
};

/* ---- which pages ---- */

static enum foreign_page judge(struct work *k, uint64_t state, uint64_t address)
{
	bool swapped = !(state & PAGE_PRESENT) && state & PAGE_SWAPPED;
	enum foreign_area area;

	/* a guard page also has the bit of those that are swapped out */
	if (!(state & (PAGE_PRESENT | PAGE_SWAPPED)) || state & PAGE_GUARD)
		return FOREIGN_UNTOUCHED;
	if (swapped && !k->h->options.with_swapped)
		return FOREIGN_SWAPPED;
	/*
	 * the usual page: private and present; the call fails on device memory
	 */
	if (!swapped && !(state & PAGE_SHARED) && k->may_call)
		return FOREIGN_READ;
	area = foreign_areas_at(k->areas, address);
	if (area == FOREIGN_AREA_DEVICE || area == FOREIGN_AREA_NONE)
		return FOREIGN_REFUSED;
	if (area == FOREIGN_AREA_FILE && state & PAGE_SHARED &&
	    (swapped || !k->h->options.with_files))
		return FOREIGN_FILE;
	return FOREIGN_READ;
}

/* Entries of pagemap: all of them, or the process has no memory any more. */
static int read_entries(struct work *k, uint64_t start, uint64_t *states, size_t count)
{
	size_t want = count * sizeof(*states);
	ssize_t n;

	foreign_pace_begin(&k->pace);
	n = pread(k->h->files.pagemap, states, want, (off_t)(start / PAGE * sizeof(*states)));
	foreign_pace_end(&k->pace, 0);
	if (n < 0)
		return -errno;
	return (size_t)n == want ? 0 : -ESRCH;
}

static int scan_once(struct work *k, struct foreign_scan *s)
{
	int n;

	foreign_pace_begin(&k->pace);
	n = ioctl(k->h->files.pagemap, FOREIGN_PAGEMAP_SCAN, s);
	foreign_pace_end(&k->pace, 0);
	return n;
}

/*
 * PAGEMAP_SCAN takes the lock once, and pread() of pagemap twice. The answer has
 * regions of equal pages, and where it ends if there are more of them. -1: the
 * kernel does not know it, or has refused it.
 */
static int scan_regions(struct work *k, uint64_t start, uint64_t end,
    struct foreign_scan_region *regions, uint64_t *ret_end)
{
	struct foreign_scan s = {.size = sizeof(s),
	    .start = start,
	    .end = end,
	    .regions = (uintptr_t)regions,
	    .region_count = REGIONS,
	    .any_of = FOREIGN_SCAN_PRESENT | FOREIGN_SCAN_SWAPPED,
	    .wanted = k->kinds};
	int n = scan_once(k, &s);

	if (n < 0 && k->kinds & FOREIGN_SCAN_GUARD) {
		k->kinds &= ~(uint64_t)FOREIGN_SCAN_GUARD;
		s.wanted = k->kinds;
		n = scan_once(k, &s);
	}
	if (n < 0 || n > REGIONS || s.walk_end <= start || s.walk_end > end)
		return -1;
	*ret_end = s.walk_end;
	return n;
}

static uint64_t state_of(uint64_t categories)
{
	return (categories & FOREIGN_SCAN_PRESENT ? PAGE_PRESENT : 0) |
	    (categories & FOREIGN_SCAN_SWAPPED ? PAGE_SWAPPED : 0) |
	    /* the kernel's page of zeros has no content of the process, too */
	    (categories & (FOREIGN_SCAN_GUARD | FOREIGN_SCAN_ZERO) ? PAGE_GUARD : 0) |
	    (categories & FOREIGN_SCAN_FILE ? PAGE_SHARED : 0);
}

static bool scan_states(struct work *k, uint64_t start, uint64_t *states, size_t count)
{
	const uint64_t end = start + count * PAGE;
	struct foreign_scan_region regions[REGIONS];

	memset(states, 0, count * sizeof(*states));
	for (uint64_t at = start; at < end;) {
		uint64_t to =
		    end - at < (uint64_t)SCAN_PAGES * PAGE ? end : at + (uint64_t)SCAN_PAGES * PAGE;
		int n = scan_regions(k, at, to, regions, &at);

		if (n < 0)
			return false;
		for (int i = 0; i < n; i++) {
			uint64_t page = (regions[i].start - start) / PAGE;
			uint64_t last = (regions[i].end - start) / PAGE;

			for (; page < last && page < count; page++)
				states[page] = state_of(regions[i].categories);
		}
	}
	return true;
}

/* The states of these pages, as pagemap has them. */
static int read_states(struct work *k, uint64_t start, uint64_t *states, size_t count)
{
	size_t most = start < MAPPED_END ? (MAPPED_END - start) / PAGE : 0;

	if (count > most)
		memset(states + most, 0, (count - most) * sizeof(*states));
	else
		most = count;
	if (most == 0)
		return 0;
	if (k->may_scan && scan_states(k, start, states, most))
		return 0;
	k->may_scan = false;
	return read_entries(k, start, states, most);
}

static int judge_range(struct work *k, struct foreign_range r)
{
	uint64_t states[STATES_PAGES];
	int err;

	for (uint64_t i = 0; i < r.pages; i++) {
		size_t at = i % STATES_PAGES;
		size_t left = (size_t)(r.pages - i);
		uint64_t address = r.start + i * PAGE;

		if (at == 0) {
			err = read_states(
			    k, address, states, left < STATES_PAGES ? left : STATES_PAGES);
			if (err < 0)
				return err;
		}
		k->address[k->pages] = address;
		k->w->pages[k->pages++] = (uint8_t)judge(k, states[at], address);
	}
	return 0;
}

/* The request comes from our own command, but it is checked all the same. */
static int judge_all(struct work *k)
{
	uint32_t count = k->w->count;
	int err = 0;

	k->pages = 0;
	if (count == 0 || count > FOREIGN_BATCH_RANGES)
		return -EINVAL;
	for (uint32_t i = 0; i < count && err == 0; i++) {
		struct foreign_range r = k->w->ranges[i];

		if (r.start % PAGE != 0 || r.start >= ADDRESS_END ||
		    r.pages > FOREIGN_BATCH_PAGES - k->pages ||
		    r.pages > (ADDRESS_END - r.start) / PAGE)
			return -EINVAL;
		err = judge_range(k, r);
	}
	return err;
}

/* ---- which kinds of pages ---- */

static bool add_run(struct foreign_window *w, uint64_t address, enum foreign_page kind)
{
	struct foreign_run *runs = (struct foreign_run *)(void *)w->bytes;
	struct foreign_run *last = w->count ? &runs[w->count - 1] : NULL;

	_Static_assert(FOREIGN_RUNS * sizeof(struct foreign_run) <= sizeof(w->bytes), "they fit");
	if (last && last->kind == kind && last->start + last->pages * PAGE == address) {
		last->pages++;
		return true;
	}
	if (w->count == FOREIGN_RUNS)
		return false;
	runs[w->count++] = (struct foreign_run){.start = address, .pages = 1, .kind = kind};
	return true;
}

/*
 * The first page at or after `from` that is present or swapped out, or `end`.
 * Reading pagemap takes time for absent pages, too: half a minute for a reserve
 * of 8 TiB. Kernels before 6.7 cannot do this: then it is `from`.
 */
static uint64_t next_present(const struct work *k, uint64_t from, uint64_t end)
{
	struct foreign_scan_region found = {0};
	struct foreign_scan s = {.size = sizeof(s),
	    .start = from,
	    .end = end,
	    .regions = (uintptr_t)&found,
	    .region_count = 1,
	    .max_pages = 1,
	    .any_of = FOREIGN_SCAN_PRESENT | FOREIGN_SCAN_SWAPPED,
	    .wanted = FOREIGN_SCAN_PRESENT | FOREIGN_SCAN_SWAPPED};
	int n = ioctl(k->h->files.pagemap, FOREIGN_PAGEMAP_SCAN, &s);

	if (n == 1 && found.start >= from && found.start < end)
		return found.start;
	return n == 0 && s.walk_end >= end ? end : from;
}

/* Limited in pages and in runs, so that an answer comes before its deadline. */
static int list_present(struct work *k, uint64_t start, uint64_t end)
{
	enum { PIECE = 4096, PIECES_MAX = 256 };
	static uint64_t states[PIECE];
	struct foreign_window *w = k->w;
	bool is_empty = false; /* the piece before had no page */

	w->count = 0;
	w->next = start;
	if (start % PAGE != 0 || end % PAGE != 0 || start >= end || end > ADDRESS_END)
		return -EINVAL;
	for (int piece = 0; piece < PIECES_MAX && w->next < end; piece++) {
		size_t n;
		int err;

		if (is_empty) {
			w->next = next_present(k, w->next, end);
			if (w->next == end)
				break;
		}
		n = (end - w->next) / PAGE;
		if (n > PIECE)
			n = PIECE;
		err = read_states(k, w->next, states, n);
		if (err < 0)
			return err;
		is_empty = true;
		for (size_t i = 0; i < n; i++) {
			enum foreign_page kind = judge(k, states[i], w->next);

			if (kind != FOREIGN_UNTOUCHED && !add_run(w, w->next, kind))
				return 0;
			is_empty &= kind == FOREIGN_UNTOUCHED;
			w->next += PAGE;
		}
	}
	return 0;
}

/* ---- reading ---- */

static uint8_t *bytes_of(const struct work *k, size_t page)
{
	return k->w->bytes + page * PAGE;
}

static void refuse(struct work *k, size_t page)
{
	k->w->pages[page] = FOREIGN_REFUSED;
	memset(bytes_of(k, page), 0, PAGE);
}

/*
 * Reads /proc/PID/mem, which ignores the protection of pages. So it must never
 * be used for what might be a device.
 */
static void read_by_file(struct work *k, size_t page)
{
	enum foreign_area area = foreign_areas_at(k->areas, k->address[page]);

	if (k->h->files.memory < 0 || area == FOREIGN_AREA_NONE || area == FOREIGN_AREA_DEVICE ||
	    pread(k->h->files.memory, bytes_of(k, page), PAGE, (off_t)k->address[page]) != PAGE)
		refuse(k, page);
}

/* One call for these pages. Returns how many were read, or negative errno. */
static ssize_t call(struct work *k, const size_t *pages, size_t count)
{
	struct iovec local[PIECE_PAGES], remote[PIECE_PAGES];
	size_t runs = 0;
	ssize_t n;
	int err;

	for (size_t i = 0; i < count; i++) {
		uint64_t address = k->address[pages[i]];

		if (i > 0 && pages[i] == pages[i - 1] + 1 &&
		    address == k->address[pages[i - 1]] + PAGE) {
			local[runs - 1].iov_len += PAGE;
			remote[runs - 1].iov_len += PAGE;
			continue;
		}
		local[runs] = (struct iovec){bytes_of(k, pages[i]), PAGE};
		remote[runs++] = (struct iovec){(void *)(uintptr_t)address, PAGE};
	}
	foreign_pace_begin(&k->pace);
	n = process_vm_readv(k->h->pid, local, runs, remote, runs, 0);
	err = n < 0 ? -errno : 0;
	foreign_pace_end(&k->pace, n > 0 ? (size_t)n : 0);
	return err < 0 ? err : n / PAGE;
}

/* Reads a piece; what one call does not give is read page by page. */
static int read_piece(struct work *k, const size_t *pages, size_t count)
{
	for (size_t i = 0; i < count;) {
		ssize_t n = -EPERM;

		if (k->may_call)
			n = call(k, pages + i, count - i);
		if (n == -ESRCH)
			return (int)n;
		if (n == -EPERM) { /* now, or from now on: it has changed */
			if (k->h->files.memory < 0)
				return (int)n;
			k->may_call = false;
		}
		if (n > 0)
			i += (size_t)n;
		if (i < count)
			read_by_file(k, pages[i++]);
	}
	return 0;
}

static int read_all(struct work *k)
{
	size_t piece[PIECE_PAGES], n = 0;
	int err = 0;

	for (size_t i = 0; i < k->pages && err == 0; i++) {
		if (k->w->pages[i] != FOREIGN_READ) {
			memset(bytes_of(k, i), 0, PAGE);
			continue;
		}
		piece[n++] = i;
		if (n < PIECE_PAGES)
			continue;
		err = read_piece(k, piece, n);
		n = 0;
	}
	if (n > 0 && err == 0)
		err = read_piece(k, piece, n);
	return err;
}

/*
 * After an exec the calls read another program's memory, while the descriptor
 * of pagemap still refers to the old memory. It has whole entries only, so that
 * the kernel refuses to read one byte, without the lock of the memory map; but
 * first it looks whether there is any memory, and if not, reads nothing.
 */
static int look_again(struct work *k)
{
	char byte;
	ssize_t n = pread(k->h->files.pagemap, &byte, 1, 0);

	return n < 0 && errno == EINVAL ? 0 : -ESRCH;
}

static int answer(struct work *k)
{
	int err;

	foreign_pace_batch(&k->pace);
	if (k->w->present_end) {
		err = list_present(k, k->w->ranges[0].start, k->w->present_end);
	} else {
		err = judge_all(k);
		if (err == 0)
			err = read_all(k);
	}
	if (err == 0)
		err = look_again(k);
	return err;
}

/* Is the call allowed? At this address there is never any memory. */
static bool ask(pid_t pid)
{
	char byte;
	struct iovec local = {&byte, 1};
	struct iovec remote = {(void *)(UINTPTR_MAX << 47), 1};

	return process_vm_readv(pid, &local, 1, &remote, 1, 0) == 0 || errno == EFAULT;
}

/* Containers close a file of procfs by another one on top, such as /dev/null. */
static bool is_covered(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 || !S_ISREG(st.st_mode);
}

int foreign_open_files(int process, struct foreign_files *ret)
{
	static const char *const names[] = {"pagemap", "maps", "mountinfo", "mem"};
	int *const fds[] = {&ret->pagemap, &ret->maps, &ret->mounts, &ret->memory};

	*ret = (struct foreign_files){-1, -1, -1, -1};
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		*fds[i] = openat(process, names[i], O_RDONLY | O_CLOEXEC);
		if (*fds[i] < 0 && i == 0)
			return errno == EACCES ? -EPERM : errno == ENOENT ? -ESRCH : -errno;
		if (*fds[i] >= 0 && is_covered(*fds[i])) {
			(void)close(*fds[i]);
			*fds[i] = -1;
			if (i == 0)
				return -EPERM;
		}
	}
	return 0;
}

int foreign_help(int socket, void *helper)
{
	static uint64_t address[FOREIGN_BATCH_PAGES];
	struct foreign_helper h = *(const struct foreign_helper *)helper;
	struct work k = {.h = &h,
	    .w = h.window,
	    .address = address,
	    .may_scan = true,
	    .kinds = FOREIGN_SCAN_FILE | FOREIGN_SCAN_PRESENT | FOREIGN_SCAN_SWAPPED |
	        FOREIGN_SCAN_ZERO | FOREIGN_SCAN_GUARD};
	int err = 0;
	char byte = 0;

	h.socket = socket;
	if (h.process >= 0)
		err = foreign_open_files(h.process, &h.files);
	k.areas = foreign_areas_new(h.files.maps, h.files.mounts, h.shm_device);
	if (err == 0 && !k.areas)
		err = -ENOMEM;
	foreign_confine(h.pid);
	foreign_pace_init(&k.pace, h.options.rest_us);
	k.may_call = ask(h.pid);
	if (err == 0 && !k.may_call && h.files.memory < 0)
		err = -EPERM;
	h.window->err = err;
	while (write(h.socket, &byte, 1) == 1 && read(h.socket, &byte, 1) == 1)
		h.window->err = answer(&k);
	return 0;
}
