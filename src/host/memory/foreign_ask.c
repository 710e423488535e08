/* foreign_ask.c - requests to the helper that opens files of foreign processes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "host/memory/foreign_ask.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include "host/memory/foreign.h"
#include "host/memory/foreign_parts.h"
#include "host/proc/procfs.h"
#include "kit/os/clock.h"
#include "kit/os/descriptor.h"
#include "kit/os/helper.h"
#include "kit/os/infile.h"

enum {
	TEXT_MAX = 64 << 20, /* 65,530 mappings with long paths have 20 MiB */
	SILENT_MOST = 256,   /* processes that are remembered */
	LATE_SHARE = 10,     /* of the run's time that silent processes may cost */
};

#define SILENT_NS UINT64_C(30000000000) /* it is not asked again for so long */
#define LATE_NS   UINT64_C(10000000)    /* patience when the share is used up */

static struct {
	pid_t pid;
	pid_t user; /* who started it: a child of ours must not use it */
	int socket;
} helper;

/*
 * Processes that did not answer in time. Without this list, and without a limit
 * for the time that all of them cost, a user with many such processes could
 * make us wait for as long as he likes.
 */
static struct {
	struct {
		pid_t pid;
		uint64_t until_ns;
	} list[SILENT_MOST];
	size_t next;
	uint64_t first_ns; /* when the first process was asked */
	uint64_t lost_ns;  /* time spent on processes that did not answer */
} silent;

static int start(void)
{
	const struct helper_plan plan = {
	    .run = foreign_answer, .flags = FOREIGN_HELPER, .channel = HELPER_STREAM};
	int err;

	if (helper.pid > 0 && helper.user == getpid())
		return 0;
	if (!foreign_may_start())
		return -ETIMEDOUT;
	helper.user = getpid();
	helper.pid = 0;
	err = helper_start(&plan, &helper.pid, &helper.socket);
	return err == -EAGAIN || err == -ENOMEM ? -EIO : err;
}

static int give_up(int err)
{
	(void)foreign_end(helper.pid);
	(void)close(helper.socket);
	helper.pid = 0;
	return err;
}

struct text {
	char *bytes;
	size_t len, room;
};

static int make_room(struct text *t, size_t more)
{
	size_t room = t->room ? t->room : FOREIGN_CHUNK;
	char *bytes;

	while (room < t->len + more + 1)
		room *= 2;
	if (t->len + more > TEXT_MAX)
		return -EFBIG;
	if (room == t->room)
		return 0;
	bytes = realloc(t->bytes, room);
	if (!bytes)
		return -ENOMEM;
	t->bytes = bytes;
	t->room = room;
	return 0;
}

static bool is_silent(pid_t pid, uint64_t now)
{
	for (size_t i = 0; i < SILENT_MOST; i++)
		if (silent.list[i].pid == pid && now < silent.list[i].until_ns)
			return true;
	return false;
}

static void remember_silent(pid_t pid, uint64_t asked_ns)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	silent.lost_ns += now - asked_ns;
	silent.list[silent.next].pid = pid;
	silent.list[silent.next].until_ns = now + SILENT_NS;
	silent.next = (silent.next + 1) % SILENT_MOST;
}

/* How long to wait for the next answer. */
static uint64_t patience(uint64_t now)
{
	uint64_t allowed;

	if (silent.first_ns == 0)
		silent.first_ns = now;
	allowed = FOREIGN_PATIENCE_NS + (now - silent.first_ns) / LATE_SHARE;
	if (silent.lost_ns + LATE_NS > allowed)
		return LATE_NS;
	allowed -= silent.lost_ns;
	return allowed < FOREIGN_PATIENCE_NS ? allowed : FOREIGN_PATIENCE_NS;
}

static int receive(struct text *t, uint64_t until_ns)
{
	int32_t n = 0;
	int err;

	for (;;) {
		err = helper_read(helper.socket, &n, sizeof(n), until_ns);
		if (err == 0 && n > FOREIGN_CHUNK)
			err = -EIO;
		if (err == 0 && n <= 0)
			return n;
		if (err == 0)
			err = make_room(t, (size_t)n);
		if (err == 0)
			err = helper_read(helper.socket, t->bytes + t->len, (size_t)n, until_ns);
		if (err < 0)
			return give_up(err);
		t->len += (size_t)n;
	}
}

/* The request has been sent; *ret_until_ns is the deadline of its answer. */
static int begin(const struct foreign_request *r, uint64_t now, uint64_t *ret_until_ns)
{
	int err;

	if (is_silent(r->pid, now))
		return -ETIMEDOUT;
	err = start();
	if (err < 0)
		return err;
	if (send(helper.socket, r, sizeof(*r), MSG_NOSIGNAL) != sizeof(*r))
		return give_up(-EIO);
	*ret_until_ns = now + patience(now);
	return 0;
}

int foreign_ask(const struct foreign_request *r, char **ret, size_t *ret_len)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), until_ns;
	struct text t = {0};
	int err;

	err = begin(r, now, &until_ns);
	if (err < 0)
		return err;
	err = receive(&t, until_ns);
	if (err == -ETIMEDOUT)
		remember_silent(r->pid, now);
	if (err == 0)
		err = make_room(&t, 0);
	if (err < 0) {
		free(t.bytes);
		return err;
	}
	t.bytes[t.len] = '\0';
	*ret = t.bytes;
	*ret_len = t.len;
	return 0;
}

int foreign_ask_file(const struct foreign_request *r, struct stat *ret_stat, int *ret_fd)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), until_ns;
	struct foreign_opened a = {.err = -EIO};
	int err, fd = -1;

	err = begin(r, now, &until_ns);
	if (err < 0)
		return err;
	err = helper_await(helper.socket, until_ns);
	if (err == 0 && !descriptor_receive(helper.socket, &a, sizeof(a), 0, &fd))
		err = -EIO;
	if (err == -ETIMEDOUT)
		remember_silent(r->pid, now);
	if (err < 0)
		return give_up(err);
	if (a.err < 0)
		return a.err;
	if (fd < 0)
		return -EMFILE;
	*ret_stat = a.stat;
	*ret_fd = fd;
	return 0;
}

/* ---- foreign_file: files at paths that a foreign process has chosen ---- */

/* Did we choose the path, or a process that is our own? */
static bool is_trusted(pid_t pid)
{
	return pid == 0 || foreign_text_is_mine(pid);
}

static int make_request(
    struct foreign_request *r, enum foreign_kind kind, pid_t pid, const char *path)
{
	*r = (struct foreign_request){.kind = kind, .pid = pid};
	return (size_t)snprintf(r->path, sizeof(r->path), "%s", path) < sizeof(r->path)
	    ? 0
	    : -ENAMETOOLONG;
}

int foreign_file_open(pid_t pid, const char *path, struct source *ret)
{
	struct foreign_request r;
	struct stat st;
	int err, fd;

	if (is_trusted(pid))
		return source_open(AT_FDCWD, path, ret);
	err = make_request(&r, FOREIGN_OPEN, pid, path);
	if (err == 0)
		err = foreign_ask_file(&r, &st, &fd);
	if (err == 0)
		source_init(&st, fd, ret);
	return err;
}

int foreign_file_open_to_write(pid_t pid, const char *path, int *ret_fd)
{
	struct foreign_request r;
	struct stat st;
	int err;

	if (is_trusted(pid)) {
		int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

		if (fd < 0)
			return -errno;
		*ret_fd = fd;
		return 0;
	}
	err = make_request(&r, FOREIGN_WRITE, pid, path);
	return err < 0 ? err : foreign_ask_file(&r, &st, ret_fd);
}

static bool is_segment(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && strcmp(dot, ".seg") == 0;
}

/* Of a process of our own. */
static int list_here(const char *directory, char **ret, size_t *ret_len)
{
	int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC), err;
	struct listing_names names;
	size_t len = 0;
	char *text;

	if (fd < 0)
		return -errno;
	err = listing_read(fd, is_segment, &names);
	(void)close(fd);
	for (size_t i = 0; err == 0 && i < names.count; i++)
		len += strlen(names.names[i]) + 1;
	text = err == 0 ? malloc(len + 1) : NULL;
	if (text) {
		*ret = text;
		*ret_len = len;
		for (size_t i = 0; i < names.count; i++)
			text = stpcpy(text, names.names[i]) + 1;
	} else if (err == 0) {
		err = -ENOMEM;
	}
	listing_release(&names);
	return err;
}

int foreign_file_list(pid_t pid, const char *directory, char **ret, size_t *ret_len)
{
	struct foreign_request r;
	int err;

	if (is_trusted(pid))
		return list_here(directory, ret, ret_len);
	err = make_request(&r, FOREIGN_LIST, pid, directory);
	return err < 0 ? err : foreign_ask(&r, ret, ret_len);
}

/* ---- foreign_pace: rests between reads, so that a process need not wait for its memory
 * map ---- */

enum {
	TIMES = 400,            /* what a call took that has slept */
	REST_LEAST_NS = 800000, /* a rest costs as much CPU time as a call */
	QUICK_NS = 15000,       /* who has slept takes longer */
	REST_MOST_NS = 20000000,
	BATCH_NS = 500000000, /* the reader waits 2 s for a batch */
};

#define LEFT_NS UINT64_C(10000000000)

void foreign_pace_init(struct foreign_pace *p, uint32_t rest_us)
{
	*p = (struct foreign_pace){.rest_us = rest_us, .left_ns = rest_us ? LEFT_NS : 0};
}

static long times_slept(void)
{
	struct rusage r;

	return getrusage(RUSAGE_THREAD, &r) == 0 ? r.ru_nvcsw : 0;
}

void foreign_pace_begin(struct foreign_pace *p)
{
	if (p->rest_us == 0)
		return;
	p->before_ns = clock_ns(CLOCK_MONOTONIC);
}

static void rest(uint64_t ns)
{
	struct timespec t = {
	    .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};

	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/* How long to rest because of a call that took so long, and has slept. */
static uint64_t make_up_for(struct foreign_pace *p, uint64_t ns)
{
	ns = ns < REST_MOST_NS / TIMES ? ns * TIMES : REST_MOST_NS;
	if (ns > p->left_ns)
		ns = p->left_ns;
	if (ns > p->batch_ns)
		ns = p->batch_ns;
	p->left_ns -= ns;
	p->batch_ns -= ns;
	return ns;
}

void foreign_pace_batch(struct foreign_pace *p)
{
	p->batch_ns = BATCH_NS;
	if (p->rest_us)
		p->slept = times_slept();
}

void foreign_pace_end(struct foreign_pace *p, size_t bytes)
{
	uint64_t took;

	if (p->rest_us == 0)
		return;
	took = clock_ns(CLOCK_MONOTONIC) - p->before_ns;
	p->due_ns += (uint64_t)p->rest_us * 1000 * bytes / FOREIGN_PACE_BYTES;
	if (took > QUICK_NS && times_slept() != p->slept) {
		p->due_ns += make_up_for(p, took);
		p->slept = times_slept();
	}
	if (p->due_ns < REST_LEAST_NS)
		return;
	rest(p->due_ns);
	p->due_ns = 0;
	p->slept = times_slept();
}

/* ---- foreign_text: reads files of /proc/PID, with a deadline ---- */

enum {
	FOREIGN_TEXT_TEXT_MAX = 64 << 20, /* the deadline of foreign_ask() */
	CHUNK = 65536,
};

static bool is_mine(int process)
{
	uid_t uids[PROCFS_UIDS];
	struct stat st;

	/* the owner of /proc/PID is cheap to find, and usually is not us */
	if (fstat(process, &st) < 0 || st.st_uid != geteuid() || procfs_uids_at(process, uids) < 0)
		return false;
	for (size_t i = 0; i < PROCFS_UIDS; i++)
		if (uids[i] != geteuid())
			return false;
	return true;
}

bool foreign_text_is_mine(pid_t pid)
{
	int process = procfs_open(pid);
	bool answer = process >= 0 && is_mine(process);

	if (process >= 0)
		(void)close(process);
	return answer;
}

static int read_here(int process, const char *name, char **ret, size_t *ret_len)
{
	int fd = openat(process, name, O_RDONLY | O_CLOEXEC), err = 0;
	size_t room = 0, len = 0;
	char *text = NULL, *more;
	ssize_t n = 1;

	if (fd < 0)
		return -errno;
	while (n > 0 && err == 0) {
		if (room - len <= CHUNK) {
			room = room ? room * 2 : (size_t)CHUNK * 2;
			more = realloc(text, room);
			err = more ? 0 : -ENOMEM;
			text = more ? more : text;
		}
		if (err == 0 && (n = read(fd, text + len, CHUNK)) > 0)
			len += (size_t)n;
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n < 0)
			err = -errno;
		if (len > FOREIGN_TEXT_TEXT_MAX)
			err = -EFBIG;
	}
	(void)close(fd);
	if (err < 0) {
		free(text);
		return err;
	}
	text[len] = '\0';
	*ret = text;
	*ret_len = len;
	return 0;
}

int foreign_text(pid_t pid, const char *name, char **ret, size_t *ret_len)
{
	struct foreign_request r = {.kind = FOREIGN_TEXT, .pid = pid};
	int process, err;

	if (strlen(name) >= FOREIGN_NAME_BYTES)
		return -EINVAL;
	process = procfs_open(pid);
	if (process < 0)
		return process;
	(void)snprintf(r.path, sizeof(r.path), "%s", name);
	err = is_mine(process) ? read_here(process, name, ret, ret_len)
	                       : foreign_ask(&r, ret, ret_len);
	(void)close(process);
	return err == -EPERM ? -EACCES : err;
}
