/* hostile_siblings.c - children that became another user take away every shared page that they can reach, on a full medium; master, siblings and grandchildren must live. */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: hostile_siblings BALLAST HOW EVENTS WHEN
 * BALLAST: a file on the medium of the segments. HOW hostile children are made:
 * fork, _Fork, clone. EVENTS: how many allocations a hostile child makes, WHEN:
 * before or after it changes its user; never: it stays the same user.
 */
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/many_stacks.h"

enum { NOBODY = 65534, VICTIM = 65533, MAPPINGS = 64, GROWN = 1 << 30 };

static const char *how, *when;
static int ballast, events;
static int go[2], done[2], turn[2]; /* pipes */

static void work(int stacks, int depth)
{
	for (int i = 0; i < stacks; i++)
		many_stacks(i, depth, 100);
}

static pid_t make_child(void)
{
	if (!strcmp(how, "clone"))
		return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	return strcmp(how, "_Fork") ? fork() : _Fork();
}

static void become(uid_t uid)
{
	if (!strcmp(when, "never"))
		return;
	if (setgroups(0, NULL) || setgid(uid) || setuid(uid))
		_exit(77);
}

/* ---- the attack: no call of libc that allocates -------------------------- */

static void fill(void)
{
	static const char zeros[4096];

	while (write(ballast, zeros, sizeof(zeros)) == sizeof(zeros))
		;
}

static int take_away(unsigned long from, unsigned long bytes)
{
	(void)mprotect((void *)from, bytes, PROT_READ | PROT_WRITE);
	return madvise((void *)from, bytes, MADV_REMOVE) == 0;
}

/* By a descriptor, if the file can be opened in any way. */
static int cut(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC), taken = 0;

	if (fd < 0)
		return 0;
	taken += fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, GROWN) == 0;
	taken += ftruncate(fd, 0) == 0;
	close(fd);
	return taken;
}

static unsigned long number(const char **p)
{
	unsigned long n = 0;

	for (; **p && strchr("0123456789abcdef", **p); (*p)++)
		n = n * 16 + (unsigned long)(**p <= '9' ? **p - '0' : **p - 'a' + 10);
	return n;
}

static int attack(void)
{
	static char maps[1 << 18];
	static unsigned long range[MAPPINGS][2];
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	int count = 0, taken = 0;
	size_t len = 0;
	ssize_t n;
	char *end;

	while (fd >= 0 && len < sizeof(maps) - 1 &&
	    (n = read(fd, maps + len, sizeof(maps) - 1 - len)) > 0)
		len += (size_t)n;
	close(fd);
	fill();
	for (char *line = maps; *line && count < MAPPINGS; line = end + 1) {
		const char *p = line, *path;

		end = strchrnul(line, '\n');
		*end = 0;
		path = strchr(line, '/');
		if (!path || !strstr(path, ".seg"))
			continue;
		range[count][0] = number(&p);
		p++;
		range[count++][1] = number(&p);
		if (strcmp(when, "never")) /* the owner may, with or without us */
			taken += cut(path);
	}
	for (int i = 0; i < count; i++) {
		void *all = mremap((void *)range[i][0], 0, GROWN, MREMAP_MAYMOVE);

		taken += take_away(range[i][0], range[i][1] - range[i][0]);
		if (all != MAP_FAILED)
			taken += take_away((unsigned long)all, GROWN);
	}
	fill();
	return taken;
}

static void be_hostile(uid_t uid)
{
	char answer = 1;

	close(turn[1]);
	alarm(60);
	if (!strcmp(when, "before"))
		work(events, 3);
	become(uid);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (strcmp(when, "before"))
		work(events, 3);
	(void)!read(go[0], &answer, 1); /* the victims have begun */
	answer = (char)attack();
	(void)!write(done[1], &answer, 1);
	for (;;)
		pause();
}

/* ---- the victims --------------------------------------------------------- */

static void live_on(void)
{
	for (int i = 0; i < 5; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		waitpid(pid, NULL, 0);
		pid = vfork();
		if (pid == 0) {
			many_stacks(i, 8, 100);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	work(3000, 10);
}

/* Small ones stay in their first events until after the attack. */
static void be_victim(int begin, int small)
{
	pid_t inner;
	char c;
	int status = 0;

	close(turn[1]);
	alarm(60);
	work(small ? 3 : 200, 5);
	inner = fork();
	if (inner)
		become(VICTIM);
	work(small ? 3 : 200, 6);
	(void)!write(begin, "", 1);
	(void)!read(turn[0], &c, 1); /* closed by the master, after the attack */
	if (inner == 0) {
		work(small ? 20 : 3000, 7);
		_exit(0);
	}
	if (!small)
		live_on();
	else
		work(20, 7);
	waitpid(inner, &status, 0);
	_exit(status ? 99 : 0);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {
	    "sibling", "small sibling", "later sibling", "later small sibling"};
	int begun[2], status, taken = 0, bad = 0;
	pid_t victims[4], hostile[2] = {0};
	char c;

	if (argc < 5)
		return 2;
	ballast = open(argv[1], O_WRONLY | O_APPEND | O_CLOEXEC);
	how = argv[2];
	events = atoi(argv[3]);
	when = argv[4];
	if (ballast < 0 || pipe(go) || pipe(done) || pipe(begun) || pipe(turn))
		return 2;
	alarm(60);
	work(100, 5);
	for (int i = 0; i < 4; i++) {
		victims[i] = fork();
		if (victims[i] == 0)
			be_victim(begun[1], i % 2);
		if (i != 1)
			continue;
		hostile[0] = make_child();
		if (hostile[0] == 0)
			be_hostile(NOBODY);
		/* a child of one that is still what it was, and hostile */
		hostile[1] = fork();
		if (hostile[1] == 0) {
			pid_t inner;

			close(turn[1]);
			alarm(60);
			work(events, 4);
			inner = make_child();
			if (inner == 0)
				be_hostile(NOBODY);
			waitpid(inner, &status, 0);
			_exit(0);
		}
	}
	for (int i = 0; i < 8; i++)
		(void)!read(begun[0], &c, 1);
	for (int i = 0; i < 2; i++) {
		(void)!write(go[1], "", 1);
		if (read(done[0], &c, 1) == 1)
			taken += (unsigned char)c;
	}
	close(turn[0]);
	close(turn[1]);
	for (int i = 0; i < 4; i++) {
		waitpid(victims[i], &status, 0);
		printf("%s %#x\n", names[i], status);
		bad += status != 0;
	}
	live_on();
	fprintf(stderr, "# %d taken away\n", taken);
	puts("the master lives");
	fflush(stdout);
	for (int i = 0; i < 2; i++) {
		kill(hostile[i], SIGKILL);
		waitpid(hostile[i], NULL, 0);
	}
	return bad;
}
