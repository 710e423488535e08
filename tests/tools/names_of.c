/* names_of.c - what stands at addresses of a module, for comparisons. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "names/find/names.h"

/*
 * usage: names_of [-n] [-d DIR] [-r SYSROOT] [-b BUILD_ID] [-s SECONDS] MODULE
 * Addresses, on stdin, are hexadecimal, as in the ELF file, one a line, and are looked up
 * as they are. For each: a line with it, a line SYMBOL, FUNCTION, FILE, LINE
 * with tabs between for each function, innermost first, and an empty line. Time, memory and notes go
 * to stderr.
 */
enum { MODULE = 1 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void take_build_id(struct process_module *m, const char *hex)
{
	for (; hex[0] && hex[1] && m->build_id_bytes < 32; hex += 2) {
		unsigned byte;

		if (sscanf(hex, "%2x", &byte) != 1)
			break;
		m->build_id[m->build_id_bytes++] = (uint8_t)byte;
	}
}

static size_t read_addresses(uint64_t **ret)
{
	size_t count = 0, room = 0;
	uint64_t address;

	*ret = NULL;
	while (scanf("%" SCNx64, &address) == 1) {
		if (count == room) {
			room = room ? room * 2 : 1024;
			*ret = reallocarray(*ret, room, sizeof(**ret));
			if (!*ret)
				exit(1);
		}
		(*ret)[count++] =
		    SEG_FRAME_EXACT | (uint64_t)MODULE << 48 | (address & SEG_FRAME_PC(UINT64_MAX));
	}
	return count;
}

static void print(struct names *names, const struct process *p, uint64_t frame)
{
	const struct names_frame *chain;
	size_t n = names_chain(names, p, frame, &chain);

	printf("%" PRIx64 "\n", SEG_FRAME_PC(frame));
	for (size_t i = 0; i < n; i++)
		printf("%s\t%s\t%s\t%u\n", chain[i].symbol ? chain[i].symbol : "??",
		    chain[i].function ? chain[i].function : "??",
		    chain[i].file ? chain[i].file : "??", chain[i].line);
	printf("\n");
}

int main(int argc, char **argv)
{
	struct names_options options = {0};
	struct process_module modules[MODULE + 1] = {0};
	struct process p = {.modules = modules, .module_count = MODULE + 1};
	struct names *names;
	struct rusage children;
	char *const *notes;
	uint64_t *frames;
	double begin;
	size_t count, n;
	int c;

	while ((c = getopt(argc, argv, "nd:r:b:s:")) != -1) {
		if (c == 'n')
			options.no_cache = true;
		else if (c == 'd')
			options.debug_dirs = optarg;
		else if (c == 'r')
			options.sysroot = optarg;
		else if (c == 's')
			options.seconds = (unsigned)atoi(optarg);
		else if (c == 'b')
			take_build_id(&modules[MODULE], optarg);
		else
			return 2;
	}
	if (optind + 1 != argc)
		return 2;
	modules[MODULE].path = argv[optind];
	modules[MODULE].end = SEG_FRAME_PC(UINT64_MAX);
	count = read_addresses(&frames);
	begin = now();
	if (names_new(&options, &names) < 0 || names_gather_frames(names, &p, frames, count) < 0)
		return 1;
	names_resolve(names);
	begin = now() - begin;
	for (size_t i = 0; i < count; i++)
		print(names, &p, frames[i]);
	getrusage(RUSAGE_CHILDREN, &children);
	fprintf(stderr, "seconds %.2f\nchild_mib %ld\n", begin, children.ru_maxrss / 1024);
	n = names_notes(names, &notes);
	for (size_t i = 0; i < n; i++)
		fprintf(stderr, "note %s\n", notes[i]);
	names_free(names);
	free(frames);
	return 0;
}
