/* test_live.c - the roster over random histories of real processes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/mman.h>
#include <sys/prctl.h>

#include "test.h"
#include "../lib/mkseg.h"
#include "segments/find/dead.h"
#include "follow/engine/engine.h"
#include "host/proc/procfs.h"
#include "kit/os/clock.h"

enum { ACTORS = 48, STEPS = 150, SITES = 40, SLOTS_USED = 4, SLOT_ROOM = 65536, GHOSTS = 16 };

/*
 * A process that has a segment mapped, as a traced one has. The test writes the
 * segment for it.
 */
struct actor {
	pid_t pid;
	int orders;    /* its pipe: one byte is an order */
	int file;      /* of the segment, for the test */
	uint64_t base; /* of its segment in the file */
	int slot;
	char path[256]; /* "": it has no name any more */
	uint8_t uuid[16];
	uint64_t allocations;
	bool runs; /* and is the program that was traced */
	bool is_zombie;
	bool was_seen; /* by a look, while it ran */
	enum engine_cause cause;
	int cause_number;
};

struct world {
	char root[128], dir[160];
	struct actor actors[ACTORS];
	size_t count;
	uint64_t names;
	struct engine *live;
	struct actor ghosts[GHOSTS]; /* files alone: their pids are taken */
	size_t ghost_count;
	unsigned seed;
	bool can_ask; /* the kernel tells how a process ended */
};

/* ---- segments ---- */

static uint8_t *make_segment(
    struct world *w, struct actor *a, pid_t pid, uint64_t start, size_t *ret_len)
{
	struct mkseg *m = mkseg_new_rows(SITES + 2);
	struct seg_header *h = mkseg_header(m);
	uint32_t module = mkseg_module(m, "/bin/actor", 0);
	uint8_t *bytes;

	for (uint32_t i = 0; i < SITES; i++) {
		uint64_t frame = MKSEG_FRAME(module, 0x1000 + 16 * i);

		mkseg_book(m, 0, mkseg_stack(m, &frame, 1), 1, 100, 0);
	}
	h->pid = (uint32_t)pid;
	h->start_jiffies = start;
	h->start_monotonic_ns = clock_ns(CLOCK_MONOTONIC);
	w->names++;
	memcpy(h->uuid, &w->names, sizeof(w->names));
	memcpy(a->uuid, h->uuid, sizeof(a->uuid));
	a->allocations = SITES;
	bytes = mkseg_finish(m, ret_len);
	mkseg_free(m);
	return bytes;
}

/* Where the first row of the ledger is, in a segment at this offset. */
static uint64_t first_row(const struct actor *a)
{
	struct seg_header h;

	assert_int_equal(pread(a->file, &h, sizeof(h), (off_t)a->base), (ssize_t)sizeof(h));
	for (uint32_t i = 0; i < h.dir_used; i++) {
		struct seg_extent e;

		assert_int_equal(
		    pread(a->file, &e, sizeof(e), (off_t)(a->base + h.dir_offset + i * sizeof(e))),
		    (ssize_t)sizeof(e));
		if (e.kind == SEG_EXT_LEDGER)
			return a->base + e.offset + (1 - e.first) * e.row_bytes;
	}
	fail_msg("no ledger");
	return 0;
}

static void allocate(struct actor *a)
{
	uint64_t at = first_row(a), n;

	assert_int_equal(pread(a->file, &n, sizeof(n), (off_t)at), 8);
	n += 3;
	assert_int_equal(pwrite(a->file, &n, sizeof(n), (off_t)at), 8);
	a->allocations += 3;
}

/* ---- processes ---- */

/* Maps the file, says so, and waits for its order. */
static void act(const char *path, int orders, int ready)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	char order = 0;
	void *p = fd < 0 ? MAP_FAILED : mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED || write(ready, "r", 1) != 1)
		_exit(99);
	if (read(orders, &order, 1) != 1)
		_exit(98); /* the test is over */
	if (order == 'e') {
		(void)execl("/bin/sleep", "sleep", "1000", (char *)NULL);
		_exit(97);
	}
	_exit(order);
}

/* `path` has the file that it is to map. */
static void start(struct world *w, struct actor *a, const char *path)
{
	int orders[2], ready[2];
	char byte;

	assert_int_equal(pipe2(orders, O_CLOEXEC), 0);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	a->pid = fork();
	assert_true(a->pid >= 0);
	if (a->pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (size_t i = 0; i < w->count; i++)
			if (w->actors[i].orders >= 0)
				(void)close(w->actors[i].orders);
		(void)close(orders[1]);
		act(path, orders[0], ready[1]);
	}
	(void)close(orders[0]);
	(void)close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	a->orders = orders[1];
	a->runs = true;
	a->cause = LIVE_CAUSE_UNKNOWN;
}

static uint64_t start_jiffies(pid_t pid)
{
	struct procfs_stat stat;

	assert_int_equal(procfs_stat(pid, &stat), 0);
	return stat.start_jiffies;
}

/* A new process with a file of its own, which has room for children. */
static void spawn(struct world *w)
{
	struct actor *a = &w->actors[w->count];
	char hidden[256];
	uint8_t *bytes, *all;
	struct seg_slots slots = {.magic = SEG_SLOT_MAGIC,
	    .count = SLOTS_USED,
	    .large_count = SLOTS_USED,
	    .slot_bytes = SLOT_ROOM,
	    .first_offset = 8192};
	size_t len, total;
	uint64_t at;

	*a = (struct actor){.slot = SEGFILE_OWN};
	(void)snprintf(hidden, sizeof(hidden), "%s/.hidden", w->dir);
	(void)snprintf(a->path, sizeof(a->path), "%s/actor-%zu.seg", w->dir, (size_t)w->names);
	a->file = open(hidden, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(a->file >= 0);
	assert_int_equal(ftruncate(a->file, 8192), 0);
	start(w, a, hidden);
	bytes = make_segment(w, a, a->pid, start_jiffies(a->pid), &len);
	at = (len + 8191) / 8192 * 8192;
	total = at + 8192 + SLOTS_USED * SLOT_ROOM;
	all = calloc(1, total);
	assert_non_null(all);
	memcpy(all, bytes, len);
	memcpy(all + offsetof(struct seg_header, slots_offset), &at, sizeof(at));
	memcpy(all + at, &slots, sizeof(slots));
	assert_int_equal(pwrite(a->file, all, total, 0), (ssize_t)total);
	free(all);
	free(bytes);
	assert_int_equal(rename(hidden, a->path), 0);
	w->count++;
}

static uint64_t slots_at(const struct actor *owner)
{
	uint64_t at = 0;

	assert_int_equal(
	    pread(owner->file, &at, sizeof(at), offsetof(struct seg_header, slots_offset)), 8);
	return at;
}

/* A forked child in a slot of somebody's file: without a start time. */
static void spawn_in_slot(struct world *w, size_t owner_number)
{
	const struct actor *owner = &w->actors[owner_number];
	struct actor *a = &w->actors[w->count];
	uint8_t taken[SLOTS_USED], one = 1, *bytes;
	uint64_t at = slots_at(owner);
	off_t taken_at = (off_t)(at + offsetof(struct seg_slots, taken));
	char path[64];
	int slot = 0;
	size_t len;

	assert_int_equal(pread(owner->file, taken, sizeof(taken), taken_at), SLOTS_USED);
	while (slot < SLOTS_USED && taken[slot])
		slot++;
	if (slot == SLOTS_USED)
		return;
	*a = (struct actor){
	    .slot = slot, .file = dup(owner->file), .base = at + 8192 + (uint64_t)slot * SLOT_ROOM};
	memcpy(a->path, owner->path, sizeof(a->path));
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", owner->file);
	start(w, a, path);
	bytes = make_segment(w, a, a->pid, 0, &len);
	assert_true(len <= SLOT_ROOM);
	/* claimed first, the magic comes last */
	assert_int_equal(pwrite(a->file, &one, 1, taken_at + slot), 1);
	assert_int_equal(
	    pwrite(a->file, bytes + 8, len - 8, (off_t)a->base + 8), (ssize_t)(len - 8));
	assert_int_equal(pwrite(a->file, bytes, 8, (off_t)a->base), 8);
	free(bytes);
	w->count++;
}

/*
 * The file of an earlier process whose pid somebody else has by now; with its
 * start time, or without, as in a slot.
 */
static void leave_ghost(struct world *w, const struct actor *heir)
{
	struct actor *a = &w->ghosts[w->ghost_count];
	uint64_t start = start_jiffies(heir->pid);
	uint8_t *bytes;
	char path[256];
	size_t len;

	*a = (struct actor){.slot = SEGFILE_OWN, .pid = heir->pid};
	bytes = make_segment(w, a, heir->pid, rand() % 2 ? start - 1 - start % 100 : 0, &len);
	(void)snprintf(path, sizeof(path), "%s/ghost-%zu.seg", w->dir, (size_t)w->names);
	a->file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(a->file >= 0);
	assert_int_equal(write(a->file, bytes, len), (ssize_t)len);
	assert_int_equal(close(a->file), 0);
	free(bytes);
	w->ghost_count++;
}

static void reap(struct actor *a)
{
	if (a->is_zombie)
		assert_int_equal(waitpid(a->pid, NULL, 0), a->pid);
	a->is_zombie = false;
}

/* By a signal, by exit or by exec; it is reaped now or later. */
static void finish(struct actor *a, int how, bool reap_now)
{
	siginfo_t info;
	char order;

	if (!a->runs)
		return;
	a->runs = false;
	if (how == 0) {
		assert_int_equal(kill(a->pid, SIGKILL), 0);
		a->cause = LIVE_CAUSE_SIGNAL;
		a->cause_number = SIGKILL;
	} else {
		order = how == 1 ? (char)(1 + a->pid % 50) : 'e';
		assert_int_equal(write(a->orders, &order, 1), 1);
		a->cause = how == 1 ? LIVE_CAUSE_EXIT : LIVE_CAUSE_EXEC;
		a->cause_number = how == 1 ? order : 0;
	}
	if (how == 2) {
		char path[64], exe[256] = "";

		(void)snprintf(path, sizeof(path), "/proc/%d/exe", a->pid);
		for (int i = 0; i < 2000 && !strstr(exe, "sleep"); i++) {
			memset(exe, 0, sizeof(exe));
			(void)readlink(path, exe, sizeof(exe) - 1);
			if (strstr(exe, "coreutils"))
				break;
			(void)usleep(1000);
		}
		return;
	}
	a->is_zombie = true;
	assert_int_equal(waitid(P_PID, (id_t)a->pid, &info, WEXITED | WNOWAIT), 0);
	if (reap_now)
		reap(a);
}

/* ---- what must hold ---- */

static struct engine_process *find(const struct world *w, const struct actor *a)
{
	for (size_t i = 0; i < engine_count(w->live); i++) {
		struct engine_process *p = engine_at(w->live, i);

		if (memcmp(p->header.uuid, a->uuid, sizeof(a->uuid)) == 0)
			return p;
	}
	return NULL;
}

/* A directory is not listed again at once: it may take a few looks. */
static void wait_for_all(struct world *w)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct actor *a = &w->actors[i];

		for (int k = 0; k < 400 && a->runs && a->path[0] && !find(w, a); k++) {
			(void)usleep(5000);
			assert_int_equal(engine_look(w->live), 0);
		}
		if (a->runs && a->path[0] && !find(w, a))
			fail_msg("seed %u: pid %d in slot %d of %s is missing", w->seed,
			    (int)a->pid, a->slot, a->path);
	}
}

static void check(struct world *w)
{
	wait_for_all(w);
	for (size_t i = 0; i < w->count; i++) {
		struct actor *a = &w->actors[i];
		const struct engine_process *p = find(w, a);

		if (a->runs && a->path[0]) {
			assert_non_null(p);
			a->was_seen = true;
		}
		if (!p)
			continue; /* it had ended before anybody looked */
		if (a->runs) {
			assert_int_equal(p->state, LIVE_RUNS);
			assert_int_equal(p->pid, a->pid);
			assert_int_equal(p->now.allocations, a->allocations);
		} else if (a->cause != LIVE_CAUSE_EXEC) {
			assert_int_equal(p->state, LIVE_ENDED);
			assert_int_equal(p->now.allocations, a->allocations);
		}
		/* a zombie has its status in /proc, whatever the kernel */
		if (!a->runs && a->was_seen && (w->can_ask || a->is_zombie) &&
		    a->cause != LIVE_CAUSE_EXEC) {
			assert_int_equal(p->cause, a->cause);
			assert_int_equal(p->cause_number, a->cause_number);
		}
	}
}

static void check_ghosts(struct world *w)
{
	for (size_t i = 0; i < w->ghost_count; i++) {
		const struct engine_process *p = find(w, &w->ghosts[i]);

		if (p && p->state != LIVE_ENDED)
			fail_msg("seed %u: a file of pid %d is taken for the "
			         "process that has the pid now",
			    w->seed, (int)w->ghosts[i].pid);
	}
}

static void look(struct world *w)
{
	assert_int_equal(engine_look_at_roster(w->live), 0);
	assert_int_equal(engine_look(w->live), 0);
	check(w);
	check_ghosts(w);
}

/* ---- histories ---- */

static struct world *world_new(bool keep)
{
	struct world *w = calloc(1, sizeof(*w));
	const char *dirs[] = {NULL, NULL};
	struct engine_plan plan = {.directories = dirs, .want_sites = true, .keep_the_ended = keep};
	int status, fd;

	assert_non_null(w);
	(void)snprintf(w->root, sizeof(w->root), "%s/live.XXXXXX",
	    getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	assert_non_null(mkdtemp(w->root));
	(void)snprintf(w->dir, sizeof(w->dir), "%s/d", w->root);
	dirs[0] = w->dir;
	assert_int_equal(engine_new(&plan, &w->live), 0);
	fd = cause_open(getpid());
	w->can_ask = fd >= 0 && cause_status(fd, &status) == -EAGAIN;
	if (fd >= 0)
		(void)close(fd);
	return w;
}

static void remove_all(const char *root)
{
	char command[256];

	(void)snprintf(command, sizeof(command), "rm -rf '%s'", root);
	assert_int_equal(system(command), 0);
}

static void world_free(struct world *w)
{
	engine_free(w->live);
	for (size_t i = 0; i < w->count; i++) {
		struct actor *a = &w->actors[i];

		if (!a->is_zombie && (a->runs || a->cause == LIVE_CAUSE_EXEC)) {
			(void)kill(a->pid, SIGKILL);
			a->is_zombie = true;
		}
		reap(a);
		(void)close(a->orders);
		(void)close(a->file);
	}
	remove_all(w->root);
	free(w);
}

static struct actor *any(struct world *w)
{
	return w->count ? &w->actors[(size_t)rand() % w->count] : NULL;
}

static void lose_names(struct world *w, const char *path)
{
	for (size_t i = 0; i < w->count; i++)
		if (!path || strcmp(w->actors[i].path, path) == 0)
			w->actors[i].path[0] = '\0';
}

/* The directory is another one from now on; sometimes a link for a while. */
static void replace_directory(struct world *w)
{
	char old[320];

	(void)snprintf(old, sizeof(old), "%s/old-%zu", w->root, (size_t)w->names++);
	if (rename(w->dir, old) < 0)
		return;
	lose_names(w, NULL);
	if (rand() % 2) {
		assert_int_equal(symlink("/proc", w->dir), 0);
		look(w);
		assert_int_equal(unlink(w->dir), 0);
	}
	look(w);
	assert_int_equal(mkdir(w->dir, 0700), 0);
}

/* As a reader does that has merged it. */
static void free_slot(struct actor *a)
{
	uint8_t none = 0;

	if (a->runs || a->slot == SEGFILE_OWN || a->uuid[15])
		return; /* also one that was freed, and may be another's */
	assert_int_equal(pwrite(a->file, &none, 1,
	                     (off_t)(slots_at(a) + offsetof(struct seg_slots, taken)) + a->slot),
	    1);
	a->uuid[15] = 1; /* nobody can know it any more */
}

static void step(struct world *w)
{
	struct actor *a = any(w);
	int what = rand() % 20;

	if (what < 5 && w->count < ACTORS)
		spawn(w);
	else if (what < 8 && w->count < ACTORS && a)
		spawn_in_slot(w, (size_t)(a - w->actors));
	else if (what < 10 && a)
		finish(a, 0, rand() % 3 > 0);
	else if (what == 10 && a)
		finish(a, 1, rand() % 3 > 0);
	else if (what == 11 && a)
		finish(a, 2, true);
	else if (what == 12 && a && a->path[0] && a->was_seen) {
		char path[256];

		memcpy(path, a->path, sizeof(path));
		(void)unlink(path);
		lose_names(w, path);
	} else if (what == 13 && a && a->runs && w->ghost_count < GHOSTS && rand() % 2)
		leave_ghost(w, a);
	else if (what == 13 && a)
		free_slot(a);
	else if (what == 14 && rand() % 4 == 0)
		replace_directory(w);
	else if (what == 15)
		for (size_t i = 0; i < w->count; i++)
			reap(&w->actors[i]);
	else if (a && a->runs)
		allocate(a);
	if (rand() % 3)
		look(w);
}

/* Without a collector in the new program an exec is noticed a few looks later. */
static void check_execs(struct world *w)
{
	for (int i = 0; i < 8; i++)
		look(w);
	for (size_t i = 0; i < w->count; i++) {
		const struct actor *a = &w->actors[i];
		const struct engine_process *p = find(w, a);

		if (!p || a->cause != LIVE_CAUSE_EXEC)
			continue;
		assert_int_equal(p->state, LIVE_ENDED);
		assert_int_equal(p->cause, LIVE_CAUSE_EXEC);
	}
}

/* No process of the living is ever called dead, and none of the dead alive. */
TEST(the_living_are_never_called_dead)
{
	const char *long_form = getenv("SEEP_FULL"), *from = getenv("SEED");
	unsigned first = from ? (unsigned)atoi(from) : 1;
	unsigned seeds = long_form && long_form[0] ? 200 : 12;

	for (unsigned seed = first; seed < first + seeds; seed++) {
		struct world *w = world_new(seed % 2);

		w->seed = seed;
		srand(seed);
		look(w); /* the directory comes later */
		assert_int_equal(mkdir(w->dir, 0700), 0);
		for (int i = 0; i < STEPS; i++)
			step(w);
		look(w);
		check_execs(w);
		world_free(w);
	}
}
