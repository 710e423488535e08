/* signals_are_the_hosts_alone.c - blocked, ignored and one-shot signals and signalfd: every signal arrives as often as bare, and the collector interrupts no call. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T51 T49 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t once;
static atomic_bool stop;

static void one_shot(int sig)
{
	once += sig == SIGUSR2;
}

static void *allocate(void *arg)
{
	while (!stop)
		free(malloc(500));
	return arg;
}

static void print_all(void)
{
	struct sigaction act;
	sigset_t mask;

	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	for (int sig = 1; sig <= 64; sig++) {
		if (sigaction(sig, NULL, &act) < 0)
			continue;
		printf("%d %s %x %d\n", sig,
		    act.sa_handler == SIG_DFL       ? "default"
		        : act.sa_handler == SIG_IGN ? "ignored"
		                                    : "handled",
		    (unsigned)act.sa_flags, sigismember(&mask, sig));
	}
}

/* sleeps, polls and reads that nobody may interrupt */
static int interruptions(void)
{
	struct timespec nap = {0, 2000000};
	int count = 0, ends[2];
	char byte;

	if (pipe(ends))
		return -1;
	for (int i = 0; i < 40; i++) {
		struct pollfd p = {.fd = ends[0], .events = POLLIN};

		count += nanosleep(&nap, NULL) != 0;
		count += poll(&p, 1, 1) < 0;
		free(malloc(100000));
		count += write(ends[1], "x", 1) != 1;
		count += read(ends[0], &byte, 1) != 1;
	}
	return count;
}

int main(void)
{
	struct sigaction act = {.sa_handler = one_shot, .sa_flags = (int)SA_RESETHAND};
	struct signalfd_siginfo info;
	sigset_t all, few;
	pthread_t t;

	print_all();
	sigaction(SIGUSR2, &act, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	pthread_create(&t, NULL, allocate, NULL);
	sigemptyset(&few);
	sigaddset(&few, SIGTERM);
	sigaddset(&few, SIGRTMIN + 3);
	int fd = signalfd(-1, &few, SFD_CLOEXEC | SFD_NONBLOCK);

	for (int i = 0; i < 50; i++) {
		kill(getpid(), SIGRTMIN + 3); /* queued, one by one */
		free(malloc(2000));
	}
	kill(getpid(), SIGTERM);
	int got = 0;

	while (read(fd, &info, sizeof(info)) == sizeof(info))
		got++;
	printf("by signalfd %d\n", got);
	printf("interruptions %d\n", interruptions());
	sigemptyset(&few);
	sigaddset(&few, SIGUSR2);
	kill(getpid(), SIGUSR2);
	pthread_sigmask(SIG_UNBLOCK, &few, NULL);
	printf("one shot %d\n", (int)once);
	for (int sig = 1; sig < 32; sig++)
		signal(sig, SIG_IGN);
	sigpending(&few);
	printf("pending usr1 %d\n", sigismember(&few, SIGUSR1));
	print_all();
	stop = true;
	pthread_join(t, NULL);
	return 0;
}
