/* fuzz_check.c - any segment that can be read can be checked and exported. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "check/write.h"
#include "export/export.h"
#include "names/names.h"
#include "reader/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_all(FILE *out, struct session *s, struct view *v)
{
	const struct write_options write = {.root = "/", .version = "fuzz"};
	struct check_input input = {.name = "input", .session = s, .view = v};
	struct check_options options = {
	    .max_live = {.given = true, .bytes = 1}};
	struct check *c;

	if (check_new(&input, 1, &options, &c) < 0)
		return;
	(void)write_text(out, c, &write);
	(void)write_json(out, c, &write);
	(void)write_junit(out, c, &write);
	(void)write_sarif(out, c, &write);
	(void)write_suppressions(out, c, WRITE_VALGRIND);
	(void)write_suppressions(out, c, WRITE_LSAN);
	check_free(c);
}

static void
export_all(FILE *out, const struct session *s, struct names *names)
{
	size_t count;
	const struct export_format *const *all = export_formats(&count);

	for (size_t i = 0; i < count; i++) {
		unsigned flags = all[i]->flags;
		const struct process *only =
		    flags & EXPORT_ONE ? s->processes[0] : NULL;
		const struct view_options options = {.only = only,
		    .metric = flags & EXPORT_DEAD ? VIEW_ALL : VIEW_LIVE,
		    .all_kinds = flags & EXPORT_KINDS,
		    .group = flags & EXPORT_GROUPED,
		    .fold = flags & EXPORT_FOLDED,
		    .merge = flags & EXPORT_MERGED};
		const struct export_options how = {
		    .version = "fuzz", .only = only};
		struct view *v;

		if (all[i]->write_session) {
			(void)all[i]->write_session(
			    out, s, names, &options, "fuzz");
			continue;
		}
		if (view_new(s, names, &options, &v) < 0)
			continue;
		(void)all[i]->write(out, v, &how);
		view_free(v);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct view_options live = {.group = true, .fold = true};
	static FILE *nowhere;
	struct session *s = NULL;
	struct names *names;
	struct view *v;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	if (!nowhere)
		abort(); /* the fuzzer's own trouble */
	if (session_load_bytes(data, size, &s, NULL) < 0)
		return 0;
	if (names_new(&(struct names_options){.no_symbols = true}, &names) ==
	    0) {
		if (view_new(s, names, &live, &v) == 0) {
			check_all(nowhere, s, v);
			view_free(v);
		}
		if (s->count > 0)
			export_all(nowhere, s, names);
		names_free(names);
	}
	session_free(s);
	return 0;
}
