/* roster_newcomers.c - processes of the machine that were not seen before. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/find/roster_places.h"

#include "segments/find/proc.h"
#include "host/proc/procfs.h"
#include "kit/os/clock.h"
#include "kit/data/room.h"
#include "kit/data/sorted.h"

#define S UINT64_C(1000000000)

enum {
	PROCESSES_MAX = 200000,
	AGAIN_AT_ONCE = 32, /* known ones whose start is compared, in a look */
	KERNEL = 2,         /* the parent of the kernel's own threads */
};

enum stage {
	STAGE_NEW,   /* its map is read when it is 1 s old */
	STAGE_YOUNG, /* when it is 10 s old */
	STAGE_DONE,
};

struct newcomer {
	pid_t pid;
	enum stage stage;
	uint64_t start_jiffies;
	uint64_t since_ns; /* CLOCK_BOOTTIME: its start, or a later exec */
	pid_t inner;       /* as it sees itself; -1: not read yet, 0: unknown */
};

struct list {
	struct newcomer *items; /* by pid */
	size_t count, room;
};

struct roster_newcomers {
	struct list known;
	struct list fresh;  /* while /proc is read */
	size_t old;         /* of `known`, while it is compared with /proc */
	size_t again;       /* whose start is compared next */
	uint64_t listed_ns; /* CLOCK_MONOTONIC */
	uint64_t jiffy_ns;
	int err;
};

struct roster_newcomers *roster_newcomers_new(void)
{
	struct roster_newcomers *n = calloc(1, sizeof(*n));
	long per_second = sysconf(_SC_CLK_TCK);

	if (n)
		n->jiffy_ns = S / (uint64_t)(per_second > 0 ? per_second : 100);
	return n;
}

void roster_newcomers_free(struct roster_newcomers *n)
{
	if (!n)
		return;
	free(n->known.items);
	free(n->fresh.items);
	free(n);
}

BY(by_pid, struct newcomer, UP(pid))

static struct newcomer *find(const struct list *l, pid_t pid)
{
	const struct newcomer key = {.pid = pid};

	return l->count == 0 ? NULL : bsearch(&key, l->items, l->count, sizeof(key), by_pid);
}

/* /proc has the processes in the order of their pids. */
static bool take(pid_t pid, void *context)
{
	struct roster_newcomers *n = context;
	const struct list *known = &n->known;
	struct newcomer x = {.pid = pid, .inner = -1};
	struct procfs_stat stat;

	if (n->fresh.count >= PROCESSES_MAX)
		return true;
	while (n->old < known->count && known->items[n->old].pid < pid)
		n->old++;
	if (n->old < known->count && known->items[n->old].pid == pid) {
		x = known->items[n->old];
	} else {
		if (procfs_stat(pid, &stat) < 0)
			return false;
		x.start_jiffies = stat.start_jiffies;
		x.since_ns = stat.start_jiffies * n->jiffy_ns;
		x.stage = pid == getpid() || pid == KERNEL || stat.parent == KERNEL ? STAGE_DONE
		                                                                    : STAGE_NEW;
	}
	n->err = room_make(&n->fresh.items, &n->fresh.room, n->fresh.count, sizeof(x));
	if (n->err < 0)
		return true;
	n->fresh.items[n->fresh.count++] = x;
	return false;
}

static int list_all(struct roster_newcomers *n)
{
	struct list was = n->known;
	bool in_order = true;
	int err;

	n->listed_ns = clock_ns(CLOCK_MONOTONIC);
	n->fresh.count = 0;
	n->old = 0;
	n->err = 0;
	err = procfs_each(take, n);
	if (err < 0 || n->err < 0)
		return n->err; /* without /proc there is nobody to be seen */
	for (size_t i = 1; i < n->fresh.count; i++)
		in_order &= n->fresh.items[i - 1].pid < n->fresh.items[i].pid;
	if (!in_order)
		qsort(n->fresh.items, n->fresh.count, sizeof(struct newcomer), by_pid);
	n->known = n->fresh;
	n->fresh = was;
	return 0;
}

/* Has the pid of a known process been given to another one? */
static void compare_some(struct roster_newcomers *n)
{
	struct procfs_stat stat;

	for (size_t i = 0; i < AGAIN_AT_ONCE && i < n->known.count; i++) {
		struct newcomer *x = &n->known.items[n->again++ % n->known.count];

		if (procfs_stat(x->pid, &stat) == 0 && stat.start_jiffies != x->start_jiffies)
			*x = (struct newcomer){.pid = x->pid,
			    .inner = -1,
			    .start_jiffies = stat.start_jiffies,
			    .since_ns = stat.start_jiffies * n->jiffy_ns};
	}
}

static bool maps_segment(pid_t pid)
{
	struct procfs_mapping map;
	struct procfs_maps maps;
	bool found = false;

	if (procfs_maps_open(&maps, pid) < 0)
		return false;
	while (!found && procfs_maps_next_file(&maps, &map))
		found = map.rights[3] == 's' && strstr(map.path, ".seg");
	procfs_maps_close(&maps);
	return found;
}

int roster_newcomers_look(struct roster_newcomers *n, uint64_t budget_ns, roster_is_known *is_known,
    roster_newcomer *each, void *context)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + budget_ns;
	uint64_t boot = clock_ns(CLOCK_BOOTTIME);
	int err = list_all(n);

	compare_some(n);
	/* the youngest first: most of them have the highest pids */
	for (size_t i = n->known.count; i-- > 0 && err == 0;) {
		struct newcomer *x = &n->known.items[i];
		uint64_t age_ns;

		if (x->stage == STAGE_DONE)
			continue;
		age_ns = boot > x->since_ns ? boot - x->since_ns : 0;
		if (age_ns < (x->stage == STAGE_NEW ? S : 10 * S))
			continue;
		if (clock_ns(CLOCK_MONOTONIC) > until)
			break;
		x->stage = age_ns < 10 * S ? STAGE_YOUNG : STAGE_DONE;
		if (!is_known(context, x->pid) && maps_segment(x->pid))
			err = each(context, x->pid);
	}
	return err;
}

pid_t roster_newcomers_search(struct roster_newcomers *n, const struct seg_header *h,
    const struct source *file, uint64_t since_ns, bool *ret_hidden)
{
	uint64_t start = 0;
	pid_t found = 0;

	*ret_hidden = false;
	if (n->listed_ns < since_ns && list_all(n) < 0)
		*ret_hidden = true;
	for (size_t i = 0; i < n->known.count; i++) {
		struct newcomer *x = &n->known.items[i];
		int maps;

		if (x->inner < 0)
			x->inner = (pid_t)procfs_status(x->pid, "NSpid");
		if ((uint32_t)x->inner != h->pid || x->pid == x->inner ||
		    !proc_may_have_written(h, x->start_jiffies))
			continue;
		maps = procfs_maps_file(x->pid, file->device, file->inode);
		*ret_hidden |= maps < 0 && maps != -ESRCH;
		if (maps == 1 && (found == 0 || x->start_jiffies >= start)) {
			found = x->pid;
			start = x->start_jiffies;
		}
	}
	return found;
}

void roster_newcomers_again(struct roster_newcomers *n, pid_t pid)
{
	struct newcomer *x = find(&n->known, pid);

	if (!x)
		return;
	x->stage = STAGE_NEW;
	x->since_ns = clock_ns(CLOCK_BOOTTIME);
}
