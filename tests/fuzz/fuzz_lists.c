/* fuzz_lists.c - any bytes as a suppression file and as a baseline. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "findings/baseline.h"
#include "view/suppress/suppress.h"
#include "format/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void suppressions(const char *text, size_t size)
{
	static const struct suppress_frame frames[] = {
	    {.function = "xmalloc", .module = "/usr/bin/app"},
	    {.function = "Cache::add(int)",
	        .symbol = "_ZN5Cache3addEi",
	        .file = "/src/cache.cc",
	        .line = 12,
	        .module = "/usr/bin/app"},
	    {.module = "/usr/lib/libplug.so.1"}, {.function = "main"}};
	struct suppress_stack stack = {.frames = frames, .count = 4, .api = SEG_API_MALLOC};
	struct suppress *s;

	if (suppress_new(&s) < 0)
		return;
	(void)suppress_text(s, text, size, "list", NULL);
	suppress_add_match(s, suppress_match(s, &stack), 1, 1);
	for (size_t i = 0; i < suppress_count(s); i++)
		if (!suppress_entry(s, i)->name)
			abort();
	suppress_free(s);
}

static void baseline(const uint8_t *data, size_t size)
{
	static const char *const notes[] = {NULL};
	int fd = memfd_create("baseline", MFD_CLOEXEC);
	static FILE *nowhere;
	struct baseline b = {0};
	char path[64];

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	if (fd < 0 || !nowhere || write(fd, data, size) != (ssize_t)size)
		abort(); /* the fuzzer's own trouble */
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	(void)baseline_load(&b, path, NULL);
	for (size_t i = 0; i < b.count; i++)
		if (baseline_find(&b, b.items[i].hash) != &b.items[i])
			abort();
	baseline_write(nowhere, &b, notes);
	baseline_release(&b);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	suppressions((const char *)data, size);
	baseline(data, size);
	return 0;
}
