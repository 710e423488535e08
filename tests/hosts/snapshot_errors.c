/* snapshot_errors.c - limits that leave a snapshot no room: the call says why, nothing else happens. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "seep.h"

#define SITES(X) X(alloc_some)
#include "../lib/ledger.h"

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
	(void)number;
	signals++;
}

SITE_FN static void alloc_some(void)
{
	(void)led_keep(malloc(100));
	led_alloc(L_alloc_some, 100);
}

/* lowers the soft limit, asks for a snapshot, puts the limit back */
static int under(int which, rlim_t soft)
{
	struct rlimit old, low;
	int answer;

	led_check(!getrlimit(which, &old), "getrlimit");
	low = old;
	low.rlim_cur = soft;
	led_check(!setrlimit(which, &low), "setrlimit");
	answer = seep_snapshot("no room");
	led_check(!setrlimit(which, &old), "setrlimit");
	return answer;
}

int main(int argc, char **argv)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), answer;
	char line[64];

	close(fd);
	signal(SIGXFSZ, on_signal);
	for (int i = 0; i < 200; i++)
		alloc_some();
	if (argc > 1) { /* the place itself is bad: what does it say? */
		snprintf(line, sizeof(line), "LAST %d\n", seep_snapshot(argv[1]));
		led_say(1, line);
		return 0;
	}
	answer = under(RLIMIT_FSIZE, 4096);
	led_check(answer == -EFBIG || answer == 0, "a limit on file sizes");
	answer = under(RLIMIT_NOFILE, (rlim_t)fd);
	led_check(answer == -EMFILE || answer == 0, "no descriptor left");
	led_check(signals == 0, "SIGXFSZ");
	answer = open("/dev/null", O_RDONLY | O_CLOEXEC);
	led_check(answer == fd, "a descriptor was left open");
	close(fd);
	(void)seep_snapshot("room again");
	led_print(1);
	return 0;
}
