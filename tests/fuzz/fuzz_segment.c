/* fuzz_segment.c - any bytes as a segment: read, summed, reported, copied. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names/names.h"
#include "reader/segfile.h"
#include "reader/session.h"
#include "report/json.h"
#include "report/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Names would open files that the input chooses: slow, and not what is tested
 * here. So modules lose their paths before the reports.
 */
static void
forget_paths(struct session *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct process *p = s->processes[i];

		for (size_t k = 0; k < p->module_count; k++)
			if (p->modules[k].path)
				p->modules[k].path[0] = '?';
	}
}

/* The compact copy of what can be read can be read. */
static void
check_compact(const struct segfile *f, int slot)
{
	struct segfile *again;
	struct segment *seg;
	void *bytes;
	size_t len;

	if (segfile_compact(f, slot, &bytes, &len, NULL) < 0)
		return;
	if (segfile_open_bytes(bytes, len, &again, NULL) < 0 ||
	    segfile_read(again, SEGFILE_OWN, &seg, NULL) < 0)
		abort();
	segment_free(seg);
	segfile_close(again);
	free(bytes);
}

static void
check_reports(struct session *s, FILE *out)
{
	const struct page page = {.out = out, .width = 100, .colour = true};
	struct body_options options = {
	    .threshold = 0.1, .view = {.group = true, .fold = true}};
	struct names *names;

	if (names_new(&(struct names_options){.no_symbols = true}, &names) < 0)
		return;
	(void)json_write(out, s, names, &options.view, "fuzz");
	for (options.view.metric = VIEW_LIVE;
	     options.view.metric <= VIEW_TEMPORARY; options.view.metric++) {
		options.shape = BODY_TREE;
		(void)text_write(&page, s, names, &options);
		options.top_down = !options.top_down;
		options.shape = BODY_TABLE;
		(void)text_write(&page, s, names, &options);
	}
	names_free(names);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *out;
	struct session *s;
	struct segfile *f;

	if (!out)
		out = fopen("/dev/null", "w");
	if (!out)
		abort();
	if (segfile_open_bytes(data, size, &f, NULL) == 0) {
		for (int i = SEGFILE_OWN; i < segfile_slots(f); i++)
			check_compact(f, i);
		segfile_close(f);
	}
	if (session_load_bytes(data, size, &s, NULL) < 0)
		return 0;
	forget_paths(s);
	check_reports(s, out);
	session_free(s);
	return 0;
}

#ifdef FUZZ_MAIN
int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "rb");
		uint8_t *data = NULL;
		size_t size = 0, n;

		if (!file) {
			perror(argv[i]);
			return 1;
		}
		do {
			data = realloc(data, size + 65536);
			if (!data)
				return 1;
			n = fread(data + size, 1, 65536, file);
			size += n;
		} while (n > 0);
		(void)fclose(file);
		(void)LLVMFuzzerTestOneInput(data, size);
		free(data);
	}
	return 0;
}
#endif
