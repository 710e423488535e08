/* trial.c - one run of seep-replay-run with one allocator. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/trial.h"

#include <sys/prctl.h>

#include "host/proc/procfs.h"
#include "kit/data/room.h"
#include "kit/os/clock.h"
#include "kit/words/text.h"

enum {
	SCRIPT_FD = 3, /* in the performer */
	RESULT_FD = 4,
	ABOVE = 10, /* descriptors that are not one of these */
	LOOK_MS = 50,
};

/* ---- the environment ---- */

static bool is_kept(const char *entry)
{
	return !text_begins_with(entry, "LD_PRELOAD=") &&
	    !text_begins_with(entry, "GLIBC_TUNABLES=") && !text_begins_with(entry, "SEEP_");
}

static char *variable(const char *name, const char *value)
{
	char *entry;

	return asprintf(&entry, "%s=%s", name, value) < 0 ? NULL : entry;
}

/* Ends with NULL; the first two may be ours. NULL: -ENOMEM. */
struct environment {
	char *preload, *tunables;
	char **entries;
};

static int make_environment(const struct trial_plan *plan, struct environment *e)
{
	size_t count = 0, n = 0;

	while (environ[count])
		count++;
	*e = (struct environment){0};
	e->entries = calloc(count + 3, sizeof(*e->entries));
	if (!e->entries)
		return -ENOMEM;
	if (plan->preload) {
		e->preload = variable("LD_PRELOAD", plan->preload);
		e->entries[n++] = e->preload;
	}
	if (plan->tunables) {
		e->tunables = variable("GLIBC_TUNABLES", plan->tunables);
		e->entries[n++] = e->tunables;
	}
	if ((plan->preload && !e->preload) || (plan->tunables && !e->tunables))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (is_kept(environ[i]))
			e->entries[n++] = environ[i];
	return 0;
}

static void release_environment(struct environment *e)
{
	free(e->preload);
	free(e->tunables);
	free(e->entries);
}

/* ---- the child ---- */

struct pipes {
	int result[2], said[2];
};

static void close_both(const int fds[2])
{
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			(void)close(fds[i]);
}

/* What the child writes on stderr must never make it wait. */
static int open_pipes(struct pipes *p)
{
	*p = (struct pipes){{-1, -1}, {-1, -1}};
	if (pipe2(p->result, O_CLOEXEC) == 0 && pipe2(p->said, O_CLOEXEC | O_NONBLOCK) == 0)
		return 0;
	return -errno;
}

static void place(int fd, int at)
{
	if (fd >= 0)
		(void)dup2(fd, at); /* the copy stays open across exec */
}

/* In the child: only functions that may be called after fork(). */
static _Noreturn void become(const struct trial_plan *plan, const struct pipes *p, pid_t parent,
    char *const argv[], char *const env[])
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	int script = plan->script < 0 ? -1 : fcntl(plan->script, F_DUPFD_CLOEXEC, ABOVE);
	int result = fcntl(p->result[1], F_DUPFD_CLOEXEC, ABOVE);
	int said = fcntl(p->said[1], F_DUPFD_CLOEXEC, ABOVE);
	sigset_t none;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127); /* it has ended already */
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	place(nothing, STDIN_FILENO);
	place(nothing, STDOUT_FILENO);
	place(plan->mode == SCRIPT_PROBE ? said : nothing, STDERR_FILENO);
	place(script, SCRIPT_FD);
	place(result, RESULT_FD);
	(void)execve(argv[0], argv, env);
	_exit(127);
}

static int start(const struct trial_plan *plan, const struct pipes *p, pid_t *ret)
{
	char mode[16], script[16], result[16], *performer;
	struct environment e;
	pid_t parent = getpid();
	int err = make_environment(plan, &e);

	performer = strdup(plan->performer);
	if (!performer)
		err = -ENOMEM;
	(void)snprintf(mode, sizeof(mode), "%d", (int)plan->mode);
	(void)snprintf(script, sizeof(script), "%d", SCRIPT_FD);
	(void)snprintf(result, sizeof(result), "%d", RESULT_FD);
	if (err == 0) {
		char *const argv[] = {performer, mode, script, result, NULL};

		*ret = fork();
		if (*ret == 0)
			become(plan, p, parent, argv, e.entries);
		err = *ret < 0 ? -errno : 0;
	}
	free(performer);
	release_environment(&e);
	return err;
}

/* ---- waiting ---- */

struct watch {
	pid_t pid;
	clockid_t clock;
	uint64_t used_ns;  /* CPU at the last look at which it had changed */
	uint64_t moved_ns; /* when that was */
};

static void begin_watch(struct watch *w, pid_t pid)
{
	*w = (struct watch){.pid = pid, .moved_ns = clock_ns(CLOCK_MONOTONIC)};
	if (clock_getcpuclockid(pid, &w->clock) != 0)
		w->clock = CLOCK_MONOTONIC; /* never stalls */
}

/* TRIAL_DONE: it may go on. */
static enum trial_end look(struct watch *w, const struct trial_plan *plan)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), used = clock_ns(w->clock);

	if (used != w->used_ns) {
		w->used_ns = used;
		w->moved_ns = now;
	}
	if (plan->idle_ns && now - w->moved_ns > plan->idle_ns)
		return TRIAL_STALLED;
	if (plan->memory_max && procfs_resident(w->pid) > plan->memory_max)
		return TRIAL_MEMORY;
	return TRIAL_DONE;
}

/* Reads the result, and looks at the run meanwhile. */
static void wait_for_result(
    const struct trial_plan *plan, int fd, pid_t pid, struct trial_outcome *ret)
{
	char *to = (char *)&ret->result;
	size_t have = 0;
	struct watch w;
	ssize_t n = 1;

	begin_watch(&w, pid);
	ret->end = TRIAL_DONE;
	while (n > 0 && have < sizeof(ret->result) && ret->end == TRIAL_DONE) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int got = poll(&p, 1, LOOK_MS);

		if (got == 0)
			ret->end = look(&w, plan);
		if (got <= 0)
			continue;
		n = read(fd, to + have, sizeof(ret->result) - have);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			have += (size_t)n;
	}
	if (ret->end != TRIAL_DONE)
		(void)kill(pid, SIGKILL);
	else if (have < sizeof(ret->result) || ret->result.magic != SCRIPT_MAGIC)
		ret->end = TRIAL_FAILED;
}

/* What the process's end says about a run without a result. */
static void judge(struct trial_outcome *o, int status)
{
	if (o->end == TRIAL_DONE && o->result.error) {
		o->end = TRIAL_FAILED;
		o->detail = (int)o->result.error;
	}
	if (o->end == TRIAL_FAILED && WIFSIGNALED(status)) {
		o->end = TRIAL_SIGNAL;
		o->detail = WTERMSIG(status);
	}
}

int trial_run(const struct trial_plan *plan, struct trial_outcome *ret)
{
	struct pipes p;
	int status = 0, err = open_pipes(&p);
	pid_t pid = -1;
	ssize_t n;

	memset(ret, 0, sizeof(*ret));
	if (err == 0)
		err = start(plan, &p, &pid);
	if (err < 0)
		goto out;
	(void)close(p.result[1]);
	p.result[1] = -1;
	wait_for_result(plan, p.result[0], pid, ret);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	judge(ret, status);
	ret->result.malloc_path[SCRIPT_PATH_BYTES - 1] = '\0';
	n = read(p.said[0], ret->said, sizeof(ret->said) - 1);
	ret->said[n > 0 ? n : 0] = '\0';
out:
	close_both(p.result);
	close_both(p.said);
	return err;
}

/* ---- allocator: the allocators that a replay compares ---- */

enum { NAMES = 4 };
#define IDLE_NS UINT64_C(20000000000)
#define GLIBC   "glibc"

/* Names under which the libraries of distributions are installed. */
static const struct {
	const char *name;
	const char *libraries[NAMES];
} known[] = {
    {"jemalloc", {"libjemalloc.so.2"}},
    {"tcmalloc", {"libtcmalloc_minimal.so.4", "libtcmalloc.so.4"}},
    {"mimalloc", {"libmimalloc.so.2", "libmimalloc.so.2.0", "libmimalloc.so.3"}},
};

enum { KNOWN = sizeof(known) / sizeof(known[0]) };

/* Tunables that may be given without their "glibc.malloc." */
static const char *const tunables[] = {"arena_max", "arena_test", "check", "hugetlb", "mmap_max",
    "mmap_threshold", "mxfast", "perturb", "tcache_count", "tcache_max", "tcache_unsorted_limit",
    "top_pad", "trim_threshold"};

static int probe(const struct allocators *a, const struct allocator *one, struct trial_outcome *ret)
{
	const struct trial_plan plan = {.performer = a->performer,
	    .mode = SCRIPT_PROBE,
	    .script = -1,
	    .preload = one && one->preload[0] ? one->preload : NULL,
	    .tunables = one && one->tunables[0] ? one->tunables : NULL,
	    .idle_ns = IDLE_NS};

	return trial_run(&plan, ret);
}

int allocator_begin(struct allocators *a, const char *performer, struct fault *where)
{
	struct trial_outcome o;
	int err;

	*a = (struct allocators){.performer = performer};
	err = probe(a, NULL, &o);
	if (err == 0 && o.end != TRIAL_DONE)
		err = -ENOEXEC;
	if (err < 0)
		return fault_set(where, err, "%s cannot be run: %s", performer, strerror(-err));
	memcpy(a->libc, o.result.malloc_path, sizeof(a->libc));
	return 0;
}

void allocator_release(struct allocators *a)
{
	free(a->all);
	*a = (struct allocators){0};
}

/* ---- does it work? ---- */

/* The loader's reason, in "... cannot be preloaded (REASON): ignored." */
static void find_reason(const char *said, char *ret, size_t bytes)
{
	const char *begin = strstr(said, "cannot be preloaded (");
	const char *end;

	(void)snprintf(ret, bytes, "it has no malloc");
	begin = begin ? strchr(begin, '(') + 1 : NULL;
	end = begin ? strstr(begin, "):") : NULL;
	if (end)
		(void)snprintf(ret, bytes, "%.*s", (int)(end - begin), begin);
}

/* Loads it. -EINVAL, with a text: that is not possible. */
static int try(const struct allocators *a, struct allocator *one, struct fault *where)
{
	struct trial_outcome o;
	char reason[128];
	int err = probe(a, one, &o);

	if (err < 0)
		return fault_set(
		    where, err == -ENOMEM ? err : -EINVAL, "%s: %s", one->name, strerror(-err));
	if (o.end == TRIAL_SIGNAL)
		return fault_set(where, -EINVAL,
		    "%s: a program with %s in it was ended by signal %d "
		    "(SIG%s)",
		    one->name, one->preload, o.detail,
		    sigabbrev_np(o.detail) ? sigabbrev_np(o.detail) : "");
	if (o.end != TRIAL_DONE)
		return fault_set(where, -EINVAL, "%s: a program with %s in it does not start",
		    one->name, one->preload);
	find_reason(o.said, reason, sizeof(reason));
	if (one->preload[0] && strcmp(o.result.malloc_path, a->libc) == 0)
		return fault_set(
		    where, -EINVAL, "%s: %s cannot be used: %s", one->name, one->preload, reason);
	memcpy(one->library, o.result.malloc_path, sizeof(one->library));
	return 0;
}

static int append(struct allocators *a, const struct allocator *one, struct fault *where)
{
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->all[i].name, one->name) == 0)
			return fault_set(where, -EINVAL,
			    "there are two allocators with the name \"%s\"", one->name);
	if (a->count >= ALLOCATORS_MAX)
		return fault_set(
		    where, -EINVAL, "there are more than %d allocators", ALLOCATORS_MAX);
	if (room_make(&a->all, &a->room, a->count, sizeof(*a->all)) < 0)
		return -ENOMEM;
	a->all[a->count++] = *one;
	return 0;
}

/* ---- from words ---- */

static bool is_name(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isgraph((unsigned char)text[i]))
			return false;
	return len > 0 && len < ALLOCATOR_NAME;
}

static int set_library(struct allocator *one, const char *text, struct fault *where)
{
	char *real = strchr(text, '/') ? realpath(text, NULL) : strdup(text);

	if (!real)
		return fault_set(where, -EINVAL, "%s: %s: %s", one->name, text, strerror(errno));
	(void)snprintf(one->preload, sizeof(one->preload), "%s", real);
	free(real);
	if (!one->preload[0] || strpbrk(one->preload, " :\t\n"))
		return fault_set(where, -EINVAL, "%s: LD_PRELOAD cannot contain the path \"%s\"",
		    one->name, one->preload);
	return 0;
}

/* The prefix that this tunable needs; NULL: it is not one of glibc's. */
static const char *prefix_of(const char *text, size_t len)
{
	if (text_begins_with(text, "glibc."))
		return "";
	for (size_t i = 0; i < sizeof(tunables) / sizeof(tunables[0]); i++)
		if (strlen(tunables[i]) == len && strncmp(tunables[i], text, len) == 0)
			return "glibc.malloc.";
	return NULL;
}

/* "arena_max=1:tcache_count=0", or with "glibc.malloc." before each. */
static int set_tunables(struct allocator *one, const char *text, struct fault *where)
{
	size_t used = 0;

	while (*text) {
		size_t len = strcspn(text, ":"), name = strcspn(text, "=:");
		const char *prefix = prefix_of(text, name);

		if (!prefix || name + 1 >= len || text[name] != '=')
			return fault_set(where, -EINVAL,
			    "%s: \"%.*s\" is not a tunable of glibc's malloc "
			    "with its value, as arena_max=1",
			    one->name, (int)len, text);
		used += (size_t)snprintf(one->tunables + used, sizeof(one->tunables) - used,
		    "%s%s%.*s", used ? ":" : "", prefix, (int)len, text);
		if (used >= sizeof(one->tunables))
			return fault_set(where, -EINVAL, "%s: too many tunables", one->name);
		text += len + (text[len] == ':');
	}
	return 0;
}

/* One of those that are known, by the first of its libraries that loads. */
static int add_by_name(struct allocators *a, const char *name, struct fault *where)
{
	struct allocator one = {0};
	int err = -EINVAL;

	(void)snprintf(one.name, sizeof(one.name), "%s", name);
	if (strcmp(name, GLIBC) == 0) {
		err = try(a, &one, where);
		return err < 0 ? err : append(a, &one, where);
	}
	for (size_t i = 0; i < KNOWN; i++) {
		if (strcmp(known[i].name, name) != 0)
			continue;
		for (size_t k = 0; k < NAMES && known[i].libraries[k]; k++) {
			(void)snprintf(
			    one.preload, sizeof(one.preload), "%s", known[i].libraries[k]);
			err = try(a, &one, where);
			if (err != -EINVAL)
				break;
		}
		return err < 0 ? err : append(a, &one, where);
	}
	return fault_set(where, -EINVAL,
	    "\"%s\" is not an allocator that seep knows (glibc, jemalloc, "
	    "tcmalloc, mimalloc); give NAME=LIB or NAME=glibc:TUNABLES",
	    name);
}

int allocator_add(struct allocators *a, const char *text, struct fault *where)
{
	const char *equals = strchr(text, '=');
	struct allocator one = {0};
	int err;

	if (!equals)
		return add_by_name(a, text, where);
	if (!is_name(text, (size_t)(equals - text)))
		return fault_set(where, -EINVAL,
		    "\"%s\" does not begin with a name of 1 to %d characters "
		    "without spaces",
		    text, ALLOCATOR_NAME - 1);
	(void)snprintf(one.name, sizeof(one.name), "%.*s", (int)(equals - text), text);
	text = equals + 1;
	if (text_begins_with(text, GLIBC ":"))
		err = set_tunables(&one, text + strlen(GLIBC ":"), where);
	else if (strcmp(text, GLIBC) == 0)
		err = 0;
	else
		err = set_library(&one, text, where);
	if (err == 0)
		err = try(a, &one, where);
	return err < 0 ? err : append(a, &one, where);
}

int allocator_add_known(struct allocators *a)
{
	int err = add_by_name(a, GLIBC, NULL);

	for (size_t i = 0; i < KNOWN && err != -ENOMEM; i++)
		err = add_by_name(a, known[i].name, NULL); /* or it is not here */
	return err == -ENOMEM ? err : 0;
}
