/* fuzz_report.c - any segment that can be read at all can be reported on. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/names.h"
#include "reader/fault.h"
#include "reader/session.h"
#include "report/json.h"
#include "report/text.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
write_all(FILE *out, const struct session *s)
{
	struct names *names;

	if (names_new(&(struct names_options){.no_symbols = true}, &names) < 0)
		return;
	for (int metric = TEXT_LIVE; metric <= TEXT_ALLOCS; metric++) {
		const struct text_options tree = {
		    .metric = metric, .shape = TEXT_TREE, .top = 10};
		const struct text_options table = {
		    .metric = metric, .shape = TEXT_TABLE, .threshold = 1};

		text_write(out, s, names, &tree);
		text_write(out, s, names, &table);
	}
	json_write(out, s, names, "fuzz");
	names_free(names);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	struct session *s = NULL;
	struct fault where;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	if (!nowhere)
		abort(); /* the fuzzer's own trouble */
	if (session_load_bytes(data, size, &s, &where) < 0)
		return 0;
	write_all(nowhere, s);
	session_free(s);
	return 0;
}
