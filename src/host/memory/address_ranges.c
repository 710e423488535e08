/* address_ranges.c - sets of addresses as ranges: joined, subtracted. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "host/memory/address_ranges.h"

#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "host/proc/procfs.h"
#include "kit/data/room.h"
#include "kit/data/sorted.h"

int address_ranges_add(struct ranges *r, uint64_t start, uint64_t end)
{
	int err;

	if (start >= end)
		return 0;
	/* most come in order, and continue the last one */
	if (r->count && r->at[r->count - 1].end == start) {
		r->at[r->count - 1].end = end;
		return 0;
	}
	err = room_make(&r->at, &r->room, r->count, sizeof(*r->at));
	if (err < 0)
		return err;
	r->at[r->count++] = (struct range){start, end};
	return 0;
}

BY(by_start, struct range, UP(start))

void address_ranges_settle(struct ranges *r)
{
	size_t i, kept = 0;

	if (r->count)
		qsort(r->at, r->count, sizeof(*r->at), by_start);
	for (i = 0; i < r->count; i++) {
		struct range x = r->at[i];

		if (!kept || r->at[kept - 1].end < x.start)
			r->at[kept++] = x;
		else if (r->at[kept - 1].end < x.end)
			r->at[kept - 1].end = x.end;
	}
	r->count = kept;
}

int address_ranges_subtract(const struct ranges *a, const struct ranges *b, struct ranges *ret)
{
	size_t i, k = 0;
	int err = 0;

	for (i = 0; i < a->count && err == 0; i++) {
		uint64_t start = a->at[i].start, end = a->at[i].end;

		while (k < b->count && b->at[k].end <= start)
			k++;
		/* the last of these may reach into the next range of a */
		for (size_t m = k; err == 0 && m < b->count; m++) {
			const struct range *hole = &b->at[m];

			if (hole->start >= end)
				break;
			err = address_ranges_add(ret, start, hole->start);
			start = hole->end;
		}
		if (err == 0)
			err = address_ranges_add(ret, start, end);
	}
	return err;
}

bool address_ranges_hold(const struct ranges *r, uint64_t address)
{
	size_t lo = sorted_first(r->at, r->count, x, x->end <= address);

	return lo < r->count && r->at[lo].start <= address;
}

uint64_t address_ranges_bytes(const struct ranges *r)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < r->count; i++)
		sum += r->at[i].end - r->at[i].start;
	return sum;
}

void address_ranges_release(struct ranges *r)
{
	free(r->at);
	*r = (struct ranges){0};
}

/* ---- foreign_areas: what kind of mapping an address of a process belongs to ---- */

enum {
	AREAS_MAX = 1 << 20, /* 16 times as many as a process may have */
	DEVICES_MAX = 1024,  /* mounts of tmpfs; more are treated as files */
	CODEC_MAX_BYTES = 8192,
};

struct area {
	uint64_t start, end;
	enum foreign_area kind;
};

struct lines {
	int fd;
	uint64_t offset;
	size_t at, have;
	char text[CODEC_MAX_BYTES];
};

struct foreign_areas {
	int maps, mounts;
	bool is_read;
	size_t count, device_count;
	uint64_t devices[DEVICES_MAX]; /* of shared memory */
	struct lines lines;
	char line[CODEC_MAX_BYTES];
	struct area list[AREAS_MAX]; /* never touched, so it costs nothing */
};

/* ---- lines of a file, without malloc ---- */

static bool fill(struct lines *l)
{
	ssize_t n;

	do
		n = pread(l->fd, l->text, sizeof(l->text), (off_t)l->offset);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	l->offset += (uint64_t)n;
	l->at = 0;
	l->have = (size_t)n;
	return true;
}

/* The next line without its end; cut if it is too long. */
static bool next_line(struct foreign_areas *a)
{
	struct lines *l = &a->lines;
	size_t n = 0;

	for (bool any = false;; any = true) {
		if (l->at == l->have && !fill(l)) {
			a->line[n] = '\0';
			return any;
		}
		if (l->text[l->at] == '\n')
			break;
		if (n + 1 < sizeof(a->line))
			a->line[n++] = l->text[l->at];
		l->at++;
	}
	l->at++;
	a->line[n] = '\0';
	return true;
}

static void rewind_lines(struct foreign_areas *a, int fd)
{
	a->lines.fd = fd;
	a->lines.offset = a->lines.at = a->lines.have = 0;
}

/* ---- mounts ---- */

static void add_device(struct foreign_areas *a, uint64_t device)
{
	for (size_t i = 0; i < a->device_count; i++)
		if (a->devices[i] == device)
			return;
	if (a->device_count < DEVICES_MAX)
		a->devices[a->device_count++] = device;
}

/* "36 35 98:0 /root /mount options ... - type source options" */
static void read_mounts(struct foreign_areas *a)
{
	if (a->mounts < 0)
		return;
	rewind_lines(a, a->mounts);
	while (next_line(a)) {
		const char *type = strstr(a->line, " - ");
		const char *p = a->line;
		unsigned long major, minor;
		char *end;

		for (int field = 0; p && field < 2; field++) {
			p = strchr(p, ' ');
			p = p ? p + 1 : NULL;
		}
		if (!p || !type ||
		    (strncmp(type, " - tmpfs ", 9) != 0 && strncmp(type, " - hugetlbfs ", 13) != 0))
			continue;
		major = strtoul(p, &end, 10);
		if (*end != ':')
			continue;
		minor = strtoul(end + 1, NULL, 10);
		add_device(a, makedev((unsigned)major, (unsigned)minor));
	}
}

/* ---- mappings ---- */

static bool begins_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static enum foreign_area kind_of(
    const struct foreign_areas *a, uint64_t device, uint64_t inode, const char *path)
{
	bool shared = false;

	if (begins_with(path, "[v")) /* vvar, vdso, vsyscall: the kernel's */
		return FOREIGN_AREA_DEVICE;
	if (inode == 0)
		return FOREIGN_AREA_ANONYMOUS;
	for (size_t i = 0; i < a->device_count && !shared; i++)
		shared = a->devices[i] == device;
	/* device files may also be in a tmpfs; hugetlbfs has none */
	if (shared && begins_with(path, "/dev/hugepages/"))
		return FOREIGN_AREA_SHARED;
	if ((begins_with(path, "/dev/") && !begins_with(path, "/dev/shm/") &&
	        !begins_with(path, "/dev/zero")) ||
	    begins_with(path, "/sys/") || begins_with(path, "/proc/"))
		return FOREIGN_AREA_DEVICE;
	return shared ? FOREIGN_AREA_SHARED : FOREIGN_AREA_FILE;
}

static bool parse_area(struct foreign_areas *a, struct area *ret)
{
	struct procfs_mapping map;

	if (!procfs_parse_mapping(a->line, &map))
		return false;
	*ret = (struct area){.start = map.start,
	    .end = map.end,
	    .kind = kind_of(a, map.device, map.inode, map.path)};
	return true;
}

static void read_mappings(struct foreign_areas *a)
{
	a->is_read = true;
	a->count = 0;
	rewind_lines(a, a->maps);
	while (a->count < AREAS_MAX && next_line(a)) {
		struct area next;

		/* the kernel lists them in order; the search relies on it */
		if (parse_area(a, &next) &&
		    (a->count == 0 || a->list[a->count - 1].end <= next.start))
			a->list[a->count++] = next;
	}
}

struct foreign_areas *foreign_areas_new(int maps, int mounts, uint64_t shm_device)
{
	struct foreign_areas *a;

	a = mmap(NULL, sizeof(*a), PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (a == MAP_FAILED)
		return NULL;
	a->maps = maps;
	a->mounts = mounts;
	if (shm_device)
		add_device(a, shm_device);
	return a;
}

enum foreign_area foreign_areas_at(struct foreign_areas *a, uint64_t address)
{
	size_t low = 0, high;

	if (!a)
		return FOREIGN_AREA_NONE;
	if (!a->is_read) {
		read_mounts(a);
		read_mappings(a);
	}
	for (high = a->count; low < high;) {
		size_t mid = low + (high - low) / 2;

		if (a->list[mid].end <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == a->count || a->list[low].start > address)
		return FOREIGN_AREA_NONE;
	return a->list[low].kind;
}

/* ---- pass: one linear pass over the memory of a process ---- */

enum {
	PAGE = FOREIGN_PAGE_BYTES,
	LARGE = 256 * PAGE, /* from here on it is asked which pages are there */
	/* what is read at once is scanned while a cache still has it */
	BATCH_PAGES = 256,
};

/* One range of a batch: whole pages, of which these bytes are wanted. */
struct item {
	uint64_t start, end;
	int tag;
};

struct pass {
	struct foreign *memory;
	struct pass_visitor visitor;
	struct fault *where;
	struct item items[FOREIGN_BATCH_RANGES];
	struct foreign_range ranges[FOREIGN_BATCH_RANGES];
	size_t count, pages;
};

int pass_new(struct foreign *memory, const struct pass_visitor *visitor, struct fault *where,
    struct pass **ret)
{
	struct pass *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->memory = memory;
	p->visitor = *visitor;
	p->where = where;
	*ret = p;
	return 0;
}

void pass_free(struct pass *p)
{
	free(p);
}

/* Pages of one kind in an item; `bytes` are those of the first. */
static int show(const struct pass *p, const struct item *x, uint64_t address, size_t pages,
    int kind, const uint8_t *bytes)
{
	uint64_t from = address < x->start ? x->start : address;
	uint64_t to = address + pages * PAGE;

	if (to > x->end)
		to = x->end;
	if (from >= to || kind == FOREIGN_UNTOUCHED)
		return 0;
	if (kind == FOREIGN_READ)
		return p->visitor.scan(p->visitor.context, x->tag, from, bytes + (from - address),
		    (size_t)(to - from));
	p->visitor.unread(p->visitor.context, from, to - from, kind);
	return 0;
}

/*
 * A page may have been unmapped between the two calls that look for it and read
 * it, and one that the kernel moves just then looks swapped out: these are asked
 * for again, alone.
 */
static int show_again(struct pass *p, const struct item *x, uint64_t address)
{
	const struct foreign_range r = {address, 1};
	struct foreign_batch b;
	int err = foreign_read(p->memory, &r, 1, &b, p->where);

	return err < 0 ? err : show(p, x, address, 1, b.pages[0], b.bytes);
}

enum { AGAIN_MAX = 64 }; /* pages of a batch that are asked for again */

int pass_flush(struct pass *p)
{
	struct foreign_batch b;
	struct {
		uint64_t address;
		size_t item;
	} again[AGAIN_MAX];
	size_t page = 0, refused = 0;
	int err = 0;

	if (p->count == 0)
		return 0;
	err = foreign_read(p->memory, p->ranges, p->count, &b, p->where);
	for (size_t i = 0; i < p->count && err == 0; i++) {
		const struct item *x = &p->items[i];
		uint64_t address = p->ranges[i].start;
		size_t left = (size_t)p->ranges[i].pages;

		while (left > 0 && err == 0) {
			size_t n = 1;

			while (n < left && b.pages[page + n] == b.pages[page])
				n++;
			if ((b.pages[page] == FOREIGN_REFUSED ||
			        b.pages[page] == FOREIGN_SWAPPED) &&
			    refused + n <= AGAIN_MAX) {
				for (size_t k = 0; k < n; k++) {
					again[refused].address = address + k * PAGE;
					again[refused++].item = i;
				}
			} else {
				err = show(p, x, address, n, b.pages[page], b.bytes + page * PAGE);
			}
			page += n;
			left -= n;
			address += n * PAGE;
		}
	}
	for (size_t i = 0; i < refused && err == 0; i++)
		err = show_again(p, &p->items[again[i].item], again[i].address);
	p->count = p->pages = 0;
	return err;
}

/* Whole pages around [start, end), as many batches as it takes. */
int pass_add_dense(struct pass *p, int tag, uint64_t start, uint64_t end)
{
	uint64_t at = start / PAGE * PAGE;
	int err = 0;

	while (at < end && err == 0) {
		uint64_t pages = (end - at + PAGE - 1) / PAGE;
		size_t room = BATCH_PAGES - p->pages;

		if (pages > room)
			pages = room;
		p->items[p->count] = (struct item){.start = at < start ? start : at,
		    .end = at + pages * PAGE < end ? at + pages * PAGE : end,
		    .tag = tag};
		p->ranges[p->count++] = (struct foreign_range){at, pages};
		p->pages += (size_t)pages;
		at += pages * PAGE;
		if (p->count == FOREIGN_BATCH_RANGES || p->pages == BATCH_PAGES)
			err = pass_flush(p);
	}
	return err;
}

struct part {
	uint64_t start, end;
	uint32_t kind;
};

/* The runs of an answer are gone with the next call, so they are copied. */
static int add_runs(struct pass *p, int tag, uint64_t start, uint64_t end,
    const struct foreign_run *runs, size_t count)
{
	struct part *parts = calloc(count + 1, sizeof(*parts));
	int err = parts ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && err == 0; i++) {
		uint64_t from = runs[i].start;
		uint64_t to = from + runs[i].pages * PAGE;

		parts[i] = (struct part){.start = from < start ? start : from,
		    .end = to > end ? end : to,
		    .kind = runs[i].kind};
	}
	for (size_t i = 0; i < count && err == 0; i++) {
		if (parts[i].start >= parts[i].end)
			continue;
		if (parts[i].kind == FOREIGN_READ)
			err = pass_add_dense(p, tag, parts[i].start, parts[i].end);
		else
			p->visitor.unread(p->visitor.context, parts[i].start,
			    parts[i].end - parts[i].start, (int)parts[i].kind);
	}
	free(parts);
	return err;
}

int pass_add(struct pass *p, int tag, uint64_t start, uint64_t end)
{
	uint64_t at = start / PAGE * PAGE;
	uint64_t last = (end + PAGE - 1) / PAGE * PAGE;
	int err = 0;

	if (start >= end)
		return 0;
	if (end - start < LARGE)
		return pass_add_dense(p, tag, start, end);
	while (at < last && err == 0) {
		const struct foreign_run *runs;
		size_t count;
		uint64_t next;

		err = foreign_present(p->memory, at, last, &runs, &count, &next, p->where);
		if (err < 0)
			return err;
		err = add_runs(p, tag, start, end, runs, count);
		at = next;
	}
	return err;
}
