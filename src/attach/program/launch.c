/* launch.c - starts the command with the collector in it, and waits for it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/program/launch.h"

#include <sys/resource.h>
#include <sys/syscall.h>

#include "segments/find/procs.h"

/* As in `make install LIBDIR=`, from the directory of the command. */
#ifndef SEEP_LIBDIR
#define SEEP_LIBDIR "../lib/seep"
#endif

int launch_find_library(const char *name, char *to, size_t bytes)
{
	static const char *const places[] = {"", SEEP_LIBDIR "/", "../lib/seep/", "../lib/"};
	char self[PATH_MAX];
	char *slash, *real;
	struct stat st;
	ssize_t n;

	snprintf(to, bytes, "%s", name);
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n <= 0)
		return -ENOENT;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return -ENOENT;
	slash[1] = '\0';
	real = NULL;
	for (size_t i = 0; !real && i < sizeof(places) / sizeof(*places); i++) {
		char path[PATH_MAX * 2];

		snprintf(path, sizeof(path), "%s%s%s", self, places[i], name);
		real = realpath(path, NULL);
	}
	snprintf(to, bytes, "%s%s", real ? real : self, real ? "" : name);
	free(real);
	if (stat(to, &st) < 0 || !S_ISREG(st.st_mode))
		return -ENOENT;
	/*
	 * A user who can write that file could run code in the program that we
	 * start.
	 */
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return -EPERM;
	return strpbrk(to, " :") ? -EINVAL : 0;
}

/* Our libraries first, then those that the user preloads. */
static int set_preload(const struct launch_plan *plan)
{
	const char *old = getenv("LD_PRELOAD");
	const char *second = plan->companions ? plan->companions : "";
	char *value;
	int err;

	if (!old)
		old = "";
	if (asprintf(&value, "%s%s%s%s%s", plan->preload, *second ? ":" : "", second,
	        *old ? ":" : "", old) < 0)
		return -ENOMEM;
	err = setenv("LD_PRELOAD", value, 1) < 0 ? -errno : 0;
	free(value);
	return err;
}

static int set_one(void *context, const char *name, const char *value)
{
	(void)context;
	return setenv(name, value, 1) < 0 ? -errno : 0;
}

static int set_environment(const struct launch_plan *plan)
{
	char depth[16], sample[24];
	const char *log;
	bool is_set;

	if (setenv("SEEP_DIR", plan->dir, 1) < 0 || setenv("SEEP_SESSION", plan->session, 1) < 0)
		return -errno;
	snprintf(depth, sizeof(depth), "%u", plan->depth);
	if (plan->depth && setenv("SEEP_DEPTH", depth, 1) < 0)
		return -errno;
	snprintf(sample, sizeof(sample), "%" PRIu64, plan->sample_bytes);
	if (plan->sample_bytes && setenv("SEEP_SAMPLE", sample, 1) < 0)
		return -errno;
	if (plan->no_deepbind && setenv("SEEP_DEEPBIND", "clear", 1) < 0)
		return -errno;
	if (plan->leaks && setenv("SEEP_LEAKS", "1", 1) < 0)
		return -errno;
	/* an empty value is none */
	log = getenv("SEEP_LOG");
	is_set = log && log[0];
	if (plan->log && setenv("SEEP_LOG", "1", !is_set) < 0)
		return -errno;
	if (plan->last && setenv("SEEP_LOG", "last", !is_set) < 0)
		return -errno;
	if (plan->mappings && setenv("SEEP_MAPPINGS", "1", 1) < 0)
		return -errno;
	if (plan->no_guess && setenv("SEEP_GUESS", "0", 1) < 0)
		return -errno;
	if (plan->runtime_names) {
		int err = runtime_maps_each(set_one, NULL);

		if (err < 0)
			return err;
	}
	return set_preload(plan);
}

/* Waits until the parent says go. If the parent ends, that never comes. */
static void wait_for_word(int fd)
{
	char word;
	ssize_t n;

	do {
		n = read(fd, &word, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127);
}

/*
 * In the child: becomes the command, or reports an error through fd and ends.
 */
static _Noreturn void become(
    const struct launch *l, const struct launch_plan *plan, int fd, const int word[2])
{
	int err = set_environment(plan);

	close(word[1]);
	wait_for_word(word[0]);

	if (err == 0) {
		(void)sigaction(SIGCHLD, &l->old_chld, NULL);
		(void)sigprocmask(SIG_SETMASK, &l->old_mask, NULL);
		execvp(plan->argv[0], plan->argv);
		err = -errno;
	}
	while (write(fd, &err, sizeof(err)) < 0 && errno == EINTR)
		continue;
	_exit(127);
}

/*
 * Reads what the child sends before exec closes the pipe: nothing, or an errno.
 */
static int read_verdict(int fd)
{
	int err = 0;
	ssize_t n;

	do {
		n = read(fd, &err, sizeof(err));
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(err) && err < 0 ? err : 0;
}

static void wait_for(struct launch *l)
{
	while (waitpid(l->pid, &l->status, 0) < 0 && errno == EINTR)
		continue;
}

/*
 * All that somebody may send us, and that can wait until we look. A fault of
 * our own must end us, and libc keeps two signals for itself.
 */
static void fill_signals(sigset_t *set)
{
	static const int not_these[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

	(void)sigfillset(set);
	for (size_t i = 0; i < sizeof(not_these) / sizeof(not_these[0]); i++)
		(void)sigdelset(set, not_these[i]);
}

static void restore_signals(const struct launch *l)
{
	(void)sigaction(SIGCHLD, &l->old_chld, NULL);
	(void)sigprocmask(SIG_SETMASK, &l->old_mask, NULL);
}

int launch_start(struct launch *l, const struct launch_plan *plan)
{
	struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t mask;
	int fds[2], word[2];
	int err;

	memset(l, 0, sizeof(*l));
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(word, O_CLOEXEC) < 0) {
		err = -errno;
		close(fds[0]);
		close(fds[1]);
		return err;
	}
	/*
	 * blocked before the fork, so that no signal is lost and none kills us
	 */
	fill_signals(&mask);
	(void)sigprocmask(SIG_BLOCK, &mask, &l->old_mask);
	/* an ignored SIGCHLD would take the exit status away from us */
	(void)sigaction(SIGCHLD, &standard, &l->old_chld);
	l->pid = fork();
	if (l->pid == 0)
		become(l, plan, fds[1], word);
	err = l->pid < 0 ? -errno : 0;
	close(fds[1]);
	close(word[0]);
	if (err == 0) {
		l->start_jiffies = procs_start_jiffies(l->pid);
		if (plan->ready && plan->ready(plan->context, l->pid))
			err = -ECANCELED;
		else if (write(word[1], "", 1) != 1)
			err = -EPIPE;
	}
	close(word[1]);
	if (l->pid > 0) {
		if (err == 0)
			err = read_verdict(fds[0]);
		if (err < 0)
			wait_for(l);
	}
	close(fds[0]);
	if (err < 0)
		restore_signals(l);
	return err;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/*
 * Is it for the command? What the terminal sends (Ctrl-C, a new size of its
 * window) the kernel has sent to all of the group, and so to the command. Only
 * a timer that was set before exec, as by alarm(), is ours alone, and the
 * command would have had it without us. What we raise ourselves by writing to a
 * closed pipe comes with our own pid. The command does not want back what it
 * sends to its group.
 */
static bool is_for_command(const struct launch *l, const siginfo_t *info)
{
	if (info->si_code > 0)
		return info->si_signo == SIGALRM || info->si_signo == SIGVTALRM ||
		    info->si_signo == SIGPROF;
	return info->si_signo != SIGCHLD && info->si_pid != getpid() && info->si_pid != l->pid;
}

/* With the value that came with it, and its sender, if there is one. */
static void hand_on(const struct launch *l, siginfo_t *info)
{
	if (info->si_code != SI_QUEUE ||
	    syscall(SYS_rt_sigqueueinfo, l->pid, info->si_signo, info) < 0)
		(void)kill(l->pid, info->si_signo);
}

/* Who asks us to stop means the command and us, until SIGCONT comes. */
static bool is_to_stop(int sig)
{
	return sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

/* Sleeps until a signal or the deadline, and forwards signals. */
static void handle_signal(const struct launch *l, int64_t left_ms)
{
	struct timespec t = {left_ms / 1000, left_ms % 1000 * 1000000};
	siginfo_t info;
	sigset_t set;
	int sig;

	fill_signals(&set);
	sig = sigtimedwait(&set, &info, left_ms < 0 ? NULL : &t);
	if (sig <= 0)
		return;
	if (is_for_command(l, &info))
		hand_on(l, &info);
	if (is_to_stop(sig))
		(void)raise(SIGSTOP);
}

/* The command has ended: what came before was for the command. */
static void drop_signals(void)
{
	static const int stops[] = {SIGTSTP, SIGTTIN, SIGTTOU};
	struct timespec none = {0, 0};
	sigset_t set;

	fill_signals(&set);
	while (sigtimedwait(&set, NULL, &none) > 0)
		continue;
	/* from now on Ctrl-Z stops us, and nobody else */
	(void)sigemptyset(&set);
	for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++)
		(void)sigaddset(&set, stops[i]);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int launch_wait(struct launch *l, int timeout_ms)
{
	int64_t deadline = timeout_ms < 0 ? 0 : now_ms() + timeout_ms;

	for (;;) {
		struct rusage used;
		pid_t pid = wait4(l->pid, &l->status, WNOHANG, &used);
		int64_t left = -1;

		if (pid == l->pid) {
			l->max_rss_bytes = (uint64_t)used.ru_maxrss << 10;
			drop_signals();
			return 1;
		}
		if (pid < 0 && errno != EINTR)
			return -errno;
		if (timeout_ms >= 0) {
			left = deadline - now_ms();
			if (left <= 0)
				return 0;
		}
		handle_signal(l, left);
	}
}

bool launch_idle(int timeout_ms)
{
	struct timespec t = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	return sigtimedwait(&set, NULL, &t) > 0;
}

/* ---- preload: the libraries that are preloaded into a program ---- */

bool preload_find(fault_say *say, const char *name, char *path, size_t bytes)
{
	int err = launch_find_library(name, path, bytes);

	if (err == -EPERM)
		say("%s can be written by others, who could run code in "
		    "your programs: chmod go-w it",
		    path);
	else if (err == -EINVAL)
		say("%s cannot be preloaded: its path contains a space or "
		    "a colon; install seep elsewhere",
		    path);
	else if (err < 0)
		say("the collector %s is missing: it should be beside the "
		    "seep command, in ../lib/seep or in ../lib",
		    path);
	return err == 0;
}

void preload_companions(fault_say *say, const char *allocator, char *ret, size_t bytes)
{
	static const struct {
		const char *allocator; /* its name begins so */
		const char *library;
	} companions[] = {
	    {"", "libseep-cxx.so"},
	    {"libjemalloc", "libseep-jemalloc.so"},
	    {"libtcmalloc", "libseep-tcmalloc.so"},
	};
	size_t used = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < sizeof(companions) / sizeof(companions[0]); i++) {
		const char *for_whom = companions[i].allocator;
		char path[4096];

		if (!allocator[0] || strncmp(allocator, for_whom, strlen(for_whom)))
			continue;
		if (!preload_find(say, companions[i].library, path, sizeof(path))) {
			say("so allocations that only %s has functions for "
			    "will not be recorded",
			    allocator);
			continue;
		}
		if (used + strlen(path) + 2 > bytes)
			return;
		used += (size_t)sprintf(ret + used, "%s%s", used ? ":" : "", path);
	}
}

bool preload_mappings(fault_say *say, char *list, size_t bytes)
{
	const size_t used = strlen(list);
	char path[4096];

	if (!preload_find(say, "libseep-map.so", path, sizeof(path)) ||
	    used + strlen(path) + 2 > bytes)
		return false;
	(void)sprintf(list + used, "%s%s", used ? ":" : "", path);
	return true;
}
