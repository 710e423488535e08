/* state.c - prints all it can see of itself: bare and traced must print the same. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -fno-builtin */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void print_descriptors(void)
{
	char path[64], target[512];

	for (int fd = 0; fd < 1024; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		ssize_t n = readlink(path, target, sizeof(target) - 1);

		if (n < 0)
			continue;
		target[n] = '\0';
		char *number = strchr(target, '['); /* pipe:[1234] */

		if (number)
			*number = '\0';
		printf("descriptor %d %s flags %d\n", fd, target, fcntl(fd, F_GETFD));
	}
}

static int count_entries(const char *path)
{
	DIR *dir = opendir(path);
	int entries = 0;

	if (!dir)
		return -1;
	for (struct dirent *e = readdir(dir); e; e = readdir(dir))
		entries += e->d_name[0] != '.';
	closedir(dir);
	return entries;
}

static void print_signals(void)
{
	sigset_t mask;
	struct sigaction act;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (int sig = 1; sig <= 64; sig++) {
		if (sigaction(sig, NULL, &act) < 0)
			continue;
		printf("signal %d %s flags %#x blocked %d\n", sig,
		    act.sa_handler == SIG_DFL       ? "default"
		        : act.sa_handler == SIG_IGN ? "ignored"
		                                    : "handled",
		    (unsigned)act.sa_flags, sigismember(&mask, sig));
	}
	stack_t ss;

	sigaltstack(NULL, &ss);
	printf("sigaltstack flags %d\n", ss.ss_flags);
}

static void print_limits(void)
{
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit r;

		if (getrlimit(i, &r) == 0)
			printf("limit %d %lld %lld\n", i, (long long)r.rlim_cur,
			    (long long)r.rlim_max);
	}
}

static int compare_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_environment(void)
{
	static char *sorted[4096];
	size_t n = 0;

	for (char **e = environ; *e && n < 4096; e++)
		if (strncmp(*e, "LD_PRELOAD=", 11) && strncmp(*e, "SEEP_", 5))
			sorted[n++] = *e;
	qsort(sorted, n, sizeof(*sorted), compare_text);
	for (size_t i = 0; i < n; i++)
		printf("environment %s\n", sorted[i]);
}

static void print_status_lines(void)
{
	static const char *const wanted[] = {"Umask", "Threads", "SigPnd", "ShdPnd", "SigBlk",
	    "SigIgn", "SigCgt", "NoNewPrivs", "Seccomp", "CapEff", "THP_enabled", "TracerPid"};
	FILE *f = fopen("/proc/self/status", "re");
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
			if (!strncmp(line, wanted[i], strlen(wanted[i])))
				printf("status %s", line);
	if (f)
		fclose(f);
	printf("dumpable %d\n", prctl(PR_GET_DUMPABLE));
	printf("subreaper %d\n", ({
		int on = -1;
		prctl(PR_GET_CHILD_SUBREAPER, &on);
		on;
	}));
	printf("children %d\n", waitpid(-1, NULL, WNOHANG | __WALL) < 0 ? errno : 0);
}

/* errno is changed by failing calls alone, and then as libc does it */
static void print_errno(void)
{
	volatile size_t too_big = (size_t)1 << 62;
	int kept = 0, wrong = 0;
	void *p;

	for (int i = 0; i < 20000; i++) {
		errno = 1234;
		p = i % 2 ? malloc((size_t)i) : calloc(1, (size_t)i);
		p = realloc(p, (size_t)i * 2 + 1);
		free(p);
		kept += errno == 1234;
	}
	errno = 1234;
	p = malloc(1 << 20);
	free(p);
	kept += errno == 1234;
	printf("errno kept %d\n", kept);
	errno = 0;
	wrong += malloc(too_big) != NULL || errno != ENOMEM;
	errno = 0;
	wrong += calloc(too_big, 8) != NULL || errno != ENOMEM;
	p = malloc(10);
	errno = 0;
	wrong += realloc(p, too_big) != NULL || errno != ENOMEM;
	errno = 0;
	wrong += reallocarray(p, too_big, 8) != NULL || errno != ENOMEM;
	free(p);
	errno = 55;
	printf("posix_memalign 3: %d, errno %d\n", posix_memalign(&p, 3, 8), errno);
	printf("failing calls wrong %d\n", wrong);
}

static void print_blocks(void)
{
	int misaligned = 0, small = 0;
	struct mallinfo2 before = mallinfo2();
	static void *held[500];

	for (size_t n = 0; n < 500; n++) {
		char *p = held[n] = malloc(n * 7);

		misaligned += (uintptr_t)p % 16 != 0;
		size_t usable = malloc_usable_size(p);

		small += usable < n * 7;
		memset(p, 0x11, usable); /* all of it is ours */
		p = memalign(256, n);
		misaligned += (uintptr_t)p % 256 != 0;
		free(p);
	}
	struct mallinfo2 after = mallinfo2();

	printf("misaligned %d small %d in use %zd\n", misaligned, small,
	    (ssize_t)(after.uordblks - before.uordblks));
	for (size_t n = 0; n < 500; n++)
		free(held[n]);
	printf("trim %d\n", malloc_trim(0) >= 0);
	char *text = NULL;

	printf("asprintf %d\n", asprintf(&text, "%0200d", 7));
	printf("strdup %s\n", text);
	free(text);
}

static volatile int handler_runs;

static void allocate_in_handler(int sig)
{
	(void)sig;
	for (size_t n = 0; n < 8; n++)
		free(malloc(n * 100)); /* raised, not async: safe */
	handler_runs++;
}

/*
 * What a 4 KiB stack leaves behind a classic signal frame (AVX, 1.5 KiB);
 * frames of later CPUs may be larger than 4 KiB all by themselves.
 */
static void print_small_altstack(void)
{
	size_t frame = getauxval(AT_MINSIGSTKSZ);
	size_t room = frame > 1536 ? frame + 2560 : 4096;
	char *base =
	    mmap(NULL, 5 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t ss = {.ss_sp = base + 4096, .ss_size = room};
	stack_t none = {.ss_flags = SS_DISABLE};
	struct sigaction act = {.sa_handler = allocate_in_handler, .sa_flags = SA_ONSTACK};

	mprotect(base, 4096, PROT_NONE);
	printf("sigaltstack %d\n", sigaltstack(&ss, NULL));
	sigaction(SIGUSR2, &act, NULL);
	for (int i = 0; i < 100; i++)
		raise(SIGUSR2);
	printf("handler on a small stack ran %d times\n", handler_runs);
	sigaltstack(&none, NULL);
	munmap(base, 5 * 4096);
}

/* found by RUNPATH $ORIGIN/sub only; see the test that builds it */
static void print_runpath(void)
{
	void *lib = dlopen("libstate_sub.so", RTLD_NOW);

	printf("plugin by RUNPATH %s\n", lib ? "loaded" : "not found");
	if (lib)
		dlclose(lib);
}

static void print_first_descriptor(void)
{
	int saved = fcntl(1, F_DUPFD_CLOEXEC, 100);

	fflush(stdout);
	close(0);
	close(1);
	close(2);
	free(malloc(100000));
	int first = open("/dev/null", O_RDONLY | O_CLOEXEC);

	close(first);
	dup2(saved, 1);
	close(saved);
	printf("first open gives %d\n", first);
}

int main(void)
{
	void *first = malloc(24); /* before stdio has a buffer */

	printf("first block %td below the break\n", (char *)sbrk(0) - (char *)first);
	free(first);
	print_descriptors();
	printf("threads %d\n", count_entries("/proc/self/task"));
	print_signals();
	print_limits();
	print_environment();
	print_status_lines();
	print_errno();
	print_blocks();
	print_small_altstack();
	print_runpath();
	errno = 0;
	pid_t child = wait(NULL);

	printf("wait %d errno %d\n", (int)child, errno);
	print_first_descriptor();
	print_descriptors();
	errno = 0;
	printf("unshare %d errno %d\n", unshare(CLONE_NEWUSER), errno);
	return 17;
}
