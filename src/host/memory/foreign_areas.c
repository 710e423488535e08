/* foreign_areas.c - what kind of mapping an address of a process belongs to. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "host/memory/address_ranges.h"

#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "host/proc/procfs.h"

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
