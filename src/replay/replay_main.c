/* replay_main.c - seep-replay-run: performs a script once and reports what it took. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <sys/resource.h>

#include "replay/stage.h"
#include "kit/os/clock.h"
#include "kit/os/outfile.h"

/*
 * `seep replay` starts this program, once for each run, with the allocator
 * preloaded:
 *
 *     seep-replay-run MODE SCRIPT RESULT
 *
 * MODE is an enum script_mode, SCRIPT and RESULT are descriptors. It links libc
 * alone and uses no function that allocates, so that the allocator serves the
 * script and nothing else.
 */
enum { SECOND_US = 1000000 };

/* ---- what it takes ---- */

/* Bytes in a line of /proc/self/status; 0: there is none. */
static uint64_t bytes_after(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 10) << 10 : 0;
}

/* Anonymous memory now, and the highest there was. */
static void read_memory(uint64_t *ret_now, uint64_t *ret_peak)
{
	char text[8192];
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	uint64_t peak, rest;

	if (n <= 0)
		result_failed(fd < 0 ? -errno : -EIO);
	(void)close(fd);
	text[n] = '\0';
	*ret_now = bytes_after(text, "\nRssAnon:");
	peak = bytes_after(text, "\nVmHWM:");
	/* files: code, of which more and more is in memory */
	rest = bytes_after(text, "\nRssFile:") + bytes_after(text, "\nRssShmem:");
	*ret_peak = peak > rest ? peak - rest : 0;
	if (*ret_peak < *ret_now)
		*ret_peak = *ret_now;
}

static uint64_t nanoseconds(struct timeval t)
{
	return ((uint64_t)t.tv_sec * SECOND_US + (uint64_t)t.tv_usec) * 1000;
}

static void measure(struct stage *s, struct script_result *r)
{
	struct rusage before, after;

	(void)getrusage(RUSAGE_SELF, &before);
	s->start_ns = clock_ns(CLOCK_MONOTONIC);
	perform_all(s);
	r->wall_ns = clock_ns(CLOCK_MONOTONIC) - s->start_ns;
	(void)getrusage(RUSAGE_SELF, &after);
	read_memory(&r->final_bytes, &r->peak_bytes);
	r->user_ns = nanoseconds(after.ru_utime) - nanoseconds(before.ru_utime);
	r->system_ns = nanoseconds(after.ru_stime) - nanoseconds(before.ru_stime);
	r->minor_faults = (uint64_t)(after.ru_minflt - before.ru_minflt);
	r->major_faults = (uint64_t)(after.ru_majflt - before.ru_majflt);
	r->refused = atomic_load(&s->refused);
}

/* ---- begin ---- */

/* The path of the object that has malloc: of the allocator, or of libc. */
static void find_malloc(struct script_result *r)
{
	void *(*function)(size_t) = malloc;
	const void *address;
	Dl_info info;

	memcpy(&address, &function, sizeof(address));
	if (dladdr(address, &info) && info.dli_fname)
		(void)snprintf(r->malloc_path, sizeof(r->malloc_path), "%s", info.dli_fname);
}

/* If memory is short, this process shall be the one that the kernel ends. */
static void offer_itself(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)write_all(fd, "1000", 4);
	(void)close(fd);
}

/* Of our own command: digits. */
static int number(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

int main(int argc, char **argv)
{
	struct script_result r = {0};
	static struct stage stage;
	int mode, err;

	if (argc != 4) {
		static const char usage[] =
		    "seep-replay-run is a part of seep replay, which starts it\n";

		(void)write_all(STDERR_FILENO, usage, sizeof(usage) - 1);
		return 2;
	}
	mode = number(argv[1]);
	result_to(number(argv[3]));
	offer_itself();
	find_malloc(&r);
	if (mode == SCRIPT_PROBE)
		result_send(&r);
	err = stage_build(&stage, number(argv[2]));
	if (err < 0)
		result_failed(err);
	read_memory(&r.own_bytes, &r.peak_bytes);
	if (mode == SCRIPT_PERFORM)
		measure(&stage, &r);
	result_send(&r);
}
