/* proc_open.c - finds the segment of a running process by its memory map. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "host/proc/procfs.h"
#include "segments/find/proc.h"
#include "kit/os/clock.h"

enum { OPEN_BUDGET_NS = 2000000000 };

/* Is it the file of this mapping, or another one under its name? */
static bool is_mapped_file(const struct segfile *f, const struct procfs_mapping *map)
{
	const struct source *file = segfile_source(f);

	return file->inode == map->inode && file->device == map->device;
}

/*
 * Opens the path in the memory map. It begins at the root of the mount
 * namespace of the process, because the kernel ignores a chroot here.
 */
static int open_by_path(pid_t pid, const struct procfs_mapping *map, struct segfile **ret,
    char path[4096], struct fault *where)
{
	char root[PROCFS_ROOT_BYTES];
	int err = -ENXIO;

	for (int i = 0; i < 2; i++) {
		if (i == 0)
			(void)snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
		else if (procfs_root(pid, root) < 0)
			break;
		if ((size_t)snprintf(path, 4096, "%s%s", root, map->path) >= 4096)
			break;
		err = segfile_open_of(pid, path, ret, where);
		if (err == 0 && is_mapped_file(*ret, map))
			return 0;
		if (err == 0) {
			segfile_close(*ret);
			err = -ENXIO;
		}
	}
	return err;
}

/* "NAME.seg", or "NAME.seg (deleted)" */
static bool is_segment_path(const char *path)
{
	static const char end[] = ".seg";
	size_t len = strlen(path), n = strlen(end);

	if (procfs_is_deleted(path))
		len -= strlen(" (deleted)");
	return len >= n && memcmp(path + len - n, end, n) == 0;
}

/* Opens the file behind a mapping, as its process sees it. */
static int open_mapping(pid_t pid, const struct procfs_mapping *map, struct segfile **ret,
    char ret_path[4096], struct fault *where)
{
	char path[4096];
	int err;

	if (!is_segment_path(map->path))
		return -ENXIO;
	if (procfs_is_deleted(map->path)) {
		(void)snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
		    (int)pid, map->start, map->end);
		err = segfile_open_of(pid, path, ret, where);
		if (err == -EPERM || err == -EACCES || err == -ENOENT)
			return fault_set(where, -ESTALE, "its segment file was deleted");
	} else {
		err = open_by_path(pid, map, ret, path, where);
	}
	if (err < 0)
		return err;
	if (!is_mapped_file(*ret, map)) {
		segfile_close(*ret); /* a new file under the old name */
		return -ENXIO;
	}
	memcpy(ret_path, path, sizeof(path));
	return 0;
}

/* The slot of this file with the newest segment of the process, or none. */
static bool find_in_file(
    const struct segfile *f, uint32_t pid, uint64_t started, struct seg_header *best, int *ret_slot)
{
	uint8_t taken[SEGFILE_SLOTS];
	struct seg_header h;
	bool found = false;

	segfile_taken(f, taken);
	for (int i = SEGFILE_OWN; i < segfile_slots(f); i++) {
		if ((i >= 0 && !taken[i]) || segfile_header(f, i, &h, NULL) < 0)
			continue;
		if (h.pid != pid && h.pid != 0)
			continue;
		if (!proc_may_have_written(&h, started))
			continue; /* a dead one that had the same pid */
		if (found && !proc_superseded(best, &h))
			continue;
		*best = h;
		*ret_slot = i;
		found = true;
	}
	return found;
}

/*
 * A child that has no segment in the file of its family: it has had no event, or
 * found no room when it had.
 */
static int why_not_there(const struct segfile *f, struct fault *where)
{
	uint8_t taken[SEGFILE_SLOTS];
	int all = 0, used = 0;
	struct seg_header h;
	uint64_t without = 0;

	segfile_taken(f, taken);
	for (int i = 0; i < segfile_slots(f) && !segfile_is_early(f, i); i++) {
		all++;
		used += taken[i] != 0;
	}
	if (segfile_header(f, SEGFILE_OWN, &h, NULL) == 0)
		without = h.counts[SEG_CHILDREN_UNTRACED];
	if (all > 0 && used == all)
		return fault_set(where, -ENOSPC,
		    "all %d slots for forked children of its family are taken, "
		    "and %" PRIu64 " found none",
		    all, without);
	if (without > 0)
		return fault_set(where, -ENOSPC,
		    "it has had no event yet, or it is one of %" PRIu64
		    " forked children of its family that found no free slot",
		    without);
	return fault_set(where, -EAGAIN, "forked from a traced process");
}

int proc_open(
    pid_t pid, struct segfile **ret, int *ret_slot, char ret_path[4096], struct fault *where)
{
	struct seg_header best = {0}, h = {0};
	struct segfile *f, *kept = NULL;
	struct procfs_stat stat;
	uint64_t last_inode = 0;
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + OPEN_BUDGET_NS;
	struct procfs_mapping map;
	struct procfs_maps maps;
	char path[4096];
	int err, result = -ENXIO, slot;
	uint32_t inner;

	if (procfs_stat(pid, &stat) < 0)
		return fault_set(where, -ESRCH, "no such process");
	inner = procfs_status(pid, "NSpid");
	pid = living_thread(pid);
	err = procfs_maps_open(&maps, pid);
	if (err == -EPERM || err == -ETIMEDOUT || err == -EIO)
		err = -EACCES;
	if (err < 0)
		return fault_set(where, err, "its memory map cannot be read: %s", strerror(-err));
	while (procfs_maps_next_file(&maps, &map)) {
		if (map.inode == last_inode)
			continue; /* another mapping of the same file */
		if (clock_ns(CLOCK_MONOTONIC) > until_ns) {
			if (!kept)
				result = fault_set(where, -E2BIG,
				    "it maps more segment files than can be "
				    "looked at in 2 s");
			break;
		}
		err = open_mapping(pid, &map, &f, path, where);
		if (err == -ENXIO)
			continue;
		last_inode = map.inode;
		if (err < 0) {
			if (!kept)
				result = err;
			if (err == -ETIMEDOUT)
				break; /* it is not asked again */
			continue;
		}
		if (!find_in_file(f, inner, stat.start_jiffies, &h, &slot) ||
		    (kept && !proc_superseded(&best, &h))) {
			if (!kept && result == -ENXIO)
				result = why_not_there(f, where);
			segfile_close(f);
			continue;
		}
		segfile_close(kept);
		kept = f;
		best = h;
		*ret_slot = slot;
		memcpy(ret_path, path, sizeof(path));
		result = 0;
	}
	procfs_maps_close(&maps);
	if (result == 0)
		*ret = kept;
	return result;
}
