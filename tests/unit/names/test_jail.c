/* test_jail.c - promises of names/jail/jail.h: what its inmate is refused. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "test.h"
#include "kit/os/helper.h"
#include "names/jail/jail.h"

enum { MEMORY = 256 << 20, SECONDS = 10 };

/* What the inmate may have kept from before. */
static int parents_file = -1;
static pid_t parent;
static char *page;

/* Each returns 0 if it was let through, else what it got for errno. */
static int outcome(long result)
{
	return result >= 0 ? 0 : errno;
}

static int opens_shadow(void)
{
	return outcome(open("/etc/shadow", O_RDONLY));
}

static int opens_a_public_file(void)
{
	return outcome(open("/proc/self/status", O_RDONLY));
}

static int opens_by_openat2(void)
{
	const uint64_t how[3] = {0};

	return outcome(syscall(437, AT_FDCWD, "/", how, sizeof(how)));
}

static int opens_by_handle(void)
{
	return outcome(syscall(SYS_open_by_handle_at, 3, &parent, 0));
}

static int opens_memory_of_its_parent(void)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)parent);
	return outcome(open(path, O_RDWR));
}

static int creates_a_file(void)
{
	return outcome(open("/tmp/seep-test-jail", O_CREAT | O_RDWR, 0600));
}

static int looks_for_a_file(void)
{
	struct stat st;

	return outcome(stat("/etc/passwd", &st)) && outcome(access("/etc/passwd", F_OK)) ? EACCES
	                                                                                 : 0;
}

static int reads_a_link(void)
{
	char text[64];

	return outcome(readlink("/proc/self/exe", text, sizeof(text)));
}

static int unlinks(void)
{
	return outcome(unlink("/tmp/seep-test-jail"));
}

static int sends_signals_by_fcntl(void)
{
	return outcome(fcntl(JAIL_FD, F_SETOWN, parent)) &&
	        outcome(fcntl(JAIL_FD, F_SETSIG, SIGKILL)) &&
	        outcome(fcntl(JAIL_FD, F_SETFL, O_ASYNC))
	    ? EPERM
	    : 0;
}

static int kills(void)
{
	return outcome(kill(parent, 0));
}

static int kills_by_tgkill(void)
{
	return outcome(syscall(SYS_tgkill, parent, parent, 0));
}

static int traces(void)
{
	return outcome(syscall(SYS_ptrace, 16, parent, 0, 0));
}

static int reads_foreign_memory(void)
{
	return outcome(syscall(SYS_process_vm_readv, parent, NULL, 0, NULL, 0, 0));
}

static int maps_executable_memory(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
	           0) == MAP_FAILED
	    ? errno
	    : 0;
}

static int makes_memory_executable(void)
{
	return outcome(mprotect(page, 4096, PROT_READ | PROT_EXEC));
}

static int makes_memory_executable_by_pkey(void)
{
	return outcome(syscall(SYS_pkey_mprotect, page, 4096, PROT_READ | PROT_EXEC, -1));
}

static int writes_to_stdout(void)
{
	return outcome(write(1, "x", 1));
}

static int writes_to_stderr(void)
{
	/* sanitizers report there */
	return FILTER_SANITIZED ? EPERM : outcome(write(2, "x", 1));
}

static int uses_a_descriptor_of_its_parent(void)
{
	char byte;

	return outcome(read(parents_file, &byte, 1));
}

static int makes_a_socket(void)
{
	return outcome(socket(AF_UNIX, SOCK_STREAM, 0));
}

static int sends_descriptors(void)
{
	struct msghdr message = {0};

	return outcome(sendmsg(JAIL_FD, &message, 0));
}

static int executes(void)
{
	char *argv[] = {(char *)(uintptr_t) "true", NULL};

	return outcome(execv("/bin/true", argv));
}

static int forks(void)
{
	return outcome(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
}

static int raises_its_limits(void)
{
	const struct rlimit r = {RLIM_INFINITY, RLIM_INFINITY};

	return outcome(setrlimit(RLIMIT_CPU, &r));
}

static int becomes_dumpable(void)
{
	return outcome(prctl(PR_SET_DUMPABLE, 1));
}

static int uses_the_other_abi(void)
{
#ifdef __x86_64__
	/* open() of the x32 ABI, which has the same audit number */
	return outcome(syscall(0x40000002, "/etc/passwd", O_RDONLY));
#else
	return EPERM;
#endif
}

static int uses_io_uring(void)
{
	return outcome(syscall(SYS_io_uring_setup, 1, page));
}

struct attempt {
	const char *name;
	int (*run)(void);
};

#define ATTEMPT(name) \
	{ \
#name, name \
	}

static const struct attempt attempts[] = {
    ATTEMPT(opens_shadow),
    ATTEMPT(opens_a_public_file),
    ATTEMPT(opens_by_openat2),
    ATTEMPT(opens_by_handle),
    ATTEMPT(opens_memory_of_its_parent),
    ATTEMPT(creates_a_file),
    ATTEMPT(looks_for_a_file),
    ATTEMPT(reads_a_link),
    ATTEMPT(unlinks),
    ATTEMPT(sends_signals_by_fcntl),
    ATTEMPT(kills),
    ATTEMPT(kills_by_tgkill),
    ATTEMPT(traces),
    ATTEMPT(reads_foreign_memory),
    ATTEMPT(maps_executable_memory),
    ATTEMPT(makes_memory_executable),
    ATTEMPT(makes_memory_executable_by_pkey),
    ATTEMPT(writes_to_stdout),
    ATTEMPT(writes_to_stderr),
    ATTEMPT(uses_a_descriptor_of_its_parent),
    ATTEMPT(makes_a_socket),
    ATTEMPT(sends_descriptors),
    ATTEMPT(executes),
    ATTEMPT(forks),
    ATTEMPT(raises_its_limits),
    ATTEMPT(becomes_dumpable),
    ATTEMPT(uses_the_other_abi),
    ATTEMPT(uses_io_uring),
};

enum { ATTEMPTS = sizeof(attempts) / sizeof(attempts[0]) };

/* What the inmate reports. */
struct results {
	int jail;
	int errors[ATTEMPTS];
	bool can_compute;
};

static bool can_compute(void)
{
	char *p = malloc(8 << 20);
	void *more =
	    mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!p || more == MAP_FAILED)
		return false;
	memset(p, 1, 8 << 20);
	free(p);
	return munmap(more, 1 << 20) == 0;
}

static _Noreturn void inmate(int fd)
{
	struct results r = {0};

	r.jail = jail_enter(fd, MEMORY, SECONDS);
	for (size_t i = 0; i < ATTEMPTS; i++)
		r.errors[i] = attempts[i].run();
	r.can_compute = can_compute();
	_exit(write(JAIL_FD, &r, sizeof(r)) == (ssize_t)sizeof(r) ? 0 : 1);
}

static void run(struct results *ret)
{
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	parent = getpid();
	parents_file = fcntl(0, F_DUPFD, 20);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(page != MAP_FAILED);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		inmate(fds[1]);
	close(fds[1]);
	n = recv(fds[0], ret, sizeof(*ret), MSG_WAITALL);
	assert_int_equal(n, sizeof(*ret));
	assert_true(helper_end(pid, 5000, &status));
	assert_int_equal(status, 0);
	close(fds[0]);
	close(parents_file);
	(void)munmap(page, 4096);
}

TEST(each_attempt_is_refused)
{
	struct results r;
	size_t failed = 0;

	run(&r);
	if (r.jail < 0)
		return; /* this kernel has no filters: no DWARF is read */
	for (size_t i = 0; i < ATTEMPTS; i++)
		if (r.errors[i] == 0) {
			print_error("it %s\n", attempts[i].name);
			failed++;
		}
	assert_int_equal(failed, 0);
	assert_true(r.can_compute);
}

/* The same without a jail: these attempts mean something. */
TEST(outside_they_succeed)
{
	parent = getpid();
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_int_equal(opens_a_public_file(), 0);
	assert_int_equal(looks_for_a_file(), 0);
	assert_int_equal(reads_a_link(), 0);
	assert_int_equal(kills(), 0);
	assert_int_equal(makes_a_socket(), 0);
	assert_int_equal(makes_memory_executable(), 0);
	assert_int_equal(maps_executable_memory(), 0);
	assert_int_equal(reads_foreign_memory(), 0);
}

/* ---- who he is, as others see him ---- */

static _Noreturn void wait_in_jail(int fd)
{
	char byte = 'x';

	if (jail_enter(fd, MEMORY, SECONDS) < 0)
		byte = 'n';
	(void)!write(JAIL_FD, &byte, 1);
	(void)!read(JAIL_FD, &byte, 1); /* until it is killed */
	_exit(0);
}

static bool status_has(pid_t pid, const char *name, const char *value)
{
	char path[64], line[256];
	bool found = false;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, name, strlen(name)) == 0)
			found = strstr(line, value) != NULL;
	(void)fclose(f);
	return found;
}

/* A user namespace may know root alone. */
static bool has_all_users(void)
{
	FILE *f = fopen("/proc/self/uid_map", "r");
	unsigned first = 1, outside = 1, count = 0;

	if (f) {
		(void)!fscanf(f, "%u %u %u", &first, &outside, &count);
		(void)fclose(f);
	}
	return first == 0 && count > 0xf1000000U;
}

TEST(the_inmate_has_no_privileges)
{
	char uid[64], byte, path[64];
	int fds[2], status, count = 0;
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		wait_in_jail(fds[1]);
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	assert_true(status_has(pid, "CapEff:", "0000000000000000"));
	assert_true(status_has(pid, "CapPrm:", "0000000000000000"));
	assert_true(status_has(pid, "NoNewPrivs:", "1"));
	if (byte == 'x')
		assert_true(status_has(pid, "Seccomp:", "2"));
	/* a user that nobody else is, in four forms */
	(void)snprintf(uid, sizeof(uid), "\t%u\t%u\t%u\t%u", 0xf0000000U + (unsigned)pid,
	    0xf0000000U + (unsigned)pid, 0xf0000000U + (unsigned)pid, 0xf0000000U + (unsigned)pid);
	if (geteuid() == 0 && has_all_users()) {
		assert_true(status_has(pid, "Uid:", uid));
		assert_true(status_has(pid, "Gid:", uid));
		assert_true(status_has(pid, "Groups:", "Groups:\t \n") ||
		    status_has(pid, "Groups:", "Groups:\t\n"));
	}
	for (int i = 4; i < 64 && geteuid() == 0; i++) {
		(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, i);
		count += access(path, F_OK) == 0;
	}
	assert_int_equal(count, 0);
	assert_true(helper_end(pid, 0, &status));
	close(fds[0]);
}

TEST(who_does_not_end_is_killed)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		(void)signal(SIGTERM, SIG_IGN);
		for (;;)
			pause();
	}
	assert_true(helper_end(pid, 50, &status));
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}
