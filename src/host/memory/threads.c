/* threads.c - the threads of a process: stack pointers, registers, a stop. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "host/memory/threads.h"

#include <elf.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "base/cpu/elf_machine.h"
#include "host/memory/foreign.h"
#include "host/memory/foreign_ask.h"
#include "host/proc/procfs.h"
#include "kit/data/room.h"
#include "kit/os/clock.h"

enum {
	THREADS_MAX = 1 << 15,
	ROUNDS_MAX = 64,          /* threads that start while others stop */
	STOP_NS = 1000000000,     /* for one thread to stop */
	REGISTER_BYTES_MAX = 4096 /* of one set */
};

static int add_word(uint64_t **at, size_t *room, size_t *count, uint64_t word)
{
	int err = room_make(at, room, *count, sizeof(**at));

	if (err == 0)
		(*at)[(*count)++] = word;
	return err;
}

void threads_release(struct threads *t)
{
	free(t->pointers);
	free(t->words);
	*t = (struct threads){0};
}

/* ---- without a stop ------------------------------------------------------- */

/*
 * "running", or "NUMBER 0xARG ... 0xSP 0xPC" with six arguments, or "-1 0xSP
 * 0xPC" outside of a system call.
 */
bool threads_parse(
    const char *text, uint64_t *ret_pointer, uint64_t ret_words[6], size_t *ret_count)
{
	uint64_t words[8];
	size_t n = 0;
	char *end;

	if (strncmp(text, "running", 7) == 0)
		return false;
	(void)strtoll(text, &end, 10);
	if (end == text)
		return false;
	while (n < 8 && end[0] == ' ' && end[1] == '0' && end[2] == 'x') {
		words[n] = strtoull(end + 3, &end, 16);
		n++;
	}
	if (n != 2 && n != 8)
		return false;
	*ret_pointer = words[n - 2];
	*ret_count = n - 2;
	memcpy(ret_words, words, (n - 2) * sizeof(words[0]));
	return true;
}

/* Of a process of our own, which does not keep us waiting. */
static bool read_here(int tasks, const char *name, char *to, size_t room)
{
	char path[64];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "%.16s/syscall", name);
	fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, to, room - 1);
	if (fd >= 0)
		(void)close(fd);
	to[n > 0 ? n : 0] = '\0';
	return n >= 0;
}

/* A process that calls exec holds the lock under which the file is read. */
static bool read_there(pid_t pid, const char *name, char *to, size_t room)
{
	char path[FOREIGN_NAME_BYTES], *text;
	size_t len;

	(void)snprintf(path, sizeof(path), "task/%.16s/syscall", name);
	if (foreign_text(pid, path, &text, &len) < 0)
		return false;
	(void)snprintf(to, room, "%s", text);
	free(text);
	return true;
}

static int read_thread(pid_t pid, bool is_mine, int tasks, const char *name, struct threads *t)
{
	char text[256];
	uint64_t pointer, words[6];
	size_t count;
	int err;

	if (!(is_mine ? read_here(tasks, name, text, sizeof(text))
	              : read_there(pid, name, text, sizeof(text)))) {
		t->not_asked++;
		return 0;
	}
	if (!threads_parse(text, &pointer, words, &count)) {
		t->running++;
		return 0;
	}
	err = add_word(&t->pointers, &t->room, &t->count, pointer);
	for (size_t i = 0; i < count && err == 0; i++)
		err = add_word(&t->words, &t->word_room, &t->word_count, words[i]);
	return err;
}

/* The directory of threads, or negative errno. */
static int open_tasks(pid_t pid, DIR **ret)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	*ret = opendir(path);
	if (*ret)
		return 0;
	return errno == ENOENT ? -ESRCH : -errno;
}

int threads_read(pid_t pid, struct threads *ret)
{
	const bool is_mine = foreign_text_is_mine(pid);
	const struct dirent *e;
	size_t seen = 0;
	DIR *d;
	int err = open_tasks(pid, &d);

	*ret = (struct threads){0};
	if (err < 0)
		return err;
	while (err == 0 && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		if (++seen > THREADS_MAX)
			ret->not_asked++;
		else
			err = read_thread(pid, is_mine, dirfd(d), e->d_name, ret);
	}
	(void)closedir(d);
	if (err < 0)
		threads_release(ret);
	return err;
}

/* ---- with one ------------------------------------------------------------- */

/* One set of registers, as words; a set that is not there has none. */
static int add_registers(struct threads *t, pid_t tid, int set)
{
	uint64_t words[REGISTER_BYTES_MAX / 8];
	struct iovec v = {.iov_base = words, .iov_len = sizeof(words)};
	int err = 0;

	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)set, &v) < 0)
		return 0;
	for (size_t i = 0; i < v.iov_len / 8 && err == 0; i++)
		err = add_word(&t->words, &t->word_room, &t->word_count, words[i]);
	if (err == 0 && set == NT_PRSTATUS && v.iov_len > CPU_STACK_POINTER_WORD * sizeof(*words))
		err = add_word(&t->pointers, &t->room, &t->count, words[CPU_STACK_POINTER_WORD]);
	return err;
}

/*
 * Waits until the thread has stopped. false: it is gone, or does not stop. A
 * thread that was about to get a signal stops for that, and gets it later.
 */
static bool await_stop(pid_t tid, int *ret_signal)
{
	const struct timespec nap = {.tv_nsec = 50000};
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + STOP_NS;
	int status;

	for (;;) {
		pid_t got = waitpid(tid, &status, __WALL | WNOHANG);

		if (got == tid && !WIFSTOPPED(status))
			return false;
		if (got == tid) {
			if (status >> 16 != PTRACE_EVENT_STOP)
				*ret_signal = WSTOPSIG(status);
			return true;
		}
		if ((got < 0 && errno != EINTR) || clock_ns(CLOCK_MONOTONIC) > until)
			return false;
		(void)nanosleep(&nap, NULL);
	}
}

/* Asks it to stop, and does not wait for that. */
static int ask_to_stop(pid_t tid, struct threads_stop *s)
{
	int err = room_make(&s->stopped, &s->room, s->count, sizeof(*s->stopped));

	if (err < 0)
		return err;
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0) {
		err = -errno;
		/* a first thread that has ended stays in the list of threads */
		return err == -ESRCH || living_thread(tid) != tid ? 0 : err;
	}
	s->stopped[s->count++] = (struct threads_stopped){.tid = tid};
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0 && errno != ESRCH)
		return -errno;
	return 0;
}

static int read_stopped(struct threads_stop *s, size_t from)
{
	int err = 0;

	for (size_t i = from; i < s->count && err == 0; i++) {
		struct threads_stopped *x = &s->stopped[i];

		if (!await_stop(x->tid, &x->signal))
			continue; /* it has ended, or hangs: no change */
		err = add_registers(&s->threads, x->tid, NT_PRSTATUS);
		if (err == 0)
			err = add_registers(&s->threads, x->tid, NT_PRFPREG);
	}
	return err;
}

/* Threads that have been asked, by id: a bit each. */
enum { TIDS_MAX = 1 << 22 }; /* of any kernel */

static bool is_asked(uint8_t *asked, pid_t tid)
{
	uint8_t bit = (uint8_t)(1u << tid % 8);
	bool answer = asked[tid / 8] & bit;

	asked[tid / 8] |= bit;
	return answer;
}

/*
 * All threads that the directory has now; *ret_fresh: were there new ones? They
 * are all asked before the first is waited for: so they are stopped by the time
 * it is their turn.
 */
static int stop_round(pid_t pid, struct threads_stop *s, uint8_t *asked, bool *ret_fresh)
{
	const struct dirent *e;
	size_t first = s->count;
	DIR *d;
	int err = open_tasks(pid, &d);

	*ret_fresh = false;
	if (err < 0)
		return err;
	while (err == 0 && (e = readdir(d))) {
		long tid = strtol(e->d_name, NULL, 10);

		if (tid <= 0 || tid >= TIDS_MAX || is_asked(asked, (pid_t)tid))
			continue;
		*ret_fresh = true;
		err = s->count == THREADS_MAX ? -ETIMEDOUT : ask_to_stop((pid_t)tid, s);
	}
	(void)closedir(d);
	return err == 0 ? read_stopped(s, first) : err;
}

int threads_halt(pid_t pid, struct threads_stop *ret, struct fault *where)
{
	uint8_t *asked = calloc(1, TIDS_MAX / 8);
	bool fresh = true;
	int err = asked ? 0 : -ENOMEM;

	*ret = (struct threads_stop){.since_ns = clock_ns(CLOCK_MONOTONIC)};
	for (int round = 0; fresh && err == 0; round++)
		err = round == ROUNDS_MAX ? -ETIMEDOUT : stop_round(pid, ret, asked, &fresh);
	free(asked);
	if (err == 0 && ret->count == 0)
		err = -ESRCH;
	if (err == 0)
		return 0;
	(void)threads_resume(ret);
	if (err == -EPERM) {
		uint32_t tracer = procfs_status(pid, "TracerPid");

		if (tracer)
			return fault_set(
			    where, err, "it is traced by process %d already", (int)tracer);
		return fault_set(where, err, "it may not be stopped");
	}
	if (err == -ETIMEDOUT)
		return fault_set(where, err, "its threads do not stop");
	return fault_set(where, err, "%s", err == -ESRCH ? "it has ended" : strerror(-err));
}

uint64_t threads_resume(struct threads_stop *s)
{
	uint64_t ns;

	/* the first thread last: it is what others wait for */
	for (size_t i = s->count; i-- > 0;)
		(void)ptrace(PTRACE_DETACH, s->stopped[i].tid, NULL,
		    (void *)(uintptr_t)s->stopped[i].signal);
	ns = clock_ns(CLOCK_MONOTONIC) - s->since_ns;
	free(s->stopped);
	threads_release(&s->threads);
	*s = (struct threads_stop){0};
	return ns;
}

/* ---- halt: a stop of all threads that does not wait for the process for ever ---- */

/*
 * A process of 32,000 threads is stopped in less than that; what is above is a
 * process that does not answer.
 */
enum { HALT_SECONDS = 10 };

enum state {
	HALT_GOES_ON,
	HALT_IS_DONE, /* .err is valid, and so is .stop if that is 0 */
	HALT_IS_LEFT, /* nobody waits for it any more: the thread frees it */
};

struct halt {
	pid_t pid;
	_Atomic int state;
	sem_t done, resume;
	pthread_t thread; /* only the one that stops may let go */
	struct threads_stop stop;
	struct fault where;
	uint64_t stopped_ns;
	int err;
};

static void drop(struct halt *h)
{
	(void)sem_destroy(&h->done);
	(void)sem_destroy(&h->resume);
	free(h);
}

static void *work(void *arg)
{
	int before = HALT_GOES_ON;
	struct halt *h = arg;

	h->err = threads_halt(h->pid, &h->stop, &h->where);
	if (!atomic_compare_exchange_strong(&h->state, &before, HALT_IS_DONE)) {
		if (h->err == 0)
			(void)threads_resume(&h->stop);
		drop(h);
		return NULL;
	}
	(void)sem_post(&h->done);
	if (h->err < 0)
		return NULL;
	while (sem_wait(&h->resume) < 0 && errno == EINTR)
		;
	h->stopped_ns = threads_resume(&h->stop);
	return NULL;
}

/* false: it takes too long. */
static bool await(struct halt *h)
{
	int before = HALT_GOES_ON;
	struct timespec until;

	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += HALT_SECONDS;
	while (sem_timedwait(&h->done, &until) < 0)
		if (errno != EINTR)
			return !atomic_compare_exchange_strong(&h->state, &before, HALT_IS_LEFT);
	return true;
}

int halt_begin(pid_t pid, struct halt **ret, struct fault *where)
{
	struct halt *h = calloc(1, sizeof(*h));
	int err;

	if (!h || sem_init(&h->done, 0, 0) < 0 || sem_init(&h->resume, 0, 0) < 0) {
		free(h);
		return -ENOMEM;
	}
	h->pid = pid;
	if (pthread_create(&h->thread, NULL, work, h) != 0) {
		drop(h);
		return -ENOMEM;
	}
	if (!await(h)) {
		/* the thread frees h, perhaps already */
		return fault_set(where, -ETIMEDOUT,
		    "it does not stop within %d s: it calls exec, or its "
		    "threads hang in the kernel",
		    HALT_SECONDS);
	}
	if (h->err == 0) {
		*ret = h;
		return 0;
	}
	err = h->err;
	*where = h->where;
	(void)pthread_join(h->thread, NULL);
	drop(h);
	return err;
}

const struct threads_stop *halt_stop(const struct halt *h)
{
	return &h->stop;
}

uint64_t halt_end(struct halt *h)
{
	uint64_t ns;

	(void)sem_post(&h->resume);
	(void)pthread_join(h->thread, NULL);
	ns = h->stopped_ns;
	drop(h);
	return ns;
}
