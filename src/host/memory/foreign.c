/* foreign.c - reads the memory of another process, with a deadline. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "host/memory/foreign.h"

#include <sys/mman.h>
#include <sys/socket.h>

#include "kit/os/clock.h"
#include "host/memory/foreign_ask.h"
#include "host/memory/foreign_parts.h"
#include "host/proc/procfs.h"

struct foreign {
	struct foreign_window *window;
	pid_t pid, helper;
	int process; /* the directory in /proc */
	int socket;
	int err; /* the error of all calls from now on */
	uint64_t patience_ns;
	struct procfs_stat who;
};

/* ---- who it is ---- */

bool foreign_is_same(const struct foreign *f)
{
	struct procfs_stat now;

	/*
	 * /proc/PID is of a process that has ended, not of a new one with its
	 * pid
	 */
	return f->err == 0 && procfs_stat_at(f->process, &now) == 0 &&
	    now.start_jiffies == f->who.start_jiffies && now.code_start == f->who.code_start &&
	    now.code_end == f->who.code_end && now.stack_start == f->who.stack_start;
}

/* ---- the helper ---- */

/* memfd and shared anonymous mappings are on a tmpfs of the kernel. */
static uint64_t find_shm_device(void)
{
	int fd = memfd_create("seep", MFD_CLOEXEC);
	uint64_t device = 0;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0)
		device = st.st_dev;
	if (fd >= 0)
		(void)close(fd);
	return device;
}

static void close_all(int *const *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (*fds[i] >= 0)
			(void)close(*fds[i]);
}

/* ---- files that are lent ---- */

static struct {
	pid_t pid; /* 0: none */
	struct foreign_files files;
} loan;

void foreign_take_back(void)
{
	int *const fds[] = {
	    &loan.files.pagemap, &loan.files.maps, &loan.files.mounts, &loan.files.memory};

	if (loan.pid > 0)
		close_all(fds, sizeof(fds) / sizeof(fds[0]));
	loan.pid = 0;
}

void foreign_lend(pid_t pid)
{
	int process;

	foreign_take_back();
	/* of others the opening may wait, and their owner may look anyway */
	if (!foreign_text_is_mine(pid))
		return;
	process = procfs_open(pid);
	if (process < 0)
		return;
	if (foreign_open_files(process, &loan.files) == 0)
		loan.pid = pid;
	(void)close(process);
}

/* Copies, which are closed as those that we open ourselves. */
static void borrow(struct foreign_files *ret)
{
	*ret = (struct foreign_files){.pagemap = fcntl(loan.files.pagemap, F_DUPFD_CLOEXEC, 0),
	    .maps = fcntl(loan.files.maps, F_DUPFD_CLOEXEC, 0),
	    .mounts = fcntl(loan.files.mounts, F_DUPFD_CLOEXEC, 0),
	    .memory = fcntl(loan.files.memory, F_DUPFD_CLOEXEC, 0)};
}

/*
 * Yama may allow an ancestor of the process to read it, and not the helper,
 * which is none. So the files are opened here, or were lent by the ancestor.
 * Only of a process of another user the helper opens them, because that may
 * wait.
 */
static int find_files(const struct foreign *f, struct foreign_helper *h)
{
	int err = 0;

	h->files = (struct foreign_files){-1, -1, -1, -1};
	h->process = -1;
	if (loan.pid == f->pid) {
		borrow(&h->files);
		return 0;
	}
	h->process = procfs_open(f->pid);
	if (h->process < 0)
		return h->process;
	if (foreign_text_is_mine(f->pid)) {
		err = foreign_open_files(h->process, &h->files);
		(void)close(h->process);
		h->process = -1;
	}
	return err;
}

static int start_helper(struct foreign *f, const struct foreign_options *o)
{
	struct foreign_helper h = {.window = f->window, .pid = living_thread(f->pid)};
	int *const fds[] = {
	    &h.process, &h.files.pagemap, &h.files.maps, &h.files.mounts, &h.files.memory};
	const size_t count = sizeof(fds) / sizeof(fds[0]);
	const struct helper_plan plan = {.run = foreign_help,
	    .context = &h,
	    .flags = FOREIGN_HELPER,
	    .channel = HELPER_STREAM,
	    .keep = fds,
	    .keep_count = count};
	int err;

	if (o)
		h.options = *o;
	h.shm_device = find_shm_device();
	err = find_files(f, &h);
	if (err == 0)
		err = helper_start(&plan, &f->helper, &f->socket);
	close_all(fds, count);
	return err;
}

/* Waits for a byte. 0, -ETIMEDOUT, -EIO. */
static int await(const struct foreign *f)
{
	char byte;

	return helper_read(f->socket, &byte, 1, clock_ns(CLOCK_MONOTONIC) + f->patience_ns);
}

static int tell(int err, pid_t left, struct fault *where)
{
	switch (err) {
	case -ETIMEDOUT:
		if (!left)
			return fault_set(where, err, "a page did not come");
		return fault_set(where, err,
		    "a page did not come; the helper process %d hangs in the "
		    "kernel and was left behind",
		    (int)left);
	case -EPERM:
		return fault_set(where, err, "it may not be read");
	case -ESRCH:
		return fault_set(where, err, "it has ended");
	case -EIO:
		return fault_set(where, err, "the helper process ended early");
	default:
		return fault_set(where, err, "%s", strerror(-err));
	}
}

/* Ends the helper; all later calls return the same error. */
static int fail(struct foreign *f, int err, struct fault *where)
{
	pid_t left = f->helper;

	if (foreign_end(f->helper))
		left = 0;
	f->helper = 0;
	f->err = err;
	return tell(err, left, where);
}

int foreign_open(
    pid_t pid, const struct foreign_options *o, struct foreign **ret, struct fault *where)
{
	struct foreign *f;
	char path[64];
	int err;

	if (!foreign_may_start())
		return fault_set(
		    where, -ETIMEDOUT, "helper processes hang already, and no more are started");
	f = calloc(1, sizeof(*f));
	if (!f)
		return fault_set(where, -ENOMEM, "out of memory");
	f->pid = pid;
	f->socket = -1;
	f->patience_ns = o && o->patience_ns ? o->patience_ns : FOREIGN_PATIENCE_NS;
	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	f->process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	err = f->process >= 0 ? 0 : errno == ENOENT ? -ESRCH : -errno;
	f->window = mmap(NULL, sizeof(*f->window), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (f->window == MAP_FAILED)
		f->window = NULL;
	if (err == 0 && !f->window)
		err = -ENOMEM;
	if (err == 0 && procfs_stat_at(f->process, &f->who) < 0)
		err = -ESRCH;
	if (err == 0)
		err = start_helper(f, o);
	if (err != 0) {
		foreign_close(f);
		return tell(err, 0, where);
	}
	err = await(f);
	if (err == 0)
		err = f->window->err;
	if (err < 0) {
		err = fail(f, err, where);
		foreign_close(f);
		return err;
	}
	*ret = f;
	return 0;
}

/* Makes the helper answer the request in the window. */
static int ask(struct foreign *f, struct fault *where)
{
	const char byte = 0;
	int err;

	if (send(f->socket, &byte, 1, MSG_NOSIGNAL) != 1)
		return fail(f, -EIO, where);
	err = await(f);
	if (err < 0)
		return fail(f, err, where);
	return f->window->err < 0 ? tell(f->window->err, 0, where) : 0;
}

int foreign_read(struct foreign *f, const struct foreign_range *ranges, size_t count,
    struct foreign_batch *ret, struct fault *where)
{
	struct foreign_window *w = f->window;
	size_t pages = 0;
	int err;

	if (f->err < 0)
		return tell(f->err, 0, where);
	if (count == 0 || count > FOREIGN_BATCH_RANGES)
		return tell(-EINVAL, 0, where);
	for (size_t i = 0; i < count; i++) {
		if (ranges[i].pages > FOREIGN_BATCH_PAGES - pages)
			return tell(-EINVAL, 0, where);
		pages += (size_t)ranges[i].pages;
	}
	memcpy(w->ranges, ranges, count * sizeof(*ranges));
	w->count = (uint32_t)count;
	w->present_end = 0;
	err = ask(f, where);
	if (err < 0)
		return err;
	*ret = (struct foreign_batch){.bytes = w->bytes, .pages = w->pages, .count = pages};
	return 0;
}

int foreign_present(struct foreign *f, uint64_t start, uint64_t end, const struct foreign_run **ret,
    size_t *ret_count, uint64_t *ret_next, struct fault *where)
{
	struct foreign_window *w = f->window;
	int err;

	if (f->err < 0)
		return tell(f->err, 0, where);
	if (start >= end)
		return tell(-EINVAL, 0, where);
	w->ranges[0] = (struct foreign_range){.start = start};
	w->count = 1;
	w->present_end = end;
	err = ask(f, where);
	if (err < 0)
		return err;
	/* the helper has read foreign memory, so its answer is checked */
	if (w->count > FOREIGN_RUNS || w->next <= start || w->next > end)
		return fail(f, -EIO, where);
	*ret = (const struct foreign_run *)(const void *)w->bytes;
	*ret_count = w->count;
	*ret_next = w->next;
	return 0;
}

void foreign_close(struct foreign *f)
{
	if (!f)
		return;
	if (f->helper > 0)
		foreign_dismiss(f->helper);
	if (f->socket >= 0)
		(void)close(f->socket);
	if (f->process >= 0)
		(void)close(f->process);
	if (f->window)
		(void)munmap(f->window, sizeof(*f->window));
	free(f);
}
