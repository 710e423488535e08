/* forked.c - a forked child that has no segment of its own yet. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/process/family.h"

#include "segments/find/proc.h"
#include "host/proc/procfs.h"
#include "segments/read/segment_copy.h"

enum { GENERATIONS_MAX = 16 };

bool forked_is(const struct seg_header *h)
{
	static const uint8_t none[sizeof(h->uuid)];

	return memcmp(h->uuid, none, sizeof(none)) == 0 &&
	    memcmp(h->parent_uuid, none, sizeof(none)) != 0;
}

/* Sums of its first events are all that the file has; no address of blocks. */
static bool has_sums_alone(const struct segfile *f, int slot)
{
	static const uint8_t none[16];
	struct seg_header h;

	if (segfile_is_early(f, slot))
		return true;
	return segfile_header(f, slot, &h, NULL) == 0 && h.live_root == 0 &&
	    memcmp(h.parent_uuid, none, sizeof(none)) != 0;
}

/* What proc_open() says of a child that has no segment yet. */
static bool is_too_early(int err)
{
	return err == -EAGAIN || err == -ENODATA;
}

bool forked_lacks_segment(pid_t pid)
{
	struct segfile *f;
	char path[4096];
	bool lacks;
	int slot, err;

	err = proc_open(pid, &f, &slot, path, NULL);
	if (err < 0)
		return is_too_early(err);
	lacks = has_sums_alone(f, slot);
	segfile_close(f);
	return lacks;
}

/* Two processes between which there was no exec. */
static bool is_same_image(const struct procfs_stat *a, const struct procfs_stat *b)
{
	return a->code_start == b->code_start && a->code_end == b->code_end &&
	    a->stack_start == b->stack_start;
}

/* The tick of the parent's clock in which the child was forked. */
static uint64_t fork_tick(const struct seg_header *parent, const struct procfs_stat *parent_is,
    const struct procfs_stat *child_is)
{
	long per_second = sysconf(_SC_CLK_TCK);
	uint64_t jiffies = child_is->start_jiffies - parent_is->start_jiffies;

	if (child_is->start_jiffies < parent_is->start_jiffies || per_second <= 0 ||
	    parent->tick_ns == 0)
		return 0;
	return jiffies * (1000000000 / (uint64_t)per_second) / parent->tick_ns;
}

/*
 * The first id that is not the parent's in memory of the child. The parent has
 * given later ids to other stacks than the child has.
 */
static uint32_t first_own_id(const struct process *parent, uint64_t tick)
{
	uint32_t next = parent->header.first_id;

	for (size_t i = 0; i < parent->id_count; i++) {
		const struct process_id *x = &parent->ids[i];

		if (x->site < parent->site_count && parent->sites[x->site].first_tick > tick)
			break;
		next = x->id + 1;
	}
	return next;
}

/* What it has mapped of a segment file is no memory of the program. */
static void find_own_address(pid_t pid, struct seg_header *h)
{
	struct procfs_mapping m;
	struct procfs_maps maps;

	h->own_address = 0;
	if (procfs_maps_open(&maps, pid) < 0)
		return;
	while (h->own_address == 0 && procfs_maps_next_file(&maps, &m)) {
		size_t len = strlen(m.path);

		if (m.rights[3] == 's' && len > 4 && strcmp(m.path + len - 4, ".seg") == 0)
			h->own_address = m.start;
	}
	procfs_maps_close(&maps);
}

static int add_child(struct session *s, pid_t pid, const struct process *parent,
    const struct procfs_stat *parent_is, const struct procfs_stat *child_is)
{
	const struct seg_header *from = &parent->header;
	struct segment seg = {.header = *from};
	struct process **list, *p;
	int err;

	memset(seg.header.uuid, 0, sizeof(seg.header.uuid));
	memcpy(seg.header.parent_uuid, from->uuid, sizeof(from->uuid));
	seg.header.pid = procfs_status(pid, "NSpid");
	seg.header.ppid = from->pid;
	seg.header.start_jiffies = child_is->start_jiffies;
	seg.header.tick = 0; /* it has a clock of its own */
	seg.header.first_id = first_own_id(parent, fork_tick(from, parent_is, child_is));
	find_own_address(pid, &seg.header);
	list = reallocarray(s->processes, s->count + 1, sizeof(struct process *));
	if (!list)
		return -ENOMEM;
	s->processes = list;
	err = process_new(&seg, &p);
	if (err < 0)
		return err;
	p->end = PROCESS_RUNNING;
	p->running_pid = pid;
	list[s->count++] = p;
	return 0;
}

/* A child without a segment, and the ancestor that has one. */
static int load_ancestor(pid_t pid, struct session **ret, struct fault *where)
{
	struct procfs_stat child_is, parent_is;
	struct session *s;
	int err;

	if (procfs_stat(pid, &child_is) < 0)
		return -ESRCH;
	parent_is = child_is;
	for (int i = 0; i < GENERATIONS_MAX; i++) {
		pid_t parent = parent_is.parent;

		if (parent <= 1 || procfs_stat(parent, &parent_is) < 0 ||
		    !is_same_image(&parent_is, &child_is))
			break;
		if (forked_lacks_segment(parent))
			continue;
		err = session_load_pid(parent, &s, where);
		if (err < 0)
			return err;
		err = s->count == 1 ? add_child(s, pid, s->processes[0], &parent_is, &child_is)
		                    : -ENXIO;
		if (err < 0) {
			session_free(s);
			return err;
		}
		*ret = s;
		return 0;
	}
	return -ENXIO;
}

int forked_load(pid_t pid, struct session **ret, struct fault *where)
{
	struct session *s;
	struct segfile *f;
	char path[4096];
	int slot, err;

	err = proc_open(pid, &f, &slot, path, where);
	if (is_too_early(err))
		return load_ancestor(pid, ret, where);
	if (err < 0)
		return err;
	if (has_sums_alone(f, slot)) {
		segfile_close(f);
		return load_ancestor(pid, ret, where);
	}
	err = session_load_slot(f, slot, pid, false, &s, where);
	segfile_close(f);
	if (err < 0)
		return err;
	err = s->count ? family_add(s, s->processes[0], pid, path) : 0;
	if (err < 0) {
		session_free(s);
		return err;
	}
	*ret = s;
	return 0;
}
