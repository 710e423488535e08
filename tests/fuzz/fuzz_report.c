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
	for (int metric = VIEW_LIVE; metric <= VIEW_TEMPORARY; metric++) {
		const struct page page = {
		    .out = out, .width = 80, .utf8 = true};
		const struct body_options tree = {
		    .view = {.metric = metric, .group = true, .fold = true},
		    .top = 10};
		const struct body_options table = {
		    .view = {.metric = metric, .merge = true, .group = true},
		    .shape = BODY_TABLE,
		    .threshold = 1};

		text_write(&page, s, names, &tree);
		text_write(&page, s, names, &table);
	}
	json_write(out, s, names, NULL, "fuzz");
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
