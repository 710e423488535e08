/* fuzz_notes.c - any bytes as the notes that watch and record leave for the next one: .kin, .left, refusals. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "segments/find/segment_dir.h"
#include "format/format.h"
#include "segments/find/gather.h"
#include "follow/history/watch_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64]; /* on tmpfs, where fsync() costs nothing */
static int dir = -1;

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void clean_up(void)
{
	(void)unlinkat(dir, ".kin", 0);
	(void)unlinkat(dir, ".left", 0);
	(void)unlinkat(dir, SEG_REFUSED_NAME, 0);
	(void)rmdir(folder);
}

static void put(const char *name, const uint8_t *data, size_t size)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
}

static struct watch new_watch(const struct watch_plan *plan)
{
	struct watch w = {.plan = plan,
	    .store = {.fd = dir, .lock_fd = -1, .plan = {.size_bytes = 1 << 28, .keep_ns = 1}}};

	quota_init(&w.quota, UINT64_MAX);
	return w;
}

static void release(struct watch *w)
{
	watch_services_release(w);
	quota_release(&w->quota);
}

/* What was read is written again, and read the same. */
static void kin(const uint8_t *data, size_t size)
{
	static const struct watch_plan plan;
	struct watch one = new_watch(&plan), two = new_watch(&plan);

	put(".kin", data, size);
	check(watch_kin_load(&one) == 0);
	for (size_t i = 0; i < one.service_count; i++) {
		const char *f = one.services[i]->folder;

		check(f[0] && f[0] != '.' && f[0] != '-' && !strchr(f, '/'));
		check(strlen(f) < FOLDER_NAME_BYTES);
		one.services[i]->naming = NULL;
	}
	for (size_t i = 0; i < one.kin_count; i++)
		one.kin[i].runs = true;
	check(watch_kin_save(&one) == 0);
	check(watch_kin_load(&two) == 0);
	check(two.kin_count == one.kin_count);
	check(two.service_count <= one.service_count);
	release(&one);
	release(&two);
}

static bool runs_not(void *context, uint64_t device, uint64_t inode, int slot)
{
	(void)context, (void)device, (void)inode, (void)slot;
	return false;
}

static void left(const uint8_t *data, size_t size)
{
	static const char *const none[] = {NULL};
	const struct gather_plan plan = {.directories = none, .hooks = {.runs = runs_not}};
	struct gather *one = NULL, *two = NULL;
	struct stat first, second;

	put(".left", data, size);
	check(gather_new(&plan, &one) == 0 && gather_new(&plan, &two) == 0);
	check(gather_load(one, dir, ".left") == 0);
	check(gather_save(one, dir, ".left") == 0);
	check(fstatat(dir, ".left", &first, 0) == 0);
	check(gather_load(two, dir, ".left") == 0);
	check(gather_save(two, dir, ".left") == 0);
	check(fstatat(dir, ".left", &second, 0) == 0);
	check(first.st_size == second.st_size);
	gather_free(one);
	gather_free(two);
}

static void refusals(const uint8_t *data, size_t size)
{
	struct refused_last last;

	put(SEG_REFUSED_NAME, data, size);
	if (refused_look(dir, &last) > 0)
		check(last.why && memchr(last.name, '\0', sizeof(last.name)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (dir < 0) {
		const char *run = getenv("SEEP_RUN");

		(void)snprintf(
		    folder, sizeof(folder), "/dev/shm/seep-test.%.16s.XXXXXX", run ? run : "0");
		check(mkdtemp(folder) != NULL);
		dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		check(dir >= 0 && atexit(clean_up) == 0);
	}
	kin(data, size);
	left(data, size);
	refusals(data, size);
	return 0;
}
